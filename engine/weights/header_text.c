/* Reads the text of a safetensors header, byte by byte, never beyond its end. One thread at a time. */
#include "header_text.h"

#include "../base/size.h"

#include <stdint.h>

char attn_header_peek(attn_header_text *text) {
    while (text->at < text->end &&
           (*text->at == ' ' || *text->at == '\t' || *text->at == '\n' || *text->at == '\r'))
        text->at++;
    return text->at < text->end ? *text->at : '\0';
}

static bool fail(attn_header_text *text, const char *problem) {
    text->problem = problem;
    return false;
}

bool attn_header_take(attn_header_text *text, char mark, const char *problem) {
    if (attn_header_peek(text) != mark) return fail(text, problem);
    text->at++;
    return true;
}

bool attn_header_more(attn_header_text *text, char close, bool first, bool *more) {
    char next = attn_header_peek(text);
    *more = next != close && (first || next == ',');
    if (next != close && !*more)
        return fail(text, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
    if (!first || next == close) text->at++;
    return true;
}

bool attn_header_size(attn_header_text *text, size_t *out) {
    size_t number = 0, digits = 0;
    attn_header_peek(text);
    const char *at = text->at;
    for (; at < text->end && *at >= '0' && *at <= '9'; at++, digits++)
        if (!attn_size_mul(number, 10, &number) || !attn_size_add(number, (size_t)(*at - '0'), &number))
            return false;
    if (digits == 0 || (digits > 1 && *text->at == '0')) return false;
    if (at < text->end && (*at == '.' || *at == 'e' || *at == 'E')) return false;
    text->at += digits;
    *out = number;
    return true;
}

/* Four hexadecimal digits at text->at, taken. */
static bool take_hex(attn_header_text *text, uint32_t *out) {
    uint32_t number = 0;
    if (text->end - text->at < 4) return fail(text, "four hexadecimal digits are expected");
    for (int i = 0; i < 4; i++, text->at++) {
        char digit = *text->at;
        uint32_t value = digit >= '0' && digit <= '9'   ? (uint32_t)(digit - '0')
                         : digit >= 'a' && digit <= 'f' ? (uint32_t)(digit - 'a' + 10)
                         : digit >= 'A' && digit <= 'F' ? (uint32_t)(digit - 'A' + 10)
                                                        : 16;
        if (value == 16) return fail(text, "four hexadecimal digits are expected");
        number = number << 4 | value;
    }
    *out = number;
    return true;
}

/* The character of \uXXXX, or of two such where the first is a high surrogate; text->at stands after the 'u'.
 */
static bool take_unicode(attn_header_text *text, uint32_t *out) {
    uint32_t high, low;
    if (!take_hex(text, &high)) return false;
    if (high == 0) return fail(text, "a name without U+0000 is expected");
    *out = high;
    if (high < 0xD800 || high > 0xDFFF) return true;
    if (high > 0xDBFF || text->end - text->at < 2 || text->at[0] != '\\' || text->at[1] != 'u')
        return fail(text, "a pair of surrogates is expected");
    text->at += 2;
    if (!take_hex(text, &low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return fail(text, "a pair of surrogates is expected");
    *out = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* Writes a character as UTF-8: never longer than the escape that it came from. */
static char *put_character(char *out, uint32_t character) {
    if (character < 0x80) {
        *out++ = (char)character;
        return out;
    }
    int tail = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned leads[] = {0, 0xC0, 0xE0, 0xF0};
    *out++ = (char)(leads[tail] | character >> (6 * tail));
    while (tail-- > 0)
        *out++ = (char)(0x80 | (character >> (6 * tail) & 0x3F));
    return out;
}

static bool take_escape(attn_header_text *text, char **out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t character;
    if (text->at == text->end) return fail(text, "the end of a string is expected");
    char kind = *text->at++;
    for (int i = 0; from[i] != '\0'; i++)
        if (from[i] == kind) {
            *(*out)++ = to[i];
            return true;
        }
    if (kind != 'u') return fail(text, "an escape of JSON is expected");
    if (!take_unicode(text, &character)) return false;
    *out = put_character(*out, character);
    return true;
}

/* The bytes of the UTF-8 character at `at`; 0: it is none. Source: RFC 3629, section 4. */
static size_t character_size(const unsigned char *at, size_t left) {
    unsigned char lead = at[0], low = 0x80, high = 0xBF;
    if (lead < 0x80) return 1;
    size_t size = lead >= 0xC2 && lead <= 0xDF   ? 2
                  : lead >= 0xE0 && lead <= 0xEF ? 3
                  : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                 : 0;
    if (size == 0 || size > left) return 0;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F; /* no surrogates */
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xC0) != 0x80) return 0;
    return size;
}

static bool take_plain(attn_header_text *text, char **out) {
    if ((unsigned char)*text->at < 0x20)
        return fail(text, "an escape in place of a control character is expected");
    size_t size = character_size((const unsigned char *)text->at, (size_t)(text->end - text->at));
    if (size == 0) return fail(text, "UTF-8 is expected");
    while (size-- > 0)
        *(*out)++ = *text->at++;
    return true;
}

char *attn_header_string(attn_header_text *text) {
    if (!attn_header_take(text, '"', "a string is expected")) return NULL;
    char *string = text->at, *out = string;
    while (text->at < text->end && *text->at != '"') {
        bool escaped = *text->at == '\\';
        if (escaped) text->at++;
        if (!(escaped ? take_escape(text, &out) : take_plain(text, &out))) return NULL;
    }
    if (text->at == text->end) {
        fail(text, "the end of a string is expected");
        return NULL;
    }
    text->at++;
    *out = '\0'; /* at the closing quote or before it */
    return string;
}
