/* The text that the scanner has left of a JSON body (json_scan.h) → Jansson's tree. Any text gives a tree or a problem.
 * On a worker. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_TEXT_H
#define SRV_CODEC_JSON_TEXT_H

#include "json_scan.h"

/* The body is over: reads its text, which is gone then. The tree is the caller's, who gives *tree bytes of the scan's
 * share back with it. NULL with a problem, or without one where `job` (NULL: none) has been cancelled; then what is held
 * goes with the share. */
json_t *srv_json_read_text(srv_scan *scan, const attn_job *job, size_t *tree, srv_problem *problem);

/* What to add to Jansson's complaint where it cannot read a NaN or an infinity, whose next byte is `next`, or met what an NPY
 * array or gzip begins with; "" else. */
const char *srv_json_advice(const char *error, char next);

#endif
