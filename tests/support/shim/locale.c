/* Preloaded into the daemon: what a library with a setlocale of its own would do to it. Ends the program
 * where the locale does not have a decimal comma, so that a test that uses it cannot pass for nothing. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void take_the_users_locale(void) {
    if (setlocale(LC_ALL, "") && strcmp(localeconv()->decimal_point, ",") == 0) return;
    fputs("shim: the locale has no decimal comma\n", stderr);
    _Exit(99);
}
