/* The OpenAPI 3.1 document of the HTTP contract: openapi.json of this folder, which is part of the binary. */
#ifndef SRV_OPENAPI_DOCUMENT_H
#define SRV_OPENAPI_DOCUMENT_H

#include "server/codec/text.h"

/* Appends the document, with this binary's version in its place. Any thread. */
void srv_openapi_append(srv_text *out);

#endif
