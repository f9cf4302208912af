/* How many workers fit this process: affinity mask and cgroup quota. Reads /proc and /sys; where they are
 * missing or unreadable, the affinity mask alone decides. */
#include "pool.h"

#include "../base/cgroup.h"

#include <sched.h>
#include <stdint.h>

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

static size_t rounded_up(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return SIZE_MAX;
    return (size_t)(quota / period + (quota % period != 0));
}

/* The quota of one control group in processors. */
static size_t quota_of(const char *folder, bool is_v2) {
    long long quota = 0, period = 0, unused;
    bool is_limited = is_v2 ? attn_cgroup_read(folder, "cpu.max", &quota, &period) == 2
                            : attn_cgroup_read(folder, "cpu.cfs_quota_us", &quota, &unused) >= 1 &&
                                  attn_cgroup_read(folder, "cpu.cfs_period_us", &period, &unused) >= 1;
    return is_limited ? rounded_up(quota, period) : SIZE_MAX;
}

size_t attn_pool_default_workers(void) {
    size_t affinity = affinity_count(), quota = attn_cgroup_least("cpu", quota_of);
    return quota < affinity ? quota : affinity;
}
