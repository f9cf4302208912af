/* Digits → float32, a run of numbers at a time (json_number.h). Most are D.DDDD with a comma behind, and those are read
 * sixteen digits at once, without a branch that chance decides: in SSE2, which every x86-64 has, or in plain C. */
#include "json_decimal.h"
#include "json_number.h"

#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

enum {
    /* Within these powers whatever 63 bits stand before them is zero or a normal float32. */
    LOWEST_POWER = -37,
    HIGHEST_POWER = 18,
    USUAL_BYTES = 32, /* that may be looked at for a usual number */
    AT_ONCE = 16,     /* digits that are read at once */
};

static const double powers[HIGHEST_POWER - LOWEST_POWER + 1] = {
    1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24,
    1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10,
    1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,
    1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18};

/* The float32 nearest to the double nearest to the decimal; false where this way does not tell. The mantissa, the
 * power and their product are rounded once each: together that is less than four of the product's last bits, and so is
 * the right double's distance. Where no middle between two float32 is as near, all doubles there are one float32: a
 * double's last 29 bits are those that a float32 does not have, and half of them is the middle. */
static inline bool float_of(srv_decimal decimal, float *out) {
    enum { BITS = 29, DOUBT = 4 };
    uint64_t bits, power = (uint64_t)(decimal.power - LOWEST_POWER);
    if (decimal.mantissa >> 63 != 0 || power > HIGHEST_POWER - LOWEST_POWER) return false;
    double value = (double)(int64_t)decimal.mantissa * powers[power];
    memcpy(&bits, &value, sizeof bits);
    uint64_t to_middle = (bits - (UINT64_C(1) << (BITS - 1)) + DOUBT) & ((UINT64_C(1) << BITS) - 1);
    if (to_middle <= 2 * DOUBT) return false;
    bits |= (uint64_t)decimal.is_negative << 63;
    memcpy(&value, &bits, sizeof value);
    *out = (float)value;
    return true;
}

/* Read from 16 - N on: keeps N bytes of sixteen. */
static const unsigned char kept[2 * AT_ONCE] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                255, 255, 255, 255, 255, 255, 255, 255};

#ifdef __x86_64__
static inline __m128i sixteen_at(const void *at) {
    return _mm_loadu_si128((const __m128i *)at);
}

static inline unsigned equal_bytes(__m128i a, __m128i b) {
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
}

/* The first comma of USUAL_BYTES; NULL: there is none. */
static inline const char *comma_from(const char *at) {
    __m128i comma = _mm_set1_epi8(',');
    unsigned found = equal_bytes(sixteen_at(at), comma);
    if (found == 0) {
        at += AT_ONCE;
        found = equal_bytes(sixteen_at(at), comma);
        if (found == 0) return NULL;
    }
    return at + __builtin_ctz(found);
}

/* `count` digits, up to sixteen, and zeros behind them as one number of sixteen; false: there are others. Neighbours
 * join as in srv_eight_digits. */
static inline bool read_sixteen(const char *at, size_t count, uint64_t *out) {
    __m128i digits = _mm_sub_epi8(sixteen_at(at), _mm_set1_epi8('0'));
    digits = _mm_and_si128(digits, sixteen_at(kept + AT_ONCE - count));
    if (equal_bytes(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits) != 0xffff) return false;
    __m128i tens = _mm_mullo_epi16(_mm_and_si128(digits, _mm_set1_epi16(0xff)), _mm_set1_epi16(10));
    __m128i twos = _mm_add_epi16(tens, _mm_srli_epi16(digits, 8));
    __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
    __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    *out = (both & 0xffffffff) * 100000000 + (both >> 32);
    return true;
}
#else
static inline const char *comma_from(const char *at) {
    for (const char *end = at + USUAL_BYTES; at < end; at += 8) {
        uint64_t bytes = srv_eight_at(at) ^ 0x2c2c2c2c2c2c2c2c;
        uint64_t found =
            (bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080; /* exact up to the first */
        if (found != 0) return at + __builtin_ctzll(found) / 8;
    }
    return NULL;
}

static inline bool read_sixteen(const char *at, size_t count, uint64_t *out) {
    const char *mask = (const char *)kept + AT_ONCE - count;
    uint64_t high = (srv_eight_at(at) ^ 0x3030303030303030) & srv_eight_at(mask);
    uint64_t low = (srv_eight_at(at + 8) ^ 0x3030303030303030) & srv_eight_at(mask + 8);
    uint64_t beyond = (high + 0x7676767676767676) | high | (low + 0x7676767676767676) | low;
    if ((beyond & 0x8080808080808080) != 0) return false;
    *out = srv_eight_digits(high) * 100000000 + srv_eight_digits(low);
    return true;
}
#endif

/* One or two digits, or none, and zeros behind them as one of two. */
static inline bool read_two(const char *at, size_t count, uint64_t *out) {
    uint64_t digits = (srv_eight_at(at) ^ 0x3030) & ((UINT64_C(1) << 8 * count) - 1);
    if (((digits | (digits + 0x7676)) & 0x8080) != 0) return false;
    *out = (digits & 0xf) * 10 + (digits >> 8);
    return true;
}

/* The number at `at` if it is as most are, D.DDDD with a comma behind, and USUAL_BYTES are there; returns that comma.
 * Where it is follows from the bytes alone, so that the next number need not wait for this one's sign. */
static inline const char *read_usual(const char *at, float *out) {
    const char *comma = comma_from(at);
    bool is_negative = *at == '-';
    const char *whole = at + is_negative, *fraction = whole + 2;
    uint64_t first = (uint64_t)*whole - '0', sixteen, two;
    if (comma == NULL || first > 9 || whole[1] != '.' || comma == fraction) return NULL;
    size_t count = (size_t)(comma - fraction);
    if (!read_sixteen(fraction, count < AT_ONCE ? count : AT_ONCE, &sixteen)) return NULL;
    sixteen += first * UINT64_C(10000000000000000);
    if (count < AT_ONCE) return float_of((srv_decimal){sixteen, -16, is_negative}, out) ? comma : NULL;
    if (count > AT_ONCE + 2 || !read_two(fraction + AT_ONCE, count - AT_ONCE, &two)) return NULL;
    return float_of((srv_decimal){sixteen * 100 + two, -18, is_negative}, out) ? comma : NULL;
}

/* Any number that float_of tells. Not inline: it would take the loop's registers. */
static __attribute__((noinline)) const char *read_any(const char *at, const char *end, float *out) {
    srv_decimal decimal;
    at = srv_decimal_read(at, end, &decimal);
    return at != NULL && float_of(decimal, out) ? at : NULL;
}

const char *srv_number_read_floats(const char *at, const char *end, float *out, size_t room, size_t *count) {
    size_t i = 0;
    while (i < room && at < end) {
        const char *behind = end - at >= USUAL_BYTES ? read_usual(at, out + i) : NULL;
        if (behind == NULL) behind = read_any(at, end, out + i);
        if (behind == NULL) break;
        i++;
        at = behind; /* a byte is there: the number ends before it */
        if (*at != ',') break;
        at++;
        if (at < end && *at == ' ') at++;
    }
    *count = i;
    return at;
}
