/* What was measured, as a table (bench.h). */
#include "bench.h"

static double number(const json_t *object, const char *member) {
    return json_number_value(json_object_get(object, member));
}

static const char *text(const json_t *object, const char *member) {
    const char *found = json_string_value(json_object_get(object, member));
    return found ? found : "";
}

static void print_row(const json_t *row, FILE *out) {
    fprintf(out, "%-26s %10.2f ms %8.1f GFLOP/s %6.2f of the limit", text(row, "shape"), number(row, "ms"),
            number(row, "gflops"), number(row, "share"));
    if (json_object_get(row, "peer_ms"))
        fprintf(out, " %10.2f ms %5.2fx", number(row, "peer_ms"), number(row, "times_peer"));
    fputc('\n', out);
}

static void print_rows(const json_t *rows, FILE *out) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) print_row(row, out);
}

static void print_scaling(const json_t *scaling, FILE *out) {
    static const char *const members[] = {"length", "batch", "heads", "width"};
    size_t i;
    json_t *entry;
    for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
        fprintf(out, "\nby %s\n", members[m]);
        print_rows(json_object_get(scaling, members[m]), out);
    }
    fputs("\nby workers\n", out);
    json_array_foreach(json_object_get(scaling, "workers"), i, entry) fprintf(
        out, "%-26s %10.2f ms %5.2fx with %.0f of them, %.2f of their limit\n", text(entry, "shape"),
        number(entry, "ms"), number(entry, "times"), number(entry, "workers"), number(entry, "share"));
}

void srv_bench_print(const json_t *measured, FILE *out) {
    const json_t *limit = json_object_get(measured, "limit"), *memory = json_object_get(measured, "memory"),
                 *callers = json_object_get(measured, "callers");
    size_t i;
    json_t *entry;
    fprintf(
        out,
        "the limit: %.1f GFLOP/s (%s, its columns split over all workers), measured anew beside each row\n\n",
        number(limit, "gflops"), text(limit, "shape"));
    if (text(measured, "peer")[0])
        fprintf(out, "%-26s %13s %16s %19s %13s and how many times ours\n", "one forward pass", "", "", "",
                text(measured, "peer"));
    print_rows(json_object_get(measured, "rows"), out);
    fprintf(out, "\n%.0f callers at once, %s each: %.0f requests a second, %.2f of the limit\n",
            number(callers, "callers"), text(callers, "shape"), number(callers, "requests_per_second"),
            number(callers, "share"));
    json_array_foreach(json_object_get(measured, "few_queries"), i, entry) fprintf(
        out, "L=%.0f over %.0f keys, %.0f wide: %.2f ms, %.1f GB/s, %.2f of the speed of reading them\n",
        number(entry, "queries"), number(entry, "keys"), number(entry, "width"), number(entry, "ms"),
        number(entry, "gigabytes_per_second"), number(entry, "share"));
    fprintf(
        out, "memory of %s beyond inputs, q, k, v, outputs and weights: %.1f MiB at its peak, %.1f planned\n",
        text(memory, "shape"), number(memory, "bytes") / 1048576, number(memory, "planned_bytes") / 1048576);
    print_scaling(json_object_get(measured, "scaling"), out);
}
