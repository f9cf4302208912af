/* Preloaded into the daemon: makes OpenBLAS choose its oldest kernels, as a release older than the processor
 * does.
 *
 * Only OpenBLAS's own reading of OPENBLAS_CORETYPE is answered so, and only while nobody has set it: the
 * program itself sees the environment as it is. One line on standard error for each start of the program. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *answer(const char *symbol, const char *name, void *caller) {
    char *(*real)(const char *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, symbol);
    const char *value = real ? real(name) : NULL;
    Dl_info from;
    if (value || strcmp(name, "OPENBLAS_CORETYPE") != 0) return value;
    if (!dladdr(caller, &from) || !from.dli_fname || !strstr(from.dli_fname, "openblas")) return NULL;
    return "Prescott";
}

char *getenv(const char *name) {
    return (char *)answer("getenv", name, __builtin_return_address(0));
}

char *secure_getenv(const char *name) {
    return (char *)answer("secure_getenv", name, __builtin_return_address(0));
}

__attribute__((constructor)) static void count_starts(void) {
    fputs("shim: started\n", stderr);
}
