/* Media types (RFC 9110, 8.3.1) and what a client accepts of them (12.5.1). Pure; any thread. */
#ifndef SRV_HTTP_MEDIA_H
#define SRV_HTTP_MEDIA_H

#include "server/codec/coding.h"

#include <stdbool.h>

/* Whether a Content-Type value names `type` ("application/json"), whatever its case and parameters. */
bool srv_media_is(const char *value, const char *type);

/* Whether a header's value says nothing: it is not there (NULL), or blank. */
bool srv_media_is_nothing(const char *value);

/* How much a client wants a media type. Zero: nothing that it says fits. */
typedef struct srv_preference {
    int closeness; /* of the range that fits: 3 names the type, 2 its first half, 1 is any */
    int weight;    /* q in thousandths; 0: refused */
} srv_preference;

/* Adds what one Accept line says of `type`, or one Accept-Encoding line of a coding: of all ranges that fit, the most
 * specific one counts, and the first of those. What cannot be read as a range fits nothing, what cannot be read as a
 * weight is one of 1. */
void srv_media_prefer(const char *accept, const char *type, srv_preference *known);

/* The coding that a Content-Encoding value (NULL: none) names; false where it names another, or several. */
bool srv_coding_of(const char *value, srv_coding *out);

#endif
