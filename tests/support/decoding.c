#include "decoding.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool feed_copy(srv_decoder *decoder, const char *bytes, size_t size, srv_problem *problem) {
    char *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for a copy");
    memcpy(copy, bytes, size);
    bool fine = srv_decoder_feed(decoder, copy, size, problem);
    free(copy);
    return fine;
}

static bool end(srv_decoder *decoder, bool is_fed, const char *query, srv_ask **out, srv_problem *problem) {
    const srv_source source = {.query = query, .query_size = query == NULL ? 0 : strlen(query)};
    bool decoded = is_fed && srv_decoder_end(decoder, &source, out, problem);
    srv_decoder_free(decoder);
    return decoded;
}

bool decode_json_pieces(const char *body, size_t size, size_t piece, const char *query, srv_ask **out,
                        srv_problem *problem) {
    srv_budget budget;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    bool is_fed = true;
    for (size_t at = 0; is_fed && at < size; at += piece)
        is_fed = feed_copy(decoder, body + at, size - at < piece ? size - at : piece, problem);
    return end(decoder, is_fed, query, out, problem);
}

bool decode_json_cut(const char *body, size_t size, size_t cut, srv_ask **out, srv_problem *problem) {
    srv_budget budget;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(srv_codecs_attention.rows, &budget, 0);
    bool is_fed =
        feed_copy(decoder, body, cut, problem) && feed_copy(decoder, body + cut, size - cut, problem);
    return end(decoder, is_fed, NULL, out, problem);
}

bool decode_body(const srv_codec *codec, const char *body, size_t size, const char *query, srv_ask **out,
                 srv_problem *problem) {
    srv_budget budget;
    srv_budget_init(&budget, SIZE_MAX);
    srv_decoder *decoder = srv_decoder_new(codec, &budget, 0);
    return end(decoder, feed_copy(decoder, body, size, problem), query, out, problem);
}

bool decode_json(const char *body, size_t size, const char *query, srv_ask **out, srv_problem *problem) {
    return decode_json_pieces(body, size, size + 1, query, out, problem);
}
