/* The log: one line an event on standard error, as text or as JSON. Any thread; a line is written whole.
 *
 * An event is a short fixed word with fields. Never a body, never a secret. Strings may be anything: what is no
 * UTF-8 and control characters are replaced, so that a JSON line is JSON and a terminal stays as it is.
 *
 * What a client can cause at will, as often as it likes, goes through srv_log_event_limited: refused and cut
 * requests, and the HTTP library's complaints. Of each kind ten lines a second are written; how many were not is
 * told by a line `suppressed` once that second is over and anything is logged, at the latest when the daemon
 * ends. Answered requests and the daemon's own faults (500) are always written, unless nobody reads: nothing waits for
 * the log's reader, and a line `suppressed of=line reason=unread` tells later how many lines it has missed. */
#ifndef SRV_OBS_LOG_H
#define SRV_OBS_LOG_H

#include "server/obs/outlet.h"
#include "server/obs/repeats.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum srv_log_level { SRV_LOG_ERROR, SRV_LOG_WARNING, SRV_LOG_INFO, SRV_LOG_DEBUG } srv_log_level;

typedef struct srv_log {
    bool json;
    srv_log_level level; /* the least important lines that are written */
    srv_outlet *outlet;
    srv_repeats *repeats; /* NULL: nothing is left out */
} srv_log;

typedef enum srv_field_kind { SRV_FIELD_STRING, SRV_FIELD_COUNT, SRV_FIELD_MS } srv_field_kind;

typedef struct srv_field {
    const char *key;
    srv_field_kind kind;
    const char *string; /* a field whose string is NULL is left out */
    size_t count;
    double ms; /* written with three decimals */
} srv_field;

static inline srv_field srv_field_string(const char *key, const char *string) {
    return (srv_field){.key = key, .kind = SRV_FIELD_STRING, .string = string};
}

static inline srv_field srv_field_count(const char *key, size_t count) {
    return (srv_field){.key = key, .kind = SRV_FIELD_COUNT, .count = count};
}

static inline srv_field srv_field_ms(const char *key, double ms) {
    return (srv_field){.key = key, .kind = SRV_FIELD_MS, .ms = ms};
}

/* Whether lines of that level are written at all. */
static inline bool srv_log_has(const srv_log *log, srv_log_level level) {
    return level <= log->level;
}

void srv_log_event(const srv_log *log, srv_log_level level, const char *event, const srv_field *fields,
                   size_t count);

/* The same for what clients cause. `reason` and `event` make the kind; both are static storage. */
void srv_log_event_limited(const srv_log *log, srv_log_level level, const char *event, const char *reason,
                           const srv_field *fields, size_t count);
/* Tells what has been left out up to now. */
void srv_log_flush(const srv_log *log);

/* An event that is told in words: a field `message`. */
__attribute__((format(printf, 4, 5))) void srv_log_message(const srv_log *log, srv_log_level level,
                                                           const char *event, const char *format, ...);

#endif
