/* Free memory (free_memory.h), from /proc and the cgroup files of both versions. */
#include "free_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The number that a one-line file holds; SIZE_MAX where it holds none ("max") or is not there. */
static size_t read_number(const char *folder, const char *name) {
    char path[4096 + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file) return SIZE_MAX;
    unsigned long long number;
    bool is_number = fscanf(file, "%llu", &number) == 1;
    fclose(file);
    return is_number && number < SIZE_MAX ? (size_t)number : SIZE_MAX;
}

/* What one cgroup has left. */
static size_t folder_left(const char *folder, bool is_v2) {
    size_t limit = read_number(folder, is_v2 ? "memory.max" : "memory.limit_in_bytes");
    size_t used = read_number(folder, is_v2 ? "memory.current" : "memory.usage_in_bytes");
    if (limit == SIZE_MAX || used == SIZE_MAX) return SIZE_MAX;
    return limit > used ? limit - used : 0;
}

/* The least that a cgroup and those above it have left. */
static size_t hierarchy_left(const char *root, const char *path, bool is_v2) {
    char folder[4096];
    if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, path) >= sizeof folder) return SIZE_MAX;
    size_t least = SIZE_MAX;
    for (;;) {
        size_t left = folder_left(folder, is_v2);
        if (left < least) least = left;
        if (strlen(folder) <= strlen(root)) return least;
        *strrchr(folder, '/') = '\0';
    }
}

/* A line of /proc/self/cgroup is id:controllers:path; version 2 is "0::path". */
static size_t line_left(char *line) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/') return SIZE_MAX;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (controllers[1] == '\0') return hierarchy_left("/sys/fs/cgroup", path, true);
    if (strcmp(controllers + 1, "memory") == 0) return hierarchy_left("/sys/fs/cgroup/memory", path, false);
    return SIZE_MAX;
}

static size_t cgroup_left(void) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return SIZE_MAX;
    char line[4096];
    size_t least = SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        size_t left = line_left(line);
        if (left < least) least = left;
    }
    fclose(file);
    return least;
}

static size_t machine_left(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file) return SIZE_MAX;
    char line[256];
    unsigned long long kib = 0;
    while (fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu", &kib) != 1)
        continue;
    fclose(file);
    return kib > 0 && kib < SIZE_MAX / 1024 ? (size_t)kib * 1024 : SIZE_MAX;
}

size_t srv_free_memory(void) {
    size_t machine = machine_left(), cgroup = cgroup_left();
    size_t least = machine < cgroup ? machine : cgroup;
    return least == SIZE_MAX ? (size_t)1 << 30 : least;
}
