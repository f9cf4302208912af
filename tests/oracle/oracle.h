/* A second reader of JSON bodies, slow and simple: Jansson reads the whole of it, and tensors are read from its tree.
 * What the decoder of the daemon makes of a body is compared with what this makes of it: verdict, error, values.
 *
 * It has the options' setters and the query in common with the decoder, which are not what it is for. */
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H

#include "server/codec/ask.h"

/* As srv_decoder_end. `query`: NULL for none. */
bool oracle_decode(const char *body, size_t size, const char *query, srv_ask **out, srv_problem *problem);

/* Whether two asks say the same, bit by bit, or are refused with the same words. NULL: they are; otherwise what differs
 * first. Either may be NULL, with the problem that it is. */
const char *oracle_difference(const srv_ask *a, const srv_problem *why_a, const srv_ask *b,
                              const srv_problem *why_b);

#endif
