/* One request and its answer, and the connection it came on. Internal to server/http/, which alone knows
 * libmicrohttpd.
 *
 * An exchange has one owner at a time: the HTTP thread of its connection, or (between suspending and
 * resuming) the worker that has its job. `lock` of the srv_http owns the hand-over: suspending's bookkeeping,
 * srv_call_finish, and everybody who wants to cancel. It ends in srv_exchange_completed, the single exit,
 * which writes the log line and gives everything back. */
#ifndef SRV_HTTP_EXCHANGE_H
#define SRV_HTTP_EXCHANGE_H

#include "server/http/body.h"
#include "server/http/http.h"
#include "server/http/linger.h"
#include "server/http/listener.h"
#include "server/http/request_id.h"

#include <microhttpd.h>
#include <pthread.h>

typedef struct srv_exchange srv_exchange;

/* An open connection: listed from accept to close, so that draining finds the idle ones. */
typedef struct srv_connection {
    struct srv_connection *previous, *next;
    int descriptor;
    srv_exchange *exchange; /* the request on it; NULL: idle */
} srv_connection;

struct srv_http {
    srv_http_options options;
    srv_linger *linger;
    srv_budget running; /* requests that the workers have or wait for */

    pthread_mutex_t lock; /* guards what follows, and every exchange's stage while it is with the workers */
    pthread_cond_t resumed;
    srv_connection *connections;
    size_t open;      /* connections */
    size_t active;    /* exchanges */
    size_t suspended; /* those of them that the workers have */
    bool draining;

    int idle_event;
    srv_listener *listeners;
    struct MHD_Daemon **daemons; /* one for each open listener */
    size_t daemon_count;
};

typedef enum srv_stage {
    SRV_STAGE_HEADERS, /* the handler has not been called */
    SRV_STAGE_BODY,    /* the verdict on the headers stands; pieces of a body may come */
    SRV_STAGE_WORKERS, /* suspended; the workers have it */
    SRV_STAGE_READY,   /* resumed; the reply stands */
    SRV_STAGE_QUEUED,  /* the library has the answer */
} srv_stage;

struct srv_exchange {
    srv_call call; /* first: a call is its exchange */
    srv_http *http;
    struct MHD_Connection *connection;
    srv_connection *place;
    srv_stage stage;

    char id[SRV_REQUEST_ID_SIZE];
    char method[16];
    const srv_route *route; /* NULL: none was found */
    srv_body body;
    size_t received;     /* bytes of the body, kept or not */
    double began, ended; /* first line, last byte of the body; milliseconds */
    bool closes;         /* the connection ends with this answer */
    int status;          /* sent; 0: none */
    size_t sent;         /* bytes of the answer's body */

    char target[]; /* as it stood in the request line */
};

/* libmicrohttpd's callbacks; `cls` is the srv_http. */
void *srv_exchange_began(void *cls, const char *target, struct MHD_Connection *connection);
enum MHD_Result srv_exchange_handle(void *cls, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *data,
                                    size_t *data_size, void **exchange);
void srv_exchange_completed(void *cls, struct MHD_Connection *connection, void **exchange,
                            enum MHD_RequestTerminationCode how);
void srv_connection_changed(void *cls, struct MHD_Connection *connection, void **place,
                            enum MHD_ConnectionNotificationCode what);

/* Wakes the library where the client has ended its side: an end that came together with the last bytes of a
 * request that is not complete would go unnoticed until the idle time is over. What has arrived is still
 * read. */
void srv_connection_check_end(const srv_connection *place);

/* What the headers say about the message's framing (framing.c). */
typedef struct srv_framing {
    size_t declared; /* Content-Length; 0: none */
    bool expects;    /* the client waits for 100 Continue */
    const char *content_type, *request_id;
} srv_framing;

/* Reads the headers; false with SRV_BAD_HTTP where two readers could disagree about where the message ends or
 * whom it is for. */
bool srv_framing_read(struct MHD_Connection *connection, const char *version, srv_framing *out,
                      srv_problem *problem);

/* Queues the exchange's reply (answer.c); MHD_NO ends the connection. */
enum MHD_Result srv_answer_queue(srv_exchange *exchange);
/* The connection's last word where nothing can be queued (in mid-body): writes the reply to the socket
 * itself. */
void srv_answer_last_word(srv_exchange *exchange);

/* Logs and counts an exchange that ends (record.c). */
void srv_exchange_record(const srv_exchange *exchange, enum MHD_RequestTerminationCode how);

#endif
