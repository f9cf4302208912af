/* What this daemon is made of and computes with: the document of /version and of `attnd version`. */
#ifndef SRV_FACTS_H
#define SRV_FACTS_H

#include <jansson.h>

/* A new JSON object of strings and numbers; NULL without memory. `self_test` says how the start-up test of
 * the matrix library ended. Any thread after srv_core_settle. */
json_t *srv_facts_document(size_t workers, const char *self_test);

#endif
