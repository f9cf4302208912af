/* The choice of OpenBLAS's kernels (blas_core.h). */
#include "blas_core.h"

#include "config/cfg.h"
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char CORE_VARIABLE[] = "OPENBLAS_CORETYPE";

static srv_core found;
static char replaced[64]; /* the library's own choice, as the program before this one saw it */

/* Asks for `core` in the environment and starts this program again. Returns only where that fails. */
static void start_again(const char *core, const char *instead_of, char **argv) {
    if (setenv(CORE_VARIABLE, core, 1) == 0 && setenv(CFG_MARK_BLAS_CORE, instead_of, 1) == 0 &&
        setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0 && setenv("OMP_NUM_THREADS", "1", 1) == 0)
        execv("/proc/self/exe", argv);
    unsetenv(CORE_VARIABLE);
    unsetenv(CFG_MARK_BLAS_CORE);
}

void srv_core_settle(char **argv) {
    const char *mark = cfg_environment_value(CFG_MARK_BLAS_CORE);
    const char *wanted = cfg_environment_value(CORE_VARIABLE);
    found.in_use = attn_blas_core();
    found.better = attn_blas_better_core(found.in_use, attn_blas_processor_level());
    if (mark) {
        /* This is the second start: whatever came of it, there is no third. */
        strncpy(replaced, mark, sizeof replaced - 1);
        unsetenv(CFG_MARK_BLAS_CORE);
        bool was_heard = strcmp(found.in_use, replaced) != 0;
        found.origin = was_heard ? SRV_CORE_OF_ATTND : SRV_CORE_OF_LIBRARY;
        found.instead_of = was_heard ? replaced : NULL;
    } else if (wanted && wanted[0] != '\0') {
        found.origin = SRV_CORE_OF_USER;
    } else {
        found.origin = SRV_CORE_OF_LIBRARY;
        if (found.better) start_again(found.better, found.in_use, argv);
    }
}

const srv_core *srv_core_found(void) {
    return &found;
}

const char *srv_core_origin_text(const srv_core *core) {
    switch (core->origin) {
    case SRV_CORE_OF_LIBRARY: return "the library's choice";
    case SRV_CORE_OF_USER: return "set by the user (OPENBLAS_CORETYPE)";
    case SRV_CORE_OF_ATTND: return "chosen by attnd";
    }
    return "";
}

const char *srv_core_level_text(void) {
    switch (attn_blas_processor_level()) {
    case ATTN_BLAS_UNKNOWN: return "unknown";
    case ATTN_BLAS_SSE: return "SSE";
    case ATTN_BLAS_AVX: return "AVX";
    case ATTN_BLAS_AVX2: return "AVX2";
    case ATTN_BLAS_AVX512: return "AVX-512";
    }
    return "";
}
