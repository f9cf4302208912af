/* float32 → the digits and the power of ten of its text. Pure. For text_float.c and text_floats.c alone: a number at a
 * time, or many in a loop that the compiler turns into vector code, which is why there is no branch and nothing of more
 * than 32 bits where 32 will do.
 *
 * The shortest: R. Giulietti, "The Schubfach way to render doubles" (2020), sections 8 and 9, with the sizes of
 * binary32. */
#ifndef SRV_CODEC_TEXT_DIGITS_H
#define SRV_CODEC_TEXT_DIGITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* digits · 10^power */
typedef struct srv_digits {
    uint32_t digits; /* below 10^9 */
    int32_t power;
} srv_digits;

/* Nine digits, 0 … 9 each: the first one, which is not 0 unless the number is, and the eight behind it with the
 * leftmost in the lowest byte. */
typedef struct srv_nine {
    uint64_t eight;
    uint32_t first;
} srv_nine;

#define SRV_INLINE static inline __attribute__((always_inline))

enum { SRV_NINE = 9, SRV_POWERS_FROM = -31, SRV_POWERS_TO = 53 };

/* 10^k / 2^floor_log2_power(k) · 2^63, rounded up, as upper and lower half. */
static const uint32_t srv_upper_powers[SRV_POWERS_TO - SRV_POWERS_FROM + 1] = {
    0x81ceb32c, 0xa2425ff7, 0xcad2f7f5, 0xfd87b5f2, 0x9e74d1b7, 0xc6120625, 0xf79687ae, 0x9abe14cd,
    0xc16d9a00, 0xf1c90080, 0x971da050, 0xbce50864, 0xec1e4a7d, 0x9392ee8e, 0xb877aa32, 0xe69594be,
    0x901d7cf7, 0xb424dc35, 0xe12e1342, 0x8cbccc09, 0xafebff0b, 0xdbe6fece, 0x89705f41, 0xabcc7711,
    0xd6bf94d5, 0x8637bd05, 0xa7c5ac47, 0xd1b71758, 0x83126e97, 0xa3d70a3d, 0xcccccccc, 0x80000000,
    0xa0000000, 0xc8000000, 0xfa000000, 0x9c400000, 0xc3500000, 0xf4240000, 0x98968000, 0xbebc2000,
    0xee6b2800, 0x9502f900, 0xba43b740, 0xe8d4a510, 0x9184e72a, 0xb5e620f4, 0xe35fa931, 0x8e1bc9bf,
    0xb1a2bc2e, 0xde0b6b3a, 0x8ac72304, 0xad78ebc5, 0xd8d726b7, 0x87867832, 0xa968163f, 0xd3c21bce,
    0x84595161, 0xa56fa5b9, 0xcecb8f27, 0x813f3978, 0xa18f07d7, 0xc9f2c9cd, 0xfc6f7c40, 0x9dc5ada8,
    0xc5371912, 0xf684df56, 0x9a130b96, 0xc097ce7b, 0xf0bdc21a, 0x96769950, 0xbc143fa4, 0xeb194f8e,
    0x92efd1b8, 0xb7abc627, 0xe596b7b0, 0x8f7e32ce, 0xb35dbf82, 0xe0352f62, 0x8c213d9d, 0xaf298d05,
    0xdaf3f046, 0x88d8762b, 0xab0e93b6, 0xd5d238a4, 0x85a36366,
};
static const uint32_t srv_lower_powers[SRV_POWERS_TO - SRV_POWERS_FROM + 1] = {
    0x4b43fcf5, 0x5e14fc32, 0x359a3b3f, 0x8300ca0e, 0x91e07e49, 0x76589ddb, 0xd3eec552, 0x44753b53,
    0x95928a28, 0xbaf72cb2, 0x74da7bef, 0x92111aeb, 0xb69561a6, 0x921d5d08, 0x36a4b44a, 0xc44de15c,
    0x3ab0acda, 0x095cd810, 0x4bb40e14, 0x6f5088cc, 0xcb24aaff, 0xbdedd5bf, 0x36b4a598, 0x8461cefd,
    0xe57a42bd, 0xaf6c69b6, 0x1b478424, 0xe219652c, 0x8d4fdf3c, 0x70a3d70b, 0xcccccccd, 0x00000000,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x80000000, 0xa0000000, 0x04000000,
    0xc5000000, 0x76400000, 0x89e80000, 0xac620000, 0x177a8000, 0x6eac9000, 0x0a57b400, 0xcceda100,
    0x401484a0, 0x9019a5c8, 0xf4200f3a, 0xf8940985, 0x36b90be6, 0x04674edf, 0x45812297, 0x2b70b59e,
    0x364ce306, 0xc3e01bc7, 0x3a6c115d, 0xc90715b4, 0xbb48db21, 0xb50d88f5, 0xe250eb32, 0x1ae525fe,
    0xd0cf37bf, 0x050305ae, 0xc643c71a, 0x7bea5c70, 0x1ae4f38c, 0xa19e306f, 0xa502de46, 0x0e4395d7,
    0x51d47b4d, 0xf324cd10, 0xefee0054, 0xabe98069, 0xeb71f042,
};

static const uint32_t srv_int_powers[SRV_NINE + 1] = {1,      10,      100,      1000,      10000,
                                                      100000, 1000000, 10000000, 100000000, 1000000000};

/* The paper's section 8.1: floor(log10(2^q)), floor(log10(3/4 · 2^q)) where it is irregular, and floor(log2(10^k)) for
 * all that occur. */
SRV_INLINE int32_t srv_floor_log10_power(int32_t q, uint32_t is_irregular) {
    return (q * 1262611 - (is_irregular ? 524031 : 0)) >> 22;
}

