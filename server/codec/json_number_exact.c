/* Numbers of more than 19 digits that lie close to the middle between two doubles (json_number.h): the whole
 * decimal is compared with that middle, both as long integers. */
#include "json_number.h"

#include <string.h>

__extension__ typedef unsigned __int128 wide;

/* 769 digits have 2555 bits, and the smallest power that they can have, 10^(-324 - 769), has 3631 on the other
 * side, where 54 bits stand and at most 1075 are shifted in. */
enum { LIMBS = 96 };

typedef struct big {
    size_t size; /* limbs in use; the highest one is not 0 */
    uint64_t limbs[LIMBS];
} big;

/* number · factor + more */
static void grow(big *number, uint64_t factor, uint64_t more) {
    for (size_t i = 0; i < number->size; i++) {
        wide product = (wide)number->limbs[i] * factor + more;
        number->limbs[i] = (uint64_t)product;
        more = (uint64_t)(product >> 64);
    }
    if (more != 0) number->limbs[number->size++] = more;
}

static void multiply_fives(big *number, int64_t count) {
    static const uint64_t most = 7450580596923828125; /* 5^27 */
    for (; count >= 27; count -= 27)
        grow(number, most, 0);
    for (; count > 0; count--)
        grow(number, 5, 0);
}

static void shift_left(big *number, size_t bits) {
    grow(number, 1ULL << bits % 64, 0);
    size_t limbs = bits / 64;
    memmove(number->limbs + limbs, number->limbs, number->size * sizeof *number->limbs);
    memset(number->limbs, 0, limbs * sizeof *number->limbs);
    number->size += limbs;
}

static int compare(const big *a, const big *b) {
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (size_t i = a->size; i-- > 0;)
        if (a->limbs[i] != b->limbs[i]) return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

/* The digits as an integer, one more for what was left out. Returns how many they are. */
static int64_t decimal_of(const srv_number *number, big *out) {
    out->size = 0;
    for (size_t i = 0; i < number->count; i++)
        grow(out, 10, number->digits[i]);
    if (number->is_cut) grow(out, 10, 1);
    return (int64_t)(number->count + number->is_cut);
}

double srv_number_exact(const srv_number *number, int64_t scale, double low) {
    uint64_t bits;
    memcpy(&bits, &low, sizeof bits);
    uint64_t fraction = bits & 0xfffffffffffff, exponent = bits >> 52;
    /* low = whole · 2^place; the middle between it and the next one is (2 · whole + 1) · 2^(place - 1). */
    uint64_t whole = exponent == 0 ? fraction : fraction | 1ULL << 52;
    int64_t place = (exponent == 0 ? 1 : (int64_t)exponent) - 1075;
    big decimal, middle = {.size = 1, .limbs = {2 * whole + 1}};
    int64_t power = scale - decimal_of(number, &decimal), twos = power - (place - 1);
    multiply_fives(power > 0 ? &decimal : &middle, power > 0 ? power : -power);
    shift_left(twos > 0 ? &decimal : &middle, (size_t)(twos > 0 ? twos : -twos));
    int order = compare(&decimal, &middle);
    /* The next double above has the next bits, infinity behind the last one included. */
    bits += order > 0 || (order == 0 && (whole & 1) != 0);
    memcpy(&low, &bits, sizeof low);
    return low;
}
