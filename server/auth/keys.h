/* API keys: who may ask for what, and how often.
 *
 * A key is known here by its SHA-256 alone: neither file, memory, log nor answer holds the key itself. Keys are random
 * (srv_key_new), so one hash is enough; there is nothing to guess by a dictionary. Loaded once, before any other
 * thread; from then on any thread, without locks. */
#ifndef SRV_AUTH_KEYS_H
#define SRV_AUTH_KEYS_H

#include "rate.h"
#include "server/codec/text.h"

#include <stddef.h>

/* What a key may be good for. id, name in the file. */
#define SRV_RIGHTS(X)                                                                                        \
    X(SRV_RIGHT_INFER, "infer")     /* to have attention computed */                                         \
    X(SRV_RIGHT_READ, "read")       /* to see models, limits and version */                                  \
    X(SRV_RIGHT_METRICS, "metrics") /* to see the counters */

typedef enum srv_right {
    SRV_RIGHT_NONE, /* open to everybody */
#define X(id, name) id,
    SRV_RIGHTS(X)
#undef X
        SRV_RIGHTS_END
} srv_right;

enum { SRV_KEY_NAME_SIZE = 65, SRV_KEY_DIGEST_SIZE = 32, SRV_KEYS_MOST = 4096 };

typedef struct srv_key {
    char name[SRV_KEY_NAME_SIZE]; /* [A-Za-z0-9._-]: for logs and metrics */
    unsigned char digest[SRV_KEY_DIGEST_SIZE];
    unsigned rights;          /* 1 << srv_right of each */
    double per_second, burst; /* 0: no limit */
    srv_rate rate;
    atomic_uint_fast64_t passed, limited; /* requests */
} srv_key;

typedef struct srv_keys {
    size_t count;
    srv_key items[];
} srv_keys;

/* Reads a file of keys (strict JSON):
 *
 *   {"keys": [{"name": "…", "sha256": "64 hex digits", "rights": ["infer", "read"], "rate": 5, "burst": 10}]}
 *
 * rate is requests per second (none: no limit), burst how many of them may come at once (none: the rate, at least
 * one). NULL when anything is wrong; then `problems` has a line, ended by '\n', for each thing that is. No line repeats
 * a value of the file: somebody may have put a key there. */
srv_keys *srv_keys_load(const char *path, srv_text *problems);
/* NULL is fine. */
void srv_keys_free(srv_keys *keys);

/* The key of these bytes; NULL: none of ours. Takes the same time whichever it is. */
srv_key *srv_keys_find(srv_keys *keys, const char *key, size_t size);
bool srv_key_has(const srv_key *key, srv_right right);
const char *srv_right_name(srv_right right);
/* Counts a request against the key's rate; false: it comes too soon, after *seconds (at least 1) it will not. */
bool srv_key_take(srv_key *key, uint64_t now, unsigned *seconds);

/* Whether it can name a key: 1–64 of [A-Za-z0-9._-]. */
bool srv_key_name_is_valid(const char *name);
/* A new key as text, and its digest as the file has it. False where the system gives no random bytes. */
enum { SRV_KEY_TEXT_SIZE = 64, SRV_KEY_HEX_SIZE = 2 * SRV_KEY_DIGEST_SIZE + 1 };
bool srv_key_new(char text[SRV_KEY_TEXT_SIZE], char hex[SRV_KEY_HEX_SIZE]);

/* Appends the counters of each key to the page of metrics. */
void srv_keys_metrics(const srv_keys *keys, srv_text *out);

#endif
