/* JSON bodies, cut into pieces: the decoder and the oracle, which reads them whole with Jansson, say the same of each:
 * verdict, words, places and values. Only the words on broken syntax may differ, where a string behind the broken place
 * is longer than what is kept to tell of it.
 *
 * The first byte of an input is the length of the pieces (0: one piece); the body is the rest. */
#include "fuzz.h"

#include "tests/oracle/oracle.h"
#include "tests/support/decoding.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const char *body = (const char *)data + 1;
    size_t length = size - 1, piece = data[0] == 0 ? length + 1 : data[0];
    srv_ask *ask = NULL, *right = NULL;
    srv_problem problem = {0}, why = {0};
    decode_json_pieces(body, length, piece, NULL, &ask, &problem);
    oracle_decode(body, length, NULL, &right, &why);
    /* Jansson passes over a NUL behind a number. */
    bool has_nul = ask == NULL && strstr(problem.detail, "NUL character outside strings") != NULL;
    if (has_nul)
        FUZZ_PROMISE(problem.id == SRV_BAD_JSON && memchr(body, '\0', length) != NULL);
    else if (ask == NULL && problem.id == SRV_BAD_JSON)
        FUZZ_PROMISE(right == NULL && why.id == SRV_BAD_JSON);
    else
        FUZZ_PROMISE(oracle_difference(ask, &problem, right, &why) == NULL);
    srv_ask_free(ask);
    srv_ask_free(right);
    return 0;
}
