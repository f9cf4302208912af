/* The comparison that golden and property tests share. */
#include "compare.h"

#include <math.h>
#include <stdio.h>

static double largest(const double *values, size_t count) {
    double most = 1;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && fabs(values[i]) > most) most = fabs(values[i]);
    return most;
}

/* How far apart two numbers are; infinity where they cannot be compared. */
static double distance(double got, double want) {
    if (isinf(want) && want < 0) return got == want ? 0 : INFINITY;
    return isfinite(got) && isfinite(want) ? fabs(got - want) : INFINITY;
}

static bool compare(const char *name, const float *floats, const double *doubles, const double *want,
                    size_t count, double tolerance, char *text) {
    double bound = tolerance * largest(want, count), worst = bound;
    size_t at = count;
    for (size_t i = 0; i < count; i++) {
        double difference = distance(floats != NULL ? (double)floats[i] : doubles[i], want[i]);
        if (difference <= worst) continue;
        worst = difference;
        at = i;
    }
    if (at == count) return true;
    if (text != NULL)
        snprintf(text, COMPARE_TEXT_SIZE, "%s[%zu]: got %.9g, want %.9g (bound %.3g)", name, at,
                 floats != NULL ? (double)floats[at] : doubles[at], want[at], bound);
    return false;
}

bool compare_floats(const char *name, const float *got, const double *want, size_t count, double tolerance,
                    char *text) {
    return compare(name, got, NULL, want, count, tolerance, text);
}

bool compare_doubles(const char *name, const double *got, const double *want, size_t count, double tolerance,
                     char *text) {
    return compare(name, NULL, got, want, count, tolerance, text);
}
