/* What every fuzz target has: the entry that libFuzzer calls (https://llvm.org/docs/LibFuzzer.html), which
 * replay.c calls as well with every file of the target's corpus. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Judges one input; ends the program where a promise is broken. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that every input must keep. */
#define FUZZ_PROMISE(condition)                                                                              \
    do {                                                                                                     \
        if (condition) break;                                                                                \
        fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition);                      \
        abort();                                                                                             \
    } while (0)

#endif
