/* The document as bytes in the binary (document.h). The assembler reads the file, relative to the repository's
 * root where everything is compiled: C17 has no way of its own. Constant data; any thread. */
#include "document.h"

#include "server/version.h"

#include <stdint.h>
#include <string.h>

__asm__(".pushsection .rodata\n"
        ".globl srv_openapi_begin\n"
        ".hidden srv_openapi_begin\n"
        "srv_openapi_begin:\n"
        ".incbin \"server/openapi/openapi.json\"\n"
        ".globl srv_openapi_end\n"
        ".hidden srv_openapi_end\n"
        "srv_openapi_end:\n"
        ".popsection\n");

extern const char srv_openapi_begin[] __attribute__((visibility("hidden")));
extern const char srv_openapi_end[] __attribute__((visibility("hidden")));

static const char VERSION_PLACE[] = "@VERSION@";

void srv_openapi_append(srv_text *out) {
    size_t size = (size_t)((uintptr_t)srv_openapi_end - (uintptr_t)srv_openapi_begin);
    const char *place = memmem(srv_openapi_begin, size, VERSION_PLACE, sizeof VERSION_PLACE - 1);
    size_t before = (size_t)(place - srv_openapi_begin);
    const char *after = place + sizeof VERSION_PLACE - 1;
    srv_text_append(out, srv_openapi_begin, before);
    srv_text_append_string(out, SRV_VERSION.version);
    srv_text_append(out, after, size - before - (sizeof VERSION_PLACE - 1));
}
