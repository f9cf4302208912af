/* Opening and closing listening sockets (listener.h). */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Host and port as they stand in a URL. */
static void write_address(const char *host, unsigned port, char out[SRV_ADDRESS_SIZE]) {
    bool is_v6 = strchr(host, ':') != NULL;
    snprintf(out, SRV_ADDRESS_SIZE, is_v6 ? "[%.64s]:%u" : "%.64s:%u", host, port);
}

static bool is_loopback(const struct sockaddr_storage *address) {
    if (address->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->ss_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* The address that a socket got. */
static void read_address(int descriptor, srv_listener *out) {
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    char host[64] = "?", service[8] = "0";
    if (getsockname(descriptor, (struct sockaddr *)&bound, &size) == 0) {
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, service, sizeof service,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    }
    unsigned port = 0;
    sscanf(service, "%u", &port);
    write_address(host, port, out->address);
    out->is_loopback = is_loopback(&bound);
}

/* A bound, listening socket, or -1 with errno. */
static int listen_on(const struct addrinfo *address) {
    int descriptor = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    const int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->ai_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(descriptor, address->ai_addr, address->ai_addrlen) == 0 && listen(descriptor, SOMAXCONN) == 0)
        return descriptor;
    int cause = errno;
    close(descriptor);
    errno = cause;
    return -1;
}

attn_code srv_listener_open(const char *host, uint16_t port, srv_listener *out, bool *is_missing,
                            attn_error *error) {
    char wanted[SRV_ADDRESS_SIZE], service[8];
    write_address(host, port, wanted);
    snprintf(service, sizeof service, "%u", (unsigned)port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    *is_missing = false;
    int failed = getaddrinfo(host, service, &hints, &found);
    if (failed != 0) {
        return attn_error_set(error, ATTN_IO, NULL, "cannot listen on %s: %s", wanted,
                              failed == EAI_SYSTEM ? strerror(errno) : gai_strerror(failed));
    }
    int descriptor = listen_on(found), cause = errno;
    *is_missing =
        descriptor < 0 && found->ai_family == AF_INET6 && (cause == EADDRNOTAVAIL || cause == EAFNOSUPPORT);
    freeaddrinfo(found);
    if (descriptor < 0) {
        return attn_error_set(error, ATTN_IO, NULL, "cannot listen on %s: %s%s", wanted, strerror(cause),
                              cause == EADDRINUSE ? "; another address can be given with --listen" : "");
    }
    *out = (srv_listener){.descriptor = descriptor};
    read_address(descriptor, out);
    return ATTN_OK;
}

void srv_listener_refuse(srv_listener *listener) {
    /* A socket that does not listen takes the descriptor's place: closing it could race with its poller. */
    int idle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (idle < 0) return;
    dup3(idle, listener->descriptor, O_CLOEXEC);
    close(idle);
}

void srv_listener_close(srv_listener *listener) {
    if (listener->descriptor >= 0) close(listener->descriptor);
    listener->descriptor = -1;
}
