/* Maps as a table (picture.h). */
#include "picture.h"

#include "maps.h"

#include <stdint.h>
#include <string.h>

enum { BYTES_OF_NUMBERS = 4 * 21 + 16 + 4 }; /* of a line, commas included */

/* A field, between quotes where it must be (RFC 4180, section 2). */
static void put_token(srv_text *out, const json_t *token) {
    const char *text = token ? json_string_value(token) : "";
    size_t size = token ? json_string_length(token) : 0, quoted = 0;
    for (size_t i = 0; i < size; i++)
        quoted += strchr(",\"\r\n", text[i]) != NULL;
    if (quoted == 0) {
        srv_text_append(out, text, size);
        return;
    }
    srv_text_append(out, "\"", 1);
    for (size_t i = 0; i < size; i++)
        srv_text_append(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    srv_text_append(out, "\"", 1);
}

static void put_line(const srv_maps *maps, size_t panel, size_t row, size_t key, srv_text *out) {
    const attn_request *r = &maps->plan->request;
    char digits[SRV_FLOAT_ROOM];
    size_t query = srv_maps_query(maps, row);
    float weight = srv_maps_row(maps, panel, row)[key];
    srv_text_append_size(out, maps->sequence);
    srv_text_append(out, ",", 1);
    if (!r->average_heads) srv_text_append_size(out, r->heads ? r->heads[panel] : panel);
    srv_text_append(out, ",", 1);
    srv_text_append_size(out, query);
    srv_text_append(out, ",", 1);
    srv_text_append_size(out, key);
    srv_text_append(out, ",", 1);
    put_token(out, srv_maps_query_token(maps, query));
    srv_text_append(out, ",", 1);
    put_token(out, srv_maps_key_token(maps, key));
    srv_text_append(out, ",", 1);
    srv_text_append(out, digits, srv_float_write(weight, maps->outcome->ask->precision, digits));
    srv_text_append(out, "\r\n", 2);
}

bool srv_csv_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    srv_picture_options options;
    srv_maps maps;
    srv_text *out = srv_parts_text(parts);
    if (!srv_picture_options_read(outcome->ask, &options, problem)) return false;
    bool is_made = srv_maps_make(outcome, options.sequence, &maps);
    srv_text_append_string(out, "sequence,head,query,key,query_token,key_token,weight\r\n");
    for (size_t panel = 0; is_made && panel < maps.panels; panel++)
        for (size_t row = 0; row < maps.rows && !out->failed; row++) {
            if (srv_outcome_is_unwanted(outcome)) out->failed = true;
            for (size_t key = 0; key < maps.keys + maps.extra && !out->failed; key++)
                put_line(&maps, panel, row, key, out);
        }
    srv_maps_done(&maps);
    return (is_made && !out->failed) || srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                                                        "no memory for the table at this moment");
}

/* Bytes of all labels as fields: each may have to be doubled, and be put between quotes. */
static size_t labels_size(const json_t *labels) {
    if (json_is_string(labels)) return 2 * json_string_length(labels) + 2;
    size_t total = 0;
    for (size_t i = 0; i < json_array_size(labels); i++)
        total += labels_size(json_array_get(labels, i));
    return total;
}

/* Every label stands in as many lines as its row or column has cells. */
size_t srv_csv_cost(const srv_ask *ask, const attn_plan *plan) {
    const attn_request *r = &plan->request;
    size_t rows = 0, columns = 0, lines, of_queries, of_keys, total;
    for (size_t n = 0; n < r->sequence_count; n++) {
        size_t queries = r->queries ? r->query_count : r->sequences[n].queries;
        rows = queries > rows ? queries : rows;
        columns = r->sequences[n].keys > columns ? r->sequences[n].keys : columns;
    }
    columns += r->layer->extra_keys;
    const json_t *keys = r->context ? ask->context_tokens : ask->tokens;
    bool fits = attn_size_mul(rows, plan->map_heads, &rows) && attn_size_mul(rows, columns, &lines) &&
                attn_size_mul(lines, BYTES_OF_NUMBERS, &lines) &&
                attn_size_mul(labels_size(ask->tokens), columns, &of_queries) &&
                attn_size_mul(of_queries, plan->map_heads, &of_queries) &&
                attn_size_mul(labels_size(keys), rows, &of_keys) &&
                attn_size_add(lines, of_queries, &total) && attn_size_add(total, of_keys, &total) &&
                attn_size_mul(total, 2, &total);
    return fits ? srv_parts_cost(0, total, 0) : SIZE_MAX;
}
