/* attnd key: makes an API key. The key is printed once and kept nowhere; the entry for the file of keys holds its
 * SHA-256. */
#include "cli.h"
#include "server/auth/keys.h"

int srv_cli_key(int argc, char **argv) {
    char key[SRV_KEY_TEXT_SIZE], hex[SRV_KEY_HEX_SIZE];
    if (argc != 2 || !srv_key_name_is_valid(argv[1])) {
        fprintf(stderr, "attnd %s: takes one name, 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-'\n", argv[0]);
        return SRV_EXIT_USAGE;
    }
    if (!srv_key_new(key, hex)) {
        fprintf(stderr, "attnd %s: the system gives no random numbers\n", argv[0]);
        return SRV_EXIT_FAILED;
    }
    printf("%s\n{\"name\":\"%s\",\"sha256\":\"%s\",\"rights\":[\"infer\",\"read\"]}\n", key, argv[1], hex);
    return SRV_EXIT_OK;
}
