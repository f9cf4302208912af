/* Media types (RFC 9110, 8.3.1) and what a client accepts of them (12.5.1). Pure; any thread. */
#ifndef SRV_HTTP_MEDIA_H
#define SRV_HTTP_MEDIA_H

#include <stdbool.h>

/* Whether a Content-Type value names `type` ("application/json"), whatever its case and parameters. */
bool srv_media_is(const char *value, const char *type);

/* Whether a body of this Content-Type may be read as JSON: application/json; none (NULL or ""), text/plain
 * and application/x-www-form-urlencoded too, since a browser's fetch and `curl -d` send those with JSON
 * inside. */
bool srv_media_is_json(const char *value);

/* Whether an Accept value lets `type` through: the most specific range that fits it decides, and q=0 refuses.
 * None (NULL or "") accepts everything; what cannot be read as a range fits nothing. */
bool srv_media_is_accepted(const char *accept, const char *type);

/* Whether a Content-Encoding value (NULL: none) leaves the body as it is. */
bool srv_coding_is_identity(const char *value);

#endif
