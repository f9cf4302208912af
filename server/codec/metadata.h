/* Options in a binary body's `__metadata__`, strings all of them, as the members that a JSON body would have.
 * Internal to server/codec. */
#ifndef SRV_CODEC_METADATA_H
#define SRV_CODEC_METADATA_H

#include "ask_storage.h"

/* Adds each option to `root`, those of `return` below it, and its name to the ask, for errors to point there. The
 * first that is wrong is told and left out. `format`, which writers of weights put there, is passed over. */
void srv_metadata_read(const attn_file_header *header, srv_ask *ask, json_t *root, srv_problem *problem);

#endif
