/* A heat map of characters (picture.h): a map below the other, each row with its query's label. A cell is one character,
 * or two where they fit: that is about a square. */
#include "picture.h"

#include "caption.h"
#include "cells.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_LABEL = 18, BYTES_A_CELL = 48, BYTES_A_LINE = 512 };

static const char ramp[] = " .:-=+*#%@";
enum { RAMP = sizeof ramp - 1 };

typedef struct terminal {
    const srv_maps *maps;
    const srv_picture_options *options;
    srv_text *out;
    size_t label;    /* columns of the labels */
    size_t wide;     /* characters of a cell */
    srv_cells cells; /* of a row */
} terminal;

static void put(const terminal *to, const char *text) {
    srv_text_append_string(to->out, text);
}

static void put_spaces(const terminal *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        put(to, " ");
}

/* "12 cat", or "12". Returns its columns. */
static size_t row_label(const srv_maps *maps, size_t row, size_t columns, char out[SRV_LABEL_SIZE + 24]) {
    char token[SRV_LABEL_SIZE];
    size_t query = srv_maps_query(maps, row);
    srv_maps_query_label(maps, row, token);
    if (srv_maps_query_token(maps, query))
        snprintf(out, SRV_LABEL_SIZE + 24, "%zu %s", query, token);
    else
        snprintf(out, SRV_LABEL_SIZE + 24, "%s", token);
    return srv_label_fit(out, columns);
}

/* How labels and cells share the line. False without memory. */
static bool measure(terminal *to) {
    const srv_maps *maps = to->maps;
    size_t columns = to->options->columns,
           longest = columns / 4 < LONGEST_LABEL ? columns / 4 : LONGEST_LABEL;
    char label[SRV_LABEL_SIZE + 24];
    for (size_t row = 0; row < maps->rows; row++) {
        size_t width = row_label(maps, row, longest, label);
        if (width > to->label) to->label = width;
    }
    /* The label, a space, a bar at each side of the keys and of the layer's own, and what marks the row. */
    size_t room = columns - to->label - 1 - 2 - (maps->extra > 0 ? 1 : 0) - 2, all = maps->keys + maps->extra;
    size_t pool = (all + room - 1) / room;
    if (maps->extra > 0 && pool > 1) pool = (all + room - 2) / (room - 1); /* a begun cell more */
    /* Lines of few rows beside the keys are not pooled to squares: chosen queries stay apart. */
    size_t row_pool = maps->rows > all / 2 ? pool : (maps->rows + room - 1) / room;
    if (!srv_cells_make(maps, row_pool, pool, &to->cells)) return false;
    to->wide = 2 * to->cells.all <= room ? 2 : 1;
    return true;
}

/* The indices of the keys, as many as stand apart. */
static void put_header(const terminal *to) {
    char last[24];
    size_t step = (size_t)snprintf(last, sizeof last, "%zu", to->maps->keys - 1) + 1, column = 0;
    put_spaces(to, to->label + 2);
    for (size_t cell = 0; cell < to->cells.own; cell++) {
        if (cell * to->wide < column || cell % 5 != 0) continue;
        char index[24];
        int width = snprintf(index, sizeof index, "%zu", cell * to->cells.pool);
        if (cell * to->wide + (size_t)width > to->cells.own * to->wide && cell > 0) break;
        put_spaces(to, cell * to->wide - column);
        put(to, index);
        column = cell * to->wide + (size_t)width;
        if ((cell + 5) * to->wide < column + 1) column = cell * to->wide + step;
        if (column > cell * to->wide + (size_t)width)
            put_spaces(to, column - cell * to->wide - (size_t)width);
    }
    put(to, to->label + 2 + column + 6 <= to->options->columns ? "  keys\n" : "\n");
}

/* What a terminal has as its background where it is no level's colour. */
static const size_t own_background = SIZE_MAX;

