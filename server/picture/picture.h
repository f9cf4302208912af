/* Maps as pictures and tables: rows of the table of formats (server/codec/codec.h). All that they draw of a request is
 * its maps, of one sequence (the query's `sequence`). The same request gives the same bytes. Run on workers. */
#ifndef SRV_PICTURE_PICTURE_H
#define SRV_PICTURE_PICTURE_H

#include "server/codec/codec.h"

/* Pixels of a picture at most: what a browser shows and a worker draws in half a second. */
enum { SRV_MAX_PIXELS = 1 << 25 };

/* Of image/png and image/svg+xml, and of text/plain and text/csv: leave of the request what they draw. */
bool srv_picture_settle(srv_ask *ask, srv_problem *problem);
bool srv_table_settle(srv_ask *ask, srv_problem *problem);

size_t srv_png_cost(const srv_ask *ask, const attn_plan *plan);
bool srv_png_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

size_t srv_svg_cost(const srv_ask *ask, const attn_plan *plan);
bool srv_svg_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

/* A heat map of characters. */
size_t srv_terminal_cost(const srv_ask *ask, const attn_plan *plan);
bool srv_terminal_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

/* sequence,head,query,key,query_token,key_token,weight (RFC 4180): a line for each weight. `head` is empty for a mean,
 * tokens where there are none. */
size_t srv_csv_cost(const srv_ask *ask, const attn_plan *plan);
bool srv_csv_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);

#endif
