/* Bytes packed and unpacked by zlib, as clients do it. What is returned is malloc'ed. */
#ifndef TESTS_SUPPORT_PACKED_H
#define TESTS_SUPPORT_PACKED_H

#include <stddef.h>

/* coding: "gzip" or "deflate". */
char *packed(const char *coding, const char *bytes, size_t size, size_t *packed_size);
/* Fails the test unless the bytes are one whole stream and nothing else. NUL-terminated behind *size bytes. */
char *unpacked(const char *coding, const char *bytes, size_t size, size_t *unpacked_size);

#endif
