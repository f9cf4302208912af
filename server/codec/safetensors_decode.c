/* Safetensors body and query → ask. The header is the engine's to check; what lies behind it is looked at tensor by
 * tensor, where it is. */
#include "safetensors.h"

#include "json_memory.h"
#include "json_query.h"
#include "metadata.h"
#include "named_tensors.h"
#include "server/jobs/cost.h"

#include <stdio.h>

/* The parts of a body whose lengths have been checked. */
typedef struct parts {
    const char *header, *data;
    size_t header_size, data_size;
} parts;

static bool fail(srv_problem *problem, size_t offset, const char *text) {
    char where[24];
    snprintf(where, sizeof where, "%zu", offset);
    return srv_problem_set(problem, SRV_BAD_BODY, SRV_WHERE_OFFSET, where, "%s", text);
}

static bool cut(const srv_source *source, parts *out, srv_problem *problem) {
    char text[160];
    if (source->size < ATTN_HEADER_LENGTH) {
        snprintf(text, sizeof text, "a body of %zu bytes; safetensors begin with a length of %d bytes",
                 source->size, ATTN_HEADER_LENGTH);
        return fail(problem, source->size, text);
    }
    uint64_t length = attn_file_header_length((const unsigned char *)source->body);
    size_t left = source->size - ATTN_HEADER_LENGTH;
    if (length > left) {
        snprintf(text, sizeof text,
                 "the header should have %ju bytes and %zu follow; the body may be cut short",
                 (uintmax_t)length, left);
        return fail(problem, 0, text);
    }
    *out = (parts){.header = source->body + ATTN_HEADER_LENGTH,
                   .data = source->body + ATTN_HEADER_LENGTH + length,
                   .header_size = (size_t)length,
                   .data_size = left - (size_t)length};
    return true;
}

bool srv_safetensors_measure(srv_source *source, size_t max_text, srv_problem *problem) {
    parts body = {0};
    if (!cut(source, &body, problem)) return false;
    size_t most = max_text > 0 && max_text < ATTN_HEADER_MAX ? max_text : ATTN_HEADER_MAX;
    if (body.header_size > most)
        return srv_problem_set(problem, SRV_BODY_TOO_LARGE, SRV_WHERE_NONE, NULL,
                               "a header of %zu bytes; the limit is %zu (setting limits.max_json)",
                               body.header_size, most);
    /* The tree, and as much again for the list of tensors and the options. */
    if (!attn_size_mul(srv_cost_of_tree(body.header, body.header_size), 2, &source->memory))
        source->memory = SIZE_MAX;
    return true;
}

static bool read_header(const srv_source *source, const parts *body, attn_file_header *out,
                        srv_problem *problem) {
    attn_error error = {0};
    size_t broken = 0;
    srv_json_memory_begin(source->memory);
    attn_code code =
        attn_file_header_parse(body->header, body->header_size, body->data_size, "", out, &broken, &error);
    bool served = srv_json_memory_end();
    if (code == ATTN_OK && served) return true;
    if (code == ATTN_OK) attn_file_header_done(out);
    if (!served || code == ATTN_NO_MEMORY)
        return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                               "no memory for the header's %zu bytes at this moment", body->header_size);
    return fail(problem, ATTN_HEADER_LENGTH + broken, error.text);
}

/* Members from the options, tensors from the data. */
static void read(srv_ask *ask, const srv_source *source, const attn_file_header *header, srv_named *named) {
    srv_problem earlier = {0};
    json_t *root = json_object();
    ask->storage->query = srv_json_query(source, &earlier);
    srv_metadata_read(header, ask, root, &earlier);
    srv_named_sort(named, root, &earlier);
    ask->storage->named = named;
    srv_json_read_members(ask, root, &earlier);
    ask->storage->named = NULL;
    srv_named_done(named);
    json_decref(root);
}

bool srv_safetensors_decode(const srv_source *source, srv_ask **out, srv_problem *problem) {
    parts body = {0};
    attn_file_header header;
    if (!cut(source, &body, problem) || !read_header(source, &body, &header, problem)) return false;
    srv_named named = {.tensors = header.tensors, .count = header.tensor_count, .data = body.data};
    bool fits =
        srv_share_take(source->share, srv_named_cost(named.tensors, named.count, named.data), problem);
    srv_ask *ask = fits ? srv_ask_new() : NULL;
    if (ask != NULL) {
        read(ask, source, &header, &named);
        *out = ask;
    } else if (fits) {
        srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
    }
    attn_file_header_done(&header);
    return ask != NULL;
}
