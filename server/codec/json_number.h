/* A JSON number → double, correctly rounded (to nearest, ties to even): what strtod and NumPy give, without a
 * locale. Two ways to the same value: a whole number in memory at once, or byte by byte as pieces arrive.
 *
 * D. Lemire, "Number Parsing at a Gigabyte per Second", Software: Practice and Experience 51(8), 2021; that its
 * product decides every case of 19 digits: N. Mushtak, D. Lemire, "Fast Number Parsing Without Fallback", 53(7),
 * 2023. More digits than 19 are compared exactly where they matter (json_number_exact.c).
 *
 * Pure but for the table of powers, which srv_number_prepare makes; any thread. */
#ifndef SRV_CODEC_JSON_NUMBER_H
#define SRV_CODEC_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once before any number is read, on any thread: makes the table, the first time. */
void srv_number_prepare(void);

/* Reads the number that begins at `at`, where a digit or '-' stands. Returns the place behind it, with an infinity
 * where no double holds it; NULL where this fast way does not tell: the number may go on behind `end`, has very
 * many digits, or is none. Then it is for the slow one. */
const char *srv_number_read(const char *at, const char *end, double *out);

/* Reads numbers with commas between them from `at` on, where a value may stand, as float32: those nearest to the
 * doubles above. At most `room` of them, and as long as this faster way tells. Returns the place behind what it has
 * read: a number, a comma, or a blank behind that; `at` where it has read nothing. */
const char *srv_number_read_floats(const char *at, const char *end, float *out, size_t room, size_t *count);

/* As many digits as can matter: halfway between two doubles lies a number of at most 767; one more stands for what
 * comes behind. */
enum { SRV_NUMBER_DIGITS = 768 };

typedef enum srv_number_state {
    SRV_NUMBER_START,
    SRV_NUMBER_MINUS,
    SRV_NUMBER_ZERO, /* a leading 0, behind which no digit stands */
    SRV_NUMBER_WHOLE,
    SRV_NUMBER_POINT,
    SRV_NUMBER_FRACTION,
    SRV_NUMBER_E,
    SRV_NUMBER_SIGN,
    SRV_NUMBER_EXPONENT,
} srv_number_state;

/* A number of which not all bytes have come. */
typedef struct srv_number {
    srv_number_state state;
    bool is_negative, exponent_is_negative;
    bool is_cut;                       /* a digit other than 0 was left out behind the last one kept */
    size_t count;                      /* significant digits kept */
    int64_t scale;                     /* the value is 0.DIGITS · 10^scale, then times 10^exponent */
    int64_t exponent;                  /* saturates far beyond what a double reaches */
    uint8_t digits[SRV_NUMBER_DIGITS]; /* 0 … 9, the first one not 0 */
} srv_number;

void srv_number_begin(srv_number *number);
/* Takes the next byte; false, with nothing taken, where it is not the number's. */
bool srv_number_take(srv_number *number, char byte);
/* Whether it may end here: what was taken is a number. */
bool srv_number_is_whole(const srv_number *number);
/* Its value; an infinity where no double holds it. */
double srv_number_value(const srv_number *number);

/* Internal to json_number*.c. The double nearest to mantissa · 10^power; mantissa is not 0. */
double srv_number_scale(uint64_t mantissa, int64_t power);
/* 128 bits of 5^power from the highest one on, cut off (rounded up where the power is negative): high, low half. */
enum { SRV_POWER_LOWEST = -342, SRV_POWER_HIGHEST = 308 };
const uint64_t *srv_number_power(int64_t power);
/* Which of `low` and the next double above is nearest to 0.DIGITS · 10^scale, which lies between them. */
double srv_number_exact(const srv_number *number, int64_t scale, double low);

#endif
