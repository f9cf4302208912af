/* Whose request it is, and whether its owner may make it: the key that its headers bear (RFC 6750, 2.1, or X-API-Key).
 * No text of a header reaches a detail or the log: it may be a key. HTTP thread. */
#include "exchange.h"

#include "server/obs/clock.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ACCEPTED "'Authorization: Bearer KEY' or 'X-API-Key: KEY' is accepted"

/* The key that the headers bear; NULL, with what is wrong, where there is not one. */
static const char *credential(const srv_framing *framing, const char **wrong) {
    static const char BEARER[] = "Bearer ";
    const char *key = framing->api_key ? framing->api_key : framing->authorization;
    *wrong = framing->credentials == 0 ? "no key" : "more than one key";
    if (framing->credentials != 1) return NULL;
    if (framing->api_key) return key;
    *wrong = "Authorization of another scheme than Bearer";
    if (strncasecmp(key, BEARER, sizeof BEARER - 1) != 0) return NULL;
    return key + sizeof BEARER - 1;
}

/* Without the blanks around it, which some versions of the library leave. */
static srv_key *find(srv_keys *keys, const char *text) {
    text += strspn(text, " \t");
    size_t size = strlen(text);
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
        size--;
    return srv_keys_find(keys, text, size);
}

bool srv_credential_check(srv_exchange *exchange, const srv_framing *framing, srv_right right,
                          srv_problem *problem) {
    srv_keys *keys = exchange->http->options.keys;
    const char *wrong;
    if (!keys || right == SRV_RIGHT_NONE) return true;
    const char *text = credential(framing, &wrong);
    if (text) {
        exchange->key = find(keys, text);
        wrong = "a key that is not known here";
    }
    if (!exchange->key)
        return srv_problem_set(problem, SRV_UNAUTHORIZED, SRV_WHERE_HEADER,
                               framing->api_key ? "X-API-Key" : "Authorization", "%s; " ACCEPTED, wrong);
    if (srv_key_has(exchange->key, right)) return true;
    return srv_problem_set(problem, SRV_FORBIDDEN, SRV_WHERE_NONE, NULL,
                           "the key '%s' is without the right '%s', which %s asks for", exchange->key->name,
                           srv_right_name(right), exchange->match.route->path);
}

bool srv_credential_take(srv_exchange *exchange, srv_problem *problem) {
    srv_key *key = exchange->key;
    unsigned seconds;
    if (!key || srv_key_take(key, (uint64_t)(srv_clock_ms() * 1e6), &seconds)) return true;
    srv_problem_set(problem, SRV_RATE_LIMITED, SRV_WHERE_NONE, NULL,
                    "the key '%s' may ask %g times a second, and %g times at once; not again within %u s",
                    key->name, key->per_second, key->burst, seconds);
    problem->retry_after = seconds;
    return false;
}
