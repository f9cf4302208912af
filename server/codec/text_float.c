/* float32 as decimal text: the fewest significant digits that read back to the same float32, or a given
 * number.
 *
 * A number becomes `digits · 10^power`, digits < 10^9, correctly rounded from the float's exact value. For
 * ordinary magnitudes that takes a few double operations whose error is bounded; where the bound leaves a
 * doubt (a tie, a neighbour's border) or the magnitude is extreme, the C library decides, which is slower and
 * always exact. "Reads back" holds for readers that go to float32 at once and for those that go through
 * double. */
#include "text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 9, EXACT_POWER = 22 };

typedef struct decimal {
    uint32_t digits;
    int power;
} decimal;

typedef enum verdict { NO, YES, DOUBT } verdict;

static const uint32_t int_powers[] = {1,      10,      100,      1000,      10000,
                                      100000, 1000000, 10000000, 100000000, 1000000000};

/* 10^0 … 10^22 are exact in double. */
static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* value · 10^power with one rounding: relative error at most 2^-53. |power| <= EXACT_POWER. */
static double scaled(double value, int power) {
    return power < 0 ? value / powers[-power] : value * powers[power];
}

/* The exact way: `count` correctly rounded digits from the C library. Only digits are taken from its text,
 * since the decimal separator is the locale's. *reads_back is asked of the same text, in the same locale. */
static decimal exact_decimal(float number, int count, bool *reads_back) {
    char text[64];
    snprintf(text, sizeof text, "%.*e", count - 1, (double)number);
    *reads_back = strtof(text, NULL) == number && (float)strtod(text, NULL) == number;
    const char *exponent = strchr(text, 'e');
    uint32_t digits = 0;
    for (const char *at = text; at < exponent; at++)
        if (*at >= '0' && *at <= '9') digits = digits * 10 + (uint32_t)(*at - '0');
    return (decimal){digits, (int)strtol(exponent + 1, NULL, 10) - (count - 1)};
}

/* A positive number spread over nine integer digits and a rest: number = (whole + rest) · 10^power nearly. */
typedef struct spread {
    uint32_t whole; /* 10^8 … 10^9 */
    double rest;    /* 0 … 1, wrong by less than SPREAD_ERROR */
    int power;
} spread;

static const double SPREAD_ERROR =
    0x1p-22; /* whole + rest < 2^30, so one rounding moves it by at most 2^-24 */

/* False where the powers of ten that it takes are not exact. */
static bool spread_number(double number, spread *out) {
    int exponent;
    frexp(number, &exponent);
    /* log10(2) = 0.30103: at most one too small or too large, which the loop mends. */
    int power = (int)floor((exponent - 1) * 0.30103) - (MAX_DIGITS - 1);
    for (int tries = 0; tries < 3; tries++) {
        if (power < -EXACT_POWER || power > EXACT_POWER) return false;
        double value = scaled(number, -power);
        if (value >= 1e9) {
            power++;
        } else if (value < 1e8) {
            power--;
        } else {
            double whole = floor(value);
            *out = (spread){(uint32_t)whole, value - whole, power};
            return true;
        }
    }
    return false;
}

/* Rounds to `count` digits; false where the error bound does not tell which way. */
static bool round_spread(const spread *from, int count, decimal *out) {
    int dropped = MAX_DIGITS - count;
    uint32_t unit = int_powers[dropped];
    uint32_t digits = from->whole / unit;
    double distance = (double)(from->whole % unit) + from->rest - 0.5 * (double)unit;
    if (fabs(distance) < SPREAD_ERROR) return false;
    *out = (decimal){digits + (distance > 0), from->power + dropped};
    return true;
}

/* The numbers strictly between low and high round to one float32. */
typedef struct borders {
    double low, high;
} borders;

/* Borders lie half-way to the neighbours: exact in double. Above FLT_MAX the next step counts as one more. */
static borders borders_of(float number) {
    double value = (double)number, below = (double)nextafterf(number, 0);
    float next = nextafterf(number, INFINITY);
    double above = isinf(next) ? value + (value - below) : (double)next;
    return (borders){value - (value - below) / 2, value + (above - value) / 2};
}

