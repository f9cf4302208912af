/* UTF-8 by its table (utf8.h). */
#include "utf8.h"

#include <string.h>

size_t srv_utf8_length(const char *at, size_t left) {
    const unsigned char *bytes = (const unsigned char *)at, lead = bytes[0];
    if (lead < 0x80) return 1;
    size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                    : (lead & 0xf0) == 0xe0        ? 3
                    : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                   : 0;
    if (length == 0 || length > left) return 0;
    /* Overlong forms, surrogates and numbers beyond U+10FFFF show in the second byte. */
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80) return 0;
    return length;
}

bool srv_is_utf8(const char *text) {
    size_t left = strlen(text), length;
    for (; left > 0; text += length, left -= length)
        if ((length = srv_utf8_length(text, left)) == 0) return false;
    return true;
}

static bool is_control(const unsigned char *at, size_t length) {
    return at[0] < 0x20 || at[0] == 0x7f || (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

const char *srv_utf8_shown(const char *at, size_t left, size_t *taken, size_t *size) {
    *taken = *size = srv_utf8_length(at, left);
    if (*taken == 0) {
        *taken = 1;
        *size = 3;
        return "\xef\xbf\xbd";
    }
    if (!is_control((const unsigned char *)at, *taken)) return at;
    *size = 1;
    return "?";
}

void srv_utf8_clean(char *out, size_t out_size, const char *text) {
    size_t left = strlen(text), used = 0, taken, size;
    for (; left > 0; text += taken, left -= taken) {
        const char *shown = srv_utf8_shown(text, left, &taken, &size);
        if (used + size >= out_size) break;
        memcpy(out + used, shown, size);
        used += size;
    }
    out[used] = '\0';
}
