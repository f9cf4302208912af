/* Walks /proc/self/cgroup and /sys/fs/cgroup (cgroup.h). Folders of a host that a container does not see count as
 * without limit; the walk ends at the hierarchy's root, which is the container's own. */
#include "cgroup.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

int attn_cgroup_read(const char *folder, const char *name, long long *first, long long *second) {
    char path[4096 + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    int got = fscanf(file, "%lld %lld", first, second);
    fclose(file);
    return got < 0 ? 0 : got;
}

/* From the group at root/path up to the root. `path` begins with '/'. */
static size_t hierarchy_least(const char *root, const char *path, bool is_v2,
                              attn_cgroup_limit_fn *limit_of) {
    char folder[4096];
    int length = snprintf(folder, sizeof folder, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof folder) return SIZE_MAX;
    size_t least = SIZE_MAX;
    for (;;) {
        size_t limit = limit_of(folder, is_v2);
        if (limit < least) least = limit;
        if (strlen(folder) <= strlen(root)) return least;
        *strrchr(folder, '/') = '\0';
    }
}

/* A line is id:controllers:path; version 2 is "0::path". */
static size_t line_least(char *line, const char *controller, attn_cgroup_limit_fn *limit_of) {
    char root[64], *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/') return SIZE_MAX;
    *path++ = '\0';
    controllers++;
    path[strcspn(path, "\n")] = '\0';
    if (*controllers == '\0') return hierarchy_least("/sys/fs/cgroup", path, true, limit_of);
    snprintf(root, sizeof root, "/sys/fs/cgroup/%s", controller);
    for (char *rest = controllers, *name; (name = strsep(&rest, ","));)
        if (strcmp(name, controller) == 0) return hierarchy_least(root, path, false, limit_of);
    return SIZE_MAX;
}

size_t attn_cgroup_least(const char *controller, attn_cgroup_limit_fn *limit_of) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return SIZE_MAX;
    char line[4096];
    size_t least = SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        size_t limit = line_least(line, controller, limit_of);
        if (limit < least) least = limit;
    }
    fclose(file);
    return least;
}
