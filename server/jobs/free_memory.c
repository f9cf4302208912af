/* Free memory (free_memory.h), from /proc and the cgroup files of both versions. */
#include "free_memory.h"

#include "engine/engine.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What one control group has left. */
static size_t group_left(const char *folder, bool is_v2) {
    long long limit, used, unused;
    if (attn_cgroup_read(folder, is_v2 ? "memory.max" : "memory.limit_in_bytes", &limit, &unused) < 1)
        return SIZE_MAX;
    if (attn_cgroup_read(folder, is_v2 ? "memory.current" : "memory.usage_in_bytes", &used, &unused) < 1)
        return SIZE_MAX;
    return limit > used ? (size_t)(limit - used) : 0;
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
    size_t machine = machine_left(), cgroup = attn_cgroup_least("memory", group_left);
    size_t least = machine < cgroup ? machine : cgroup;
    return least == SIZE_MAX ? (size_t)1 << 30 : least;
}
