/* The other process (peer.h). */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

static double ask(void *context, const srv_bench_shape *shape) {
    srv_bench_process *process = context;
    char line[64], *end;
    fprintf(process->asks, "%zu %zu %zu %zu %d %d\n", shape->batch, shape->length, shape->width, shape->heads,
            shape->maps, shape->causal);
    if (fflush(process->asks) != 0 || !fgets(line, sizeof line, process->answers)) return -1;
    double seconds = strtod(line, &end);
    return end > line && seconds > 0 ? seconds : -1;
}

bool srv_bench_process_open(const char *asks, const char *answers, srv_bench_process *out) {
    *out = (srv_bench_process){.asks = fopen(asks, "we"), .answers = fopen(answers, "re")};
    if (out->asks && out->answers && fgets(out->name, sizeof out->name, out->answers)) {
        out->name[strcspn(out->name, "\n")] = '\0';
        out->peer = (srv_bench_peer){.name = out->name, .seconds = ask, .context = out};
        return true;
    }
    srv_bench_process_close(out);
    return false;
}

void srv_bench_process_close(srv_bench_process *process) {
    if (process->asks) fclose(process->asks);
    if (process->answers) fclose(process->answers);
    *process = (srv_bench_process){0};
}
