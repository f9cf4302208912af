/* What requests may hold where no setting says: half of what the machine and the control groups have free at start. */
#include "api.h"

#include "tests/support/safetensors_writer.h"
#include "tests/support/temporary.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1LL << 20)

static char *root;

static void make_root(void) {
    root = temporary_folder();
}

static void remove_root(void) {
    temporary_remove(root);
}

/* Writes a file of the folder that the shim takes for "/". */
static void put(const char *path, const char *text) {
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    char *end = strrchr(name, '/');
    *end = '\0';
    process_result made = process_run((const char *const[]){"/bin/mkdir", "-p", name, NULL}, NULL, NULL, 0);
    ck_assert_msg(made.code == 0, "%s", made.errors);
    process_result_done(&made);
    *end = '/';
    st_write_bytes(name, text, strlen(text));
}

/* The limit of a daemon that sees these groups. */
static long long memory_limit(void) {
    char shim[512], folder[512];
    test_daemon daemon;
    snprintf(shim, sizeof shim, "LD_PRELOAD=%s/cgroup.so", getenv("ATTND_SHIMS"));
    snprintf(folder, sizeof folder, "SHIM_ROOT=%s", root);
    daemon_start(&daemon, NULL,
                 (const char *const[]){shim, folder, "ASAN_OPTIONS=verify_asan_link_order=0", NULL});
    http_answer answer = http_get(daemon.url, "/v1/limits");
    ck_assert_int_eq(answer.status, 200);
    json_t *document = http_json(&answer);
    long long limit = json_integer_value(json_at(document, "/limits/memory"));
    json_decref(document);
    http_done(&answer);
    daemon_stop(&daemon);
    return limit;
}

/* The least of the group and those above it. */
START_TEST(groups_of_version_2) {
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.current", "1000\n");
    put("/sys/fs/cgroup/a/memory.max", "536870912\n");
    put("/sys/fs/cgroup/a/memory.current", "67108864\n");
    ck_assert_int_eq(memory_limit(), (512 - 64) / 2 * MIB);
    put("/sys/fs/cgroup/a/b/memory.max", "104857600\n");
    put("/sys/fs/cgroup/a/b/memory.current", "4194304\n");
    ck_assert_int_eq(memory_limit(), (100 - 4) / 2 * MIB);
}
END_TEST

START_TEST(groups_of_version_1) {
    put("/proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/job\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "209715200\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "8388608\n");
    ck_assert_int_eq(memory_limit(), (200 - 8) / 2 * MIB);
}
END_TEST

static double available(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[256];
    double kib = 0;
    while (fgets(line, sizeof line, file) && kib == 0)
        if (strncmp(line, "MemAvailable:", 13) == 0) kib = strtod(line + 13, NULL);
    fclose(file);
    return kib * 1024;
}

/* Without any group: half of the machine's, which others change meanwhile, by less than a quarter. */
START_TEST(the_machine_alone) {
    put("/proc/self/cgroup", "");
    double before = available(), limit = (double)memory_limit(), after = available();
    double least = before < after ? before : after, most = before < after ? after : before;
    ck_assert_msg(limit > 0.75 * least / 2 && limit < 1.25 * most / 2, "%g of %g", limit, before);
}
END_TEST

ATTND_SUITE(memory) {
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");
    tcase_add_checked_fixture(tests, make_root, remove_root);
    tcase_add_test(tests, groups_of_version_2);
    tcase_add_test(tests, groups_of_version_1);
    tcase_add_test(tests, the_machine_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
