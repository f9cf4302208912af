/* Sees to it that OpenBLAS uses the kernels that this processor deserves.
 *
 * A release older than the processor falls back to its oldest kernels, at a sixth of the speed. The library
 * reads OPENBLAS_CORETYPE once, while it is loaded; so a wrong choice is mended by setting the variable and
 * starting this program again, once. A user's own OPENBLAS_CORETYPE is never touched. Main thread, before any
 * other thread. */
#ifndef SRV_BLAS_CORE_H
#define SRV_BLAS_CORE_H

/* How the kernels in use came to be used. */
typedef enum srv_core_origin {
    SRV_CORE_OF_LIBRARY, /* the library's own choice */
    SRV_CORE_OF_USER,    /* OPENBLAS_CORETYPE was set */
    SRV_CORE_OF_ATTND,   /* asked for by attnd instead of the library's choice */
} srv_core_origin;

typedef struct srv_core {
    srv_core_origin origin;
    const char *in_use;     /* OpenBLAS's name for it */
    const char *instead_of; /* the library's own choice, where attnd asked for another; else NULL */
    const char *better;     /* what would suit this processor better and is not in use; else NULL */
} srv_core;

/* Starts the program again where that helps, and then does not return. Else returns what is in use and
 * why. */
void srv_core_settle(char **argv);

/* What srv_core_settle found. Any thread after it. */
const srv_core *srv_core_found(void);

/* The origin in words, and the processor's level. Static storage. */
const char *srv_core_origin_text(const srv_core *core);
const char *srv_core_level_text(void);

#endif
