/* attnd health: asks /readyz over a plain socket and says in one line what came back. For containers, whose
 * images hold no curl. Waits a few seconds at most; redirections, proxies and names beyond what the resolver
 * knows are none of its business. */
#include "cli.h"
#include "server/cli/settings.h"

#include <errno.h>
#include <jansson.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WAIT_SECONDS = 2, ANSWER_SIZE = 4096, ADDRESS_SIZE = 300 };

/* Where a daemon that listens on this host is found from the same machine. */
static const char *reachable(const char *host) {
    if (strcmp(host, "0.0.0.0") == 0) return "127.0.0.1";
    if (strcmp(host, "::") == 0) return "::1";
    return host;
}

/* A connected socket, or -1 with errno. */
static int connect_to(const char *host, const char *port) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    const struct timeval wait = {.tv_sec = WAIT_SECONDS};
    struct addrinfo *found = NULL;
    int descriptor = -1;
    if (strcmp(port, "0") == 0) {
        errno = EADDRNOTAVAIL; /* which port the daemon got, nobody knows here */
        return -1;
    }
    if (getaddrinfo(host, port, &hints, &found) != 0) {
        errno = ENOENT;
        return -1;
    }
    for (struct addrinfo *a = found; a && descriptor < 0; a = a->ai_next) {
        descriptor = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0) continue;
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait); /* for connecting too */
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        if (connect(descriptor, a->ai_addr, a->ai_addrlen) == 0) break;
        int cause = errno;
        close(descriptor);
        descriptor = -1;
        errno = cause == EINPROGRESS ? EAGAIN : cause;
    }
    int cause = errno;
    freeaddrinfo(found);
    errno = cause;
    return descriptor;
}

/* Sends the request and reads up to the end or as much as fits; false with errno where nothing came. */
static bool exchange(int descriptor, const char *address, char answer[ANSWER_SIZE]) {
    char request[ADDRESS_SIZE + 64];
    size_t used = 0;
    int size = snprintf(request, sizeof request,
                        "GET /readyz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", address);
    if (send(descriptor, request, (size_t)size, MSG_NOSIGNAL) != size) return false;
    for (ssize_t got; used < ANSWER_SIZE - 1; used += (size_t)got) {
        got = recv(descriptor, answer + used, ANSWER_SIZE - 1 - used, 0);
        if (got <= 0) break;
    }
    answer[used] = '\0';
    return used > 0;
}

/* Says what an answer means. */
static int tell(const char *address, const char *answer) {
    int status = 0;
    if (sscanf(answer, "HTTP/1.%*1d %4d", &status) == 1 && status == 200) {
        printf("%s: ready\n", address);
        return SRV_EXIT_OK;
    }
    const char *body = strstr(answer, "\r\n\r\n");
    json_t *document = body ? json_loads(body, 0, NULL) : NULL;
    const char *detail = json_string_value(json_object_get(document, "detail"));
    if (status == 0)
        printf("%s: not ready: no HTTP is spoken there\n", address);
    else
        printf("%s: not ready: status %d%s%s\n", address, status, detail ? ", " : "", detail ? detail : "");
    json_decref(document);
    return SRV_EXIT_FAILED;
}

/* Asks one address; false, with *cause, where nobody answers. */
static bool ask(const cfg_listen *listen, int *code, char address[ADDRESS_SIZE], int *cause) {
    const char *host = reachable(listen->host);
    char port[8], answer[ANSWER_SIZE];
    snprintf(port, sizeof port, "%u", (unsigned)listen->port);
    snprintf(address, ADDRESS_SIZE, strchr(host, ':') ? "[%.255s]:%s" : "%.255s:%s", host, port);
    int descriptor = connect_to(host, port);
    bool answered = descriptor >= 0 && exchange(descriptor, address, answer);
    *cause = errno;
    if (descriptor >= 0) close(descriptor);
    if (answered) *code = tell(address, answer);
    return answered;
}

static const char *why(int cause) {
    switch (cause) {
    case EAGAIN: return "no answer in time";
    case EADDRNOTAVAIL: return "no address that can be asked; --address HOST:PORT names one";
    case ENOENT: return "a host of that name is not known here";
    default: return strerror(cause);
    }
}

int srv_cli_health(int argc, char **argv) {
    /* The one address to ask is written like one to listen on. */
    static const cfg_own_flag own[] = {{"--address", "--listen"}, {NULL, NULL}};
    cfg_settings settings;
    int code = srv_cli_settings(argc, argv, own, 0, &settings), cause = 0;
    if (code != SRV_EXIT_OK) return code;
    char address[ADDRESS_SIZE] = "";
    bool answered = false;
    for (size_t i = 0; i < settings.listen_count && !answered; i++)
        answered = ask(&settings.listen[i], &code, address, &cause);
    if (!answered) {
        printf("%s: not ready: %s\n", address, why(cause));
        code = SRV_EXIT_FAILED;
    }
    cfg_settings_done(&settings);
    return code;
}
