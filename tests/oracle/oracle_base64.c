/* base64 of the oracle (oracle_parts.h): strict, as RFC 4648 has it. */
#include "oracle_parts.h"

static size_t padding(const char *text, size_t size) {
    if (size == 0 || text[size - 1] != '=') return 0;
    return text[size - 2] == '=' ? 2 : 1;
}

bool oracle_base64_size(const char *text, size_t size, size_t *out) {
    if (size % 4 != 0) return false;
    *out = size / 4 * 3 - padding(text, size);
    return true;
}

/* 0 … 63, or 64 for what is not in the alphabet. */
static uint32_t value_of(char c) {
    if (c >= 'A' && c <= 'Z') return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z') return (uint32_t)(c - 'a') + 26;
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

/* One group of four, of which `kept` are not padding. Returns how many characters are sound. */
static size_t decode_group(const char *text, size_t kept, unsigned char *out) {
    uint32_t group = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t value = i < kept ? value_of(text[i]) : 0;
        if (value > 63) return i;
        group = group << 6 | value;
    }
    /* The bits that padding leaves over must be zero (RFC 4648, section 3.5): one text for the same bytes. */
    if (kept < 4 && (group & (kept == 3 ? 0xff : 0xffff)) != 0) return kept - 1;
    for (size_t i = 0; i + 1 < kept; i++)
        out[i] = (unsigned char)(group >> (16 - 8 * i));
    return 4;
}

size_t oracle_base64_decode(const char *text, size_t size, bool last, unsigned char *out) {
    for (size_t at = 0; at < size; at += 4, out += 3) {
        size_t kept = last && at + 4 == size ? 4 - padding(text, size) : 4;
        size_t sound = decode_group(text + at, kept, out);
        if (sound < 4) return at + sound;
    }
    return size;
}
