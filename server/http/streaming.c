/* Streams as the library's responses: it asks for bytes when the socket takes them; where the workers have not come so
 * far the connection is suspended until they have. HTTP thread, but for waking, which workers do. */
#include "exchange.h"

#include "server/obs/clock.h"

#include <math.h>
#include <string.h>

enum {
    AT_ONCE = 64 * 1024, /* bytes that the library takes at a time where the size is known */
    MOST_SPANS = 64,     /* the library keeps its list of them in the connection's memory */
};

/* Under the lock: the connection goes on. The time that nobody could read does not count as the reader's. */
static void resume(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    atomic_store(&exchange->place->progress, 0);
    srv_connection_enter(exchange->place, SRV_PHASE_ANSWER, srv_clock_ms(),
                         http->options.times.stalled_reader);
    MHD_resume_connection(exchange->connection);
    http->suspended--;
    if (http->suspended == 0) pthread_cond_broadcast(&http->resumed);
}

/* On a worker: a block is there. */
static void wake(void *context) {
    srv_exchange *exchange = context;
    srv_http *http = exchange->http;
    pthread_mutex_lock(&http->lock);
    resume(exchange);
    pthread_mutex_unlock(&http->lock);
}

/* Suspended first, so that resuming cannot come before. False where the daemons are being stopped, which no suspended
 * connection would survive. */
static bool await(srv_exchange *exchange) {
    srv_http *http = exchange->http;
    pthread_mutex_lock(&http->lock);
    bool suspends = !http->stopping;
    if (suspends) {
        MHD_suspend_connection(exchange->connection);
        srv_connection_enter(exchange->place, SRV_PHASE_WORKERS, 0, INFINITY);
        http->suspended++;
    }
    pthread_mutex_unlock(&http->lock);
    if (suspends && !srv_stream_await(exchange->call.reply.stream, wake, exchange)) wake(exchange);
    return suspends;
}

static ssize_t read_stream(void *cls, uint64_t position, char *to, size_t size) {
    (void)position;
    srv_exchange *exchange = cls;
    srv_stream *stream = exchange->call.reply.stream;
    size_t count = srv_stream_read(stream, to, size);
    exchange->sent += count;
    if (count > 0) return (ssize_t)count;
    if (srv_stream_is_over(stream)) return MHD_CONTENT_READER_END_OF_STREAM;
    return await(exchange) ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
}

struct MHD_Response *srv_streaming_response(srv_exchange *exchange) {
    srv_stream *stream = exchange->call.reply.stream;
    srv_span spans[MOST_SPANS];
    struct MHD_IoVec pieces[MOST_SPANS];
    size_t size = srv_stream_size(stream), count = srv_stream_spans(stream, spans, MOST_SPANS);
    /* What closes the stream is the exchange's end, which the library tells while it still has the response but reads no
     * more of it. */
    if (count == 0)
        return MHD_create_response_from_callback(size == SIZE_MAX ? MHD_SIZE_UNKNOWN : size, AT_ONCE,
                                                 read_stream, exchange, NULL);
    for (size_t i = 0; i < count; i++)
        pieces[i] = (struct MHD_IoVec){spans[i].data, spans[i].size};
    exchange->sent = size;
    return MHD_create_response_from_iovec(pieces, (unsigned)count, NULL, NULL);
}
