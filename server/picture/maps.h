/* The maps of one sequence as pictures read them: row by row, with what may be seen, and labelled. Borrows the run and
 * the ask. Any number of threads may read one. */
#ifndef SRV_PICTURE_MAPS_H
#define SRV_PICTURE_MAPS_H

#include "label.h"
#include "options.h"
#include "server/codec/codec.h"

typedef struct srv_maps {
    const srv_outcome *outcome;
    const attn_plan *plan;
    size_t sequence;
    size_t panels;      /* chosen heads, or 1 for their mean */
    size_t rows;        /* queries shown */
    size_t keys, extra; /* S, E */
    attn_view weights;
    float max; /* the largest weight shown; 0 where all are 0 */
    size_t masked, keyless,
        keyless_queries; /* cells that may not be seen; rows without a visible key, and on how many
                                                  queries' rows such stand */
    uint8_t *visible;    /* room for one row of one head, and of several */
} srv_maps;

/* False without memory, or where nobody wants them any more. */
bool srv_maps_make(const srv_outcome *outcome, size_t sequence, srv_maps *out);
void srv_maps_done(srv_maps *maps);

/* The sequence's query that a row shows. */
size_t srv_maps_query(const srv_maps *maps, size_t row);
const float *srv_maps_row(const srv_maps *maps, size_t panel, size_t row);
/* Which of the S + E columns the row's query may see, in one head at least where the mean is shown; until the next
 * call. *any: whether it is one at all. */
const uint8_t *srv_maps_visible(const srv_maps *maps, size_t panel, size_t row, bool *any);

/* "head 3", "head 3 (kv 1)", "mean of 8 heads". */
enum { SRV_PANEL_TITLE_SIZE = 64 };
void srv_maps_panel_title(const srv_maps *maps, size_t panel, char out[SRV_PANEL_TITLE_SIZE]);

/* The cleaned label of a query or key; an index where there are no labels, "+0" for the layer's own keys. */
void srv_maps_query_label(const srv_maps *maps, size_t row, char out[SRV_LABEL_SIZE]);
void srv_maps_key_label(const srv_maps *maps, size_t key, char out[SRV_LABEL_SIZE]);
/* Whether there are labels, and the raw one (NULL: none). */
const json_t *srv_maps_query_token(const srv_maps *maps, size_t query);
const json_t *srv_maps_key_token(const srv_maps *maps, size_t key);

#endif
