/* Another implementation, in another process: shapes go to it as lines of text, seconds come back. One thread.
 *
 * Its first line is its name. Then, for each line "BATCH LENGTH WIDTH HEADS MAPS CAUSAL" (the last two 0 or 1), it
 * answers with one: the seconds of one warm forward pass of nn.MultiheadAttention's kind. */
#ifndef SRV_BENCH_PEER_H
#define SRV_BENCH_PEER_H

#include "bench.h"

typedef struct srv_bench_process {
    srv_bench_peer peer; /* for srv_bench_options; points into this struct */
    FILE *asks, *answers;
    char name[64];
} srv_bench_process;

/* Opens the two files, pipes as a rule, and waits for the name. *out stays in place until it is closed. False with
 * nothing to close. */
bool srv_bench_process_open(const char *asks, const char *answers, srv_bench_process *out);
void srv_bench_process_close(srv_bench_process *process);

#endif