/* One cell in the colours of a PNG; *last is the level that the terminal has as its background. */
static void put_colored(const terminal *to, float weight, size_t *last) {
    size_t level = weight < 0 ? own_background : srv_color_level(to->options->scale, weight, to->maps->max);
    if (level != *last) {
        char code[32] = "\x1b[0m";
        if (level != own_background) {
            srv_rgb color = srv_color_on_white(to->options->map, level);
            snprintf(code, sizeof code, "\x1b[48;2;%u;%u;%um", color.r, color.g, color.b);
        }
        put(to, code);
        *last = level;
    }
    put(to, weight < 0 ? (to->wide == 2 ? "//" : "/") : to->wide == 2 ? "  " : " ");
}

static void put_plain(const terminal *to, float weight) {
    size_t level = weight < 0 ? 0 : srv_color_level(to->options->scale, weight, to->maps->max);
    /* Only no weight at all is blank. */
    char cell = weight < 0   ? '/'
                : level == 0 ? ramp[weight > 0]
                             : ramp[1 + (level - 1) * (RAMP - 1) / (SRV_LEVELS - 1)];
    for (size_t i = 0; i < to->wide; i++)
        srv_text_append(to->out, &cell, 1);
}

static void put_cells(const terminal *to, size_t begin, size_t end) {
    size_t last = own_background;
    for (size_t i = begin; i < end; i++) {
        if (to->options->color)
            put_colored(to, to->cells.largest[i], &last);
        else
            put_plain(to, to->cells.largest[i]);
    }
    if (last != own_background) put(to, "\x1b[0m");
    put(to, "|");
}

static void put_map(terminal *to, size_t panel) {
    const srv_maps *maps = to->maps;
    char title[SRV_PANEL_TITLE_SIZE], label[SRV_LABEL_SIZE + 24];
    srv_maps_panel_title(maps, panel, title);
    put(to, "\n");
    put(to, title);
    put(to, "\n");
    put_header(to);
    for (size_t row = 0; row < maps->rows && !to->out->failed; row += to->cells.row_pool) {
        if (!srv_cells_take(&to->cells, panel, row)) to->out->failed = true;
        size_t width = row_label(maps, row, to->label, label);
        put_spaces(to, to->label - width);
        put(to, label);
        put(to, " |");
        put_cells(to, 0, to->cells.own);
        if (maps->extra > 0) put_cells(to, to->cells.own, to->cells.all);
        put(to, to->cells.all_see_one ? "\n" : " ∅\n");
    }
}

/* A text cut where the terminal ends. */
static void put_cut(const terminal *to, char *text) {
    srv_label_fit(text, to->options->columns);
    put(to, text);
    put(to, "\n");
}

/* A text in as many lines as it needs, broken at spaces. */
static void put_wrapped(const terminal *to, char *text) {
    size_t used = 0;
    for (char *word; (word = strsep(&text, " "));) {
        if (*word == '\0') continue;
        size_t width = srv_label_fit(word, to->options->columns);
        if (used > 0) put(to, used + 1 + width > to->options->columns ? "\n" : " ");
        used = used == 0 || used + 1 + width > to->options->columns ? width : used + 1 + width;
        put(to, word);
    }
    put(to, "\n");
}

/* What the characters mean. */
static void put_legend(const terminal *to) {
    const srv_maps *maps = to->maps;
    char max[SRV_WEIGHT_SIZE];
    put(to, "0 [");
    for (size_t i = 0; i < RAMP; i++) {
        size_t last = own_background;
        float weight = (float)srv_color_weight(to->options->scale, (double)i / (RAMP - 1), maps->max);
        if (to->options->color) {
            put_colored(to, i == 0 ? 0 : weight, &last);
            put(to, "\x1b[0m");
        } else {
            srv_text_append(to->out, ramp + i, 1);
        }
    }
    put(to, "] ");
    put(to, srv_weight_text((double)maps->max, max));
    put(to, "\n");
    char also[128];
    /* What sees no key is masked, so the second part never stands first. */
    snprintf(also, sizeof also, "%s%s%s%s", maps->masked > 0 ? "/ masked" : "",
             maps->keyless > 0 ? ", ∅ sees no key" : "", maps->masked > 0 && maps->extra > 0 ? ", " : "",
             maps->extra > 0 ? "right of the second bar: the layer's own keys" : "");
    if (also[0] != '\0') put_wrapped(to, also);
}

