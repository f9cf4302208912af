/* Asks the same again and again on many connections at once, and counts the answers:
 *
 *     load PORT CONNECTIONS SECONDS FILE
 *
 * FILE is a whole request as it goes over the wire. One thread: a connection sends it, reads the answer, which must be
 * a 200 with a Content-Length, and begins anew. Prints how many answers came in a second. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { MOST_HEAD = 4096, AT_ONCE = 256 * 1024, EVENTS = 64, SLEEPS_MS = 1000 };
static const double LOOKS_S = 20e-6;

typedef struct asker {
    int descriptor;
    size_t sent;
    char head[MOST_HEAD]; /* the answer's, until its end has been found */
    size_t head_size;
    size_t left; /* of the body, once the head is over */
    bool is_body;
} asker;

static char *request;
static size_t request_size, answers;

static void fail(const char *what) {
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void read_request(const char *path) {
    FILE *file = fopen(path, "re");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("no such file");
    request_size = (size_t)ftell(file);
    request = malloc(request_size);
    rewind(file);
    if (!request || fread(request, 1, request_size, file) != request_size) fail("cannot read the file");
    fclose(file);
}

static void go_on_sending(asker *a) {
    while (a->sent < request_size) {
        ssize_t count =
            send(a->descriptor, request + a->sent, request_size - a->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) fail("a connection was closed");
        a->sent += (size_t)count;
    }
}

/* All of an answer has come. */
static void begin_anew(asker *a) {
    answers++;
    a->sent = a->head_size = 0;
    a->is_body = false;
    go_on_sending(a);
}

/* Looks for the head's end in what has come of it; what stands behind it is body. */
static void take_head(asker *a) {
    a->head[a->head_size] = '\0';
    char *end = strstr(a->head, "\r\n\r\n");
    if (!end) return;
    const char *length = strcasestr(a->head, "\r\nContent-Length:");
    if (strncmp(a->head, "HTTP/1.1 200 ", 13) != 0 || !length || length > end) fail(a->head);
    size_t size = strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
    size_t there = a->head_size - (size_t)(end + 4 - a->head);
    if (there > size) fail("more came than the answer");
    a->is_body = true;
    a->left = size - there;
}

/* False where nothing more is there. */
static bool read_some(asker *a) {
    static char bytes[AT_ONCE];
    char *to = a->is_body ? bytes : a->head + a->head_size;
    size_t room = a->is_body ? sizeof bytes : sizeof a->head - 1 - a->head_size;
    ssize_t count = recv(a->descriptor, to, room, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) fail("a connection was closed, or a head is too long");
    if (a->is_body) {
        if ((size_t)count > a->left) fail("more came than the answer");
        a->left -= (size_t)count;
    } else {
        a->head_size += (size_t)count;
        take_head(a);
    }
    if (a->is_body && a->left == 0) {
        begin_anew(a);
        return false;
    }
    return (size_t)count == room || !a->is_body || a->left > 0;
}

/* Looks for a while before it sleeps: quick answers shall not cost their sender a wake-up, which is dearer than they are
 * and the dearer the sooner they are; slow ones shall not cost the processor. */
static int await(int queue, struct epoll_event events[EVENTS]) {
    double began = now_s();
    int ready;
    do {
        ready = epoll_wait(queue, events, EVENTS, 0);
    } while (ready == 0 && now_s() - began < LOOKS_S);
    return ready == 0 ? epoll_wait(queue, events, EVENTS, SLEEPS_MS) : ready;
}

static int connect_to(int port) {
    struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&there, sizeof there) != 0)
        fail("cannot connect");
    return descriptor;
}

int main(int argc, char **argv) {
    if (argc != 5) fail("takes PORT CONNECTIONS SECONDS FILE");
    size_t count = strtoul(argv[2], NULL, 10);
    double seconds = strtod(argv[3], NULL);
    read_request(argv[4]);
    asker *askers = calloc(count, sizeof *askers);
    int queue = epoll_create1(EPOLL_CLOEXEC);
    if (!askers || queue < 0) fail("no memory");
    for (size_t i = 0; i < count; i++) {
        askers[i].descriptor = connect_to((int)strtol(argv[1], NULL, 10));
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = &askers[i]};
        if (epoll_ctl(queue, EPOLL_CTL_ADD, askers[i].descriptor, &event) != 0) fail("cannot wait");
        go_on_sending(&askers[i]);
    }
    double began = now_s(), now = began;
    for (; now - began < seconds; now = now_s()) {
        struct epoll_event events[EVENTS];
        int ready = await(queue, events);
        for (int i = 0; i < ready; i++) {
            asker *a = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) go_on_sending(a);
            while (read_some(a)) {
            }
        }
    }
    printf("%.1f\n", (double)answers / (now - began));
    free(askers);
    free(request);
    return 0;
}
