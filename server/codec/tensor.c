/* Tensors of a body (tensor.h). */
#include "tensor.h"

#include "json_scan.h"

#include <math.h>
#include <string.h>

static bool is_little_endian(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1;
}

float *srv_tensor_floats_in_place(const srv_tensor *tensor) {
    uintptr_t at = (uintptr_t)tensor->data;
    bool fits = tensor->dtype == ATTN_F32 && at % _Alignof(float) == 0;
    return fits && is_little_endian() ? (float *)at : NULL;
}

uint8_t *srv_tensor_flags_in_place(const srv_tensor *tensor) {
    bool fits = tensor->dtype == ATTN_BOOL || tensor->dtype == ATTN_U8;
    return fits ? (uint8_t *)(uintptr_t)tensor->data : NULL;
}

void srv_tensor_join(const srv_tensor *tensor, bool flags, size_t before, void **lies) {
    void *here =
        flags ? (void *)srv_tensor_flags_in_place(tensor) : (void *)srv_tensor_floats_in_place(tensor);
    size_t width = flags ? sizeof(uint8_t) : sizeof(float);
    if (before == 0)
        *lies = here;
    else if (*lies != NULL && here != (char *)*lies + before * width)
        *lies = NULL;
}

/* Whether the base64 was such to its end. */
static bool check_sound(const srv_tensor *tensor, const srv_place *place, srv_problem *problem) {
    srv_place inside = {place, "data", 0};
    if (tensor->text == NULL || tensor->text->unsound == SIZE_MAX) return true;
    return srv_place_fail(&inside, problem, SRV_WRONG_TYPE,
                          "character %zu is not what base64 has there (RFC 4648, with padding, without "
                          "spaces)",
                          tensor->text->unsound);
}

/* Whether an element that float32 does not hold is finite nevertheless: a double whose exponent, in the last
 * two of its eight bytes, is not all ones; or one that was found to be so when it was converted. */
static bool is_too_large(const srv_tensor *tensor, size_t index, const unsigned char *element) {
    if (tensor->text != NULL && tensor->text->too_large == index) return true;
    return tensor->dtype == ATTN_F64 && ((element[7] & 0x7f) != 0x7f || (element[6] & 0xf0) != 0xf0);
}

static bool fail_element(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                         size_t index, float value, const unsigned char *element) {
    srv_place inside = {place, "data", 0};
    if (is_too_large(tensor, index, element))
        return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE,
                              "element %zu is beyond float32, which holds magnitudes up to 3.4028235e38",
                              index);
    return srv_place_fail(&inside, problem, SRV_NOT_FINITE, "element %zu is %s; %s", index,
                          isnan(value) ? "NaN"
                          : value > 0  ? "Infinity"
                                       : "-Infinity",
                          masks ? "numbers, or -Infinity to mask a key, are expected"
                                : "a number is expected");
}

bool srv_tensor_floats(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, bool masks,
                       float *out) {
    const unsigned char *bytes = (const unsigned char *)tensor->data;
    size_t width = attn_dtype_bits(tensor->dtype) / 8;
    if (!check_sound(tensor, place, problem)) return false;
    if (bytes != (const unsigned char *)out) attn_dtype_to_f32(tensor->dtype, bytes, tensor->count, out);
    for (size_t i = 0; i < tensor->count; i++) {
        if (isfinite(out[i])) continue;
        const unsigned char *element = bytes + i * width;
        if (masks && isinf(out[i]) && out[i] < 0 && !is_too_large(tensor, i, element)) continue;
        return fail_element(tensor, place, problem, masks, i, out[i], element);
    }
    return true;
}

/* A whole number of 1, 4 or 8 bytes as 0 or 1; any other as 2. */
static uint8_t flag_at(const unsigned char *element, size_t width) {
    for (size_t i = 1; i < width; i++)
        if (element[i] != 0) return 2;
    return element[0] > 1 ? 2 : element[0];
}

bool srv_tensor_flags(const srv_tensor *tensor, const srv_place *place, srv_problem *problem, uint8_t *out) {
    size_t width = attn_dtype_bits(tensor->dtype) / 8;
    if (!check_sound(tensor, place, problem)) return false;
    for (size_t i = 0; i < tensor->count; i++) {
        const unsigned char *element = (const unsigned char *)tensor->data + i * width;
        uint8_t flag = flag_at(element, width);
        if (flag > 1) {
            srv_place inside = {place, "data", 0};
            return srv_place_fail(&inside, problem, SRV_OUT_OF_RANGE,
                                  "element %zu is neither 0 nor 1; a mask holds those", i);
        }
        if (element != out + i) out[i] = flag;
    }
    return true;
}
