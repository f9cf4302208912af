/* Bodies through a decoder without a daemon, in pieces as they might arrive. */
#ifndef TESTS_SUPPORT_DECODING_H
#define TESTS_SUPPORT_DECODING_H

#include "server/codec/decoder.h"

/* Reads a JSON body, in one piece, and a query (NULL: none). As srv_decoder_end; a problem of feeding is told
 * likewise. */
bool decode_json(const char *body, size_t size, const char *query, srv_ask **out, srv_problem *problem);
/* The same in two pieces, cut behind `cut` bytes, or in pieces of as many bytes each. */
bool decode_json_cut(const char *body, size_t size, size_t cut, srv_ask **out, srv_problem *problem);
bool decode_json_pieces(const char *body, size_t size, size_t piece, const char *query, srv_ask **out,
                        srv_problem *problem);

/* A body of any format, in one piece. */
bool decode_body(const srv_codec *codec, const char *body, size_t size, const char *query, srv_ask **out,
                 srv_problem *problem);

/* Feeds a copy, so that reading behind its end is seen. */
bool feed_copy(srv_decoder *decoder, const char *bytes, size_t size, srv_problem *problem);

#endif
