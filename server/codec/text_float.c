/* float32 as decimal text: the fewest significant digits that read back to the same float32, or a given number of
 * them, correctly rounded.
 *
 * The shortest: R. Giulietti, "The Schubfach way to render doubles" (2020), sections 8 and 9, with the sizes of
 * binary32. A given number of digits: the product of the same table rounded by hand; where the table's own rounding
 * leaves a doubt, the C library decides, which is slower and always exact.
 *
 * Both give digits · 10^power. Writing them takes no loop and hardly a branch: nine digits are laid out at once, and the
 * zeros at their end are counted. "Reads back" holds for readers that go to float32 at once and for those that go
 * through double. */
#include "text.h"

#include <endian.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct decimal {
    uint32_t digits; /* below 10^9 */
    int power;
} decimal;

/* c · 2^q, c below 2^24 */
typedef struct binary {
    uint32_t c;
    int q;
} binary;

enum { MAX_DIGITS = 9, SMALLEST_POWER = -31, LARGEST_POWER = 53, LARGEST_EXACT = 27 };

/* 10^k / 2^floor_log2_power(k) · 2^63, rounded up; exact for k = 0 … LARGEST_EXACT. */
static const uint64_t powers[LARGEST_POWER - SMALLEST_POWER + 1] = {
    0x81ceb32c4b43fcf5u, 0xa2425ff75e14fc32u, 0xcad2f7f5359a3b3fu, 0xfd87b5f28300ca0eu, 0x9e74d1b791e07e49u,
    0xc612062576589ddbu, 0xf79687aed3eec552u, 0x9abe14cd44753b53u, 0xc16d9a0095928a28u, 0xf1c90080baf72cb2u,
    0x971da05074da7befu, 0xbce5086492111aebu, 0xec1e4a7db69561a6u, 0x9392ee8e921d5d08u, 0xb877aa3236a4b44au,
    0xe69594bec44de15cu, 0x901d7cf73ab0acdau, 0xb424dc35095cd810u, 0xe12e13424bb40e14u, 0x8cbccc096f5088ccu,
    0xafebff0bcb24aaffu, 0xdbe6fecebdedd5bfu, 0x89705f4136b4a598u, 0xabcc77118461cefdu, 0xd6bf94d5e57a42bdu,
    0x8637bd05af6c69b6u, 0xa7c5ac471b478424u, 0xd1b71758e219652cu, 0x83126e978d4fdf3cu, 0xa3d70a3d70a3d70bu,
    0xcccccccccccccccdu, 0x8000000000000000u, 0xa000000000000000u, 0xc800000000000000u, 0xfa00000000000000u,
    0x9c40000000000000u, 0xc350000000000000u, 0xf424000000000000u, 0x9896800000000000u, 0xbebc200000000000u,
    0xee6b280000000000u, 0x9502f90000000000u, 0xba43b74000000000u, 0xe8d4a51000000000u, 0x9184e72a00000000u,
    0xb5e620f480000000u, 0xe35fa931a0000000u, 0x8e1bc9bf04000000u, 0xb1a2bc2ec5000000u, 0xde0b6b3a76400000u,
    0x8ac7230489e80000u, 0xad78ebc5ac620000u, 0xd8d726b7177a8000u, 0x878678326eac9000u, 0xa968163f0a57b400u,
    0xd3c21bcecceda100u, 0x84595161401484a0u, 0xa56fa5b99019a5c8u, 0xcecb8f27f4200f3au, 0x813f3978f8940985u,
    0xa18f07d736b90be6u, 0xc9f2c9cd04674edfu, 0xfc6f7c4045812297u, 0x9dc5ada82b70b59eu, 0xc5371912364ce306u,
    0xf684df56c3e01bc7u, 0x9a130b963a6c115du, 0xc097ce7bc90715b4u, 0xf0bdc21abb48db21u, 0x96769950b50d88f5u,
    0xbc143fa4e250eb32u, 0xeb194f8e1ae525feu, 0x92efd1b8d0cf37bfu, 0xb7abc627050305aeu, 0xe596b7b0c643c71au,
    0x8f7e32ce7bea5c70u, 0xb35dbf821ae4f38cu, 0xe0352f62a19e306fu, 0x8c213d9da502de46u, 0xaf298d050e4395d7u,
    0xdaf3f04651d47b4du, 0x88d8762bf324cd10u, 0xab0e93b6efee0054u, 0xd5d238a4abe98069u, 0x85a36366eb71f042u,
};

