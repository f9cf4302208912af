/* Body of a request for inference → ask (oip.h). The lists of `data` are taken out as the body comes (json_scan.h); bytes
 * behind the JSON are collected. What is asked becomes the members of the contract's own JSON, which are read as
 * everybody's; where the client wrote them is kept for errors. */
#include "oip.h"

#include "decoder.h"

#include "json_fields.h"
#include "json_query.h"
#include "json_text.h"
#include "oip_ask.h"
#include "oip_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const srv_oip_outputs[SRV_OIP_OUTPUTS] = {"outputs", "attention"};

typedef struct oip_decoder {
    srv_decoder base;
    srv_scan scan;
    srv_buffer tail; /* what stands behind the JSON */
} oip_decoder;

/* What a request becomes. */
typedef struct request {
    oip_decoder *decoder;
    const srv_source *source;
    srv_oip_reader in;
    srv_ask *ask;
    srv_oip *inference;
    json_t *root; /* members of the contract's own JSON … */
    json_t *places;
    size_t tree;         /* bytes that are held for Jansson's */
    bool binary_outputs; /* unless an output says otherwise */
} request;

static bool no_memory(srv_problem *problem) {
    return srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL, "no memory for the request");
}

static void set_member(request *to, const char *name, json_t *value) {
    if (json_object_set_new(to->root, name, value) != 0) no_memory(&to->in.found);
}

static void set_place(request *to, const char *name, json_t *pointer) {
    if (json_object_set_new(to->places, name, pointer) != 0) no_memory(&to->in.found);
}

/* An option that has its name in the contract's own JSON. */
static void set_option(request *to, const char *name, const json_t *parameters) {
    json_t *value = json_object_get(parameters, name);
    if (value == NULL || json_is_null(value)) return;
    set_member(to, name, json_incref(value));
    set_place(to, name, json_sprintf("/parameters/%s", name));
}

/* Microseconds, 0 being none, as whole milliseconds. */
static void read_timeout(request *to, const json_t *value, const srv_place *above) {
    srv_place place = {above, "timeout", 0};
    size_t microseconds;
    if (value == NULL || json_is_null(value)) return;
    if (!srv_json_whole(value, &place, &to->in.found, 0, SIZE_MAX, &microseconds) || microseconds == 0)
        return;
    set_member(to, "timeout_ms", json_real(ceil((double)microseconds / 1e3)));
}

static void read_flag(request *to, const json_t *object, const char *name, const srv_place *above,
                      bool *out) {
    const json_t *value = json_object_get(object, name);
    srv_place place = {above, name, 0};
    char found[SRV_FOUND_SIZE];
    if (value == NULL || json_is_null(value)) return;
    if (!json_is_boolean(value))
        srv_place_fail(&place, &to->in.found, SRV_WRONG_TYPE, "found %s; true or false is expected",
                       srv_json_found(value, found));
    *out = json_is_true(value);
}

/* Requests are served in the order in which they come: a priority is checked and changes nothing. */
static void read_priority(request *to, const json_t *value, const srv_place *above) {
    srv_place place = {above, "priority", 0};
    size_t ignored;
    if (value != NULL && !json_is_null(value))
        srv_json_whole(value, &place, &to->in.found, 0, SIZE_MAX, &ignored);
}

static void read_parameters(request *to, const json_t *value) {
    static const char *const known[] = {
        "layer", "causal", "window", "timeout", "priority", "binary_data_output", NULL};
    srv_place place = {NULL, "parameters", 0};
    const json_t *parameters = srv_oip_object(&to->in, value, &place);
    if (parameters == NULL) return;
    for (size_t i = 0; i < 3; i++)
        set_option(to, known[i], parameters);
    srv_oip_check_members(&to->in, parameters, &place, known);
    read_timeout(to, json_object_get(parameters, "timeout"), &place);
    read_priority(to, json_object_get(parameters, "priority"), &place);
    read_flag(to, parameters, "binary_data_output", &place, &to->binary_outputs);
}

