/* How much memory a long sequence without maps takes at its peak (work.h). */
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of /proc/self/status in bytes ("VmRSS:" now, "VmHWM:" the most there has been of this program); 0 where it is
 * missing. The peak that getrusage tells would be the parent's, where that was larger. */
static size_t status_bytes(const char *name) {
    char line[128];
    size_t kibibytes = 0, length = strlen(name);
    FILE *file = fopen("/proc/self/status", "re");
    while (file && kibibytes == 0 && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, length) == 0) kibibytes = strtoul(line + length, NULL, 10);
    }
    if (file) fclose(file);
    return kibibytes * 1024;
}

/* Measured first of all, while the peak of this process is the peak of this run: weights and inputs are there before,
 * everything else counts, what the matrix library takes for itself too. */
json_t *srv_bench_memory(const srv_bench_options *options, attn_error *error) {
    const srv_bench_shape shape = {1, options->quick ? 4096 : 16384, 768, 12, false, false};
    srv_bench_work work;
    if (srv_bench_work_new(&shape, attn_pool_workers(options->pool), &work, error) != ATTN_OK) return NULL;
    size_t results =
        4 * shape.batch * shape.length * shape.width * sizeof(float); /* q, k, v and the outputs */
    size_t before = status_bytes("VmRSS:");
    bool works = srv_bench_work_run(&work, options->pool);
    size_t after = status_bytes("VmHWM:"), planned = work.plan.bytes;
    srv_bench_work_done(&work);
    if (works && before > 0 && after > before + results && planned > results)
        return json_pack("{s:s, s:I, s:I}", "shape", options->quick ? "1x4096 D768 H12" : "1x16384 D768 H12",
                         "bytes", (json_int_t)(after - before - results), "planned_bytes",
                         (json_int_t)(planned - results));
    attn_error_set(error, ATTN_NO_MEMORY, NULL, "the peak of memory cannot be measured here");
    return NULL;
}
