/* What the tests of vector kernels share: every width beside its plain twin, on random numbers with all that floats can
 * be, in memory whose end is watched. ATTND_KERNELS=exhaustive takes every float instead of a sample (minutes);
 * ATTND_KERNELS=time prints how long each kernel takes and checks nothing. */
#ifndef TESTS_KERNELS_HARNESS_H
#define TESTS_KERNELS_HARNESS_H

#include "engine/tensor/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool kernels_are_exhaustive(void);
bool kernels_are_timed(void);

/* The width of a loop test's index, which this processor may be unable to run. */
bool kernels_width(int index, attn_vectors *out);

/* `size` bytes up to the end of a page, behind which any access kills the test. */
void *watched_new(size_t size);
void watched_free(void *bytes, size_t size);

/* A stream of bits that is the same on every machine (SplitMix64: Steele, Lea & Flood 2014). */
uint64_t random_bits(uint64_t *state);
/* A length from 0 to `most`, the ends of vectors more often than their middles. */
size_t random_length(uint64_t *state, size_t most);
/* Any float32 at all: NaN, infinities and subnormals as often as their bits. */
float random_float(uint64_t *state);

float float_of(uint32_t bits);
uint32_t bits_of(float value);

/* A kernel, ready to be timed: `run` calls the one of that width on TIMED_NUMBERS numbers. */
enum { TIMED_NUMBERS = 1024 };
typedef struct timed_kernel {
    const char *name;
    void (*run)(attn_vectors vectors);
} timed_kernel;

/* Prints nanoseconds a number for each width, measured in turns, and how many times the plain twin that is. */
void kernels_time(const timed_kernel *kernels, size_t kernel_count);

#endif