static void read_id(request *to, json_t *value) {
    char found[SRV_FOUND_SIZE];
    srv_place place = {NULL, "id", 0};
    if (value == NULL || json_is_null(value)) return;
    if (json_is_string(value))
        to->inference->id = json_incref(value);
    else
        srv_place_fail(&place, &to->in.found, SRV_WRONG_TYPE, "found %s; a string is expected",
                       srv_json_found(value, found));
}

/* How many outputs the model's name has. */
static size_t outputs_of(const request *to) {
    return to->inference->has_maps ? 2 : 1;
}

static bool find_output(request *to, const json_t *name, const srv_place *place, size_t *which) {
    char found[SRV_FOUND_SIZE], quote[SRV_QUOTE_SIZE];
    const srv_addressed *addressed = to->source->addressed;
    if (!json_is_string(name))
        return srv_place_fail(place, &to->in.found, name == NULL ? SRV_MISSING_FIELD : SRV_WRONG_TYPE,
                              "found %s; an output's name is expected",
                              name == NULL ? "no name" : srv_json_found(name, found));
    const char *text = json_string_value(name);
    for (*which = 0; *which < outputs_of(to); (*which)++)
        if (strcmp(srv_oip_outputs[*which], text) == 0) break;
    if (*which == outputs_of(to))
        return srv_place_fail(
            place, &to->in.found, SRV_UNKNOWN_FIELD, "no output '%s'; %s%.64s%s",
            srv_json_quote(text, json_string_length(name), quote),
            to->inference->has_maps ? "outputs and attention are those of " : "outputs it is; ",
            addressed->model, to->inference->has_maps ? SRV_OIP_MAPS : SRV_OIP_MAPS " has attention as well");
    for (size_t i = 0; i < to->inference->output_count; i++)
        if (to->inference->outputs[i].which == *which)
            return srv_place_fail(place, &to->in.found, SRV_CONFLICT,
                                  "output '%s' is asked for twice; once is expected",
                                  srv_oip_outputs[*which]);
    return true;
}

static void read_output(request *to, const json_t *value, const srv_place *place) {
    static const char *const members[] = {"name", "parameters", NULL};
    static const char *const parameters[] = {"binary_data", NULL};
    srv_place name = {place, "name", 0}, above = {place, "parameters", 0};
    char found[SRV_FOUND_SIZE];
    srv_oip_output output = {.is_binary = to->binary_outputs};
    if (!json_is_object(value)) {
        srv_place_fail(place, &to->in.found, SRV_WRONG_TYPE, "found %s; an object is expected",
                       srv_json_found(value, found));
        return;
    }
    const json_t *given = srv_oip_object(&to->in, json_object_get(value, "parameters"), &above);
    if (!srv_oip_check_members(&to->in, value, place, members) ||
        (given != NULL && !srv_oip_check_members(&to->in, given, &above, parameters)) ||
        !find_output(to, json_object_get(value, "name"), &name, &output.which))
        return;
    read_flag(to, given, "binary_data", &above, &output.is_binary);
    to->inference->outputs[to->inference->output_count++] = output;
}

static void read_outputs(request *to, const json_t *value) {
    char found[SRV_FOUND_SIZE];
    srv_place place = {NULL, "outputs", 0};
    if (value != NULL && !json_is_null(value) && !json_is_array(value))
        srv_place_fail(&place, &to->in.found, SRV_WRONG_TYPE, "found %s; a list of outputs is expected",
                       srv_json_found(value, found));
    for (size_t i = 0; i < json_array_size(value); i++) {
        srv_place inside = {&place, NULL, i};
        read_output(to, json_array_get(value, i), &inside);
    }
    if (to->inference->output_count > 0) return;
    for (size_t i = 0; i < outputs_of(to); i++)
        to->inference->outputs[to->inference->output_count++] = (srv_oip_output){i, to->binary_outputs};
}

