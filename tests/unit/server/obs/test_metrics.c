/* The metrics page: counts, buckets, sums, and nothing where nothing happened. */
#include "server/obs/metrics.h"
#include "suites.h"

#include <stdlib.h>
#include <string.h>

static const char *const ROUTES[] = {"/a", "/b"};

/* The page as a string; the caller frees it. */
static char *page_of(const srv_metrics *metrics) {
    const srv_gauge gauges[] = {{"attnd_things", "Things.", 2.5}};
    srv_text text = {0};
    srv_metrics_write(metrics, gauges, 1, &text);
    srv_text_append(&text, "", 1);
    ck_assert(!text.failed);
    return text.data;
}

static void assert_line(const char *page, const char *line) {
    const char *found = strstr(page, line);
    ck_assert_msg(found && (found == page || found[-1] == '\n') && found[strlen(line)] == '\n',
                  "no line '%s' in\n%s", line, page);
}

START_TEST(requests_are_counted_by_route_method_and_status) {
    srv_metrics *metrics = srv_metrics_new(ROUTES, 2, "version=\"1\"");
    srv_metrics_count(metrics, 0, "GET", 200);
    srv_metrics_count(metrics, 0, "GET", 200);
    srv_metrics_count(metrics, 1, "POST", 503);
    srv_metrics_count(metrics, 2, "GET", 404);
    srv_metrics_count(metrics, 9, "BREW", 418);
    char *page = page_of(metrics);
    assert_line(page, "attnd_build_info{version=\"1\"} 1");
    assert_line(page, "attnd_requests_total{route=\"/a\",method=\"GET\",status=\"200\"} 2");
    assert_line(page, "attnd_requests_total{route=\"/b\",method=\"POST\",status=\"503\"} 1");
    assert_line(page, "attnd_requests_total{route=\"none\",method=\"GET\",status=\"404\"} 1");
    assert_line(page, "attnd_requests_total{route=\"none\",method=\"other\",status=\"other\"} 1");
    assert_line(page, "attnd_things 2.5");
    ck_assert_ptr_null(strstr(page, "route=\"/b\",method=\"GET\""));
    free(page);
    srv_metrics_free(metrics);
}
END_TEST

START_TEST(durations_fall_into_cumulative_buckets) {
    srv_metrics *metrics = srv_metrics_new(ROUTES, 2, "");
    srv_metrics_time(metrics, SRV_TIME_COMPUTE, 1.0); /* exactly a bound: inside it */
    srv_metrics_time(metrics, SRV_TIME_COMPUTE, 1.5);
    srv_metrics_time(metrics, SRV_TIME_COMPUTE, 60000);
    srv_metrics_time(metrics, SRV_TIME_COMPUTE, -1); /* a clock that went back */
    char *page = page_of(metrics);
    assert_line(page, "attnd_stage_seconds_bucket{stage=\"compute\",le=\"0.0001\"} 1");
    assert_line(page, "attnd_stage_seconds_bucket{stage=\"compute\",le=\"0.001\"} 2");
    assert_line(page, "attnd_stage_seconds_bucket{stage=\"compute\",le=\"0.0025\"} 3");
    assert_line(page, "attnd_stage_seconds_bucket{stage=\"compute\",le=\"30\"} 3");
    assert_line(page, "attnd_stage_seconds_bucket{stage=\"compute\",le=\"+Inf\"} 4");
    assert_line(page, "attnd_stage_seconds_sum{stage=\"compute\"} 60.002500000");
    assert_line(page, "attnd_stage_seconds_count{stage=\"compute\"} 4");
    assert_line(page, "attnd_stage_seconds_count{stage=\"read\"} 0");
    free(page);
    srv_metrics_free(metrics);
}
END_TEST

START_TEST(endings_are_counted) {
    srv_metrics *metrics = srv_metrics_new(ROUTES, 2, "");
    srv_metrics_end(metrics, SRV_END_BODY_DEADLINE);
    char *page = page_of(metrics);
    assert_line(page, "attnd_connections_cut_total{reason=\"body_deadline\"} 1");
    assert_line(page, "attnd_connections_cut_total{reason=\"client_gone\"} 0");
    free(page);
    srv_metrics_free(metrics);
    srv_metrics_free(NULL);
}
END_TEST

ATTND_SUITE(metrics) {
    Suite *suite = suite_create("metrics");
    TCase *tcase = tcase_create("metrics");
    tcase_add_test(tcase, requests_are_counted_by_route_method_and_status);
    tcase_add_test(tcase, durations_fall_into_cumulative_buckets);
    tcase_add_test(tcase, endings_are_counted);
    suite_add_tcase(suite, tcase);
    return suite;
}
