/* The facts (facts.h), gathered from the parts that know them. */
#include "facts.h"

#include "engine/engine.h"
#include "server/blas_core.h"
#include "server/http/http.h"
#include "server/version.h"

json_t *srv_facts_document(size_t workers, const char *self_test) {
    const srv_core *core = srv_core_found();
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s?, s:s?, s:s, s:s}, s:s, s:s, s:I}",
                     "version", SRV_VERSION.version, "commit", SRV_VERSION.commit, "compiler",
                     SRV_VERSION.compiler, "libraries", "libmicrohttpd", srv_http_library_version(),
                     "jansson", jansson_version_str(), "openblas", attn_blas_config(), "blas", "core",
                     core->in_use, "origin", srv_core_origin_text(core), "instead_of", core->instead_of,
                     "better", core->better, "processor", srv_core_level_text(), "self_test", self_test,
                     "vectors", attn_vectors_name(attn_vectors_in_use()), "kernels",
                     attn_kernels_are_reference() ? "reference" : "auto", "workers", (json_int_t)workers);
}
