/* How a test file joins its program: ATTND_SUITE(name) { … return suite; } at its end, and nothing else to edit. */
#ifndef TESTS_SUPPORT_SUITES_H
#define TESTS_SUPPORT_SUITES_H

#include <check.h>

/* Adds a suite to the program that this file is linked into. */
void suites_add(Suite *(*make)(void));
/* Lets a program say more when all tests have run; a report other than 0 fails the program. */
void suites_report_with(int (*report)(SRunner *runner));

#define ATTND_SUITE(name)                                                                                    \
    static Suite *name##_suite(void);                                                                        \
    __attribute__((constructor)) static void name##_suite_add(void) {                                        \
        suites_add(name##_suite);                                                                            \
    }                                                                                                        \
    static Suite *name##_suite(void)

#endif
