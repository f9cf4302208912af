/* The least that libmicrohttpd can do for one small answer, to measure attnd's /livez beside it: threading mode, memory of
 * a connection and body as the daemon has them, nothing else. Prints its port, serves until standard input ends. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The library clears it after every request; the daemon needs as much for the headers that it takes. */
enum { CONNECTION_MEMORY = 64 * 1024 };

static struct MHD_Response *fine;

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *data_size,
                              void **context) {
    static int has_headers;
    (void)cls, (void)url, (void)method, (void)version, (void)data, (void)data_size;
    if (*context == NULL) {
        *context = &has_headers;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, fine);
}

int main(void) {
    static char body[] = "{\"status\":\"ok\"}";
    struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fine = MHD_create_response_from_buffer(strlen(body), body, MHD_RESPMEM_PERSISTENT);
    if (!fine) return 1;
    MHD_add_response_header(fine, "Content-Type", "application/json");
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
                         NULL, handle, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                         MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&loopback, MHD_OPTION_END);
    if (!daemon) return 1;
    printf("%d\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    MHD_stop_daemon(daemon);
    MHD_destroy_response(fine);
    return 0;
}
