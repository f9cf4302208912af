#include "german_locale.h"

#include "process.h"
#include "temporary.h"

#include <check.h>
#include <stdlib.h>

char *german_locale_folder(void) {
    char *folder = temporary_folder(), *path = temporary_path(folder, "de_DE.UTF-8");
    process_result made = process_run(
        (const char *const[]){"/usr/bin/localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", path, NULL},
        NULL, NULL, 0);
    ck_assert_msg(made.code == 0, "localedef cannot make de_DE.UTF-8 (Debian: package locales): %s",
                  made.errors);
    process_result_done(&made);
    free(path);
    return folder;
}
