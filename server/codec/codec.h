/* The formats that requests and answers are written in: a table, one row a media type. Adding one = one file and
 * one row in codec.c; the pipeline, the verdict on a request's headers and `attnd run` know formats by their rows
 * alone. Everything here is constant: any thread. */
#ifndef SRV_CODEC_CODEC_H
#define SRV_CODEC_CODEC_H

#include "ask.h"
#include "parts.h"
#include "server/jobs/share.h"

typedef struct srv_codec srv_codec;
typedef struct srv_decoder srv_decoder;

/* What a request's path says, where the body does not say it itself. */
typedef struct srv_addressed {
    const char *model; /* its name; outlives the request */
    bool has_maps;     /* under the name that answers with maps as well */
    size_t width;      /* of the rows of inputs in its first layer; 0: any */
} srv_addressed;

/* A request as it came. */
typedef struct srv_source {
    const char *body; /* whole, for formats that are read so */
    size_t size;
    const char *query; /* what stands behind the target's '?'; NULL: nothing */
    size_t query_size;
    size_t memory;          /* bytes that decoding may take beside the body: `measure` tells, they are held */
    const srv_codec *gives; /* the answer's format, whose parameters the query may name; NULL: none */
    const attn_job *job;    /* decoding gives up where it is cancelled; NULL: nobody cancels */
    const srv_addressed *addressed; /* of formats that need it; NULL elsewhere */
    srv_share *share;               /* where they take what they learn only as they read that they need */
} srv_source;

/* A finished run, and whose it is. */
typedef struct srv_outcome {
    const srv_ask *ask;
    const char *model;
    size_t layer_index;
    const attn_run *run;
    const attn_job *job; /* encoding gives up where it is cancelled; NULL: nobody cancels */
} srv_outcome;

/* Whether to give up. */
static inline bool srv_outcome_is_unwanted(const srv_outcome *outcome) {
    return outcome->job != NULL && attn_job_is_cancelled(outcome->job);
}

/* One row. A format that is read has `open`, or measure and decode; one that is written has cost and encode. All but
 * `open` run on workers. */
struct srv_codec {
    const char *type;        /* its media type */
    const char *sent_as;     /* the Content-Type of answers, where it says more; NULL: `type` */
    const char *const *also; /* Content-Types that are read likewise, ended by NULL; NULL: none */

    bool
        has_head; /* bodies may be JSON and bytes behind it; a header says how long the JSON is (srv_decoder) */
    /* Makes a decoder that reads piece by piece (decoder.h); NULL without memory. */
    srv_decoder *(*open)(size_t max_text);

    /* Of a whole body: sets source->memory before anything of that size is allocated. `max_text`: the most bytes of a body
     * outside its tensors, 0: any. */
    bool (*measure)(srv_source *source, size_t max_text, srv_problem *problem);
    /* Body and query → ask. False, with *out untouched, where the body is not of this format or without
     * memory; what is wrong within it waits in the ask (ask.h). */
    bool (*decode)(const srv_source *source, srv_ask **out, srv_problem *problem);
    bool keeps_body; /* the ask looks into the body, which stays as long as the ask does */

    const char *const
        *parameters; /* of the query, for this format's answers alone, ended by NULL; NULL: none */
    /* After srv_ask_bind and before the plan: reads those parameters (srv_ask_option), refuses what the format
     * cannot tell, and takes out of ask->request.want what it would leave out. NULL: nothing to settle. */
    bool (*settle)(srv_ask *ask, srv_problem *problem);
    /* Upper bound for the memory that sending the answer to a planned request takes beside the run; SIZE_MAX where
     * it overflows. */
    size_t (*cost)(const srv_ask *ask, const attn_plan *plan);
    /* Lists the answer: literal text and tensors, which are written when they are sent. The tensors may point into
     * the run, and those of projections into the ask as well. False with a problem, or where nobody wants it any
     * more; a number that binary16 does not hold is found later (parts.h). */
    bool (*encode)(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem);
};

/* Formats among which a route's headers choose; the first one is the default both ways. */
typedef struct srv_codecs {
    const srv_codec *rows;
    size_t count;
} srv_codecs;

enum { SRV_MAX_CODECS = 16 }; /* rows of a table */

extern const srv_codecs srv_codecs_attention, srv_codecs_inference;

/* Whether bodies may be of this format. */
bool srv_codec_is_read(const srv_codec *codec);
/* The format of a body with this Content-Type (NULL or "": the default); NULL where none is read so. */
const srv_codec *srv_codec_of_body(const srv_codecs *codecs, const char *content_type);
bool srv_codec_has_parameter(const srv_codec *codec, const char *name);

/* "a, b or c": the types that are read (or also read), that are written, or whose answers have this parameter in their
 * query. Cut where it does not fit. */
void srv_codecs_read(const srv_codecs *codecs, char *out, size_t size);
void srv_codecs_written(const srv_codecs *codecs, char *out, size_t size);
void srv_codecs_with_parameter(const srv_codecs *codecs, const char *name, char *out, size_t size);

#endif
