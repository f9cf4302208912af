/* Every float32 as text, by itself and among others: all 2^32 patterns of bits, those of finite numbers. Minutes on all
 * processors. */
#include "server/codec/text.h"
#include "tests/support/float_text.h"
#include "tests/support/suites.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SLICES = 1 << 11, SLICE = 1 << 20, BLOCK = 1 << 8, MOST_THREADS = 64 };

static atomic_uint next_slice;
static atomic_ulong judged, wrong;

/* A number and its negative, whose text must be the same behind the sign; the text among
 * others, of `size` characters, too. */
static bool is_right(float number, const char *many, size_t size) {
    char text[SRV_FLOAT_ROOM], negative[SRV_FLOAT_ROOM];
    size_t own = srv_float_write(number, 0, text), other = srv_float_write(-number, 0, negative);
    text[own] = '\0';
    return own < 16 && other == own + 1 && negative[0] == '-' && memcmp(negative + 1, text, own) == 0 &&
           size == own && memcmp(many, text, own) == 0 && float_text_is_shortest(text, number);
}

/* The numbers of BLOCK patterns of bits from `first` on. */
static void judge(uint32_t first) {
    float numbers[BLOCK];
    static _Thread_local char text[BLOCK * 17 + SRV_FLOAT_ROOM];
    for (uint32_t i = 0; i < BLOCK; i++) {
        uint32_t bits = first + i;
        memcpy(numbers + i, &bits, sizeof bits);
    }
    char *at = text, *end = srv_floats_write(numbers, BLOCK, 0, text);
    *end = ',';
    for (uint32_t i = 0; i < BLOCK; i++) {
        char *behind = memchr(at, ',', 20);
        size_t size = behind == NULL ? 0 : (size_t)(behind - at);
        bool fine =
            isfinite(numbers[i]) ? is_right(numbers[i], at, size) : size == 4 && memcmp(at, "null", 4) == 0;
        if (!fine && atomic_fetch_add(&wrong, 1) < 10)
            fprintf(stderr, "%08x, %.9g, is written %.*s\n", (unsigned)(first + i), (double)numbers[i],
                    (int)size, at);
        at += size + 1;
    }
}

static void *judge_slices(void *unused) {
    unsigned slice;
    while ((slice = atomic_fetch_add(&next_slice, 1)) < SLICES) {
        for (uint32_t i = 0; i < SLICE; i += BLOCK)
            judge(slice * SLICE + i);
        atomic_fetch_add(&judged, 2 * SLICE);
    }
    return unused;
}

START_TEST(every_float_is_written_shortest_and_reads_back) {
    pthread_t threads[MOST_THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN),
         count = processors < MOST_THREADS ? processors : MOST_THREADS;
    for (long i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, judge_slices, NULL), 0);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%lu patterns of bits, %lu wrong texts\n", atomic_load(&judged), atomic_load(&wrong));
    ck_assert_uint_eq(atomic_load(&judged), UINT64_C(1) << 32);
    ck_assert_uint_eq(atomic_load(&wrong), 0);
}
END_TEST

ATTND_SUITE(floats) {
    Suite *suite = suite_create("floats");
    TCase *cases = tcase_create("all");
    tcase_set_timeout(cases, 0);
    tcase_add_test(cases, every_float_is_written_shortest_and_reads_back);
    suite_add_tcase(suite, cases);
    return suite;
}
