/* A latch in the daemon: every worker that is about to run a planned request waits while the file named by TEST_LATCH is
 * locked by the test; with TEST_FAULT set, each such run fails by a fault of the daemon's own. Linked, with the linker's
 * --wrap, into a binary of its own (attnd-latch); the daemon's sources know nothing of it. */
#include "engine/engine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

attn_code __real_attn_run_new(const attn_plan *plan, attn_run **out, attn_error *error);
attn_code __wrap_attn_run_new(const attn_plan *plan, attn_run **out, attn_error *error);

attn_code __wrap_attn_run_new(const attn_plan *plan, attn_run **out, attn_error *error) {
    const char *path = getenv("TEST_LATCH");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        flock(file, LOCK_SH);
        close(file);
    }
    if (getenv("TEST_FAULT"))
        return attn_error_set(error, ATTN_BAD_FILE, "/etc/passwd", "the test made the engine fail");
    return __real_attn_run_new(plan, out, error);
}
