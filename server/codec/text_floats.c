/* Many float32 as decimal text (text.h). What the digits are is found for a batch of numbers at a time, in loops that
 * the compiler turns into code for the vectors in use (engine/tensor/vectors.h): one source for all widths, and whole
 * numbers all along, so that the text is the same. Then one number is laid out behind the other. */
#include "engine/engine.h"

#include "text.h"
#include "text_digits.h"

#include <math.h>

enum {
    BATCH = 32, /* whole vectors of any width */
    FEW = 8,    /* fewer than these are done sooner one by one */
};

typedef struct batch {
    uint64_t eight[BATCH];
    uint32_t first[BATCH];
    int32_t leading[BATCH];
} batch;

typedef void finder(const float *numbers, batch *out);

#ifdef __x86_64__
/* Always inline: so it is compiled for the caller's vectors. */
static inline __attribute__((always_inline)) void find(const float *numbers, batch *out) {
    uint32_t digits[BATCH];
    memcpy(digits, numbers, sizeof digits);
    int32_t power[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        srv_digits found = srv_shortest(digits[i]);
        digits[i] = found.digits;
        power[i] = found.power;
    }
    for (size_t i = 0; i < BATCH; i++) {
        srv_digits found = srv_leading((srv_digits){digits[i], power[i]});
        digits[i] = found.digits;
        power[i] = found.power;
    }
    memcpy(out->leading, power, sizeof power);
    for (size_t i = 0; i < BATCH; i++) {
        srv_nine found = srv_nine_of(digits[i]);
        out->eight[i] = found.eight;
        out->first[i] = found.first;
    }
}

__attribute__((target("avx2"))) static void find_avx2(const float *numbers, batch *out) {
    find(numbers, out);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static void find_avx512(const float *numbers,
                                                                                      batch *out) {
    find(numbers, out);
}

static finder *finder_in_use(void) {
    static finder *const finders[ATTN_VECTORS_COUNT] = {
        [ATTN_VECTORS_AVX2] = find_avx2, [ATTN_VECTORS_AVX512] = find_avx512};
    return finders[attn_vectors_in_use()];
}
#else
static finder *finder_in_use(void) {
    return NULL;
}
#endif

static inline char *write_null(char *out) {
    static const char null[4] = {'n', 'u', 'l', 'l'};
    memcpy(out, null, sizeof null);
    return out + sizeof null;
}

static char *write_batch(finder *find_digits, const float *numbers, size_t count, char *out) {
    batch found;
    find_digits(numbers, &found);
    for (size_t i = 0; i < count; i++) {
        srv_nine nine = {found.eight[i], found.first[i]};
        *out = '-';
        out = isfinite(numbers[i]) ? srv_nine_write(nine, found.leading[i], out + (signbit(numbers[i]) != 0))
                                   : write_null(out);
        *out++ = ',';
    }
    return out;
}

static char *write_batches(finder *find_digits, const float *numbers, size_t count, char *out) {
    float last[BATCH] = {0};
    for (; count >= BATCH; numbers += BATCH, count -= BATCH)
        out = write_batch(find_digits, numbers, BATCH, out);
    if (count == 0) return out;
    memcpy(last, numbers, count * sizeof *last);
    return write_batch(find_digits, last, count, out);
}

static char *write_one_by_one(const float *numbers, size_t count, int digits, char *out) {
    for (size_t i = 0; i < count; i++) {
        out = isfinite(numbers[i]) ? out + srv_float_write(numbers[i], digits, out) : write_null(out);
        *out++ = ',';
    }
    return out;
}

char *srv_floats_write(const float *numbers, size_t count, int digits, char *out) {
    finder *find_digits = digits == 0 && count >= FEW ? finder_in_use() : NULL;
    out = find_digits == NULL ? write_one_by_one(numbers, count, digits, out)
                              : write_batches(find_digits, numbers, count, out);
    return out - 1;
}
