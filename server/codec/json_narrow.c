/* f64 in base64 whose dtype came behind its data (json_tensor.h). Until then eight bytes could have been two elements of
 * f32, so they had to be kept. */
#include "json_tensor.h"

#include <string.h>

enum { PIECE = 512 };

/* Elements to where they lie or before that. */
static void narrow(srv_json_data *part, const char *from, size_t count, char *to) {
    double piece[PIECE];
    for (size_t at = 0, some; at < count; at += some) {
        some = count - at < PIECE ? count - at : PIECE;
        memcpy(piece, from + at * sizeof *piece, some * sizeof *piece);
        srv_json_data_convert(part, ATTN_F64, piece, at, some, (float *)(void *)(to + at * sizeof(float)));
    }
}

/* Marks the part of one tensor. */
static void mark(const json_t *tensor, srv_capture *capture) {
    const json_t *dtype = json_object_get(tensor, "dtype"), *data = json_object_get(tensor, "data");
    if (!json_is_string(data) || !json_is_string(dtype) || strcmp(json_string_value(dtype), "f64") != 0)
        return;
    srv_json_data *part = srv_json_data_of(capture, data);
    if (part != NULL) part->is_wide = !part->was_converted;
}

void srv_json_tensors_narrow(const json_t *value, srv_capture *capture) {
    srv_buffer *elements = &capture->nest.elements;
    srv_json_data *parts = (srv_json_data *)(void *)capture->data.data;
    size_t count = capture->data.size / sizeof *parts, end = 0;
    if (count == 0 || elements->size == 0 || capture->nest.element != SRV_ELEMENT_NUMBER) return;
    if (json_is_object(value)) mark(value, capture);
    /* Behind the first odd element nothing will be read, and objects of the text may be those of deeper lists. */
    const srv_odd *odd = &capture->nest.odd;
    size_t tensors = !capture->nest.lists_objects ? 0 : odd->level > 0 ? odd->index : json_array_size(value);
    for (size_t i = 0; i < tensors; i++)
        mark(json_array_get(value, i), capture);
    for (size_t i = 0; i < count; i++) {
        size_t behind = i + 1 < count ? parts[i + 1].first : elements->size, size = behind - parts[i].first;
        char *from = elements->data + parts[i].first, *to = elements->data + end;
        parts[i].first = end;
        if (parts[i].is_wide) {
            narrow(&parts[i], from, size / sizeof(double), to);
            size = size / sizeof(double) * sizeof(float);
        } else {
            memmove(to, from, size);
        }
        end += size;
    }
    elements->size = end;
}