static const uint32_t int_powers[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};

/* The paper's section 8.1: floor(log10(2^q)), floor(log10(3/4 · 2^q)) and floor(log2(10^k)) for all that occur. */
static int floor_log10_power(int q) {
    return (q * 1262611) >> 22;
}

static int floor_log10_three_quarters(int q) {
    return (q * 1262611 - 524031) >> 22;
}

static int floor_log2_power(int k) {
    return (k * 1741647) >> 19;
}

static uint64_t power_of_ten(int k) {
    return powers[k - SMALLEST_POWER];
}

static binary binary_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
    return exponent == 0 ? (binary){fraction, -149} : (binary){fraction | 0x800000, (int)exponent - 150};
}

/* The upper 64 of the 96 bits of g · c. */
static uint64_t product(uint64_t g, uint32_t c) {
    return (g >> 32) * c + ((g & 0xffffffff) * c >> 32);
}

/* The product's bits above 2^64, the last one set where any below tells of a rest (the paper's section 9.9). */
static uint32_t round_to_odd(uint64_t g, uint32_t c) {
    uint64_t high = product(g, c);
    return (uint32_t)(high >> 32) | ((uint32_t)high > 1);
}

/* The decimal of fewest digits within the rounding interval of c · 2^q, the nearest of them where there are several.
 * In quarters of 10^k: the number is b, its interval lies between l and r, whose ends belong to it where c is even. */
static decimal shortest(binary number) {
    uint32_t c = number.c;
    /* One float32 of all: the double nearest to its shortest text, 7.038531e-26, is the border to its neighbour. */
    if (c == 0xae43fd && number.q == -107) return (decimal){70385307, -33};
    bool is_even = (c & 1) == 0;
    /* Below a power of two the neighbour is nearer. */
    bool is_irregular = c == 0x800000 && number.q > -149;
    int k = is_irregular ? floor_log10_three_quarters(number.q) : floor_log10_power(number.q);
    int shift = number.q + floor_log2_power(-k) + 1;
    uint64_t g = power_of_ten(-k);
    uint32_t b = round_to_odd(g, 4 * c << shift),
             l = round_to_odd(g, (4 * c - (is_irregular ? 1 : 2)) << shift),
             r = round_to_odd(g, (4 * c + 2) << shift);
    l += !is_even;
    r -= !is_even;
    uint32_t s = b / 4, tens = s / 10 * 10, half = 4 * s + 2;
    /* Arithmetic instead of branches: which of the candidates it is no processor can guess. */
    bool tens_below = l <= 4 * tens, tens_above = 4 * tens + 40 <= r, is_short = tens_below != tens_above;
    bool below = l <= 4 * s, above = 4 * s + 4 <= r, nearer = b + (s & 1) > half;
    uint32_t up = (nearer & (below == above)) | (above & !below);
    uint32_t few = tens + 10 * (uint32_t)tens_above, many = s + up;
    return (decimal){many ^ ((many ^ few) & -(uint32_t)is_short), k};
}

/* The exact way to `count` digits. Only digits are taken from the C library's text, since the decimal separator is the
 * locale's. */
static decimal exactly(float number, int count) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, (double)number);
    const char *exponent = strchr(text, 'e');
    uint32_t digits = 0;
    for (const char *at = text; at < exponent; at++)
        if (*at >= '0' && *at <= '9') digits = digits * 10 + (uint32_t)(*at - '0');
    return (decimal){digits, (int)strtol(exponent + 1, NULL, 10) - (count - 1)};
}

/* The number rounded to `count` digits, ties to even. It is spread over nine or ten integer digits and a rest of `bits`
 * bits; the table's rounding up makes that at most 2^24 units too much. */
