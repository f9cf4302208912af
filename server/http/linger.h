/* Closing so that the last answer is read: a socket that is closed with unread bytes in it resets the connection, and
 * a client that writes its whole request before it reads never sees the refusal. Here a duplicate of such a socket is
 * kept and its bytes are thrown away, until the client closes or a bound is reached.
 *
 * One thread of its own; srv_linger_take may be called by any. */
#ifndef SRV_HTTP_LINGER_H
#define SRV_HTTP_LINGER_H

typedef struct srv_linger srv_linger;

/* NULL without memory, descriptor or thread. */
srv_linger *srv_linger_new(void);
/* Duplicates the descriptor and looks after the duplicate; does nothing when there are too many already. */
void srv_linger_take(srv_linger *linger, int descriptor);
/* Closes all that is left at once. NULL is fine. */
void srv_linger_free(srv_linger *linger);

#endif
