/* One request as a route sees it. Knows no HTTP library.
 *
 * A call belongs to the HTTP thread of its connection, but between a route's `start` and srv_call_finish it
 * belongs to the worker that has the job. */
#ifndef SRV_HTTP_CALL_H
#define SRV_HTTP_CALL_H

#include "server/http/target.h"
#include "server/pipeline.h"
#include "server/problem.h"

/* What the routes serve from; defined in server/routes/site.h, and nothing but a pointer to http/. */
typedef struct srv_site srv_site;

/* What is answered: a problem, or status and body, or status and stream. */
typedef struct srv_reply {
    srv_problem problem;
    int status;
    const char *content_type; /* static storage */
    size_t head;       /* bytes of the stream that are JSON about those behind them; 0: all is of one kind */
    srv_coding coding; /* of the stream */
    char *body;        /* malloc'ed; NULL only with size 0 */
    size_t size;
    srv_stream *stream; /* ready to be read, instead of a body; NULL: none */
    bool has_timing;
    srv_timing timing;
} srv_reply;

typedef struct srv_call {
    srv_site *site;
    srv_parameters parameters; /* the path's {…} segments, decoded */
    const char *query; /* as it stood behind the '?', for routes that take one; stays until the call ends */
    size_t query_size;
    /* What the body and the answer are written in, where the route has formats; how the body is packed and the answer
     * may be. */
    const srv_codec *takes, *gives;
    srv_coding coding, packs;
    srv_decoder *decoder; /* has the body; `start` may take it over and leaves NULL then */
    srv_reply reply;
    srv_job *job; /* while the workers have it; under the lock that owns the hand-over */
} srv_call;

/* What the HTTP side has at the moment. */
typedef struct srv_load {
    size_t connections;
    size_t requests; /* begun and not ended, the asking one among them */
} srv_load;

srv_load srv_call_load(const srv_call *call);

/* On any thread, once after a successful `start`: the reply stands and can be sent. */
void srv_call_finish(srv_call *call);

#endif
