/* Tensors of answers (json_result.h) as parts: the text around them here, their numbers when they are sent. */
#include "json_result.h"

static void put_tensor(const srv_result_writer *to, srv_part *tensor, const char *dtype) {
    srv_text *text = srv_parts_text(to->parts);
    tensor->member = to->member;
    if (!to->ask->base64) {
        srv_parts_add(to->parts, tensor);
        return;
    }
    tensor->form = SRV_FORM_BASE64;
    srv_text_append_string(text, "{\"dtype\":\"");
    srv_text_append_string(text, dtype);
    srv_text_append_string(text, "\",\"shape\":[");
    for (size_t i = 0; i < tensor->view.rank; i++) {
        if (i > 0) srv_text_append(text, ",", 1);
        srv_text_append_size(text, tensor->view.shape[i]);
    }
    srv_text_append_string(text, "],\"data\":\"");
    srv_parts_add(to->parts, tensor);
    srv_text_append_string(text, "\"}");
}

void srv_json_put_view(const srv_result_writer *to, const attn_view *view) {
    const srv_ask *ask = to->ask;
    srv_part tensor = {.view = *view, .half = ask->base64 && ask->half, .precision = ask->precision};
    put_tensor(to, &tensor, tensor.half ? "f16" : "f32");
}

void srv_json_put_indices(const srv_result_writer *to, const attn_view *shape, const int32_t *indices) {
    srv_part tensor = {.view = *shape, .integers = indices};
    put_tensor(to, &tensor, "i32");
}
