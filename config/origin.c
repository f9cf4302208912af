/* Hosts and origins, byte by byte (origin.h). */
#include "origin.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* What a Host header may hold at most. */
enum { LONGEST_HOST = 255 };

/* The bytes that `text` has of a name, or of an address with its brackets; 0: neither. */
static size_t host_length(const char *text) {
    char address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    size_t length = strspn(text, LETTERS DIGITS "-._~");
    if (*text != '[') return length <= LONGEST_HOST ? length : 0;
    length = strcspn(text, "]");
    if (text[length] == '\0' || length > sizeof address) return 0;
    memcpy(address, text + 1, length - 1);
    address[length - 1] = '\0';
    return inet_pton(AF_INET6, address, &binary) == 1 ? length + 1 : 0;
}

bool cfg_is_host(const char *text) {
    size_t length = host_length(text);
    return strcmp(text, "*") == 0 || (length > 0 && text[length] == '\0');
}

/* Whether browsers write this host, which is one, so: addresses have one form
 * (https://url.spec.whatwg.org/#host-serializing). What ends in a number is an IPv4 address to them. */
static bool is_canonical(const char *host, size_t length) {
    char given[LONGEST_HOST + 1], written[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    bool is_v6 = *host == '[';
    size_t size = is_v6 ? length - 2 : length;
    memcpy(given, is_v6 ? host + 1 : host, size);
    given[size] = '\0';
    if (is_v6)
        return inet_pton(AF_INET6, given, &binary) == 1 &&
               inet_ntop(AF_INET6, &binary, written, sizeof written) && strcasecmp(given, written) == 0;
    const char *dot = strrchr(given, '.'), *last = dot ? dot + 1 : given;
    bool ends_in_number = *last != '\0' && last[strspn(last, DIGITS)] == '\0';
    return !ends_in_number || inet_pton(AF_INET, given, &binary) == 1;
}

/* Whether it is a port as a number is written. */
static bool is_port(const char *text) {
    size_t digits = strspn(text, DIGITS);
    return *text != '0' && digits > 0 && text[digits] == '\0' &&
           (digits < 5 || (digits == 5 && strcmp(text, "65535") <= 0));
}

const char *cfg_origin_wanted(const char *text) {
    static const char FORM[] =
        "SCHEME://HOST[:PORT or :*] and no path, such as https://app.example.com; null; "
        "or * for any";
    static const char OWN_PORT[] = "they leave out the scheme's own port";
    if (strcmp(text, "*") == 0 || strcasecmp(text, "null") == 0) return NULL;
    size_t scheme = strspn(text, LETTERS DIGITS "+-.");
    if (scheme == 0 || !strchr(LETTERS, *text) || strncmp(text + scheme, "://", 3) != 0) return FORM;
    const char *host = text + scheme + 3;
    size_t length = host_length(host);
    const char *port = host + length;
    if (length == 0 || !is_canonical(host, length)) return FORM;
    if (*port == '\0' || strcmp(port, ":*") == 0) return NULL;
    if (*port != ':' || !is_port(port + 1)) return FORM;
    bool is_http = scheme == 4 && strncasecmp(text, "http", 4) == 0;
    bool is_https = scheme == 5 && strncasecmp(text, "https", 5) == 0;
    bool is_own = (is_http && strcmp(port, ":80") == 0) || (is_https && strcmp(port, ":443") == 0);
    return is_own ? OWN_PORT : NULL;
}
