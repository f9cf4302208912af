/* Runs a fuzz target over every file of a folder, without libFuzzer: what was found once stays found. An empty
 * folder fails. usage: fuzz_NAME FOLDER */
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The input at hand, for whoever ends the program. */
static char path[4096];

static void name_the_input(int signal) {
    (void)signal;
    static const char words[] = "while replaying ";
    if (write(2, words, sizeof words - 1) < 0 || write(2, path, strlen(path)) < 0 || write(2, "\n", 1) < 0)
        _exit(1);
}

static void replay(void) {
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "rb"), *copy = open_memstream(&bytes, &size);
    if (file == NULL || copy == NULL) {
        perror(path);
        exit(1);
    }
    for (int byte; (byte = getc(file)) != EOF;)
        putc(byte, copy);
    fclose(file);
    fclose(copy);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    free(bytes);
}

int main(int argc, char **argv) {
    struct dirent **names = NULL;
    int count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1, replayed = 0;
    signal(SIGABRT, name_the_input);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", argv[1], names[i]->d_name);
        if (names[i]->d_name[0] != '.') {
            replay();
            replayed++;
        }
        free(names[i]);
    }
    free(names);
    printf("%d inputs replayed from %s\n", replayed, argc == 2 ? argv[1] : "nowhere");
    return replayed > 0 ? 0 : 1;
}
