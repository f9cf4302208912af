/* GET /v2/models/stats and those of one model (statistics extension of the Open Inference Protocol:
 * https://github.com/triton-inference-server/server, docs/protocol/extension_statistics.md). */
#include "reply.h"
#include "routes.h"
#include "server/codec/oip.h"
#include "v2.h"

static const char *const part_names[SRV_INFERENCE_PARTS] = {"queue", "compute_input", "compute_infer",
                                                            "compute_output"};

static json_t *duration(const srv_inference_sum *sum) {
    return json_pack("{s:I, s:I}", "count", (json_int_t)sum->count, "ns", (json_int_t)sum->nanoseconds);
}

/* Behind the members that an object has already; `from`: the first part. */
static json_t *add_parts(json_t *object, const srv_inference_sum parts[], size_t from) {
    for (size_t i = from; i < SRV_INFERENCE_PARTS; i++)
        json_object_set_new(object, part_names[i], duration(&parts[i]));
    return object;
}

static json_t *batches(const srv_inference_counts *counts) {
    json_t *list = json_array();
    for (size_t i = 0; i < counts->batch_count; i++) {
        const srv_inference_batch *batch = &counts->batches[i];
        json_t *object = json_pack("{s:I}", "batch_size", (json_int_t)batch->size);
        json_array_append_new(list, add_parts(object, batch->parts, SRV_INFERENCE_INPUT));
    }
    return list;
}

static json_t *statistics_of(const srv_site *site, const srv_v2_name *name) {
    srv_inference_counts counts;
    const srv_inference_sum none = {0};
    srv_inference_read(site->inference, srv_v2_number(name), &counts);
    json_t *sums =
        json_pack("{s:o, s:o}", "success", duration(&counts.success), "fail", duration(&counts.fail));
    add_parts(sums, counts.parts, SRV_INFERENCE_QUEUE);
    json_object_set_new(sums, "cache_hit", duration(&none));
    json_object_set_new(sums, "cache_miss", duration(&none));
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o}", "name", name->text, "version", SRV_OIP_VERSION,
                     "last_inference", (json_int_t)counts.last, "inference_count",
                     (json_int_t)counts.sequences, "execution_count", (json_int_t)counts.success.count,
                     "inference_stats", sums, "batch_stats", batches(&counts));
}

/* Of the model that the path names, or of all. */
void srv_route_v2_stats(srv_call *call) {
    const srv_models *models = call->site->service.models;
    bool is_one = call->parameters.text[0][0] != '\0';
    srv_v2_name name;
    json_t *list;
    if (is_one && !srv_v2_find(call, &name)) return;
    list = json_array();
    if (is_one) json_array_append_new(list, statistics_of(call->site, &name));
    for (size_t i = 0; !is_one && i < srv_v2_names(models); i++) {
        name = srv_v2_name_at(models, i);
        json_array_append_new(list, statistics_of(call->site, &name));
    }
    srv_reply_json(&call->reply, json_pack("{s:o}", "model_stats", list));
}
