/* The thread and its files (digests.h). */
#include "digests.h"

#include <fcntl.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, DIGEST_BYTES = (SRV_DIGEST_SIZE - 1) / 2 };

struct srv_digests {
    srv_models *models;
    atomic_bool stops;
    pthread_t thread;
    unsigned char block[BLOCK];
};

/* Feeds a whole file; false where it cannot be read or the daemon stops. */
static bool feed(srv_digests *digests, int descriptor, gnutls_hash_hd_t hash) {
    for (;;) {
        ssize_t got = read(descriptor, digests->block, BLOCK);
        if (got == 0) return true;
        if (got < 0 || atomic_load(&digests->stops)) return false;
        if (gnutls_hash(hash, digests->block, (size_t)got) < 0) return false;
    }
}

static bool digest_file(srv_digests *digests, const char *path, char out[SRV_DIGEST_SIZE]) {
    unsigned char bytes[DIGEST_BYTES];
    gnutls_hash_hd_t hash;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    bool is_whole = gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) >= 0;
    if (is_whole) {
        is_whole = feed(digests, descriptor, hash);
        gnutls_hash_deinit(hash, bytes);
    }
    close(descriptor);
    for (size_t i = 0; is_whole && i < DIGEST_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return is_whole;
}

static void *digest_all(void *context) {
    srv_digests *digests = context;
    const struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE,
                       &none); /* of this thread alone; where it is not granted, a normal one */
    for (size_t i = 0; i < srv_models_count(digests->models); i++) {
        const char *file = srv_models_at(digests->models, i)->file;
        char text[SRV_DIGEST_SIZE];
        if (file && digest_file(digests, file, text)) srv_models_set_digest(digests->models, i, text);
    }
    return NULL;
}

srv_digests *srv_digests_start(srv_models *models) {
    srv_digests *digests = calloc(1, sizeof *digests);
    if (!digests) return NULL;
    digests->models = models;
    if (pthread_create(&digests->thread, NULL, digest_all, digests) == 0) return digests;
    free(digests);
    return NULL;
}

void srv_digests_free(srv_digests *digests) {
    if (!digests) return;
    atomic_store(&digests->stops, true);
    pthread_join(digests->thread, NULL);
    free(digests);
}
