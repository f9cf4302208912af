#include "golden_body.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

golden_body golden_body_read(const char *name) {
    enum { MOST = 4096 };
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", GOLDEN_BODIES, name);
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s", path);
    golden_body body = {.bytes = malloc(MOST)};
    body.size = fread(body.bytes, 1, MOST, file);
    fclose(file);
    ck_assert(body.size > 0 && body.size < MOST);
    body.type = strstr(name, ".npy") ? "application/x-npy" : "application/x-safetensors";
    return body;
}
