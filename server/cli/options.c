/* Complaints go to standard error, one line each. getopt keeps global state: the main thread only. */
#include "options.h"
#include "cli.h"

#include <getopt.h>
#include <inttypes.h>

void srv_options_begin(void) {
    opterr = 0;
    optind = 0; /* glibc's way to begin anew */
}

int srv_options_bad(char **argv, int answer, const char *accepted) {
    /* A short option may stand in the middle of its word; a long one is the word before. */
    if (answer == ':')
        fprintf(stderr, "attnd %s: option '%s' needs a value\n", argv[0], argv[optind - 1]);
    else if (optopt > 0 && optopt < 128 && argv[optind - 1][0] == '-' && argv[optind - 1][1] != '-')
        fprintf(stderr, "attnd %s: unknown option '-%c'; %s\n", argv[0], optopt, accepted);
    else
        fprintf(stderr, "attnd %s: unknown option '%s'; %s\n", argv[0], argv[optind - 1], accepted);
    return SRV_EXIT_USAGE;
}

static bool read_decimal(const char *text, uint64_t *out) {
    uint64_t number = 0;
    if (*text == '\0') return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(number, 10u, &number)) return false;
        if (__builtin_add_overflow(number, (uint64_t)(*text - '0'), &number)) return false;
    }
    *out = number;
    return true;
}

bool srv_options_number(char **argv, const char *option, const char *text, uint64_t min, uint64_t max,
                        uint64_t *out) {
    uint64_t number;
    if (read_decimal(text, &number) && number >= min && number <= max) {
        *out = number;
        return true;
    }
    fprintf(stderr, "attnd %s: %s is '%s'; a whole number from %" PRIu64 " to %" PRIu64 " is accepted\n",
            argv[0], option, text, min, max);
    return false;
}
