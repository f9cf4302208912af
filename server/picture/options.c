/* Parameters → options (options.h). */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const srv_picture_parameters[] = {"sequence", "color_scale", "color_map", "cell",
                                              "title",    "caption",     NULL};
const char *const srv_terminal_parameters[] = {"sequence", "color_scale", "color_map", "columns",
                                               "color",    "title",       "caption",   NULL};
const char *const srv_csv_parameters[] = {"sequence", NULL};

static bool fail(srv_problem *problem, const char *name, const char *found, const char *expected) {
    return srv_problem_set(problem, SRV_OUT_OF_RANGE, SRV_WHERE_PARAMETER, name,
                           "found \"%.40s\"; %s is expected", found, expected);
}

static bool read_number(const srv_ask *ask, const char *name, size_t low, size_t high, size_t *out,
                        srv_problem *problem) {
    const char *text = srv_ask_option(ask, name);
    char expected[64];
    if (!text) return true;
    size_t length = strspn(text, "0123456789");
    unsigned long long number = strtoull(text, NULL, 10);
    snprintf(expected, sizeof expected, "a whole number from %zu to %zu", low, high);
    if (length == 0 || length > 9 || text[length] != '\0' || number < low || number > high)
        return fail(problem, name, text, expected);
    *out = (size_t)number;
    return true;
}

/* The index of one of `count` words. */
static bool read_word(const srv_ask *ask, const char *name, const char *const *words, size_t count,
                      size_t *out, srv_problem *problem) {
    const char *text = srv_ask_option(ask, name);
    char expected[64] = "";
    if (!text) return true;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s%s",
                 i == 0           ? ""
                 : i + 1 == count ? " or "
                                  : ", ",
                 words[i]);
    }
    return fail(problem, name, text, expected);
}

bool srv_picture_options_read(const srv_ask *ask, srv_picture_options *out, srv_problem *problem) {
    static const char *const switches[] = {"false", "true", "0", "1"};
    size_t scale = SRV_SCALE_LINEAR, map = SRV_CIVIDIS, color = 0;
    *out = (srv_picture_options){.columns = 100};
    bool is_read =
        read_number(ask, "sequence", 0, ask->request.sequence_count - 1, &out->sequence, problem) &&
        read_word(ask, "color_scale", srv_color_scale_names, SRV_SCALES, &scale, problem) &&
        read_word(ask, "color_map", srv_color_map_names, SRV_COLOR_MAPS, &map, problem) &&
        read_number(ask, "cell", 1, SRV_MAX_CELL, &out->cell, problem) &&
        read_number(ask, "columns", SRV_MIN_COLUMNS, SRV_MAX_COLUMNS, &out->columns, problem) &&
        read_word(ask, "color", switches, sizeof switches / sizeof *switches, &color, problem);
    if (!is_read) return false;
    out->scale = (srv_color_scale)scale;
    out->map = (srv_color_map)map;
    out->color = color % 2 == 1;
    out->title = srv_ask_option(ask, "title");
    out->caption = srv_ask_option(ask, "caption");
    out->caption_is_stats = out->caption && strcmp(out->caption, "stats") == 0;
    return true;
}
