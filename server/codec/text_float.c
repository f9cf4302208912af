/* float32 as decimal text, one at a time (text.h): the shortest, or a given number of digits. Those are the product of
 * the same table of powers (text_digits.h) rounded by hand; where the table's own rounding leaves a doubt, the C
 * library decides, which is slower and always exact. "Reads back" holds for readers that go to float32 at once and for
 * those that go through double. */
#include "text.h"
#include "text_digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* c · 2^q, c below 2^24 */
typedef struct binary {
    uint32_t c;
    int q;
} binary;

enum { LARGEST_EXACT = 27 }; /* powers of the table from 0 up to this one are exact */

static uint32_t bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static binary binary_of(float number) {
    uint32_t bits = bits_of(number), exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    return exponent == 0 ? (binary){fraction, -149} : (binary){fraction | 0x800000, (int)exponent - 150};
}

/* The upper 64 of the 96 bits of g · c. */
static uint64_t product(uint64_t g, uint32_t c) {
    return (g >> 32) * c + ((g & 0xffffffff) * c >> 32);
}

/* The exact way to `count` digits. Only digits are taken from the C library's text, since the decimal separator is the
 * locale's. */
static srv_digits exactly(float number, int count) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, (double)number);
    const char *exponent = strchr(text, 'e');
    uint32_t digits = 0;
    for (const char *at = text; at < exponent; at++)
        if (*at >= '0' && *at <= '9') digits = digits * 10 + (uint32_t)(*at - '0');
    return (srv_digits){digits, (int)strtol(exponent + 1, NULL, 10) - (count - 1)};
}

/* The number rounded to `count` digits, ties to even. It is spread over nine or ten integer digits and a rest of `bits`
 * bits; the table's rounding up makes that at most 2^24 units too much. */
static srv_digits rounded(float number, int count) {
    binary parts = binary_of(number);
    if (parts.c == 0) return (srv_digits){0, 0};
    while (parts.c < 0x800000)
        parts = (binary){parts.c << 1, parts.q - 1};
    int power = srv_floor_log10_power(parts.q + 23, 0) - (SRV_NINE - 1);
    uint64_t upper = srv_upper_powers[-power - SRV_POWERS_FROM];
    uint64_t g = upper << 32 | srv_lower_powers[-power - SRV_POWERS_FROM], high = product(g, parts.c),
             low = (uint32_t)(g * parts.c);
    int bits = 63 - parts.q - srv_floor_log2_power(-power);
    uint32_t whole = (uint32_t)(high >> (bits - 32));
    uint64_t rest = (high & ((UINT64_C(1) << (bits - 32)) - 1)) << 32 | low;
    int dropped = SRV_NINE - count + (whole >= srv_int_powers[SRV_NINE]);
    /* What is dropped, doubled: `unit` is half of the last digit then. */
    uint32_t unit = srv_int_powers[dropped], kept = whole / unit;
    uint32_t twice = whole % unit * 2 + (uint32_t)(rest >> (bits - 1));
    uint64_t below = rest << 1 & ((UINT64_C(1) << bits) - 1);
    bool is_exact = power <= 0 && -power <= LARGEST_EXACT;
    if (twice == unit && below < UINT64_C(1) << 25 && !is_exact) return exactly(number, count);
    bool up = twice > unit || (twice == unit && (below > 0 || (kept & 1)));
    bool is_longer = kept + up == srv_int_powers[count]; /* 99.96 to three digits */
    return is_longer ? (srv_digits){srv_int_powers[count - 1], power + dropped + 1}
                     : (srv_digits){kept + up, power + dropped};
}

char *srv_nine_write_scientific(srv_nine from, int32_t leading, char *out) {
    int32_t count = srv_nine_count(from);
    out[0] = (char)('0' + from.first);
    out[1] = '.';
    srv_put_eight(from.eight + UINT64_C(0x3030303030303030), out + 2);
    char *at = out + (count > 1 ? count + 1 : 1);
    *at++ = 'e';
    *at = '-';
    at += leading < 0;
    uint32_t size = (uint32_t)abs(leading);
    *at = (char)('0' + size / 10);
    at += size >= 10;
    *at++ = (char)('0' + size % 10);
    return at;
}

size_t srv_float_write(float number, int digits, char *out) {
    srv_digits found =
        srv_leading(digits == 0 ? srv_shortest(bits_of(number)) : rounded(fabsf(number), digits));
    *out = '-';
    char *at = out + (signbit(number) != 0);
    return (size_t)(srv_nine_write(srv_nine_of(found.digits), found.power, at) - out);
}