/* The keys' labels, where no row bears them. */
static void put_key_labels(const terminal *to) {
    const srv_maps *maps = to->maps;
    bool rows_bear_them = !maps->plan->request.context && !maps->plan->request.queries && to->cells.pool == 1;
    if (!srv_maps_key_token(maps, 0) || rows_bear_them) return;
    size_t used = srv_label_columns("keys:");
    put(to, "keys:");
    for (size_t key = 0; key < maps->keys; key += to->cells.pool) {
        char label[SRV_LABEL_SIZE], text[SRV_LABEL_SIZE + 24];
        srv_maps_key_label(maps, key, label);
        snprintf(text, sizeof text, " %zu %s", key, label);
        size_t width = srv_label_fit(text, LONGEST_LABEL + 8);
        if (used + width > to->options->columns) {
            put(to, "\n     ");
            used = srv_label_columns("keys:");
        }
        put(to, text);
        used += width;
    }
    put(to, "\n");
}

static void put_caption(const terminal *to) {
    srv_text caption = {0};
    srv_caption(to->maps, to->options, "cell", to->cells.row_pool, to->cells.pool, &caption);
    srv_text_append(&caption, "", 1);
    to->out->failed |= caption.failed;
    char *rest = caption.failed ? NULL : caption.data;
    for (char *line; rest && (line = strsep(&rest, "\n")) && rest;)
        put_wrapped(to, line);
    srv_text_done(&caption);
}

static bool put_maps(terminal *to) {
    char title[SRV_CLEAN_SIZE(SRV_TITLE_CHARACTERS)];
    if (!measure(to)) return false;
    srv_title(to->maps, to->options, title);
    put_cut(to, title);
    for (size_t panel = 0; panel < to->maps->panels && !to->out->failed; panel++)
        put_map(to, panel);
    put(to, "\n");
    put_key_labels(to);
    put_legend(to);
    put_caption(to);
    srv_cells_done(&to->cells);
    return !to->out->failed;
}

bool srv_terminal_encode(const srv_outcome *outcome, srv_parts *parts, srv_problem *problem) {
    srv_picture_options options;
    srv_maps maps;
    if (!srv_picture_options_read(outcome->ask, &options, problem)) return false;
    bool is_made = srv_maps_make(outcome, options.sequence, &maps);
    terminal to = {.maps = &maps, .options = &options, .out = srv_parts_text(parts)};
    is_made = is_made && put_maps(&to);
    srv_maps_done(&maps);
    return is_made || srv_problem_set(problem, SRV_MEMORY_TAKEN, SRV_WHERE_NONE, NULL,
                                      "no memory for the map at this moment");
}

size_t srv_terminal_cost(const srv_ask *ask, const attn_plan *plan) {
    srv_picture_options options;
    srv_problem none = {0};
    size_t line, lines = 0, total;
    if (!srv_picture_options_read(ask, &options, &none)) return SIZE_MAX;
    const attn_request *r = &plan->request;
    const attn_sequence *s = &r->sequences[options.sequence];
    size_t rows = (r->queries ? r->query_count : s->queries) + 3, cells = s->keys + r->layer->extra_keys;
    line = (cells < options.columns ? cells : options.columns) * BYTES_A_CELL + BYTES_A_LINE;
    bool fits = attn_size_mul(rows, plan->map_heads, &lines) && attn_size_mul(lines, line, &total) &&
                attn_size_add(total, 64 * BYTES_A_LINE + s->keys * BYTES_A_LINE, &total) &&
                attn_size_mul(total, 2, &total);
    return fits ? srv_parts_cost(0, total, 0) : SIZE_MAX;
}
