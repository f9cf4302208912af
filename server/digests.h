/* SHA-256 (FIPS 180-4) of the models' files, computed beside the requests so that starting does not wait for
 * it: one thread of the lowest priority, one file after the other. A digest is that of the file as it lies
 * there then; a file that cannot be read any more has none.
 *
 * The only file that includes GnuTLS: libmicrohttpd needs that library for itself, so it is no further one. */
#ifndef SRV_DIGESTS_H
#define SRV_DIGESTS_H

#include "server/models.h"

typedef struct srv_digests srv_digests;

/* Begins with a published list, which outlives the digests. NULL where there is no thread or memory for it. */
srv_digests *srv_digests_start(srv_models *models);
/* Stops within a block of a file; NULL is fine. */
void srv_digests_free(srv_digests *digests);

#endif
