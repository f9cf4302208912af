/* Answers as one text, for tests that compare them. The texts are NUL-terminated and malloc'ed. */
#ifndef TESTS_SUPPORT_WRITTEN_H
#define TESTS_SUPPORT_WRITTEN_H

#include "server/jobs/stream.h"

/* Closes parts and writes them, block for block. */
char *written_parts(srv_parts *parts, size_t *size);
/* Reads a stream to its end, waiting where nothing is there. NULL without memory. */
char *written_stream(srv_stream *stream, size_t *size);

#endif