/* Asks for those outputs, and for nothing else. */
static void set_returns(request *to) {
    bool wanted[SRV_OIP_OUTPUTS] = {false};
    for (size_t i = 0; i < to->inference->output_count; i++)
        wanted[to->inference->outputs[i].which] = true;
    json_t *returns = json_object();
    for (size_t i = 0; i < SRV_OIP_OUTPUTS; i++)
        if (json_object_set_new(returns, srv_oip_outputs[i], json_boolean(wanted[i])) != 0)
            no_memory(&to->in.found);
    set_member(to, "return", returns);
}

/* JSON and bytes. False with a problem in to->in.broken. */
static bool read_json(request *to, json_t *root) {
    static const char *const members[] = {"id", "parameters", "inputs", "outputs", NULL};
    char found[SRV_FOUND_SIZE];
    if (!json_is_object(root))
        return srv_problem_set(to->in.broken, SRV_WRONG_TYPE, SRV_WHERE_POINTER, "",
                               "found %s; an object is expected", srv_json_found(root, found));
    srv_oip_check_members(&to->in, root, NULL, members);
    read_id(to, json_object_get(root, "id"));
    read_parameters(to, json_object_get(root, "parameters"));
    read_outputs(to, json_object_get(root, "outputs"));
    return srv_oip_inputs_read(&to->in, json_object_get(root, "inputs"));
}

static bool read_described(request *to) {
    oip_decoder *decoder = to->decoder;
    size_t told = decoder->base.head, there = decoder->scan.before;
    if (told != SIZE_MAX && there < told)
        return srv_problem_set(
            to->in.broken, SRV_BAD_BODY, SRV_WHERE_HEADER, "Inference-Header-Content-Length",
            "Inference-Header-Content-Length says %zu bytes of JSON; the body has %zu", told, there);
    to->in.has_tail = told != SIZE_MAX;
    json_t *root = srv_json_read_text(&decoder->scan, to->source->job, &to->tree, to->in.broken);
    bool done = root != NULL && read_json(to, root);
    json_decref(root);
    return done;
}

/* Without JSON: all is the one tensor, and its length tells how many rows it has. */
static bool read_raw(request *to) {
    const srv_addressed *addressed = to->source->addressed;
    const srv_buffer *bytes = &to->decoder->tail;
    size_t row = addressed->width * sizeof(float);
    to->binary_outputs = true;
    if (row == 0)
        return srv_problem_set(
                   &to->in.found, SRV_SHAPE_MISMATCH, SRV_WHERE_HEADER, "Inference-Header-Content-Length",
                   "bytes without JSON; model '%s' takes rows of any width, so a shape is expected",
                   addressed->model) ||
               true;
    if (bytes->size == 0 || bytes->size % row != 0)
        return srv_problem_set(to->in.broken, SRV_BAD_BODY, SRV_WHERE_NONE, NULL,
                               "a body of %zu bytes; rows of %zu FP32 numbers take %zu bytes each",
                               bytes->size, addressed->width, row);
    to->in.tensors[0] = (attn_file_tensor){.name = srv_oip_inputs[0].name,
                                           .dtype = ATTN_F32,
                                           .rank = 3,
                                           .shape = {1, bytes->size / row, addressed->width},
                                           .count = bytes->size / sizeof(float),
                                           .end = bytes->size};
    to->in.places[0] = bytes->data;
    to->in.count = 1;
    return true;
}

static void check_inputs(request *to) {
    srv_place place = {NULL, "inputs", 0};
    for (size_t i = 0; i < to->in.count; i++)
        if (to->in.tensors[i].name == srv_oip_inputs[0].name) return;
    srv_place_fail(&place, &to->in.found, SRV_MISSING_FIELD,
                   "no input 'inputs'; [N,L,D] numbers are expected");
}