SRV_INLINE int32_t srv_floor_log2_power(int32_t k) {
    return (k * 1741647) >> 19;
}

/* The bits above 2^64 of a power times c, the last one set where any below tells of a rest (section 9.9). */
SRV_INLINE uint32_t srv_round_to_odd(uint32_t upper, uint32_t lower, uint32_t c) {
    uint64_t high = (uint64_t)upper * c + ((uint64_t)lower * c >> 32);
    return (uint32_t)(high >> 32) | ((uint32_t)high > 1);
}

/* The decimal of fewest digits within the rounding interval of a float32, the nearest of them where there are several;
 * of its magnitude, from its bits. In quarters of 10^k: the number is b, its interval lies between l and r, whose ends belong to it
 * where c is even. Anything for what is not finite. */
SRV_INLINE srv_digits srv_shortest(uint32_t bits) {
    int32_t exponent = (int32_t)(bits >> 23 & 0xff), q = exponent - 150 + (exponent == 0);
    uint32_t fraction = bits & 0x7fffff, c = fraction | (exponent == 0 ? 0 : 0x800000), is_odd = c & 1;
    /* Below a power of two the neighbour is nearer. */
    uint32_t is_irregular = (fraction == 0) & (exponent > 1);
    int32_t k = srv_floor_log10_power(q, is_irregular), shift = q + srv_floor_log2_power(-k) + 1;
    uint32_t upper = srv_upper_powers[-k - SRV_POWERS_FROM], lower = srv_lower_powers[-k - SRV_POWERS_FROM];
    uint32_t b = srv_round_to_odd(upper, lower, 4 * c << shift);
    uint32_t l = srv_round_to_odd(upper, lower, (4 * c - 2 + is_irregular) << shift) + is_odd;
    uint32_t r = srv_round_to_odd(upper, lower, (4 * c + 2) << shift) - is_odd;
    uint32_t s = b / 4, tens = s / 10 * 10, half = 4 * s + 2;
    uint32_t tens_below = l <= 4 * tens, tens_above = 4 * tens + 40 <= r;
    uint32_t below = l <= 4 * s, above = 4 * s + 4 <= r, nearer = b + (s & 1) > half;
    uint32_t up = (nearer & (below == above)) | (above & (below ^ 1));
    uint32_t few = tens + (tens_above ? 10 : 0), many = s + up;
    /* Arithmetic instead of a branch: which of the candidates it is no processor can guess. */
    srv_digits found = {many ^ ((many ^ few) & -(tens_below ^ tens_above)), k};
    /* One float32 of all: the double nearest to its shortest text, 7.038531e-26, is the border to its neighbour. */
    uint32_t is_odd_one = (bits & 0x7fffffff) == 0x15ae43fd;
    return (srv_digits){is_odd_one ? 70385307 : found.digits, is_odd_one ? -33 : found.power};
}

/* The digits with zeros behind them up to nine; the power becomes that of the first digit. Zero stays zero. */
SRV_INLINE srv_digits srv_leading(srv_digits from) {
    float about_digits =
        (float)(int32_t)from.digits; /* tells how many bits they have, at most one too many */
    int32_t bits;
    memcpy(&bits, &about_digits, sizeof bits);
    int32_t about = ((bits >> 23) - 126) * 1233 >> 12; /* log10(2) = 0.30103: one digit too few at most */
    about = about < 0 ? 0 : about;
    int32_t size = about + (from.digits >= srv_int_powers[about]);
    return (srv_digits){from.digits * srv_int_powers[SRV_NINE - size],
                        from.digits == 0 ? 0 : from.power + size - 1};
}

/* The eight are halved three times, all halves at once: divisions by 10000, 100 and 10, the last two as
 * multiplications that are exact for numbers this small. */
SRV_INLINE srv_nine srv_nine_of(uint32_t digits) {
    uint32_t first = digits / 100000000, rest = digits - first * 100000000, upper = rest / 10000;
    uint64_t fours = upper | (uint64_t)(rest - upper * 10000) << 32;
    uint64_t hundreds = (fours * 5243 >> 19) & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return (srv_nine){tens | (pairs - tens * 10) << 8, first};
}

static inline void srv_put_eight(uint64_t eight, char *out) {
    eight = htole64(eight);
    memcpy(out, &eight, sizeof eight);
}

/* Digits other than zeros at the end; one of zero. */
static inline int32_t srv_nine_count(srv_nine from) {
    return from.eight == 0 ? 1 : SRV_NINE - (__builtin_clzll(from.eight) >> 3);
}

/* 1.23e30; returns its end. */
char *srv_nine_write_scientific(srv_nine from, int32_t leading, char *out);

/* As it is from 0.0001 up to below 10^9, else with an exponent: at most 15 characters. More than those may be
 * written, always as many at a time. Returns its end. */
static inline char *srv_nine_write(srv_nine from, int32_t leading, char *out) {
    uint64_t eight = from.eight + UINT64_C(0x3030303030303030);
    int32_t count = srv_nine_count(from);
    if (leading < -4 || leading >= SRV_NINE) return srv_nine_write_scientific(from, leading, out);
    if (leading < 0) {
        static const char zeros[8] = {'0', '.', '0', '0', '0', '0', '0', '0'};
        memcpy(out, zeros, sizeof zeros);
        out[1 - leading] = (char)('0' + from.first);
        srv_put_eight(eight, out + 2 - leading);
        return out + 1 - leading + count;
    }
    out[0] = (char)('0' + from.first);
    srv_put_eight(eight, out + 1);
    if (count <= leading + 1) return out + leading + 1;
    out[leading + 1] = '.';
    srv_put_eight(eight >> 8 * leading, out + leading + 2);
    return out + count + 1;
}

#endif
