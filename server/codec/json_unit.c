/* Characters and escapes of JSON strings (json_unit.h). */
#include "json_unit.h"

#include "utf8.h"

#include <stdint.h>
#include <string.h>

/* Four hex digits; more than 0xffff: they are none. */
static uint32_t hex_at(const char *at) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : UINT32_C(1) << 16;
        value = digit > 15 ? UINT32_MAX >> 4 : value << 4 | digit;
        if (value > 0xffff) break;
    }
    return value;
}

static size_t put_utf8(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[size] | code);
    return size;
}

/* Behind "\u". Halves of a pair stand for one character together, and for none alone. */
static srv_unit read_hex(const char *at, size_t left, size_t *taken, char out[4], size_t *size) {
    if (left < 6) return SRV_UNIT_CUT;
    uint32_t code = hex_at(at + 2);
    *taken = 6;
    if (code > 0xffff || (code >= 0xdc00 && code <= 0xdfff)) return SRV_UNIT_WRONG;
    if (code >= 0xd800 && code <= 0xdbff) {
        if (left < 12) return left > 6 && at[6] != '\\' ? SRV_UNIT_WRONG : SRV_UNIT_CUT;
        uint32_t low = at[6] == '\\' && at[7] == 'u' ? hex_at(at + 8) : 0;
        if (low < 0xdc00 || low > 0xdfff) return SRV_UNIT_WRONG;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        *taken = 12;
    }
    *size = put_utf8(code, out);
    return SRV_UNIT_WHOLE;
}

static srv_unit read_escape(const char *at, size_t left, size_t *taken, char out[4], size_t *size) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (left < 2) return SRV_UNIT_CUT;
    if (at[1] == 'u') return read_hex(at, left, taken, out, size);
    const char *letter = at[1] == '\0' ? NULL : strchr(letters, at[1]);
    if (letter == NULL) return SRV_UNIT_WRONG;
    out[0] = meant[letter - letters];
    *size = 1;
    *taken = 2;
    return SRV_UNIT_WHOLE;
}

srv_unit srv_json_unit(const char *at, size_t left, size_t *taken, char out[4], size_t *size) {
    unsigned char lead = (unsigned char)*at;
    if (lead == '\\') return read_escape(at, left, taken, out, size);
    if (lead < 0x20) return SRV_UNIT_WRONG;
    size_t length = srv_utf8_length(at, left);
    if (length == 0) return lead >= 0xc2 && lead <= 0xf4 && left < 4 ? SRV_UNIT_CUT : SRV_UNIT_WRONG;
    memcpy(out, at, length);
    *taken = *size = length;
    return SRV_UNIT_WHOLE;
}

bool srv_json_is_named(const char *inside, size_t size, const char *name) {
    char out[4];
    size_t taken, length, left = strlen(name);
    for (; size > 0; inside += taken, size -= taken, name += length, left -= length) {
        if (srv_json_unit(inside, size, &taken, out, &length) != SRV_UNIT_WHOLE || length > left ||
            memcmp(out, name, length) != 0)
            return false;
    }
    return left == 0;
}
