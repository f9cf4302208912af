/* Which kernel set is right for a processor. Names and what they need: OpenBLAS's TargetList.txt and
 * DYNAMIC_ARCH documentation. */
#include "blas.h"

#include <strings.h>

static const struct {
    const char *core;
    attn_blas_level level;
} CORES[] = {
    {"Katmai", ATTN_BLAS_SSE},        {"Coppermine", ATTN_BLAS_SSE},
    {"Northwood", ATTN_BLAS_SSE},     {"Prescott", ATTN_BLAS_SSE},
    {"Banias", ATTN_BLAS_SSE},        {"Atom", ATTN_BLAS_SSE},
    {"Core2", ATTN_BLAS_SSE},         {"Penryn", ATTN_BLAS_SSE},
    {"Dunnington", ATTN_BLAS_SSE},    {"Nehalem", ATTN_BLAS_SSE},
    {"Athlon", ATTN_BLAS_SSE},        {"Opteron", ATTN_BLAS_SSE},
    {"Opteron_SSE3", ATTN_BLAS_SSE},  {"Barcelona", ATTN_BLAS_SSE},
    {"Nano", ATTN_BLAS_SSE},          {"Bobcat", ATTN_BLAS_SSE},
    {"Sandybridge", ATTN_BLAS_AVX},   {"Bulldozer", ATTN_BLAS_AVX},
    {"Piledriver", ATTN_BLAS_AVX},    {"Steamroller", ATTN_BLAS_AVX},
    {"Excavator", ATTN_BLAS_AVX},     {"Haswell", ATTN_BLAS_AVX2},
    {"Zen", ATTN_BLAS_AVX2},          {"SkylakeX", ATTN_BLAS_AVX512},
    {"Cooperlake", ATTN_BLAS_AVX512}, {"SapphireRapids", ATTN_BLAS_AVX512},
};

attn_blas_level attn_blas_core_level(const char *core) {
    for (size_t i = 0; i < sizeof CORES / sizeof CORES[0]; i++)
        if (strcasecmp(core, CORES[i].core) == 0) return CORES[i].level;
    return ATTN_BLAS_UNKNOWN;
}

attn_blas_level attn_blas_processor_level(void) {
#if defined(__x86_64__) || defined(__i386__)
    /* These built-ins ask the operating system's XCR0 as well: registers that it does not save do not
     * count. */
    __builtin_cpu_init();
    /* What OpenBLAS's SkylakeX kernels are compiled for (-march=skylake-avx512). */
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return ATTN_BLAS_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return ATTN_BLAS_AVX2;
    return __builtin_cpu_supports("avx") ? ATTN_BLAS_AVX : ATTN_BLAS_SSE;
#else
    return ATTN_BLAS_UNKNOWN;
#endif
}

const char *attn_blas_better_core(const char *core, attn_blas_level level) {
    attn_blas_level in_use = attn_blas_core_level(core);
    if (in_use == ATTN_BLAS_UNKNOWN || in_use >= level) return NULL;
    if (level == ATTN_BLAS_AVX512) return "SkylakeX";
    if (level == ATTN_BLAS_AVX2) return "Haswell";
    return "Sandybridge";
}
