/* The words of a picture: title and caption. Pure; any thread. */
#ifndef SRV_PICTURE_CAPTION_H
#define SRV_PICTURE_CAPTION_H

#include "maps.h"
#include "server/codec/text.h"

enum { SRV_TITLE_CHARACTERS = 200, SRV_CAPTION_CHARACTERS = 1000 /* SRV_INK_CHARACTERS */ };

/* out: the client's title, or which model, layer and sequence this is. */
void srv_title(const srv_maps *maps, const srv_picture_options *options,
               char out[SRV_CLEAN_SIZE(SRV_TITLE_CHARACTERS)]);

/* Appends lines, each ended by '\n': what the cells are, `unit` ("pixel", "cell") with the weights of `row_pool`
 * queries and `pool` keys in one, queries that see no key, and what the client wants said. */
void srv_caption(const srv_maps *maps, const srv_picture_options *options, const char *unit, size_t row_pool,
                 size_t pool, srv_text *out);

/* A weight in three digits. */
enum { SRV_WEIGHT_SIZE = 32 };
const char *srv_weight_text(double weight, char out[SRV_WEIGHT_SIZE]);

#endif
