/* One request and its answer, and what libmicrohttpd's callbacks share. Internal to server/http/, which alone knows
 * that library.
 *
 * An exchange has one owner at a time: the HTTP thread of its connection, or (between suspending and
 * resuming) the worker that has its job. `lock` of the srv_http owns the hand-over: suspending's bookkeeping,
 * srv_call_finish, and everybody who wants to cancel. It ends in srv_exchange_end, the single exit, which writes the
 * log line and gives everything back. */
#ifndef SRV_HTTP_EXCHANGE_H
#define SRV_HTTP_EXCHANGE_H

#include "server/http/connection.h"
#include "server/http/http.h"
#include "server/http/linger.h"
#include "server/http/listener.h"
#include "server/http/request_id.h"

#include <microhttpd.h>
#include <pthread.h>

typedef struct srv_exchange srv_exchange;
typedef struct srv_reaper srv_reaper;

struct srv_http {
    srv_http_options options;
    bool only_loopback; /* no address can be reached from elsewhere */
    srv_linger *linger;
    srv_reaper *reaper;
    srv_budget running; /* requests that the workers have or wait for */

    pthread_mutex_t lock; /* guards what follows, and every exchange's job while it is with the workers */
    pthread_cond_t resumed;
    srv_connection *connections;
    size_t open;          /* connections */
    size_t active;        /* exchanges */
    size_t suspended;     /* those of them that the workers have, or whose next bytes they still write */
    double service_time;  /* mean of what workers spent on a request of late, milliseconds */
    atomic_bool draining; /* set under the lock */
    bool stopping;        /* the workers get nothing more */

    int idle_event;
    srv_listener *listeners;
    struct MHD_Daemon **daemons; /* one for each open listener */
    size_t listener_count, daemon_count;
};

typedef enum srv_stage {
    SRV_STAGE_HEADERS, /* the handler has not been called */
    SRV_STAGE_BODY,    /* the verdict on the headers stands; pieces of a body may come */
    SRV_STAGE_WORKERS, /* suspended; the workers have it */
    SRV_STAGE_READY,   /* resumed; the reply stands */
    SRV_STAGE_QUEUED,  /* the library has the answer */
} srv_stage;

enum { SRV_SHORT_TARGET = 128 }; /* every exchange has room for as many bytes, the last one's zero included */

struct srv_exchange {
    srv_call call; /* first: a call is its exchange */
    srv_http *http;
    struct MHD_Connection *connection;
    srv_connection *place;
    srv_stage stage;

    char id[SRV_REQUEST_ID_SIZE];
    char method[16];
    srv_match match;    /* zero until the path has been found */
    srv_key *key;       /* whose request it is; NULL: nobody's, or not known */
    const char *origin; /* of a web page that may read the answer; NULL: none asks. In the library's memory */
    /* The host or origin that has been refused, for the log: fit to be shown, cut where longer. */
    char stranger[128];
    bool is_preflight;
    size_t declared, received; /* bytes of the body; declared 0: not told */
    double body_deadline;      /* for its last byte; a piece may move it */
    double began, ended;       /* first line, last byte of the body; milliseconds */
    double refused;            /* when a refusal stood whose body is still being read; 0: none does */
    bool closes;               /* the connection ends with this answer */
    int status;                /* sent; 0: none */
    size_t sent;               /* bytes of the answer's body that the library has been given */

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

/* The single exit: log line, counters, memory, ticket. The exchange is gone then. */
void srv_exchange_end(srv_exchange *exchange, enum MHD_RequestTerminationCode how);

/* What the headers say about the message's framing and what else is judged of them (framing.c). Strings are in the
 * library's memory until the request ends; NULL: not there. */
typedef struct srv_framing {
    size_t declared; /* Content-Length; 0: none */
    bool expects;    /* the client waits for 100 Continue */
    bool is_preflight;
    const char *content_type, *content_encoding, *request_id, *origin;
    const char *authorization, *api_key;
    const char *inference_header; /* empty: two */
    size_t credentials;           /* how many headers bear one */
    char host[264];               /* empty: none */
} srv_framing;

/* Reads the headers; false with SRV_BAD_HTTP where two readers could disagree about where the message ends or
 * whom it is for. What was found is in *out all the same. */
bool srv_framing_read(srv_exchange *exchange, const char *method, const char *version, srv_framing *out,
                      srv_problem *problem);

/* Where keys are asked for (credential.c): finds the request's own, and whether it is good for this. Else, or where it
 * comes too soon after others of that key, the problem. */
bool srv_credential_check(srv_exchange *exchange, const srv_framing *framing, srv_right right,
                          srv_problem *problem);
bool srv_credential_take(srv_exchange *exchange, srv_problem *problem);

/* Whether the web page that asks, if one does, may read the answer (verdict.c): whatever that will be. */
void srv_verdict_origin(srv_exchange *exchange, const srv_framing *framing);
/* What the headers decide (verdict.c): sets the reply's problem, or the match and the body's room. */
void srv_verdict(srv_exchange *exchange, const srv_framing *framing);
/* Whether the route takes the query, or there is none: naming a parameter that it does not take beats ignoring it. Where
 * the answer changes nothing (GET) it is judged after the names in the path, since their 404 goes before this 422. */
bool srv_verdict_query(const srv_exchange *exchange, srv_problem *problem);
/* The formats of body and answer, and the answer's coding (negotiation.c); false with a 415 or a 406. */
bool srv_negotiate_body(srv_exchange *exchange, const srv_framing *framing, srv_problem *problem);
bool srv_negotiate_answer(srv_exchange *exchange, srv_problem *problem);
/* The workers have as many as may wait. Returns false. */
bool srv_refuse_queue(const srv_http *http, srv_problem *problem);

/* Queues the exchange's reply (answer.c); MHD_NO ends the connection. */
enum MHD_Result srv_answer_queue(srv_exchange *exchange);
/* The response to the reply's stream, its headers still missing (streaming.c); NULL without memory. */
struct MHD_Response *srv_streaming_response(srv_exchange *exchange);
/* The connection's last word where nothing can be queued (in mid-body): writes the reply to the socket
 * itself. */
void srv_answer_last_word(srv_exchange *exchange);

/* Takes one header of an answer. */
typedef void srv_header_fn(void *to, const char *name, const char *value);
/* The headers that let web pages read an answer (cors.c). */
void srv_cors_headers(const srv_exchange *exchange, srv_header_fn *add, void *to);

/* Logs and counts an exchange that ends (record.c). */
void srv_exchange_record(const srv_exchange *exchange, enum MHD_RequestTerminationCode how);

/* The thread that ends what has taken too long (reaper.c). NULL without memory or thread. */
srv_reaper *srv_reaper_new(srv_http *http);
void srv_reaper_free(srv_reaper *reaper);

#endif
