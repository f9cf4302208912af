#include "keyed.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* SHA-256 of the keys' texts. */
static const char file[] =
    "{\"keys\":["
    "{\"name\":\"all\",\"sha256\":\"11b61ff8f27ebdeaa6f43de31efa2bb959b0c03b95f5943338d0f95797a6bbd2\","
    "\"rights\":[\"infer\",\"read\",\"metrics\"]},"
    "{\"name\":\"reader\",\"sha256\":\"36b25be79ab228d4616570f70a8298442d5a6b0b8a018d5324989f475ac43887\","
    "\"rights\":[\"read\"]},"
    "{\"name\":\"scraper\",\"sha256\":\"033da0203fac2cc01ee4222b5ff046dec8b175106a99f140d0d4d687432716d8\","
    "\"rights\":[\"metrics\"]},"
    "{\"name\":\"slow\",\"sha256\":\"3f95eac8212e57b8673870ea7cac4bbd0cf177bf016aa056c9831b2603f89534\","
    "\"rights\":[\"infer\",\"read\",\"metrics\"],\"rate\":0.0001},"
    "{\"name\":\"twice\",\"sha256\":\"4ea13ada2c2e7ad276a0f9e3d749263b451b9cf9614164a0c15c87837f74eb26\","
    "\"rights\":[\"infer\"],\"rate\":0.01,\"burst\":2}"
    "]}";

void keyed_start(keyed *out, const char *const arguments[]) {
    const char *list[16] = {"--workers", "2", "--max-body", "64KiB", "--keys-file"};
    size_t count = 5;
    out->folder = temporary_folder();
    out->path = temporary_path(out->folder, "keys.json");
    st_write_bytes(out->path, file, strlen(file));
    list[count++] = out->path;
    for (size_t i = 0; arguments && arguments[i]; i++) {
        ck_assert_uint_lt(count, 15);
        list[count++] = arguments[i];
    }
    daemon_start(&out->daemon, list, NULL);
}

void keyed_stop(keyed *running) {
    daemon_stop(&running->daemon);
    free(running->path);
    temporary_remove(running->folder);
}
