/* All measurements, one after the other (bench.h). */
#include "bench.h"

#include "work.h"

static json_t *limit(const srv_bench_options *options, attn_error *error) {
    enum { TURNS = 20, QUICK_TURNS = 3 };
    double seconds[TURNS];
    size_t turns = options->quick ? QUICK_TURNS : TURNS;
    for (size_t i = 0; i < turns; i++) {
        seconds[i] = srv_bench_limit_seconds(options->pool);
        if (seconds[i] > 0) continue;
        attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the product that is the limit");
        return NULL;
    }
    return json_pack("{s:s, s:f}", "shape", "sgemm 1024x2304x768", "gflops",
                     srv_bench_limit_flops() / srv_bench_median(seconds, turns) / 1e9);
}

json_t *srv_bench_measure(const srv_bench_options *options, attn_error *error) {
    static const struct {
        const char *member;
        json_t *(*measure)(const srv_bench_options *options, attn_error *error);
    } parts[] = {
        {"memory", srv_bench_memory}, /* first, see there */
        {"limit", limit},
        {"rows", srv_bench_rows},
        {"callers", srv_bench_callers},
        {"few_queries", srv_bench_few_queries},
        {"scaling", srv_bench_scaling},
    };
    json_t *measured = json_object();
    for (size_t i = 0; measured && i < sizeof parts / sizeof *parts; i++) {
        if (json_object_set_new(measured, parts[i].member, parts[i].measure(options, error)) == 0) continue;
        json_decref(measured);
        return NULL;
    }
    if (measured && options->peer) json_object_set_new(measured, "peer", json_string(options->peer->name));
    return measured;
}
