/* The table of powers of five (json_number.h): made by multiplying and dividing long numbers, a fraction of a
 * millisecond. Lemire 2021, section 5: 128 bits of each, cut off; of 1/5^n, rounded up. */
#include "json_number.h"

#include <pthread.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* Limbs of 64 bits, the lowest first. 5^308 has 716 bits; 2^1216 / 5^342 has 422. */
enum { LIMBS = 20, ONE = 19 };

static uint64_t powers[SRV_POWER_HIGHEST - SRV_POWER_LOWEST + 1][2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void multiply(uint64_t number[LIMBS]) {
    uint64_t carry = 0;
    for (size_t i = 0; i < LIMBS; i++) {
        wide product = (wide)number[i] * 5 + carry;
        number[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
}

/* The floor; floors of floors are the floor of the whole division. */
static void divide(uint64_t number[LIMBS]) {
    uint64_t rest = 0;
    for (size_t i = LIMBS; i-- > 0;) {
        wide part = (wide)rest << 64 | number[i];
        number[i] = (uint64_t)(part / 5);
        rest = (uint64_t)(part % 5);
    }
}

/* The 128 bits from the highest one on. */
static void head(const uint64_t number[LIMBS], uint64_t out[2]) {
    size_t top = LIMBS - 1;
    while (number[top] == 0)
        top--;
    int shift = __builtin_clzll(number[top]);
    uint64_t a = number[top], b = top > 0 ? number[top - 1] : 0, c = top > 1 ? number[top - 2] : 0;
    out[0] = shift == 0 ? a : a << shift | b >> (64 - shift);
    out[1] = shift == 0 ? b : b << shift | c >> (64 - shift);
}

static void make(void) {
    uint64_t number[LIMBS] = {1};
    for (int power = 0; power <= SRV_POWER_HIGHEST; power++) {
        head(number, powers[power - SRV_POWER_LOWEST]);
        multiply(number);
    }
    memset(number, 0, sizeof number);
    number[ONE] = 1;
    for (int power = -1; power >= SRV_POWER_LOWEST; power--) {
        uint64_t *to = powers[power - SRV_POWER_LOWEST];
        divide(number);
        head(number, to);
        to[1]++; /* never a whole number: up is one more */
        to[0] += to[1] == 0;
    }
}

void srv_number_prepare(void) {
    pthread_once(&once, make);
}

const uint64_t *srv_number_power(int64_t power) {
    return powers[power - SRV_POWER_LOWEST];
}
