/* The only file that is rebuilt for every commit: the Makefile hands ATTND_VERSION and ATTND_COMMIT to it
 * alone. */
#include "version.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const srv_version SRV_VERSION = {
    .version = ATTND_VERSION,
    .commit = ATTND_COMMIT,
    .compiler = COMPILER,
};
