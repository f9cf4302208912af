/* The one table of settings. A row here is a setting everywhere: nothing else lists them. Constant data; any
 * thread. */
#include "schema.h"

#include <string.h>

static const char *const log_formats[] = {"text", "json", NULL};
static const char *const vectors[] = {"auto", "plain", "avx2", "avx512", NULL};
static const char *const kernels[] = {"auto", "reference", NULL};
static const char *const log_levels[] = {"error", "warning", "info", "debug", NULL};

#define AT(member) offsetof(cfg_settings, member)
/* The largest byte count that a row takes: beyond any machine, and sums of a few cannot wrap. */
#define MANY_BYTES ((size_t)1 << 60)

/* A day: sums of a few cannot wrap. */
#define MANY_MS ((size_t)86400000)

/* clang-format off */
const cfg_row cfg_rows[] = {
    {CFG_KIND_CONFIG, NULL, "--config", "ATTND_CONFIG", NULL, 0, 0, 0, NULL, "FILE",
     "settings file (strict JSON)"},
    {CFG_KIND_LISTEN, "server.listen", "--listen", "ATTND_LISTEN", "127.0.0.1:8080,[::1]:8080", AT(listen), 0, 0, NULL,
     "HOST:PORT", "address to listen on; port 0 takes any free one"},
    {CFG_KIND_HOSTS, "server.hosts", "--host", "ATTND_HOSTS", NULL, AT(hosts), 0, 0, NULL, "NAME",
     "name or address that a Host header may bear, * for any; localhost and loopback addresses always may; none, and "
     "listening beyond loopback: any"},
    {CFG_KIND_ORIGINS, "server.cors_origins", "--cors-origin", "ATTND_CORS_ORIGINS",
     "http://localhost:*,http://127.0.0.1:*", AT(cors_origins), 0, 0, NULL, "ORIGIN",
     "origin of web pages that may read answers; :* stands for any port, * for any origin but null"},
    {CFG_KIND_TEXT, "auth.keys_file", "--keys-file", "ATTND_KEYS_FILE", NULL, AT(keys_file), 0, 0, NULL, "FILE",
     "file of the API keys that requests must bear (`attnd key` makes entries for it); none: no key is needed"},
    {CFG_KIND_MODEL, "models", "--model", "ATTND_MODEL", NULL, AT(models), 0, 0, NULL, "NAME=PATH",
     "weights to serve, a .safetensors file or a folder; the first is the default model; none: the demo models"},
    {CFG_KIND_HEADS, "models[].heads", "--heads", "ATTND_HEADS", NULL, 0, 1, 65536, NULL, "NAME=H",
     "heads of a model whose file does not tell"},
    {CFG_KIND_KV_HEADS, "models[].kv_heads", "--kv-heads", "ATTND_KV_HEADS", NULL, 0, 1, 65536, NULL, "NAME=H",
     "key/value heads of a model whose file does not tell"},
    {CFG_KIND_COUNT, "engine.workers", "--workers", "ATTND_WORKERS", "0", AT(workers), 0, 1024, NULL, "N",
     "worker threads; 0: one for each processor that may be used"},
    {CFG_KIND_CHOICE, "engine.vectors", "--vectors", "ATTND_VECTORS", "auto", AT(vectors), 0, 0, vectors, "WIDTH",
     "vector code of products, softmax, conversions and JSON numbers; auto: the widest that the processor can run"},
    {CFG_KIND_CHOICE, "engine.kernels", "--kernels", "ATTND_KERNELS", "auto", AT(kernels), 0, 0, kernels, "WHICH",
     "what computes: auto: OpenBLAS and vector code; reference: plain loops in double precision, slow, to compare with"},
    {CFG_KIND_BYTES, "limits.max_body", "--max-body", "ATTND_MAX_BODY", "256MiB", AT(max_body), 1, MANY_BYTES, NULL,
     "BYTES", "largest request body"},
    {CFG_KIND_BYTES, "limits.max_json", "--max-json", "ATTND_MAX_JSON", "4MiB", AT(max_json), 1, MANY_BYTES, NULL,
     "BYTES", "most that a JSON body may have outside its tensors"},
    {CFG_KIND_BYTES, "limits.max_swallow", "--max-swallow", "ATTND_MAX_SWALLOW", "64MiB", AT(max_swallow), 0, MANY_BYTES, NULL,
     "BYTES", "how much of a refused body beyond max-body is still read, so that the client reads the refusal"},
    {CFG_KIND_BYTES, "limits.memory", "--memory", "ATTND_MEMORY", "0", AT(memory), 0, MANY_BYTES, NULL, "BYTES",
     "memory that requests may hold together; 0: half of what is free at start"},
    {CFG_KIND_COUNT, "limits.max_connections", "--max-connections", "ATTND_MAX_CONNECTIONS", "1024",
     AT(max_connections), 1, 65536, NULL, "N", "open connections"},
    {CFG_KIND_COUNT, "limits.max_waiting", "--max-waiting", "ATTND_MAX_WAITING", "64", AT(max_waiting), 1, 65536, NULL,
     "N", "requests that wait for a worker; one more is told to come back"},
    {CFG_KIND_COUNT, "timeouts.drain", "--drain", "ATTND_DRAIN", "25", AT(drain), 0, 3600, NULL, "SECONDS",
     "how long running requests may finish after SIGTERM"},
    {CFG_KIND_COUNT, "timeouts.drain_delay_ms", "--drain-delay-ms", "ATTND_DRAIN_DELAY_MS", "0", AT(drain_delay), 0,
     MANY_MS, NULL, "MS", "how long requests are still taken after SIGTERM, while /readyz already says 503"},
    {CFG_KIND_COUNT, "timeouts.headers_ms", "--headers-ms", "ATTND_HEADERS_MS", "10000", AT(headers), 1, MANY_MS, NULL,
     "MS", "how long a request's headers may take"},
    {CFG_KIND_COUNT, "timeouts.body_ms", "--body-ms", "ATTND_BODY_MS", "60000", AT(body), 1, MANY_MS, NULL, "MS",
     "how long a request's body may take"},
    {CFG_KIND_COUNT, "timeouts.body_mebibyte_ms", "--body-mebibyte-ms", "ATTND_BODY_MEBIBYTE_MS", "1000",
     AT(body_mebibyte), 0, MANY_MS, NULL, "MS", "how much longer for each MiB of it"},
    {CFG_KIND_COUNT, "timeouts.stalled_body_ms", "--stalled-body-ms", "ATTND_STALLED_BODY_MS", "10000",
     AT(stalled_body), 1, MANY_MS, NULL, "MS", "how long no byte of a body may come"},
    {CFG_KIND_COUNT, "timeouts.stalled_reader_ms", "--stalled-reader-ms", "ATTND_STALLED_READER_MS", "90000",
     AT(stalled_reader), 1, MANY_MS, NULL, "MS", "how long a client may take nothing of its answer"},
    {CFG_KIND_COUNT, "timeouts.compute_ms", "--compute-ms", "ATTND_COMPUTE_MS", "0", AT(compute), 0, MANY_MS, NULL, "MS",
     "how long a request may take from its last byte on, where it does not ask for less by timeout_ms; 0: as long as it "
     "needs"},
    {CFG_KIND_COUNT, "timeouts.idle_ms", "--idle-ms", "ATTND_IDLE_MS", "90000", AT(idle), 1, MANY_MS, NULL, "MS",
     "how long a connection may wait for its next request"},
    {CFG_KIND_COUNT, "timeouts.swallow_ms", "--swallow-ms", "ATTND_SWALLOW_MS", "10000", AT(swallow), 0, MANY_MS, NULL,
     "MS", "how long a refused body is still read, so that the client can read the refusal"},
    {CFG_KIND_CHOICE, "log.format", "--log-format", "ATTND_LOG_FORMAT", "text", AT(log_format), 0, 0, log_formats,
     "FORMAT", "how log lines are written"},
    {CFG_KIND_CHOICE, "log.level", "--log-level", "ATTND_LOG_LEVEL", "info", AT(log_level), 0, 0, log_levels, "LEVEL",
     "the least important log lines that are written"},
};
/* clang-format on */
const size_t cfg_row_count = sizeof cfg_rows / sizeof *cfg_rows;

