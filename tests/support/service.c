#include "service.h"

#include "server/codec/inflater.h"

#include "decoding.h"
#include "safetensors_writer.h"
#include "written.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool service_open(service *out, const char *path, size_t memory, attn_error *error) {
    const attn_model_source source = {.name = "file", .path = path};
    *out = (service){.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
    srv_budget_init(&out->budget, memory);
    out->shared = (srv_service){.models = srv_models_new(), .budget = &out->budget};
    if (out->shared.models == NULL) {
        attn_error_set(error, ATTN_NO_MEMORY, NULL, "no memory for the list of models");
    } else if (srv_models_load(out->shared.models, &source, path != NULL, error) == ATTN_OK &&
               attn_pool_new(1, &out->shared.pool, error) == ATTN_OK) {
        srv_models_publish(out->shared.models);
        return true;
    }
    srv_models_free(out->shared.models);
    return false;
}

static void answered(void *context, srv_answer *answer) {
    service *to = context;
    pthread_mutex_lock(&to->lock);
    to->answer = *answer;
    to->answered = true;
    pthread_cond_signal(&to->came);
    pthread_mutex_unlock(&to->lock);
}

static void passed(void *context, bool cancelled) {
    (void)cancelled;
    service *to = context;
    pthread_mutex_lock(&to->lock);
    to->passed = true;
    pthread_cond_signal(&to->came);
    pthread_mutex_unlock(&to->lock);
}

/* What the worker has begun is over then. */
static void settle(service *to) {
    attn_job empty = {.context = to, .done = passed};
    to->passed = false;
    attn_pool_submit(to->shared.pool, &empty);
    pthread_mutex_lock(&to->lock);
    while (!to->passed)
        pthread_cond_wait(&to->came, &to->lock);
    pthread_mutex_unlock(&to->lock);
}

static const srv_codecs *codecs_of(const service_forms *forms) {
    return forms->addressed ? &srv_codecs_inference : &srv_codecs_attention;
}

static srv_decoder *open_decoder(service *to, const service_forms *forms) {
    enum { MOST = 1 << 20 };
    const srv_codec *codec = srv_codec_of_body(codecs_of(forms), forms->takes);
    srv_decoder *decoder = forms->coding == SRV_CODING_IDENTITY
                               ? srv_decoder_new(codec, &to->budget, 0)
                               : srv_inflater_new(forms->coding, MOST, codec, &to->budget, 0);
    if (decoder && forms->addressed) decoder->head = forms->head;
    return decoder;
}

bool service_ask(service *to, const char *body, size_t size, const char *query, size_t query_size,
                 service_answer *out) {
    return service_ask_in(to, &(service_forms){0}, body, size, query, query_size, out);
}

bool service_ask_in(service *to, const service_forms *forms, const char *body, size_t size, const char *query,
                    size_t query_size, service_answer *out) {
    char *question = malloc(query_size > 0 ? query_size : 1);
    srv_decoder *decoder = open_decoder(to, forms);
    srv_problem problem = {0};
    bool started = decoder != NULL && question != NULL;
    /* Cut somewhere in the middle, so that both ways of reading are taken. */
    if (started && feed_copy(decoder, body, size / 2, &problem) &&
        feed_copy(decoder, body + size / 2, size - size / 2, &problem)) {
        memcpy(question, query, query_size);
        to->answered = false;
        const srv_request request = {.decoder = decoder,
                                     .gives = srv_codec_of_body(codecs_of(forms), forms->gives),
                                     .addressed = forms->addressed ? *forms->addressed : (srv_addressed){0},
                                     .query = question,
                                     .query_size = query_size};
        started = srv_pipeline_start(&to->shared, &request, answered, to) != NULL;
    }
    if (!started || problem.id != SRV_NO_PROBLEM) srv_decoder_free(decoder);
    if (started && problem.id != SRV_NO_PROBLEM) {
        free(question);
        *out = (service_answer){.problem = problem};
        return true;
    }
    pthread_mutex_lock(&to->lock);
    while (started && !to->answered)
        pthread_cond_wait(&to->came, &to->lock);
    pthread_mutex_unlock(&to->lock);
    free(question);
    if (!started) return false;
    *out = (service_answer){.problem = to->answer.problem};
    if (to->answer.stream) out->body = written_stream(to->answer.stream, &out->size);
    srv_stream_close(to->answer.stream);
    settle(to);
    return to->answer.stream == NULL || out->body != NULL;
}

void service_close(service *open) {
    attn_pool_free(open->shared.pool);
    srv_models_free(open->shared.models);
}

int memory_file(char path[MEMORY_FILE_PATH]) {
    int file = memfd_create("weights", MFD_CLOEXEC);
    if (file < 0) {
        perror("memfd_create");
        abort();
    }
    snprintf(path, MEMORY_FILE_PATH, "/proc/self/fd/%d", file);
    return file;
}

void service_write_cross(const char *path) {
    float numbers[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = 0.0625F * (float)(i * 7 % 16) - 0.5F;
    st_builder *builder = st_new();
    st_metadata(builder, "num_heads", "2");
    st_add(builder, "q_proj_weight", "F32", (size_t[]){4, 4, ST_END}, numbers);
    st_add(builder, "k_proj_weight", "F32", (size_t[]){4, 3, ST_END}, numbers);
    st_add(builder, "v_proj_weight", "F32", (size_t[]){4, 2, ST_END}, numbers);
    st_add(builder, "out_proj.weight", "F32", (size_t[]){4, 4, ST_END}, numbers);
    st_finish(builder, path);
}
