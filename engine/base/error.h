/* The engine's error value: what went wrong, where, and what would be accepted.
 *
 * A caller owns it and hands it in as the last argument; it may be NULL where only the code matters. The
 * first error wins: setting an error that already holds one changes nothing, so clean-up code cannot hide the
 * cause. Texts are one line and impersonal: what was found, then what would be accepted. */
#ifndef ATTN_BASE_ERROR_H
#define ATTN_BASE_ERROR_H

#include <stddef.h>

/* code, name. The name is stable: the server shows it to clients as the problem's `code`. */
#define ATTN_CODES(X)                                                                                        \
    X(ATTN_OK, "ok")                                                                                         \
    X(ATTN_NO_MEMORY, "no_memory")               /* an allocation failed */                                  \
    X(ATTN_IO, "io_error")                       /* a file cannot be opened, read or written */              \
    X(ATTN_BAD_FILE, "bad_file")                 /* a weights file breaks its format */                      \
    X(ATTN_BAD_MODEL, "bad_model")               /* a sound file that does not make an attention layer */    \
    X(ATTN_SHAPE, "shape_mismatch")              /* widths, lengths or ranks that do not fit together */     \
    X(ATTN_RANGE, "out_of_range")                /* an index or number outside what is accepted */           \
    X(ATTN_AMBIGUOUS_CAUSAL, "ambiguous_causal") /* L != S and no alignment named */                         \
    X(ATTN_CONFLICT, "conflict")                 /* two options that cannot both hold */                     \
    X(ATTN_TOO_LARGE, "too_large")               /* sizes that overflow or exceed the given budget */        \
    X(ATTN_NOT_FINITE, "not_finite")             /* a result with a NaN or an infinity */                    \
    X(ATTN_CANCELLED, "cancelled")               /* stopped between two tiles */

typedef enum attn_code {
#define X(code, name) code,
    ATTN_CODES(X)
#undef X
} attn_code;

enum { ATTN_WHERE_SIZE = 160, ATTN_TEXT_SIZE = 512 };

typedef struct attn_error {
    attn_code code;
    char where[ATTN_WHERE_SIZE]; /* a JSON Pointer ("/inputs/1"), a file, or a file and tensor; may be "" */
    char text[ATTN_TEXT_SIZE];   /* one line, never empty once code is set */
} attn_error;

/* The stable name of a code, e.g. "shape_mismatch". Static storage. */
const char *attn_code_name(attn_code code);

/* For texts: what ends the word for so many of a thing ("%zu row%s"), and the word itself for queries. Static. */
const char *attn_plural(size_t count);
const char *attn_queries(size_t count);

/* Makes an error value hold nothing. */
void attn_error_clear(attn_error *error);

/* Stores code, where (may be NULL) and the formatted text unless `error` is NULL or already holds an error.
 * Control characters of the text become '?', so that no name from a file can break a log line. Over-long
 * texts are cut. Returns `code`, so that `return attn_error_set(…)` reads well. */
__attribute__((format(printf, 4, 5))) attn_code attn_error_set(attn_error *error, attn_code code,
                                                               const char *where, const char *format, ...);

#endif
