/* How the modules that people write name their attention weights: one table, read by code that knows no
 * scheme. */
#ifndef ATTN_WEIGHTS_SCHEMES_H
#define ATTN_WEIGHTS_SCHEMES_H

#include <stdbool.h>
#include <stddef.h>

/* role, what it is called in lists, whether a block exists wherever a tensor of that role does. */
#define ATTN_ROLES(X)                                                                                        \
    X(ATTN_ROLE_QKV_WEIGHT, "query, key and value weight", true) /* rows: all q, then all k, then all v */   \
    X(ATTN_ROLE_QKV_BIAS, "query, key and value bias", false)                                                \
    X(ATTN_ROLE_Q_WEIGHT, "query weight", true)                                                              \
    X(ATTN_ROLE_Q_BIAS, "query bias", false)                                                                 \
    X(ATTN_ROLE_K_WEIGHT, "key weight", true)                                                                \
    X(ATTN_ROLE_K_BIAS, "key bias", false)                                                                   \
    X(ATTN_ROLE_V_WEIGHT, "value weight", true)                                                              \
    X(ATTN_ROLE_V_BIAS, "value bias", false)                                                                 \
    X(ATTN_ROLE_O_WEIGHT, "output weight", false)                                                            \
    X(ATTN_ROLE_O_BIAS, "output bias", false)                                                                \
    X(ATTN_ROLE_EXTRA_K, "extra key", false)                                                                 \
    X(ATTN_ROLE_EXTRA_V, "extra value", false)                                                               \
    X(ATTN_ROLE_UNSUPPORTED, "part that is not supported", false) /* would change the result: refused */

typedef enum attn_role {
#define X(role, text, starts_block) role,
    ATTN_ROLES(X)
#undef X
        ATTN_ROLE_COUNT
} attn_role;

const char *attn_role_text(attn_role role);
bool attn_role_starts_block(attn_role role);

typedef struct attn_scheme {
    const char *family;
    const char *summary;      /* its names in short, for errors */
    bool in_by_out;           /* weights are [in,out], y = x·W; else [out,in] */
    bool reads_add_zero_attn; /* `__metadata__.add_zero_attn` */
} attn_scheme;

/* The scheme and role of a tensor by the end of its name, which is all of it or follows a '.'; the length of
 * what stands before, without that '.', in *prefix. NULL: in no scheme; outputs untouched. */
const attn_scheme *attn_scheme_match(const char *name, attn_role *role, size_t *prefix);

/* The tensor name's end for a role in a scheme; NULL where the scheme has none. */
const char *attn_scheme_suffix(const attn_scheme *scheme, attn_role role);

/* The schemes in the order of the table; NULL beyond the last. */
const attn_scheme *attn_scheme_at(size_t index);

/* What a block is called that attends to another sequence. */
typedef struct attn_cross_name {
    const char *name;
    const char *beside; /* only where a block of that name has the same parent; NULL: anywhere */
} attn_cross_name;

/* The row for the last part of a block's prefix; NULL: the block attends to its own sequence. */
const attn_cross_name *attn_scheme_cross_name(const char *name, size_t size);

#endif
