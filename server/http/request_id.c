/* Request ids (request_id.h). They must differ from each other, not be unguessable: 64 random bits of this
 * process and a counter are enough. */
#include "request_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t process;
static atomic_uint_fast64_t counter;

static void choose_process(void) {
    if (getrandom(&process, sizeof process, GRND_NONBLOCK) != (ssize_t)sizeof process) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        process = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
    }
}

static bool is_fit(const char *id) {
    if (!id || *id == '\0') return false;
    for (size_t i = 0; id[i] != '\0'; i++) {
        if (i + 1 == SRV_REQUEST_ID_SIZE || id[i] < '!' || id[i] > '~') return false;
    }
    return true;
}

void srv_request_id(char out[SRV_REQUEST_ID_SIZE], const char *client) {
    if (is_fit(client)) {
        memcpy(out, client, strlen(client) + 1);
        return;
    }
    pthread_once(&once, choose_process);
    unsigned long long number = atomic_fetch_add(&counter, 1);
    snprintf(out, SRV_REQUEST_ID_SIZE, "%016llx%016llx", (unsigned long long)process, number);
}
