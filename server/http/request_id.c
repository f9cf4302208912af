/* Request ids (request_id.h). They must differ from each other, not be unguessable: 64 random bits of this
 * process and a counter are enough. */
#include "request_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
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

/* Sixteen digits. */
static void write_hex(uint64_t number, char *out) {
    for (size_t i = 0; i < 16; i++)
        out[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
}

void srv_request_id(char out[SRV_REQUEST_ID_SIZE], const char *client) {
    if (is_fit(client)) {
        memcpy(out, client, strlen(client) + 1);
        return;
    }
    pthread_once(&once, choose_process);
    uint64_t number = atomic_fetch_add(&counter, 1);
    write_hex(process, out);
    write_hex(number, out + 16);
    out[32] = '\0';
}
