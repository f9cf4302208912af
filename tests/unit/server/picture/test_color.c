/* Weights, levels and colours. */
#include "server/picture/color.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

/* A level stands for a weight within half a step. */
START_TEST(levels_tell_weights) {
    static const float max = 0.37f;
    for (int scale = 0; scale < SRV_SCALES; scale++) {
        for (int i = 0; i <= 1000; i++) {
            double share = i / 1000.0;
            float weight = (float)srv_color_weight((srv_color_scale)scale, share, max);
            double level = (double)srv_color_level((srv_color_scale)scale, weight, max);
            ck_assert_msg(fabs(level - share * (SRV_LEVELS - 1)) <= 0.501, "%s: weight %g has level %g",
                          srv_color_scale_names[scale], (double)weight, level);
        }
        ck_assert_uint_eq(srv_color_level((srv_color_scale)scale, 0, max), 0);
        ck_assert_uint_eq(srv_color_level((srv_color_scale)scale, max, max), SRV_LEVELS - 1);
        ck_assert_uint_eq(srv_color_level((srv_color_scale)scale, 0, 0), 0);
    }
    ck_assert_uint_eq(srv_color_level(SRV_SCALE_LOG, max / 65536, max), 0);
    ck_assert_uint_eq(srv_color_level(SRV_SCALE_LOG, max / 256, max), SRV_LEVELS / 2);
    ck_assert_uint_eq(srv_color_level(SRV_SCALE_SQRT, max / 4, max), SRV_LEVELS / 2);
}
END_TEST

/* Relative luminance of an sRGB colour, gamma taken as 2.2. */
static double luminance(srv_rgb c) {
    return 0.2126 * pow(c.r / 255.0, 2.2) + 0.7152 * pow(c.g / 255.0, 2.2) + 0.0722 * pow(c.b / 255.0, 2.2);
}

START_TEST(zero_is_white_and_every_level_darker) {
    srv_color_map map = (srv_color_map)_i;
    srv_rgb first = srv_color_on_white(map, 0);
    ck_assert(first.r == 255 && first.g == 255 && first.b == 255);
    for (size_t level = 1; level < SRV_LEVELS; level++) {
        double before = luminance(srv_color_on_white(map, level - 1)),
               now = luminance(srv_color_on_white(map, level));
        ck_assert_msg(now < before, "%s: level %zu is no darker than %zu", srv_color_map_names[map], level,
                      level - 1);
    }
    ck_assert(luminance(srv_color_on_white(map, SRV_LEVELS - 1)) < 0.03);
}
END_TEST

/* Published colours, dark to light: cividis at 0, 0.5 and 0.75 (Nuñez et al. 2018), viridis likewise, magma in its middle
 * (matplotlib). Levels run from light to dark. */
START_TEST(maps_are_near_the_published_ones) {
    static const struct {
        srv_color_map map;
        size_t level;
        srv_rgb want;
        int tolerance;
    } points[] = {
        {SRV_CIVIDIS, SRV_LEVELS - 1, {0, 34, 78}, 11},
        {SRV_CIVIDIS, SRV_LEVELS / 2, {124, 123, 120}, 11},
        {SRV_CIVIDIS, SRV_LEVELS / 4, {188, 175, 111}, 11},
        {SRV_VIRIDIS, SRV_LEVELS - 1, {68, 1, 84}, 5},
        {SRV_VIRIDIS, SRV_LEVELS / 2, {33, 145, 140}, 5},
        {SRV_VIRIDIS, SRV_LEVELS / 4, {94, 201, 98}, 6},
        {SRV_MAGMA, SRV_LEVELS / 2, {183, 55, 121}, 7},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        srv_rgb got = srv_color_on_white(points[i].map, points[i].level), want = points[i].want;
        int apart = abs(got.r - want.r);
        apart = abs(got.g - want.g) > apart ? abs(got.g - want.g) : apart;
        apart = abs(got.b - want.b) > apart ? abs(got.b - want.b) : apart;
        ck_assert_msg(apart <= points[i].tolerance, "%s at %zu: %d %d %d", srv_color_map_names[points[i].map],
                      points[i].level, got.r, got.g, got.b);
    }
}
END_TEST

ATTND_SUITE(color) {
    Suite *suite = suite_create("color");
    TCase *cases = tcase_create("color");
    tcase_add_test(cases, levels_tell_weights);
    tcase_add_loop_test(cases, zero_is_white_and_every_level_darker, 0, SRV_COLOR_MAPS);
    tcase_add_test(cases, maps_are_near_the_published_ones);
    suite_add_tcase(suite, cases);
    return suite;
}
