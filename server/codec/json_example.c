/* A request that a layer answers with 200: a few tokens of small round numbers, a row a line where rows are
 * short. Made from the layer's widths, so that it is right for any model. */
#include "json.h"

#include <string.h>

enum { SHORT_ROW = 16, ANY_WIDTH = 4 };

static const char *const query_labels[] = {"The", "cat", "sat"};
static const char *const key_labels[] = {"Die", "Katze", "saß"};

/* Short rows are unit vectors, which show by eye what a layer does; long ones a pattern
 * without a direction. */
static void put_row(srv_text *out, size_t row, size_t width) {
    static const char *const pattern[] = {"1", "0", "-1", "0.5", "0", "-0.5", "0"};
    for (size_t i = 0; i < width; i++) {
        srv_text_append_string(out, i == 0 ? "[" : width <= SHORT_ROW ? ", " : ",");
        if (width <= SHORT_ROW) {
            srv_text_append_string(out, i == row % width ? "1" : "0");
        } else {
            srv_text_append_string(out, pattern[(i * (row + 2) + row) % 7]);
        }
    }
    srv_text_append_string(out, "]");
}

static void put_rows(srv_text *out, const char *name, size_t rows, size_t first, size_t width) {
    srv_text_append_string(out, ",\n  \"");
    srv_text_append_string(out, name);
    srv_text_append_string(out, "\": [");
    for (size_t i = 0; i < rows; i++) {
        if (i > 0) srv_text_append_string(out, ",\n    ");
        put_row(out, first + i, width);
    }
    srv_text_append_string(out, "]");
}

static void put_labels(srv_text *out, const char *name, const char *const *labels, size_t count) {
    srv_text_append_string(out, ",\n  \"");
    srv_text_append_string(out, name);
    srv_text_append_string(out, "\": [");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) srv_text_append_string(out, ", ");
        srv_text_append_json_string(out, labels[i], strlen(labels[i]));
    }
    srv_text_append_string(out, "]");
}

bool srv_json_example(const char *model, size_t layer_index, const attn_layer *layer, srv_text *out) {
    size_t width = layer->d_model == 0 ? ANY_WIDTH : layer->d_model;
    bool own_values = layer->d_value != layer->d_key;
    bool context = layer->is_cross || own_values || layer->d_key != layer->d_model;
    /* Three and two would leave a causal layer or a window without an alignment. */
    size_t queries = width > SHORT_ROW ? 2 : 3;
    size_t keys = layer->causal == ATTN_CAUSAL_OFF && layer->window == 0 ? 5 - queries : queries;
    srv_text_append_string(out, "{\n  \"model\": ");
    srv_text_append_json_string(out, model, strlen(model));
    srv_text_append_string(out, ",\n  \"layer\": ");
    srv_text_append_size(out, layer_index);
    put_rows(out, "inputs", queries, 0, width);
    if (context) put_rows(out, "context", keys, 1, layer->d_key);
    if (own_values) put_rows(out, "values", keys, 2, layer->d_value);
    put_labels(out, "tokens", query_labels, queries);
    if (context) put_labels(out, "context_tokens", key_labels, keys);
    srv_text_append_string(out, "\n}\n");
    return !out->failed;
}
