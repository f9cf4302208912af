/* Bytes that grow by and by to any size, each of them counted in the request's share before it is allocated. A large
 * buffer never lies in memory twice while it grows, and has at most a quarter more than it holds.
 *
 * One thread at a time. */
#ifndef SRV_CODEC_BUFFER_H
#define SRV_CODEC_BUFFER_H

#include "server/jobs/share.h"

typedef struct srv_buffer {
    char *data; /* NULL: nothing; aligned for any type */
    size_t size, capacity;
} srv_buffer;

/* Makes room for `more` bytes behind the ones that it has. False with a problem, and unchanged. */
bool srv_buffer_reserve(srv_buffer *buffer, size_t more, srv_share *share, srv_problem *problem);
bool srv_buffer_append(srv_buffer *buffer, const void *bytes, size_t size, srv_share *share,
                       srv_problem *problem);
/* Gives back the room behind its bytes. */
void srv_buffer_fit(srv_buffer *buffer, srv_share *share);
/* Frees; an empty buffer remains. `share`: NULL where what it counts as goes back another way. */
void srv_buffer_done(srv_buffer *buffer, srv_share *share);

#endif
