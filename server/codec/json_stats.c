/* Statistics → JSON (json_stats.h). Runs on workers. */
#include "json_stats.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    HEAVY_HITTERS = 8,
    BYTES_A_NUMBER = 20, /* and its comma */
    BYTES_OF_NAMES = 1024,
};

typedef struct stats_writer {
    const attn_run *run;
    const attn_request *request;
    size_t sequence, heads, columns;
    int precision;
    srv_text *out;
    bool has_member;
} stats_writer;

static void put_number(const stats_writer *to, double number) {
    float narrow = (float)number;
    if (isfinite(narrow)) {
        char digits[SRV_FLOAT_ROOM];
        srv_text_append(to->out, digits, srv_float_write(narrow, to->precision, digits));
    } else {
        srv_text_append_string(to->out, "null");
    }
}

static void put_name(stats_writer *to, const char *name) {
    srv_text_append_string(to->out, to->has_member ? ",\"" : "\"");
    srv_text_append_string(to->out, name);
    srv_text_append_string(to->out, "\":");
    to->has_member = true;
}

static void put_comma(const stats_writer *to, size_t before) {
    if (before > 0) srv_text_append(to->out, ",", 1);
}

static void put_received(const stats_writer *to, size_t slot, bool is_total) {
    srv_text_append(to->out, "[", 1);
    for (size_t key = 0; key < to->columns; key++) {
        attn_received received = attn_run_received(to->run, to->sequence, slot, key);
        put_comma(to, key);
        put_number(to, is_total ? received.total : received.mean);
    }
    srv_text_append(to->out, "]", 1);
}

/* Whether `key` comes before `than` in falling order. */
static bool is_heavier(double total, size_t key, double than_total, size_t than) {
    return total > than_total || (total == than_total && key < than);
}

/* The next key in falling order behind `last` (SIZE_MAX: the first one); SIZE_MAX where none has received anything. */
static size_t next_heaviest(const stats_writer *to, size_t slot, size_t last) {
    double last_total =
        last == SIZE_MAX ? INFINITY : attn_run_received(to->run, to->sequence, slot, last).total;
    double best_total = 0;
    size_t best = SIZE_MAX;
    for (size_t key = 0; key < to->columns; key++) {
        double total = attn_run_received(to->run, to->sequence, slot, key).total;
        bool is_behind = last == SIZE_MAX || is_heavier(last_total, last, total, key);
        if (total > 0 && is_behind && is_heavier(total, key, best_total, best)) {
            best = key;
            best_total = total;
        }
    }
    return best;
}

static void put_heaviest(const stats_writer *to, size_t slot) {
    srv_text_append(to->out, "[", 1);
    size_t key = SIZE_MAX;
    for (size_t i = 0; i < HEAVY_HITTERS && (key = next_heaviest(to, slot, key)) != SIZE_MAX; i++) {
        put_comma(to, i);
        srv_text_append_size(to->out, key);
    }
    srv_text_append(to->out, "]", 1);
}

static void put_of_keys(stats_writer *to, attn_statistic statistic) {
    put_name(to, attn_statistic_names[statistic]);
    srv_text_append(to->out, "[", 1);
    for (size_t slot = 0; slot < to->heads; slot++) {
        put_comma(to, slot);
        if (statistic == ATTN_HEAVY_HITTERS) {
            put_heaviest(to, slot);
        } else {
            put_received(to, slot, statistic == ATTN_RECEIVED_TOTAL);
        }
    }
    srv_text_append(to->out, "]", 1);
}

static double number_of(const stats_writer *to, size_t slot, attn_statistic statistic) {
    double numbers[ATTN_STATISTICS_OF_HEADS];
    attn_run_statistics(to->run, to->sequence, slot, numbers);
    return numbers[statistic];
}

static void put_of_heads(stats_writer *to, attn_statistic statistic) {
    size_t above = 0, defined = 0;
    put_name(to, attn_statistic_names[statistic]);
    srv_text_append(to->out, "[", 1);
    for (size_t slot = 0; slot < to->heads; slot++) {
        double number = number_of(to, slot, statistic);
        put_comma(to, slot);
        put_number(to, number);
        defined += isnan(number) ? 0 : 1;
        above += number > ATTN_SINK_THRESHOLD;
    }
    srv_text_append(to->out, "]", 1);
    if (statistic != ATTN_SINK_MASS) return;
    put_name(to, "sink_rate");
    put_number(to, defined > 0 ? (double)above / (double)defined : NAN);
}

void srv_json_put_stats(const attn_run *run, size_t sequence, int precision, srv_text *out) {
    const attn_plan *plan = attn_run_plan(run);
    const attn_request *request = &plan->request;
    stats_writer to = {.run = run,
                       .request = request,
                       .sequence = sequence,
                       .heads = plan->statistic_heads,
                       .columns = request->sequences[sequence].keys + request->layer->extra_keys,
                       .precision = precision,
                       .out = out};
    srv_text_append(out, "{", 1);
    for (int i = 0; i < ATTN_STATISTICS_ALL && !out->failed; i++) {
        if ((request->statistics & ATTN_STATISTIC(i)) == 0) continue;
        if (i < (int)ATTN_STATISTICS_OF_HEADS) {
            put_of_heads(&to, (attn_statistic)i);
        } else {
            put_of_keys(&to, (attn_statistic)i);
        }
    }
    srv_text_append(out, "}", 1);
}

size_t srv_json_stats_size(const attn_plan *plan) {
    const attn_request *request = &plan->request;
    if ((request->want & ATTN_WANT_STATISTICS) == 0) return 0;
    size_t heads, columns, names, total;
    if (!attn_size_mul(request->sequence_count, plan->statistic_heads, &heads) ||
        !attn_size_mul(heads, (ATTN_STATISTICS_OF_HEADS + HEAVY_HITTERS + 2) * BYTES_A_NUMBER, &heads) ||
        !attn_size_mul(plan->statistic_columns, 2 * BYTES_A_NUMBER, &columns) ||
        !attn_size_mul(request->sequence_count, BYTES_OF_NAMES, &names) ||
        !attn_size_add(heads, columns, &total) || !attn_size_add(total, names, &total))
        return SIZE_MAX;
    return total;
}
