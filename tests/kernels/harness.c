#include "harness.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static bool mode_is(const char *mode) {
    const char *wanted = getenv("ATTND_KERNELS");
    return wanted && strcmp(wanted, mode) == 0;
}

bool kernels_are_exhaustive(void) {
    return mode_is("exhaustive");
}

bool kernels_are_timed(void) {
    return mode_is("time");
}

bool kernels_width(int index, attn_vectors *out) {
    *out = (attn_vectors)index;
    return *out <= attn_vectors_best();
}

static size_t pages_for(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void *watched_new(size_t size) {
    size_t usable = pages_for(size), page = pages_for(1);
    char *memory = mmap(NULL, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(memory != MAP_FAILED);
    ck_assert_int_eq(mprotect(memory + usable, page, PROT_NONE), 0);
    return memory + usable - size;
}

void watched_free(void *bytes, size_t size) {
    size_t usable = pages_for(size);
    ck_assert_int_eq(munmap((char *)bytes + size - usable, usable + pages_for(1)), 0);
}

uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

size_t random_length(uint64_t *state, size_t most) {
    uint64_t bits = random_bits(state);
    size_t length = (bits & 1) != 0 ? (bits >> 8) % 50 : (bits >> 8) % (most + 1);
    return length <= most ? length : most;
}

float random_float(uint64_t *state) {
    return float_of((uint32_t)random_bits(state));
}

float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

enum { TIMED_CALLS = 200, TIMED_TURNS = 31 };

static double nanoseconds(const timed_kernel *kernel, attn_vectors vectors) {
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int call = 0; call < TIMED_CALLS; call++)
        kernel->run(vectors);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double took = (double)(ended.tv_sec - began.tv_sec) * 1e9 + (double)(ended.tv_nsec - began.tv_nsec);
    return took / ((double)TIMED_CALLS * (double)TIMED_NUMBERS);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One kernel's median of every width, the widths taking turns. */
static void time_kernel(const timed_kernel *kernel, double medians[ATTN_VECTORS_COUNT]) {
    double took[ATTN_VECTORS_COUNT][TIMED_TURNS];
    attn_vectors vectors;
    for (int turn = 0; turn < TIMED_TURNS; turn++)
        for (int width = 0; kernels_width(width, &vectors) && width < ATTN_VECTORS_COUNT; width++)
            took[width][turn] = nanoseconds(kernel, vectors);
    for (int width = 0; kernels_width(width, &vectors) && width < ATTN_VECTORS_COUNT; width++) {
        qsort(took[width], TIMED_TURNS, sizeof took[width][0], compare);
        medians[width] = took[width][TIMED_TURNS / 2];
    }
}

void kernels_time(const timed_kernel *kernels, size_t kernel_count) {
    attn_vectors vectors;
    for (size_t k = 0; k < kernel_count; k++) {
        double medians[ATTN_VECTORS_COUNT];
        time_kernel(&kernels[k], medians);
        printf("%-16s", kernels[k].name);
        for (int width = 0; kernels_width(width, &vectors) && width < ATTN_VECTORS_COUNT; width++)
            printf("  %s %.3f ns a number (%.1fx)", attn_vectors_name(vectors), medians[width],
                   medians[0] / medians[width]);
        putchar('\n');
    }
}
