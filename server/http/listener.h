/* Listening sockets. Knows no HTTP. */
#ifndef SRV_HTTP_LISTENER_H
#define SRV_HTTP_LISTENER_H

#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>

enum { SRV_ADDRESS_SIZE = 96 };

typedef struct srv_listener {
    int descriptor;                 /* -1: not open */
    char address[SRV_ADDRESS_SIZE]; /* as bound: "127.0.0.1:8080", "[::1]:8080" */
    bool is_loopback;               /* cannot be reached from elsewhere */
} srv_listener;

/* Binds and listens; port 0 takes any free one. Errors: ATTN_IO;
 * *is_missing tells that this machine does not have such an address (no IPv6), which need not be fatal. */
attn_code srv_listener_open(const char *host, uint16_t port, srv_listener *out, bool *is_missing,
                            attn_error *error);

/* Lets new clients be refused while the descriptor stays valid for whoever still polls it. */
void srv_listener_refuse(srv_listener *listener);

void srv_listener_close(srv_listener *listener);

#endif
