/* The only place of the program that reads the environment. Before any other thread exists, or never changed
 * after. */
#include "cfg.h"

#include <stdlib.h>
#include <unistd.h>

char **cfg_environment(void) {
    static char *none[] = {NULL};
    return environ ? environ : none;
}

const char *cfg_environment_value(const char *name) {
    return getenv(name);
}
