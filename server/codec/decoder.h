/* Reading a body as it arrives: made once the headers are known, fed with each piece, asked at the end. Which way its
 * format is read is the codec's affair: piece by piece, or collected and read as a whole.
 *
 * One thread at a time: feeding is the HTTP thread's, which has other connections to attend to and gets nothing but
 * work that grows with the piece; ending is a worker's. */
#ifndef SRV_CODEC_DECODER_H
#define SRV_CODEC_DECODER_H

#include "codec.h"
#include "server/jobs/share.h"

struct srv_decoder {
    srv_share share; /* of the memory budget; what it holds in the end is what the ask takes */
    /* Of a format with a head: bytes of JSON in front of the tensors' bytes, to be set before the first piece. SIZE_MAX, as
     * it is made: not told, all of it is JSON. */
    size_t head;
    /* See srv_decoder_feed and _end. */
    bool (*feed)(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem);
    bool (*end)(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem);
    /* Frees all that it has allocated but itself, which is one block of malloc's. */
    void (*drop)(srv_decoder *decoder);
};

/* For a body of the codec's format, which must be one that is read. `max_text`: the most bytes of it outside its
 * tensors, 0: any. NULL without memory. */
srv_decoder *srv_decoder_new(const srv_codec *codec, srv_budget *budget, size_t max_text);

/* Takes the next piece; nothing of it is needed afterwards. False with a problem where there is no memory for it or a
 * limit has been passed; then nothing more may come. */
bool srv_decoder_feed(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem);

/* Body and query → ask. False, with *out untouched, where the body is not of its format or without memory; what is
 * wrong within it waits in the ask (ask.h). Without a problem where it gave up (srv_source). Once. */
bool srv_decoder_end(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem);

/* Frees it; what the ask takes stays held. Returns that, for the caller to give back with the ask. */
size_t srv_decoder_close(srv_decoder *decoder);

/* Frees it, and gives back what it holds of the budget. NULL is fine. */
void srv_decoder_free(srv_decoder *decoder);

#endif
