/* Rounding the correctly rounded double of a decimal to float32 is what a reader through double does, and what one
 * without it does too, unless that double lies on the border of two floats: there the C library reads both ways. The
 * double of at most nine digits times 10^±22 is one exact operation on doubles away (W. Clinger, "How to read floating
 * point numbers accurately", 1990); of others the C library reads it. */
#include "float_text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_POWER = 22 };

typedef struct decimal {
    uint64_t digits;
    int power;
} decimal;

/* 1230e-5 */
static void put_decimal(decimal from, char *out) {
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + from.digits % 10);
    while ((from.digits /= 10) > 0);
    size_t size = (size_t)(digits + sizeof digits - at);
    memcpy(out, at, size);
    out += size;
    *out++ = 'e';
    *out++ = from.power < 0 ? '-' : '+';
    *out++ = (char)('0' + abs(from.power) / 10);
    *out++ = (char)('0' + abs(from.power) % 10);
    *out = '\0';
}

static bool reads_back(decimal from, float number) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    char text[40];
    double value = (double)from.digits;
    if (from.power < -EXACT_POWER || from.power > EXACT_POWER) {
        put_decimal(from, text);
        value = strtod(text, NULL);
    } else {
        value = from.power < 0 ? value / powers[-from.power] : value * powers[from.power];
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool is_border = (bits & 0x1fffffff) == 0x10000000 || value < 0x1p-126;
    if (!is_border) return (float)value == number;
    put_decimal(from, text);
    return strtof(text, NULL) == number && (float)value == number;
}

/* digits [. digits] [e [-] digits], the whole text; zeros at the end of the digits become powers. */
static bool read_decimal(const char *text, decimal *out) {
    decimal read = {0, 0};
    bool is_behind = false, has_digits = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !is_behind); text++) {
        if (*text == '.') {
            is_behind = true;
            continue;
        }
        has_digits = true;
        read.digits = read.digits * 10 + (uint64_t)(*text - '0');
        read.power -= is_behind;
    }
    if (*text == 'e') {
        char *end;
        read.power += (int)strtol(text + 1, &end, 10);
        text = end;
    }
    while (read.digits != 0 && read.digits % 10 == 0)
        read = (decimal){read.digits / 10, read.power + 1};
    *out = read;
    return has_digits && *text == '\0';
}

bool float_text_is_shortest(const char *text, float number) {
    decimal read;
    if ((*text == '-') != (signbit(number) != 0)) return false;
    text += *text == '-';
    number = fabsf(number);
    if (number == 0) return strcmp(text, "0") == 0;
    if (!read_decimal(text, &read) || read.digits > 999999999 || !reads_back(read, number)) return false;
    /* Of the decimals with a digit less, the two around this one are the nearest to anything that reads back. */
    decimal below = {read.digits / 10, read.power + 1}, above = {read.digits / 10 + 1, read.power + 1};
    return read.digits < 10 || (!reads_back(below, number) && !reads_back(above, number));
}
