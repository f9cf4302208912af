/* The JSON of a request for inference without its numbers: each list that is a member of an object in a list, other
 * than `shape`, stays where it is, and the text has a list with its number there instead; none of a client's own can be
 * taken for that. So Jansson reads a short text, however many numbers there are.
 *
 * One thread at a time. Internal to server/codec. */
#ifndef SRV_CODEC_OIP_TEXT_H
#define SRV_CODEC_OIP_TEXT_H

#include "buffer.h"

enum { SRV_OIP_LISTS = 16 }; /* more are left in the text */

typedef struct srv_oip_span {
    size_t begin, end; /* of the list, brackets included, in the body */
    size_t text_end;   /* of what stands for it, in the text */
} srv_oip_span;

typedef struct srv_oip_text {
    srv_buffer text;
    srv_oip_span lists[SRV_OIP_LISTS];
    size_t count;
} srv_oip_text;

/* Reads `size` bytes of JSON. Does not judge them: what is no JSON makes a text that is none either. */
bool srv_oip_text_read(srv_oip_text *out, const char *body, size_t size, srv_share *share,
                       srv_problem *problem);
/* How many bytes that text has. */
size_t srv_oip_text_size(const char *body, size_t size);
/* Where in the body a place of the text is. */
size_t srv_oip_text_offset(const srv_oip_text *text, size_t at);

#endif
