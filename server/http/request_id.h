/* Names for requests: the client's own where it is fit to be echoed, else a new one. Any thread. */
#ifndef SRV_HTTP_REQUEST_ID_H
#define SRV_HTTP_REQUEST_ID_H

enum { SRV_REQUEST_ID_SIZE = 129 };

/* Copies the client's id when it is 1 to 128 visible ASCII characters; makes a new one otherwise (NULL
 * included): 32 hexadecimal digits. */
void srv_request_id(char out[SRV_REQUEST_ID_SIZE], const char *client);

#endif
