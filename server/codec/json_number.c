/* Digits → double (json_number.h). */
#include "json_number.h"

#include "json_decimal.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* 10^0 … 10^22 are doubles without rounding: so is a mantissa below 2^53, and one operation rounds once. */
static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { EXACT_POWER = 22, FRACTION_BITS = 52, INFINITE = 0x7ff };

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

const char *srv_number_read(const char *at, const char *end, double *out) {
    srv_decimal decimal;
    at = srv_decimal_read(at, end, &decimal);
    if (at == NULL) return NULL;
    *out = with_sign(scale_positive(decimal.mantissa, decimal.power), decimal.is_negative);
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
    if (srv_is_digit(byte)) return take_digit(number, byte);
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
    for (; used < number->count && used < SRV_DECIMAL_DIGITS; used++)
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
