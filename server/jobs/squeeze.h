/* Compressing an answer piece by piece (zlib, at its fastest). One thread at a time. */
#ifndef SRV_JOBS_SQUEEZE_H
#define SRV_JOBS_SQUEEZE_H

#include "server/codec/coding.h"

#include <stdbool.h>
#include <stddef.h>

enum { SRV_SQUEEZE_BYTES = 300 << 10 }; /* what one takes, at most */

typedef struct srv_squeeze srv_squeeze;

/* For gzip or deflate; NULL without memory. */
srv_squeeze *srv_squeeze_new(srv_coding coding);
void srv_squeeze_free(srv_squeeze *squeeze);

/* Room that a piece of at most `size` bytes may need. */
size_t srv_squeeze_room(size_t size);
/* Writes the next piece, nothing of which is kept back; returns how many bytes it became. 0 where zlib fails, and from then
 * on: a stream without its end, which no reader takes for a whole one. */
size_t srv_squeeze_write(srv_squeeze *squeeze, const char *piece, size_t size, bool is_last, char *out);

#endif
