/* Statistics of heads as JSON. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_STATS_H
#define SRV_CODEC_JSON_STATS_H

#include "ask.h"
#include "text.h"

/* Appends one sequence's statistics, those asked for in the engine's order: {"entropy":[…], …}, a number for each
 * chosen head; lists of S + E numbers for each in received_attention and received_total, of keys in heavy_hitters.
 * Beside sink_mass stands sink_rate, the share of these heads whose sink_mass is above ATTN_SINK_THRESHOLD. What is
 * not defined is null. */
void srv_json_put_stats(const attn_run *run, size_t sequence, int precision, srv_text *out);

/* Upper bound for their text, all sequences together; SIZE_MAX where it overflows. */
size_t srv_json_stats_size(const attn_plan *plan);

#endif
