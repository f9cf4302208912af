/* What the files of the JSON decoder share: places in the body, how values are named in errors, and the
 * setters that the table of fields refers to. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_WALK_H
#define SRV_CODEC_JSON_WALK_H

#include "ask_storage.h"

#include <jansson.h>

/* One step of a JSON Pointer; lives on the stack of whoever walks and becomes text only in an error. */
typedef struct srv_place {
    const struct srv_place *above; /* NULL: the step starts at the whole body */
    const char *name;              /* NULL: an index */
    size_t index;
} srv_place;

/* Sets a problem that points to `place`. Returns false. */
__attribute__((format(printf, 4, 5))) bool srv_place_fail(const srv_place *place, srv_problem *problem,
                                                          srv_problem_id id, const char *format, ...);

/* What a value is, for "found …": "null", "the number 3", "a list of 2" … Never the client's text. */
enum { SRV_FOUND_SIZE = 48 };
const char *srv_json_found(const json_t *value, char buffer[SRV_FOUND_SIZE]);

/* buffer = at most 64 bytes of a client's text, cut between characters, then "…". */
enum { SRV_QUOTE_SIZE = 72 };
const char *srv_json_quote(const char *text, size_t size, char buffer[SRV_QUOTE_SIZE]);

/* One name more behind those of a list, which begins as "". */
enum { SRV_NAMES_SIZE = ATTN_TEXT_SIZE };
void srv_json_add_name(char list[SRV_NAMES_SIZE], const char *name);

/* A whole number from low to high (SIZE_MAX: below 2^53). */
bool srv_json_whole(const json_t *value, const srv_place *place, srv_problem *problem, size_t low,
                    size_t high, size_t *out);

/* A JSON number as float32. Refuses other types and what float32 cannot hold; underflow is fine. */
bool srv_json_float(const json_t *value, const srv_place *place, srv_problem *problem, float *out);

/* Sets one field of an ask from a value that is not null. False: a problem is in the ask, or a row's width is
 * odd. */
typedef bool srv_json_setter(srv_ask *ask, json_t *value, const srv_place *place);

srv_json_setter srv_json_set_model, srv_json_set_layer;
srv_json_setter srv_json_set_causal, srv_json_set_window, srv_json_set_scale;
srv_json_setter srv_json_set_outputs, srv_json_set_attention, srv_json_set_scores, srv_json_set_projections;
srv_json_setter srv_json_set_heads, srv_json_set_queries, srv_json_set_precision;
srv_json_setter srv_json_set_average_heads, srv_json_set_top_k, srv_json_set_encoding, srv_json_set_dtype;
srv_json_setter srv_json_set_stats;
srv_json_setter srv_json_set_timeout, srv_json_set_plan;
srv_json_setter srv_json_set_positions, srv_json_set_context_positions;
/* Before the tensors that they cut into sequences. */
srv_json_setter srv_json_set_lengths, srv_json_set_context_lengths;
srv_json_setter srv_json_set_tokens, srv_json_set_context_tokens;

/* What several fields have to do with each other, after all have been read: conflicts, and hints for the
 * client. False: a problem is in the ask. */
bool srv_json_check_together(srv_ask *ask);

#endif