/* Hands all to the reader of the contract's own members. */
static void read_members(request *to) {
    srv_named named = {.tensors = to->in.tensors, .count = to->in.count, .places = to->in.places};
    struct srv_ask_storage *storage = to->ask->storage;
    for (size_t i = 0; i < to->in.count && to->in.found.id == SRV_NO_PROBLEM; i++)
        set_place(to, to->in.tensors[i].name, json_sprintf("/inputs/%zu/", to->in.indices[i]));
    srv_named_sort(&named, to->root, &to->in.found);
    storage->named = &named;
    storage->share = to->in.share;
    srv_json_read_members(to->ask, to->root, &to->in.found);
    storage->named = NULL;
    storage->share = NULL;
    srv_named_done(&named);
}

/* How an answer is sent may stand in the query; what is computed may not. */
static void read_query(request *to) {
    const char *name;
    json_t *value;
    json_t *query = srv_json_query(to->source, &to->in.found);
    to->ask->storage->query = query;
    json_object_foreach(query, name, value) {
        if (strcmp(name, "compress") == 0) continue;
        srv_problem_set(
            &to->in.found, SRV_UNKNOWN_FIELD, SRV_WHERE_PARAMETER, name,
            "unknown parameter '%s'; 'compress' alone is known here, all else stands in the body's "
            "'parameters'",
            name);
    }
}

static bool read_request(request *to) {
    bool is_raw = to->decoder->base.head == 0;
    read_query(to);
    set_member(to, "model", json_string(to->source->addressed->model));
    bool done = is_raw ? read_raw(to) : read_described(to);
    if (!done) return false;
    if (is_raw) read_outputs(to, NULL);
    check_inputs(to);
    set_returns(to);
    read_members(to);
    return true;
}

static srv_ask *new_ask(const srv_source *source) {
    srv_ask *ask = srv_ask_new();
    if (ask == NULL) return NULL;
    ask->storage->inference = calloc(1, sizeof *ask->storage->inference);
    ask->storage->places = json_object();
    if (ask->storage->inference != NULL && ask->storage->places != NULL) {
        ask->storage->inference->has_maps = source->addressed->has_maps;
        return ask;
    }
    srv_ask_free(ask);
    return NULL;
}

static bool feed(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem) {
    oip_decoder *this = (oip_decoder *)decoder;
    size_t left = decoder->head - this->scan.before, text = size < left ? size : left;
    return (text == 0 || srv_scan_feed(&this->scan, piece, text, problem)) &&
           srv_buffer_append(&this->tail, piece + text, size - text, &decoder->share, problem);
}

static bool end(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem) {
    oip_decoder *this = (oip_decoder *)decoder;
    srv_ask *ask = new_ask(source);
    json_t *root = json_object();
    bool done = false;
    srv_buffer_fit(&this->tail, &decoder->share);
    if (ask == NULL || root == NULL) {
        no_memory(problem);
    } else {
        request to = {.decoder = this,
                      .source = source,
                      .in = {.bytes = this->tail.data,
                             .size = this->tail.size,
                             .captures = this->scan.captures,
                             .share = &decoder->share,
                             /* The first one is the bytes'. */
                             .kept = ask->storage->kept + 1,
                             .broken = problem},
                      .ask = ask,
                      .inference = ask->storage->inference,
                      .root = root,
                      .places = ask->storage->places};
        done = read_request(&to);
        json_object_clear(root);
        /* The id is what may be left of the tree. */
        if (ask->storage->inference->id == NULL) srv_share_give(&decoder->share, to.tree);
        ask->storage->kept[0] = this->tail;
        this->tail = (srv_buffer){0};
    }
    json_decref(root);
    if (done)
        *out = ask;
    else
        srv_ask_free(ask);
    return done;
}

static void drop(srv_decoder *decoder) {
    oip_decoder *this = (oip_decoder *)decoder;
    srv_scan_done(&this->scan);
    srv_buffer_done(&this->tail, &decoder->share);
}

srv_decoder *srv_oip_decoder(size_t max_text) {
    oip_decoder *this = calloc(1, sizeof *this);
    if (this == NULL) return NULL;
    this->base = (srv_decoder){.feed = feed, .end = end, .drop = drop};
    srv_scan_begin(&this->scan, SRV_CONTRACT_INFERENCE, &this->base.share, max_text);
    return &this->base;
}
