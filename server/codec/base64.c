/* base64 (base64.h). */
#include "base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t srv_base64_write(const unsigned char *bytes, size_t size, char *out) {
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        out[used++] = alphabet[group >> 18];
        out[used++] = alphabet[group >> 12 & 63];
        out[used++] = left > 1 ? alphabet[group >> 6 & 63] : '=';
        out[used++] = left > 2 ? alphabet[group & 63] : '=';
    }
    return used;
}
