/* Decoders of all formats (decoder.h), and the one for formats that are read as a whole: it collects the body. Nothing
 * of a declared size is allocated before the bytes are there. */
#include "decoder.h"

#include "ask_storage.h"

#include <stdlib.h>

typedef struct collector {
    srv_decoder base;
    const srv_codec *codec;
    size_t max_text;
    srv_buffer body;
} collector;

static bool collect(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem) {
    collector *this = (collector *)decoder;
    return srv_buffer_append(&this->body, piece, size, &decoder->share, problem);
}

static bool read_whole(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem) {
    collector *this = (collector *)decoder;
    srv_source whole = *source;
    srv_buffer_fit(&this->body, &decoder->share);
    whole.body = this->body.data;
    whole.size = this->body.size;
    whole.share = &decoder->share;
    if (!this->codec->measure(&whole, this->max_text, problem)) return false;
    if (!srv_share_take(&decoder->share, whole.memory, problem)) return false;
    if (!this->codec->decode(&whole, out, problem)) return false;
    if (this->codec->keeps_body) {
        (*out)->storage->kept[0] = this->body;
        this->body = (srv_buffer){0};
    }
    return true;
}

static void drop(srv_decoder *decoder) {
    srv_buffer_done(&((collector *)decoder)->body, &decoder->share);
}

srv_decoder *srv_decoder_new(const srv_codec *codec, srv_budget *budget, size_t max_text) {
    srv_decoder *decoder = NULL;
    if (codec->open != NULL) {
        decoder = codec->open(max_text);
    } else {
        collector *this = calloc(1, sizeof *this);
        if (this == NULL) return NULL;
        this->codec = codec;
        this->max_text = max_text;
        decoder = &this->base;
        decoder->feed = collect;
        decoder->end = read_whole;
        decoder->drop = drop;
    }
    if (decoder == NULL) return NULL;
    decoder->share.budget = budget;
    decoder->head = SIZE_MAX;
    return decoder;
}

bool srv_decoder_feed(srv_decoder *decoder, const char *piece, size_t size, srv_problem *problem) {
    bool fine = decoder->feed(decoder, piece, size, problem);
    srv_share_receive(&decoder->share, size);
    return fine;
}

bool srv_decoder_end(srv_decoder *decoder, const srv_source *source, srv_ask **out, srv_problem *problem) {
    return decoder->end(decoder, source, out, problem);
}

size_t srv_decoder_close(srv_decoder *decoder) {
    decoder->drop(decoder);
    srv_share_settle(&decoder->share);
    size_t held = decoder->share.held;
    free(decoder);
    return held;
}

void srv_decoder_free(srv_decoder *decoder) {
    if (decoder == NULL) return;
    srv_budget *budget = decoder->share.budget;
    srv_budget_give(budget, srv_decoder_close(decoder));
}
