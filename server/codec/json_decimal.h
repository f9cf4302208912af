/* A JSON number's digits in memory → mantissa and power. Pure. For json_number.c and json_floats.c alone, whose loops
 * want it inline. */
#ifndef SRV_CODEC_JSON_DECIMAL_H
#define SRV_CODEC_JSON_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As many as 64 bits hold whatever they are. */
enum { SRV_DECIMAL_DIGITS = 19 };

/* mantissa · 10^power */
typedef struct srv_decimal {
    uint64_t mantissa;
    int64_t power;
    bool is_negative;
} srv_decimal;

static inline bool srv_is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

/* Eight bytes as they lie in memory, the first one lowest. */
static inline uint64_t srv_eight_at(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* Those of eight bytes that are no digits, as their highest bits; exact up to the lowest one. '0' … '9' are
 * 0x30 … 0x39. */
static inline uint64_t others_in(uint64_t bytes) {
    uint64_t values = bytes ^ 0x3030303030303030;
    return (values | (values + 0x7676767676767676)) & 0x8080808080808080;
}

/* The number that eight digits 0 … 9 are, as they lie in memory. Neighbours join: digits into pairs, those into fours,
 * those into one. */
static inline uint64_t srv_eight_digits(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ff) * (100 + (1000000ULL << 32)) +
            (digits >> 16 & 0x000000ff000000ff) * (1 + (10000ULL << 32))) >>
           32;
}

/* Eight at a step. How many the last step has decides no branch: that would be a guess. */
static inline const char *read_digits(const char *at, const char *end, uint64_t *mantissa) {
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    while (end - at >= 8) {
        uint64_t bytes = srv_eight_at(at), others = others_in(bytes), digits = bytes & 0x0f0f0f0f0f0f0f0f;
        if (others != 0) {
            unsigned count = (unsigned)__builtin_ctzll(others) / 8;
            /* Those that are not digits go, and zeros come in front. */
            *mantissa = *mantissa * tens[count] + srv_eight_digits(digits << (56 - 8 * count) << 8);
            return at + count;
        }
        *mantissa = *mantissa * 100000000 + srv_eight_digits(digits);
        at += 8;
    }
    for (; at < end && srv_is_digit(*at); at++)
        *mantissa = *mantissa * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The power behind an 'e', of four digits at most; NULL: not told. */
static inline const char *read_power(const char *at, const char *end, int64_t *power) {
    uint64_t value = 0;
    bool is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    const char *digits = at;
    at = read_digits(at, end, &value);
    if (at == digits || at - digits > 4) return NULL;
    *power += is_negative ? -(int64_t)value : (int64_t)value;
    return at;
}

/* Digits from `at` on, up to `end` with perhaps a point among them, leading zeros aside. */
static inline ptrdiff_t significant(const char *at, const char *end) {
    ptrdiff_t zeros = 0, count = 0;
    for (; at < end; at++) {
        if (*at == '.') continue;
        count++;
        if (zeros == count - 1 && *at == '0') zeros++;
    }
    return count - zeros;
}

/* Reads as srv_number_read does: the place behind the number, or NULL. */
static inline const char *srv_decimal_read(const char *at, const char *end, srv_decimal *out) {
    uint64_t mantissa = 0;
    int64_t power = 0;
    bool is_negative = *at == '-';
    const char *first = at + is_negative;
    if (end - first > 2 && srv_is_digit(first[0]) && !srv_is_digit(first[1])) {
        mantissa = (uint64_t)(*first - '0'); /* what most have */
        at = first + 1;
    } else {
        at = read_digits(first, end, &mantissa);
    }
    if (at == first || at == end || (at - first > 1 && *first == '0')) return NULL;
    ptrdiff_t digits = at - first;
    if (*at == '.') {
        const char *point = at++;
        at = read_digits(at, end, &mantissa);
        power = point + 1 - at;
        digits -= power;
        if (power == 0) return NULL;
    }
    if (digits > SRV_DECIMAL_DIGITS && significant(first, at) > SRV_DECIMAL_DIGITS) return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) at = read_power(at + 1, end, &power);
    if (at == NULL || at == end) return NULL;
    *out = (srv_decimal){mantissa, power, is_negative};
    return at;
}

#endif
