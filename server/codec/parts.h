/* What an answer consists of: literal text and tensors, in the order in which they are sent. An encoder of any media
 * type lists the parts; they are cut into blocks, and any worker writes any block, several at a time. So the text of a
 * large result is never there as a whole.
 *
 * The parts own their literal text; tensors stay where they are (in a run, in a request) and must outlive the writing.
 * Listing belongs to one thread; once closed, parts are read-only and any thread may use them. */
#ifndef SRV_CODEC_PARTS_H
#define SRV_CODEC_PARTS_H

#include "part.h"
#include "server/problem.h"
#include "text.h"

enum {
    SRV_BLOCK_BYTES = 128 * 1024, /* of a block's text, at most */
};

typedef struct srv_parts srv_parts;

/* NULL without memory. */
srv_parts *srv_parts_new(void);
void srv_parts_free(srv_parts *parts);

/* Literal text that is appended here stands behind everything listed so far. */
srv_text *srv_parts_text(srv_parts *parts);
/* A tensor behind everything listed so far. */
void srv_parts_add(srv_parts *parts, const srv_part *tensor);
/* Before closing: upper bound for the bytes of all that is listed, exact where no tensor is lists of digits. */
size_t srv_parts_bound(const srv_parts *parts, bool *is_exact);
/* Before closing: what stands in memory as it is to be sent is written all the same, for who cannot send it so. */
void srv_parts_write_all(srv_parts *parts);
/* Before closing: the text so far is JSON that describes the bytes behind it, and all that there is of it. */
void srv_parts_end_head(srv_parts *parts);
/* How many bytes that are; 0: nothing of the kind. */
size_t srv_parts_head(const srv_parts *parts);
/* Ends the listing and cuts the blocks. False where there was no memory for any of it. */
bool srv_parts_close(srv_parts *parts);

/* Of closed parts: */
size_t srv_parts_blocks(const srv_parts *parts); /* at least 1 */
size_t
srv_parts_size(const srv_parts *parts); /* bytes of all blocks; SIZE_MAX: known when they are written */
size_t srv_parts_written(const srv_parts *parts); /* upper bound for the bytes that must be written */
size_t srv_parts_room(const srv_parts *parts);    /* bytes that writing any one block may touch */
size_t srv_parts_bytes(const srv_parts *parts);   /* memory that the parts themselves take */
/* Whether some block stands in the tensors' own memory, which must then stay until it has been sent. */
bool srv_parts_use_memory(const srv_parts *parts);

/* A block that need not be written, or NULL. */
const char *srv_parts_memory(const srv_parts *parts, size_t block, size_t *size);
/* Writes a block that has no memory of its own; `out` has the room. Returns its size. */
size_t srv_parts_write(const srv_parts *parts, size_t block, char *out);

/* Whether binary16 is asked for anywhere, and so every block must be checked before the first one is sent. */
bool srv_parts_need_check(const srv_parts *parts);
bool srv_parts_check(const srv_parts *parts, size_t block);
/* Says which number of which member does not fit: SRV_NOT_REPRESENTABLE, at /return/dtype. Only where a check failed. */
void srv_parts_refuse(const srv_parts *parts, srv_problem *problem);

/* Upper bound for the memory of parts with `tensors` tensors, their blocks' table and so many bytes of text and of
 * numbers included; SIZE_MAX where it overflows. */
size_t srv_parts_cost(size_t tensors, size_t text, size_t numbers);

#endif
