#include "temporary.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

char *temporary_folder(void) {
    const char *root = getenv("TMPDIR");
    char *folder = temporary_path(root != NULL && root[0] != '\0' ? root : "/tmp", "attnd-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        abort();
    }
    return folder;
}

char *temporary_path(const char *folder, const char *name) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
    return path;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

void temporary_remove(char *folder) {
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    free(folder);
}