static verdict reads_back(const decimal *text, const borders *range) {
    if (text->power < -EXACT_POWER || text->power > EXACT_POWER) return DOUBT;
    double value = scaled((double)text->digits, text->power), error = value * 0x1p-50;
    if (value - error > range->low && value + error < range->high) return YES;
    return value + error < range->low || value - error > range->high ? NO : DOUBT;
}

/* The decimal of `count` digits, and whether it reads back to `number`. */
static decimal round_number(float number, const spread *from, const borders *range, int count, bool *same) {
    decimal text;
    if (from != NULL && round_spread(from, count, &text)) {
        verdict says = reads_back(&text, range);
        if (says != DOUBT) {
            *same = says == YES;
            return text;
        }
    }
    return exact_decimal(number, count, same);
}

/* The fewest digits that read back; nine always do. Where the neighbours are equally far, whatever reads back
 * with few digits does so with more, and most numbers need eight or nine: the search goes down. Below a power
 * of two the neighbour is nearer, and that need not hold: the search goes up. */
static decimal shortest_decimal(float number, const spread *from, const borders *range) {
    int exponent;
    bool same = false;
    if (frexpf(number, &exponent) == 0.5f) {
        decimal text = {0, 0};
        for (int count = 1; count <= MAX_DIGITS && !same; count++)
            text = round_number(number, from, range, count, &same);
        return text;
    }
    decimal text = round_number(number, from, range, MAX_DIGITS, &same);
    for (int count = MAX_DIGITS - 1; count > 0; count--) {
        decimal shorter = round_number(number, from, range, count, &same);
        if (!same) break;
        text = shorter;
    }
    return text;
}

/* number > 0; wanted 1 … 9, or 0: as many as it takes. */
static decimal to_decimal(float number, int wanted) {
    spread known;
    bool same;
    const spread *from = spread_number((double)number, &known) ? &known : NULL;
    borders range = borders_of(number);
    decimal text = wanted == 0 ? shortest_decimal(number, from, &range)
                               : round_number(number, from, &range, wanted, &same);
    while (text.digits % 10 == 0) {
        text.digits /= 10;
        text.power++;
    }
    return text;
}

/* 1230 as it is from 0.0001 up to below 10^9, else 1.23e30: at most 16 bytes with the sign. */
static size_t write_decimal(decimal text, char *out) {
    char digits[12];
    int count = 0;
    for (uint32_t left = text.digits; left > 0; left /= 10)
        count++;
    for (int i = count - 1; i >= 0; i--, text.digits /= 10)
        digits[i] = (char)('0' + text.digits % 10);

    char *at = out;
    int leading = text.power + count - 1; /* the power of ten of the first digit */
    if (leading >= -4 && leading < MAX_DIGITS) {
        if (leading < 0) {
            *at++ = '0';
            *at++ = '.';
            for (int i = -1; i > leading; i--)
                *at++ = '0';
        }
        for (int i = 0; i < count; i++) {
            *at++ = digits[i];
            if (i == leading && i + 1 < count) *at++ = '.';
        }
        for (int i = count; i <= leading; i++)
            *at++ = '0';
        return (size_t)(at - out);
    }
    for (int i = 0; i < count; i++) {
        *at++ = digits[i];
        if (i == 0 && count > 1) *at++ = '.';
    }
    *at++ = 'e';
    if (leading < 0) *at++ = '-';
    int size = abs(leading);
    if (size >= 10) *at++ = (char)('0' + size / 10);
    *at++ = (char)('0' + size % 10);
    return (size_t)(at - out);
}

size_t srv_float_write(float number, int digits, char *out) {
    size_t size = 0;
    if (signbit(number)) out[size++] = '-';
    float magnitude = fabsf(number);
    if (magnitude > 0) return size + write_decimal(to_decimal(magnitude, digits), out + size);
    out[size++] = '0';
    return size;
}
