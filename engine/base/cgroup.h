/* The limits that control groups put on this process (Linux: cgroups(7), versions 1 and 2). Any thread. */
#ifndef ATTN_BASE_CGROUP_H
#define ATTN_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* What one control group's folder allows, such as "/sys/fs/cgroup/a/b"; SIZE_MAX: no limit. */
typedef size_t attn_cgroup_limit_fn(const char *folder, bool is_v2);

/* The least that limit_of says of this process's groups and all groups above them: version 2's, and version 1's of
 * `controller` ("cpu", "memory"). SIZE_MAX where none limits or /proc cannot be read. */
size_t attn_cgroup_least(const char *controller, attn_cgroup_limit_fn *limit_of);

/* Reads at most two whole numbers from the one-line file folder/name; returns how many it holds (0: it is not there, or
 * says "max"). */
int attn_cgroup_read(const char *folder, const char *name, long long *first, long long *second);

#endif
