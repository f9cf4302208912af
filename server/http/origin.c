/* Origins and hosts (origin.h). */
#include "origin.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The length of the host in "host[:port]", brackets included. */
static size_t host_length(const char *host) {
    if (*host == '[') {
        size_t inside = strcspn(host, "]");
        return host[inside] == ']' ? inside + 1 : inside;
    }
    return strcspn(host, ":");
}

static bool is_all_digits(const char *text) {
    return text[strspn(text, "0123456789")] == '\0';
}

/* Nothing, or ':' and at most five digits. */
static bool is_port_or_nothing(const char *rest) {
    return *rest == '\0' || (*rest == ':' && is_all_digits(rest + 1) && strlen(rest) <= 6);
}

bool srv_host_is_valid(const char *host) {
    bool is_bracketed = *host == '[';
    size_t length = host_length(host), first = is_bracketed ? 1 : 0;
    size_t end = is_bracketed ? length - 1 : length;
    if (length > 255 || end <= first || (is_bracketed && host[end] != ']')) return false;
    for (size_t i = first; i < end; i++) {
        if (isalnum((unsigned char)host[i])) continue;
        if (host[i] == '\0' || !strchr(is_bracketed ? ":." : "-._~", host[i])) return false;
    }
    return is_port_or_nothing(host + length);
}

/* Whether the first `length` bytes of `text` are `name`, without case. */
static bool is_name(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncasecmp(text, name, length) == 0;
}

bool srv_host_is_loopback(const char *host) {
    static const char BELOW[] = ".localhost";
    size_t length = host_length(host), below = sizeof BELOW - 1;
    if (is_name(host, length, "localhost") || is_name(host, length, "[::1]")) return true;
    if (length > below && strncasecmp(host + length - below, BELOW, below) == 0) return true;
    char text[INET_ADDRSTRLEN];
    struct in_addr address;
    if (length >= sizeof text) return false;
    memcpy(text, host, length);
    text[length] = '\0';
    return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool srv_host_is_listed(srv_patterns names, const char *host) {
    size_t length = host_length(host);
    for (size_t i = 0; i < names.count; i++) {
        if (strcmp(names.items[i], "*") == 0 || is_name(host, length, names.items[i])) return true;
    }
    return false;
}

/* Whether `origin` is `pattern` up to its trailing ":*", then nothing or a port. */
static bool matches_any_port(const char *pattern, size_t stem, const char *origin) {
    if (strncasecmp(pattern, origin, stem) != 0) return false;
    const char *rest = origin + stem;
    return *rest == '\0' || (rest[1] != '\0' && is_port_or_nothing(rest));
}

static bool matches(const char *pattern, const char *origin) {
    size_t length = strlen(pattern);
    if (strcmp(pattern, "*") == 0) return strcmp(origin, "null") != 0;
    if (length > 2 && strcmp(pattern + length - 2, ":*") == 0)
        return matches_any_port(pattern, length - 2, origin);
    return strcasecmp(pattern, origin) == 0;
}

bool srv_origin_is_allowed(srv_patterns allowed, const char *origin) {
    for (size_t i = 0; i < allowed.count; i++) {
        if (matches(allowed.items[i], origin)) return true;
    }
    return false;
}

bool srv_origin_is_own(const char *origin, const char *host) {
    const char *authority = strstr(origin, "://");
    return authority && strcasecmp(authority + 3, host) == 0;
}
