/* One request's story in call order: feed → decode → find model and layer → bind → plan → reserve → run →
 * encode. Read this first. It knows no HTTP library: the daemon and `attnd run` go through the same code, so
 * both give the same bytes.
 *
 *   any thread   srv_decoder_feed       takes the body as it comes, piece by piece
 *   any thread   srv_pipeline_start     hands the decoder over and returns at once
 *   worker       decode … plan          one tile of the pool
 *   workers      run                    the engine's tiles
 *   worker       encode                 lists what the answer consists of; from here on a 200 stands
 *   workers      write                  blocks of its text, ahead of the reader; done(…) when the first is there */
#ifndef SRV_PIPELINE_H
#define SRV_PIPELINE_H

#include "engine/engine.h"
#include "server/codec/decoder.h"
#include "server/jobs/budget.h"
#include "server/jobs/stream.h"
#include "server/models.h"
#include "server/problem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* What all requests share; outlives them. */
typedef struct srv_service {
    srv_models *models;
    attn_pool *pool;
    srv_budget *budget;    /* bytes that requests may hold together */
    size_t compute_ms;     /* the longest that a request may take from its last byte on; 0: no limit */
    atomic_size_t waiting; /* requests that no worker has begun with */
    atomic_size_t stopped; /* requests that were told to stop and have not ended */
} srv_service;

/* Milliseconds spent per stage, for Server-Timing and the log. */
typedef struct srv_timing {
    double parse, queue, compute;
    double encode; /* until the answer could be read; srv_stream_ms has the rest */
} srv_timing;

/* What is asked. */
typedef struct srv_request {
    srv_decoder *decoder;    /* has had the whole body */
    const srv_codec *gives;  /* what the answer is written in */
    srv_coding packs;        /* how it may be compressed */
    srv_addressed addressed; /* where the format needs it */
    const char *query; /* what stands behind the target's '?' (NULL: nothing); stays until `done` is called */
    size_t query_size;
} srv_request;

typedef struct srv_answer {
    srv_problem problem; /* SRV_NO_PROBLEM: the stream is the answer */
    const char *type;    /* its media type; static storage */
    size_t head;         /* bytes of JSON that describe the bytes behind them; 0: the answer is of one kind */
    size_t batch;        /* sequences of the request; 0: none has been read */
    srv_coding coding;   /* how the stream is compressed */
    srv_stream *stream;  /* can be read; the receiver closes it, before the service's budget and pool go */
    srv_timing timing;
} srv_answer;

typedef struct srv_job srv_job;

/* Called once on a worker; owns answer->stream from then on. The job is gone when it returns. */
typedef void srv_done(void *context, srv_answer *answer);

/* Starts an attention request. Takes over its decoder, which goes with the job. NULL without memory: done is not
 * called and the decoder is still the caller's. */
srv_job *srv_pipeline_start(srv_service *service, const srv_request *request, srv_done *done, void *context);

/* Work ends between tiles, for the reason given (SRV_CLIENT_GONE, SRV_DRAINING, SRV_DEADLINE; the first one counts);
 * done is still called. Any thread, until done returns. */
void srv_pipeline_cancel(srv_job *job, srv_problem_id reason);
/* Cancels a job that has run for longer than its own timeout_ms, which counts from the start. As above. */
void srv_pipeline_check_time(srv_job *job);

#endif