const char *cfg_row_name(const cfg_row *row, cfg_name by) {
    switch (by) {
    case CFG_BY_PATH: return row->path;
    case CFG_BY_FLAG: return row->flag;
    case CFG_BY_ENVIRONMENT: return row->environment;
    }
    return NULL;
}

bool cfg_row_is_list(const cfg_row *row) {
    switch (row->kind) {
    case CFG_KIND_HOSTS:
    case CFG_KIND_ORIGINS:
    case CFG_KIND_LISTEN:
    case CFG_KIND_MODEL:
    case CFG_KIND_HEADS:
    case CFG_KIND_KV_HEADS: return true;
    case CFG_KIND_COUNT:
    case CFG_KIND_BYTES:
    case CFG_KIND_CHOICE:
    case CFG_KIND_TEXT:
    case CFG_KIND_CONFIG: break;
    }
    return false;
}

const cfg_row *cfg_row_find(cfg_name by, const char *name, size_t length) {
    for (size_t i = 0; i < cfg_row_count; i++) {
        const char *known = cfg_row_name(&cfg_rows[i], by);
        if (known && strlen(known) == length && memcmp(known, name, length) == 0) return &cfg_rows[i];
    }
    return NULL;
}

/* How much of a known name tells nothing about which row is meant, where the other one begins with it too. */
static size_t lead_of(cfg_name by, const char *known, const char *name, size_t length) {
    const char *group = by == CFG_BY_PATH ? strrchr(known, '.') : NULL;
    size_t lead = by == CFG_BY_FLAG ? strlen("--") : by == CFG_BY_ENVIRONMENT ? strlen("ATTND_") : 0;
    if (group) lead = (size_t)(group + 1 - known);
    return lead <= length && memcmp(known, name, lead) == 0 ? lead : 0;
}

const char *cfg_row_nearest(cfg_name by, const cfg_own_flag *own, const char *name, size_t length) {
    cfg_guess guess = {0};
    for (; own && own->name; own++)
        cfg_guess_try(&guess, name, length, own->name, lead_of(CFG_BY_FLAG, own->name, name, length));
    for (size_t i = 0; i < cfg_row_count; i++) {
        const char *known = cfg_row_name(&cfg_rows[i], by);
        if (known) cfg_guess_try(&guess, name, length, known, lead_of(by, known, name, length));
    }
    return guess.name;
}
