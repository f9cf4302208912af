/* The table of formats (codec.h), and finding a row. */
#include "codec.h"

#include "json.h"
#include "npy.h"
#include "oip.h"
#include "safetensors.h"
#include "server/http/media.h"
#include "server/jobs/cost.h"
#include "server/picture/options.h"
#include "server/picture/picture.h"

#include <stdio.h>
#include <string.h>

/* What a browser's fetch and `curl -d` say of a text, with JSON inside. */
static const char *const json_also[] = {"text/plain", "application/x-www-form-urlencoded", NULL};

static const srv_codec attention[] = {
    {.type = "application/json",
     .also = json_also,
     .open = srv_json_decoder,
     .settle = srv_json_settle,
     .cost = srv_cost_of_sending,
     .encode = srv_json_encode},
    {.type = "application/x-npy",
     .measure = srv_npy_measure,
     .decode = srv_npy_decode,
     .keeps_body = true,
     .parameters = srv_npy_parameters,
     .settle = srv_npy_settle,
     .cost = srv_cost_of_sending,
     .encode = srv_npy_encode},
    {.type = "application/x-safetensors",
     .measure = srv_safetensors_measure,
     .decode = srv_safetensors_decode,
     .keeps_body = true,
     .settle = srv_safetensors_settle,
     .cost = srv_safetensors_cost,
     .encode = srv_safetensors_encode},
    {.type = "image/png",
     .parameters = srv_picture_parameters,
     .settle = srv_picture_settle,
     .cost = srv_png_cost,
     .encode = srv_png_encode},
    {.type = "image/svg+xml",
     .parameters = srv_picture_parameters,
     .settle = srv_picture_settle,
     .cost = srv_svg_cost,
     .encode = srv_svg_encode},
    {.type = "text/plain",
     .sent_as = "text/plain; charset=utf-8",
     .parameters = srv_terminal_parameters,
     .settle = srv_table_settle,
     .cost = srv_terminal_cost,
     .encode = srv_terminal_encode},
    {.type = "text/csv",
     .sent_as = "text/csv; charset=utf-8",
     .parameters = srv_csv_parameters,
     .settle = srv_table_settle,
     .cost = srv_csv_cost,
     .encode = srv_csv_encode},
};
_Static_assert(sizeof attention / sizeof *attention <= SRV_MAX_CODECS, "SRV_MAX_CODECS");

const srv_codecs srv_codecs_attention = {attention, sizeof attention / sizeof *attention};

/* With bytes behind the JSON, or with none; most clients of the protocol say nothing. */
static const char *const inference_also[] = {"application/octet-stream", "text/plain",
                                             "application/x-www-form-urlencoded", NULL};

static const srv_codec inference[] = {{.type = "application/json",
                                       .also = inference_also,
                                       .has_head = true,
                                       .open = srv_oip_decoder,
                                       .cost = srv_oip_cost,
                                       .encode = srv_oip_encode}};

const srv_codecs srv_codecs_inference = {inference, 1};

bool srv_codec_is_read(const srv_codec *codec) {
    return codec->open != NULL || codec->decode != NULL;
}

static bool reads(const srv_codec *codec, const char *content_type) {
    if (!srv_codec_is_read(codec)) return false;
    if (srv_media_is(content_type, codec->type)) return true;
    for (const char *const *also = codec->also; also != NULL && *also != NULL; also++)
        if (srv_media_is(content_type, *also)) return true;
    return false;
}

const srv_codec *srv_codec_of_body(const srv_codecs *codecs, const char *content_type) {
    if (srv_media_is_nothing(content_type)) return codecs->rows;
    for (size_t i = 0; i < codecs->count; i++)
        if (reads(codecs->rows + i, content_type)) return codecs->rows + i;
    return NULL;
}

bool srv_codec_has_parameter(const srv_codec *codec, const char *name) {
    for (const char *const *known = codec->parameters; known != NULL && *known != NULL; known++)
        if (strcmp(*known, name) == 0) return true;
    return false;
}

/* A list that grows: the last two items are joined when the next one is known. */
typedef struct list {
    char *out;
    size_t size, used;
    const char *last; /* not written yet */
} list;

static void write_last(list *to, const char *between) {
    if (to->last == NULL || to->used >= to->size) return;
    int written = snprintf(to->out + to->used, to->size - to->used, "%s%s", between, to->last);
    if (written > 0) to->used += (size_t)written;
}

static void add(list *to, const char *item) {
    write_last(to, to->used > 0 ? ", " : "");
    to->last = item;
}

static void end(list *to) {
    write_last(to, to->used > 0 ? " or " : "");
}

void srv_codecs_read(const srv_codecs *codecs, char *out, size_t size) {
    list to = {out, size, 0, NULL};
    for (size_t i = 0; i < codecs->count; i++) {
        const srv_codec *codec = codecs->rows + i;
        if (!srv_codec_is_read(codec)) continue;
        add(&to, codec->type);
        for (const char *const *also = codec->also; also != NULL && *also != NULL; also++)
            add(&to, *also);
    }
    end(&to);
}

void srv_codecs_written(const srv_codecs *codecs, char *out, size_t size) {
    list to = {out, size, 0, NULL};
    for (size_t i = 0; i < codecs->count; i++)
        if (codecs->rows[i].encode != NULL) add(&to, codecs->rows[i].type);
    end(&to);
}

void srv_codecs_with_parameter(const srv_codecs *codecs, const char *name, char *out, size_t size) {
    list to = {out, size, 0, NULL};
    out[0] = '\0';
    for (size_t i = 0; i < codecs->count; i++)
        if (srv_codec_has_parameter(codecs->rows + i, name)) add(&to, codecs->rows[i].type);
    end(&to);
}
