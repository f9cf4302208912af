/* The log: one line an event on standard error, as text or as JSON. Any thread; a line is written whole.
 *
 * An event is a short fixed word with fields. Never a body, never a secret. */
#ifndef SRV_OBS_LOG_H
#define SRV_OBS_LOG_H

#include <stdbool.h>
#include <stddef.h>

typedef enum srv_log_level { SRV_LOG_ERROR, SRV_LOG_WARNING, SRV_LOG_INFO, SRV_LOG_DEBUG } srv_log_level;

typedef struct srv_log {
    bool json;
    srv_log_level level; /* the least important lines that are written */
    int descriptor;
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

void srv_log_event(const srv_log *log, srv_log_level level, const char *event, const srv_field *fields,
                   size_t count);

/* An event that is told in words: a field `message`. */
__attribute__((format(printf, 4, 5))) void srv_log_message(const srv_log *log, srv_log_level level,
                                                           const char *event, const char *format, ...);

#endif
