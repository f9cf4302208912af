/* The log's two forms (log.h). A line is built in a buffer of fixed size, cut where it is longer, and written
 * with one call, so that lines of several threads never mix. */
#include "log.h"

#include "server/codec/utf8.h"
#include "server/obs/clock.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LINE_SIZE = 2048, LINE_END = 8 /* what closes a line always fits */ };

typedef struct line {
    char text[LINE_SIZE];
    size_t size;
} line;

static void put(line *to, const char *text) {
    size_t size = strlen(text), room = LINE_SIZE - LINE_END - to->size;
    if (size > room) size = room;
    memcpy(to->text + to->size, text, size);
    to->size += size;
}

/* A string in quotes, readable by JSON and people. */
static void put_quoted(line *to, const char *string) {
    size_t left = strlen(string), taken, size;
    put(to, "\"");
    for (; left > 0; string += taken, left -= taken) {
        const char *shown = srv_utf8_shown(string, left, &taken, &size);
        bool is_escaped = *shown == '"' || *shown == '\\';
        char piece[6] = "\\";
        memcpy(piece + is_escaped, shown, size);
        piece[is_escaped + size] = '\0';
        /* The closing quote must fit as well. */
        if (to->size + is_escaped + size + 1 > LINE_SIZE - LINE_END) break;
        put(to, piece);
    }
    put(to, "\"");
}

/* Whether text form may leave the quotes out: visible ASCII but for what separates and quotes. */
static bool is_plain(const char *string) {
    for (const char *c = string; *c != '\0'; c++) {
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == '\\' || *c == '=') return false;
    }
    return *string != '\0';
}

static void put_value(line *to, const srv_field *field, bool json) {
    char number[32] = "";
    switch (field->kind) {
    case SRV_FIELD_STRING:
        if (json || !is_plain(field->string))
            put_quoted(to, field->string);
        else
            put(to, field->string);
        return;
    case SRV_FIELD_COUNT: snprintf(number, sizeof number, "%zu", field->count); break;
    case SRV_FIELD_MS: snprintf(number, sizeof number, "%.3f", field->ms); break;
    }
    put(to, number);
}

static void put_start(line *to, bool json, srv_log_level level, const char *event) {
    static const char *const levels[] = {"error", "warning", "info", "debug"};
    struct timespec now;
    struct tm parts;
    char time[48], head[128];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(time + length, sizeof time - length, ".%03ldZ", now.tv_nsec / 1000000);
    if (json)
        snprintf(head, sizeof head, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"", time, levels[level],
                 event);
    else
        snprintf(head, sizeof head, "%s %-7s %s", time, levels[level], event);
    put(to, head);
}

static bool write_line(const srv_log *log, srv_log_level level, const char *event, const srv_field *fields,
                       size_t count) {
    line to = {.size = 0};
    put_start(&to, log->json, level, event);
    for (size_t i = 0; i < count; i++) {
        const srv_field *field = &fields[i];
        if (field->kind == SRV_FIELD_STRING && !field->string) continue;
        /* A field is written whole or, where the line is full, not at all. */
        if (to.size + strlen(field->key) + 40 > LINE_SIZE - LINE_END) break;
        put(&to, log->json ? ",\"" : " ");
        put(&to, field->key);
        put(&to, log->json ? "\":" : "=");
        put_value(&to, field, log->json);
    }
    const char *end = log->json ? "}\n" : "\n";
    memcpy(to.text + to.size, end, strlen(end));
    to.size += strlen(end);
    return srv_outlet_write(log->outlet, to.text, to.size);
}

/* A line about lines that are missing. Where it goes missing itself, they are told of later. */
static void tell_missing(const srv_log *log, const char *of, const char *reason, size_t missing) {
    const srv_field fields[] = {srv_field_string("of", of), srv_field_string("reason", reason),
                                srv_field_count("count", missing)};
    if (!write_line(log, SRV_LOG_WARNING, "suppressed", fields, sizeof fields / sizeof fields[0]))
        atomic_fetch_add(&log->outlet->lost, missing);
}

static void tell_lost(const srv_log *log) {
    size_t lost = atomic_exchange(&log->outlet->lost, 0);
    if (lost > 0) tell_missing(log, "line", "unread", lost);
}

static void write_event(const srv_log *log, srv_log_level level, const char *event, const srv_field *fields,
                        size_t count) {
    tell_lost(log);
    if (!write_line(log, level, event, fields, count)) atomic_fetch_add(&log->outlet->lost, 1);
}

/* The lines about what had to be left out before `now`. */
static void tell_left_out(const srv_log *log, double now) {
    srv_repeat repeat;
    while (log->repeats && srv_repeats_take(log->repeats, now, &repeat))
        tell_missing(log, repeat.event, repeat.reason, repeat.left_out);
}

void srv_log_event(const srv_log *log, srv_log_level level, const char *event, const srv_field *fields,
                   size_t count) {
    if (!srv_log_has(log, level)) return;
    tell_left_out(log, srv_clock_ms());
    write_event(log, level, event, fields, count);
}

void srv_log_event_limited(const srv_log *log, srv_log_level level, const char *event, const char *reason,
                           const srv_field *fields, size_t count) {
    if (!srv_log_has(log, level)) return;
    double now = srv_clock_ms();
    tell_left_out(log, now);
    if (!log->repeats || srv_repeats_pass(log->repeats, event, reason, now))
        write_event(log, level, event, fields, count);
}

void srv_log_flush(const srv_log *log) {
    tell_left_out(log, INFINITY);
    tell_lost(log);
}

void srv_log_message(const srv_log *log, srv_log_level level, const char *event, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const srv_field field = srv_field_string("message", text);
    srv_log_event(log, level, event, &field, 1);
}