static decimal rounded(float number, binary parts, int count) {
    while (parts.c < 0x800000)
        parts = (binary){parts.c << 1, parts.q - 1};
    int power = floor_log10_power(parts.q + 23) - (MAX_DIGITS - 1);
    uint64_t g = power_of_ten(-power), high = product(g, parts.c), low = (uint32_t)(g * parts.c);
    int bits = 63 - parts.q - floor_log2_power(-power);
    uint32_t whole = (uint32_t)(high >> (bits - 32));
    uint64_t rest = (high & ((UINT64_C(1) << (bits - 32)) - 1)) << 32 | low;
    int dropped = MAX_DIGITS - count + (whole >= int_powers[MAX_DIGITS]);
    /* What is dropped, doubled: `unit` is half of the last digit then. */
    uint32_t unit = int_powers[dropped], kept = whole / unit;
    uint32_t twice = whole % unit * 2 + (uint32_t)(rest >> (bits - 1));
    uint64_t below = rest << 1 & ((UINT64_C(1) << bits) - 1);
    bool is_exact = power <= 0 && -power <= LARGEST_EXACT;
    if (twice == unit && below < UINT64_C(1) << 25 && !is_exact) return exactly(number, count);
    bool up = twice > unit || (twice == unit && (below > 0 || (kept & 1)));
    bool is_longer = kept + up == int_powers[count]; /* 99.96 to three digits */
    return is_longer ? (decimal){int_powers[count - 1], power + dropped + 1}
                     : (decimal){kept + up, power + dropped};
}

static int digits_in(uint32_t number) {
    int about = (32 - __builtin_clz(number)) * 1233 >> 12; /* log10(2) = 0.30103: one too many at most */
    return about + (number >= int_powers[about]);
}

/* Nine digits as characters: the first, and the eight behind it with the leftmost in the lowest byte. */
typedef struct characters {
    uint64_t eight;
    char first; /* not '0' */
    int count;  /* without the zeros at the end */
} characters;

/* The eight are halved three times, all halves at once: divisions by 10000, 100 and 10, the last two as
 * multiplications that are exact for numbers this small. */
static characters characters_of(uint32_t digits) {
    uint32_t first = digits / 100000000, rest = digits % 100000000;
    uint64_t fours = rest / 10000 | (uint64_t)(rest % 10000) << 32;
    uint64_t hundreds = (fours * 5243 >> 19) & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    uint64_t eight = tens | (pairs - tens * 10) << 8;
    int zeros = eight == 0 ? 8 : __builtin_clzll(eight) / 8;
    return (characters){eight + UINT64_C(0x3030303030303030), (char)('0' + first), MAX_DIGITS - zeros};
}

static void put_eight(uint64_t eight, char *out) {
    eight = htole64(eight);
    memcpy(out, &eight, sizeof eight);
}

/* 1.23e30 */
static size_t write_scientific(characters number, int leading, char *out) {
    out[0] = number.first;
    out[1] = '.';
    put_eight(number.eight, out + 2);
    char *at = out + (number.count > 1 ? number.count + 1 : 1);
    *at++ = 'e';
    *at = '-';
    at += leading < 0;
    uint32_t size = (uint32_t)abs(leading);
    *at = (char)('0' + size / 10);
    at += size >= 10;
    *at++ = (char)('0' + size % 10);
    return (size_t)(at - out);
}

/* As it is from 0.0001 up to below 10^9, else with an exponent: at most 15 characters. More than those may be
 * written, always as many at a time. */
static size_t write_decimal(decimal from, char *out) {
    int size = digits_in(from.digits), leading = from.power + size - 1; /* the first digit's power of ten */
    characters number = characters_of(from.digits * int_powers[MAX_DIGITS - size]);
    if (leading < -4 || leading >= MAX_DIGITS) return write_scientific(number, leading, out);
    if (leading < 0) {
        memcpy(out, "0.000", 5);
        out[1 - leading] = number.first;
        put_eight(number.eight, out + 2 - leading);
        return (size_t)(1 - leading + number.count);
    }
    out[0] = number.first;
    put_eight(number.eight, out + 1);
    if (number.count <= leading + 1) return (size_t)(leading + 1);
    out[leading + 1] = '.';
    put_eight(number.eight >> 8 * leading, out + leading + 2);
    return (size_t)(number.count + 1);
}

size_t srv_float_write(float number, int digits, char *out) {
    float magnitude = fabsf(number);
    binary parts = binary_of(magnitude);
    size_t sign = signbit(number) != 0;
    out[0] = '-';
    if (parts.c == 0) {
        out[sign] = '0';
        return sign + 1;
    }
    return sign +
           write_decimal(digits == 0 ? shortest(parts) : rounded(magnitude, parts, digits), out + sign);
}
