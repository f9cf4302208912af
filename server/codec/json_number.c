/* Digits → double (json_number.h). */
#include "json_number.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* 10^0 … 10^22 are doubles without rounding: so is a mantissa below 2^53, and one operation rounds once. */
static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { EXACT_POWER = 22, FRACTION_BITS = 52, MOST_DIGITS = 19, INFINITE = 0x7ff };

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Without a branch: signs are a matter of chance. */
static inline double with_sign(double magnitude, bool is_negative) {
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    return from_bits(bits | (uint64_t)is_negative << 63);
}

/* Lemire's algorithm 1: the mantissa, shifted until its highest bit is set, times the power's 128 bits. */
double srv_number_scale(uint64_t mantissa, int64_t power) {
    if (power < SRV_POWER_LOWEST) return 0;
    if (power > SRV_POWER_HIGHEST) return HUGE_VAL;
    const uint64_t *factor = srv_number_power(power);
    int shift = __builtin_clzll(mantissa);
    mantissa <<= shift;
    wide product = (wide)mantissa * factor[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    /* Where the nine bits behind the result's are all ones the power's lower half may carry into it. */
    if ((high & 0x1ff) == 0x1ff) {
        uint64_t more = (uint64_t)(((wide)mantissa * factor[1]) >> 64);
        low += more;
        high += low < more;
    }
    int top = (int)(high >> 63);
    int drop = top + 64 - FRACTION_BITS - 3; /* one bit below the result's last is kept to round by */
    uint64_t bits = high >> drop;
    /* floor(power · log2(10)), from 217706 / 2^16 = log2(10) closely enough for all of them */
    int64_t exponent = ((217706 * power) >> 16) + 63 + top - shift + 1023;
    if (exponent <= 0) { /* subnormal: bits fall off the end */
        if (exponent <= -63) return 0;
        bits >>= 1 - exponent;
        bits = (bits + (bits & 1)) >> 1;
        return from_bits(bits); /* 2^52, the smallest normal number, included */
    }
    /* Exactly between two doubles, which small powers alone can be: the even one. */
    if (low <= 1 && power >= -4 && power <= 23 && (bits & 3) == 1 && bits << drop == high) bits &= ~1ULL;
    bits = (bits + (bits & 1)) >> 1;
    if (bits >= 2ULL << FRACTION_BITS) {
        bits = 1ULL << FRACTION_BITS;
        exponent++;
    }
    if (exponent >= INFINITE) return HUGE_VAL;
    return from_bits((bits & ~(1ULL << FRACTION_BITS)) | (uint64_t)exponent << FRACTION_BITS);
}

static inline double scale_positive(uint64_t mantissa, int64_t power) {
    if (mantissa <= 1ULL << 53 && power >= -EXACT_POWER && power <= EXACT_POWER)
        return power < 0 ? (double)mantissa / exact_powers[-power] : (double)mantissa * exact_powers[power];
    return mantissa == 0 ? 0 : srv_number_scale(mantissa, power);
}

static inline bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

/* Eight bytes as they lie in memory, the first one lowest. */
static inline uint64_t eight_at(const char *at) {
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

/* Neighbours join: digits into pairs, those into fours, those into one number. */
static inline uint64_t number_of(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    return ((digits & 0x000000ff000000ff) * (100 + (1000000ULL << 32)) +
            (digits >> 16 & 0x000000ff000000ff) * (1 + (10000ULL << 32))) >>
           32;
}

/* Eight at a step. How many the last step has decides no branch: that would be a guess. */
static inline const char *read_digits(const char *at, const char *end, uint64_t *mantissa) {
    static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    while (end - at >= 8) {
        uint64_t bytes = eight_at(at), others = others_in(bytes), digits = bytes & 0x0f0f0f0f0f0f0f0f;
        if (others != 0) {
            unsigned count = (unsigned)__builtin_ctzll(others) / 8;
            /* Those that are not digits go, and zeros come in front. */
            *mantissa = *mantissa * tens[count] + number_of(digits << (56 - 8 * count) << 8);
            return at + count;
        }
        *mantissa = *mantissa * 100000000 + number_of(digits);
        at += 8;
    }
    for (; at < end && is_digit(*at); at++)
        *mantissa = *mantissa * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The power behind an 'e', of four digits at most; NULL: not told. */
static const char *read_power(const char *at, const char *end, int64_t *power) {
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
static ptrdiff_t significant(const char *at, const char *end) {
    ptrdiff_t zeros = 0, count = 0;
    for (; at < end; at++) {
        if (*at == '.') continue;
        count++;
        if (zeros == count - 1 && *at == '0') zeros++;
    }
    return count - zeros;
}

const char *srv_number_read(const char *at, const char *end, double *out) {
    uint64_t mantissa = 0;
    int64_t power = 0;
    bool is_negative = *at == '-';
    const char *first = at + is_negative;
    if (end - first > 2 && is_digit(first[0]) && !is_digit(first[1])) {
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
    if (digits > MOST_DIGITS && significant(first, at) > MOST_DIGITS) return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) at = read_power(at + 1, end, &power);
    if (at == NULL || at == end) return NULL;
    *out = with_sign(scale_positive(mantissa, power), is_negative);
    return at;
}

void srv_number_begin(srv_number *number) {
    number->state = SRV_NUMBER_START;
    number->is_negative = number->exponent_is_negative = number->is_cut = false;
    number->count = 0;
    number->scale = number->exponent = 0;
}

static void add_digit(srv_number *number, char byte, bool behind_point) {
    if (number->count == 0 && byte == '0') {
        number->scale -= behind_point;
        return;
    }
    number->scale += !behind_point;
    if (number->count < SRV_NUMBER_DIGITS) {
        number->digits[number->count++] = (uint8_t)(byte - '0');
    } else {
        number->is_cut = number->is_cut || byte != '0';
    }
}

static void add_exponent(srv_number *number, char byte) {
    if (number->exponent < INT64_MAX / 16) number->exponent = number->exponent * 10 + (byte - '0');
}

/* The state behind a digit; false where none may stand. */
static bool take_digit(srv_number *number, char byte) {
    switch (number->state) {
    case SRV_NUMBER_START:
    case SRV_NUMBER_MINUS:
    case SRV_NUMBER_WHOLE:
        number->state = number->state != SRV_NUMBER_WHOLE && byte == '0' ? SRV_NUMBER_ZERO : SRV_NUMBER_WHOLE;
        add_digit(number, byte, false);
        return true;
    case SRV_NUMBER_POINT:
    case SRV_NUMBER_FRACTION:
        number->state = SRV_NUMBER_FRACTION;
        add_digit(number, byte, true);
        return true;
    case SRV_NUMBER_E:
    case SRV_NUMBER_SIGN:
    case SRV_NUMBER_EXPONENT:
        number->state = SRV_NUMBER_EXPONENT;
        add_exponent(number, byte);
        return true;
    case SRV_NUMBER_ZERO: break;
    }
    return false;
}

bool srv_number_take(srv_number *number, char byte) {
    srv_number_state state = number->state;
    if (is_digit(byte)) return take_digit(number, byte);
    if (byte == '-' && state == SRV_NUMBER_START) {
        number->is_negative = true;
        number->state = SRV_NUMBER_MINUS;
    } else if (byte == '.' && (state == SRV_NUMBER_ZERO || state == SRV_NUMBER_WHOLE)) {
        number->state = SRV_NUMBER_POINT;
    } else if ((byte == 'e' || byte == 'E') && srv_number_is_whole(number) && state != SRV_NUMBER_EXPONENT) {
        number->state = SRV_NUMBER_E;
    } else if ((byte == '-' || byte == '+') && state == SRV_NUMBER_E) {
        number->exponent_is_negative = byte == '-';
        number->state = SRV_NUMBER_SIGN;
    } else {
        return false;
    }
    return true;
}

bool srv_number_is_whole(const srv_number *number) {
    srv_number_state state = number->state;
    return state == SRV_NUMBER_ZERO || state == SRV_NUMBER_WHOLE || state == SRV_NUMBER_FRACTION ||
           state == SRV_NUMBER_EXPONENT;
}

static double magnitude(const srv_number *number) {
    int64_t exponent = number->exponent_is_negative ? -number->exponent : number->exponent;
    int64_t scale;
    if (__builtin_add_overflow(number->scale, exponent, &scale)) scale = exponent;
    uint64_t mantissa = 0;
    size_t used = 0;
    for (; used < number->count && used < MOST_DIGITS; used++)
        mantissa = mantissa * 10 + number->digits[used];
    if (mantissa == 0) return 0;
    int64_t power = scale - (int64_t)used; /* saturated exponents are far from the ends of int64_t */
    double low = scale_positive(mantissa, power);
    if (used == number->count) return low;
    /* What is left out makes at most one of the mantissa's last digit. */
    double high = scale_positive(mantissa + 1, power);
    return low == high ? low : srv_number_exact(number, scale, low);
}

double srv_number_value(const srv_number *number) {
    return with_sign(magnitude(number), number->is_negative);
}
