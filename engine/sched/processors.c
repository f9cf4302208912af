/* How many workers fit this process: affinity mask and cgroup quota. Reads /proc and /sys; where they are
 * missing or unreadable, the affinity mask alone decides. */
#include "pool.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processors of the affinity mask, which may be wider than cpu_set_t. */
static size_t affinity_count(void) {
    for (size_t processors = 1024; processors <= 1 << 20; processors *= 4) {
        cpu_set_t *set = CPU_ALLOC(processors);
        if (!set) return 1;
        size_t bytes = CPU_ALLOC_SIZE(processors);
        int got = sched_getaffinity(0, bytes, set);
        size_t count = got == 0 ? (size_t)CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
    return 1;
}

/* Reads at most two numbers of a one-line file; returns how many there were ("max" is none). */
static int read_numbers(const char *path, long long *first, long long *second) {
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    int got = fscanf(file, "%lld %lld", first, second);
    fclose(file);
    return got < 0 ? 0 : got;
}

static size_t rounded_up(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return SIZE_MAX;
    return (size_t)((quota + period - 1) / period);
}

/* The quota of one cgroup folder in processors; SIZE_MAX: none. */
static size_t folder_quota(const char *folder, bool version2) {
    char path[4096 + 32];
    long long quota = 0, period = 0;
    if (version2) {
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        return read_numbers(path, &quota, &period) == 2 ? rounded_up(quota, period) : SIZE_MAX;
    }
    long long unused;
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    if (read_numbers(path, &quota, &unused) < 1) return SIZE_MAX;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    if (read_numbers(path, &period, &unused) < 1) return SIZE_MAX;
    return rounded_up(quota, period);
}

/* The least quota from a cgroup up to the root of its hierarchy. `path` begins with '/'. */
static size_t hierarchy_quota(const char *root, const char *path, bool version2) {
    char folder[4096];
    int length = snprintf(folder, sizeof folder, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof folder) return SIZE_MAX;
    size_t least = SIZE_MAX, root_length = strlen(root);
    for (;;) {
        size_t quota = folder_quota(folder, version2);
        if (quota < least) least = quota;
        if (strlen(folder) <= root_length) return least;
        *strrchr(folder, '/') = '\0';
    }
}

/* A line of /proc/self/cgroup is id:controllers:path; version 2 is "0::path". */
static size_t line_quota(char *line) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return SIZE_MAX;
    *path++ = '\0';
    controllers++;
    path[strcspn(path, "\n")] = '\0';
    if (*path != '/') return SIZE_MAX;
    if (*controllers == '\0') return hierarchy_quota("/sys/fs/cgroup", path, true);
    for (char *rest = controllers, *name; (name = strsep(&rest, ","));)
        if (strcmp(name, "cpu") == 0) return hierarchy_quota("/sys/fs/cgroup/cpu", path, false);
    return SIZE_MAX;
}

static size_t cgroup_quota(void) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return SIZE_MAX;
    char line[4096];
    size_t least = SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        size_t quota = line_quota(line);
        if (quota < least) least = quota;
    }
    fclose(file);
    return least;
}

size_t attn_pool_default_workers(void) {
    size_t affinity = affinity_count(), quota = cgroup_quota();
    return quota < affinity ? quota : affinity;
}
