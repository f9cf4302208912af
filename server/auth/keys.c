/* Finding, judging, counting and making keys (keys.h). */
#include "keys.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char *const NAMES[] = {[SRV_RIGHT_NONE] = "none",
#define X(id, name) [id] = name,
                                    SRV_RIGHTS(X)
#undef X
};

const char *srv_right_name(srv_right right) {
    return NAMES[right];
}

void srv_keys_free(srv_keys *keys) {
    free(keys);
}

srv_key *srv_keys_find(srv_keys *keys, const char *key, size_t size) {
    unsigned char digest[SRV_KEY_DIGEST_SIZE];
    srv_key *found = NULL;
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, key, size, digest) < 0) return NULL;
    /* All of them, each in constant time. */
    for (size_t i = 0; i < keys->count; i++) {
        if (gnutls_memcmp(keys->items[i].digest, digest, sizeof digest) == 0) found = &keys->items[i];
    }
    return found;
}

bool srv_key_has(const srv_key *key, srv_right right) {
    return right == SRV_RIGHT_NONE || (key->rights & 1U << right) != 0;
}

bool srv_key_take(srv_key *key, uint64_t now, unsigned *seconds) {
    uint64_t wait;
    *seconds = 0;
    if (srv_rate_take(&key->rate, now, &wait)) {
        atomic_fetch_add_explicit(&key->passed, 1, memory_order_relaxed);
        return true;
    }
    atomic_fetch_add_explicit(&key->limited, 1, memory_order_relaxed);
    *seconds = (unsigned)((wait + 999999999) / 1000000000);
    return false;
}

bool srv_key_name_is_valid(const char *name) {
    static const char KNOWN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t length = strlen(name);
    return length > 0 && length < SRV_KEY_NAME_SIZE && strspn(name, KNOWN) == length;
}

bool srv_key_new(char text[SRV_KEY_TEXT_SIZE], char hex[SRV_KEY_HEX_SIZE]) {
    /* As many characters as six bits have values: each is as likely as any other. */
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static const char START[] = "attnd_";
    unsigned char random[43], digest[SRV_KEY_DIGEST_SIZE];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    size_t used = sizeof START - 1;
    memcpy(text, START, used);
    for (size_t i = 0; i < sizeof random; i++)
        text[used++] = DIGITS[random[i] & 63];
    text[used] = '\0';
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, text, used, digest) < 0) return false;
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return true;
}

static void write_count(const srv_key *key, const char *outcome, const atomic_uint_fast64_t *count,
                        srv_text *out) {
    char line[192];
    snprintf(line, sizeof line, "attnd_key_requests_total{key=\"%s\",outcome=\"%s\"} %llu\n", key->name,
             outcome, (unsigned long long)atomic_load_explicit(count, memory_order_relaxed));
    srv_text_append_string(out, line);
}

void srv_keys_metrics(const srv_keys *keys, srv_text *out) {
    srv_text_append_string(out,
                           "# HELP attnd_key_requests_total Requests by key: within its rate, and beyond.\n"
                           "# TYPE attnd_key_requests_total counter\n");
    for (size_t i = 0; i < keys->count; i++) {
        write_count(&keys->items[i], "passed", &keys->items[i].passed, out);
        write_count(&keys->items[i], "limited", &keys->items[i].limited, out);
    }
}
