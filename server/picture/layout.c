/* Places, from the sizes of maps and texts (layout.h). From left to right: the word query, the queries' labels, panels
 * in a grid, the colours with their legend; from above: title, panels with their titles, the keys' labels, the word
 * key, caption. */
#include "layout.h"

#include "caption.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARGIN = 16,
    TITLE = 28, /* height of the title's line */
    PANEL_TITLE = 18,
    AXIS = 20,  /* of the word beside an axis */
    LABEL = 13, /* of a label's line */
    LONGEST_LABEL = 120,
    BETWEEN = 22, /* panels */
    BAR = 14,
    LEGEND = 96, /* width of the words beside the colours */
    CAPTION_LINE = 16,
    LEAST_WIDTH = 420,
    LEAST_BAR = 110,
    MOST_BAR = 240,
    GRID = 2200, /* what the panels of a grid share */
    LARGEST_PANEL = 768,
    LEAST_PANEL = 96,
    LARGEST_CELL = 28,
    EXTRA_GAP = 6,
};

static const double title_size = 15, text_size = 12, label_size = 11;

static size_t min_of(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t max_of(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t pieces(size_t whole, size_t piece) {
    return whole / piece + (whole % piece != 0);
}

/* A grid about as wide as high, without a gap at its end where that is near. */
static size_t panels_across(size_t panels) {
    size_t root = (size_t)ceil(sqrt((double)panels));
    for (size_t across = root; across <= root + root / 2; across++)
        if (panels % across == 0) return across;
    return root;
}

/* Cells are squares, but for a side of much fewer than the longer one: it is pooled by its own length alone, and wide
 * enough for labels where there is room, so that a few chosen queries of a long input stay apart. */
static srv_cell_side side_of(size_t count, size_t longest, size_t room) {
    srv_cell_side square = {pieces(longest, room), 0};
    square.pixels = max_of(min_of(room / pieces(longest, square.pool), LARGEST_CELL), 1);
    if (count > longest / 2) return square;
    srv_cell_side own = {pieces(count, room), 0};
    own.pixels = max_of(min_of(room / pieces(count, own.pool), LABEL), square.pixels);
    return own;
}

srv_panel_size srv_panel_measure(size_t panels, size_t rows, size_t keys, size_t extra, size_t cell) {
    srv_panel_size s = {.row = {1, cell}, .column = {1, cell}, .across = panels_across(panels)};
    s.down = pieces(panels, s.across);
    size_t room = max_of(min_of(GRID / s.across, LARGEST_PANEL), LEAST_PANEL),
           longest = max_of(rows, keys + extra);
    if (cell == 0) {
        s.row = side_of(rows, longest, room);
        s.column = side_of(keys + extra, longest, room);
    }
    s.own = pieces(keys, s.column.pool) * s.column.pixels;
    s.extra = pieces(extra, s.column.pool) * s.column.pixels;
    s.gap = extra > 0 ? EXTRA_GAP : 0;
    s.width = s.own + s.gap + s.extra;
    s.height = pieces(rows, s.row.pool) * s.row.pixels;
    return s;
}

size_t srv_panel_pixels(const srv_panel_size *size) {
    /* Titles of panels may be wider than these; the caption is as long as it may be. */
    size_t width = 0, height = 0, pixels = 0;
    size_t least = 2 * MARGIN + AXIS + LONGEST_LABEL + LEGEND + BAR + LEAST_WIDTH;
    bool fits = attn_size_mul(size->across, size->width + BETWEEN + LONGEST_LABEL, &width) &&
                attn_size_mul(size->down, size->height + BETWEEN + PANEL_TITLE, &height) &&
                attn_size_add(width, least, &width) &&
                attn_size_add(height, least + 80 * CAPTION_LINE, &height) &&
                attn_size_mul(width, height, &pixels);
    return fits ? pixels : SIZE_MAX;
}

static void *room_for(void *list, size_t count, size_t *room, size_t size) {
    if (count < *room) return list;
    size_t more = *room ? 2 * *room : 64;
    void *grown = realloc(list, more * size);
    if (grown) *room = more;
    return grown;
}

static void add_rule(srv_layout *to, size_t x, size_t y, size_t width, size_t height) {
    void *rules = room_for(to->rules, to->rule_count, &to->rule_room, sizeof *to->rules);
    if (!rules) {
        to->failed = true;
        return;
    }
    to->rules = rules;
    to->rules[to->rule_count++] = (srv_box){x, y, width, height};
}

static void add_frame(srv_layout *to, srv_box box) {
    add_rule(to, box.x - 1, box.y - 1, box.width + 2, 1);
    add_rule(to, box.x - 1, box.y + box.height, box.width + 2, 1);
    add_rule(to, box.x - 1, box.y, 1, box.height);
    add_rule(to, box.x + box.width, box.y, 1, box.height);
}

static void add_mark(srv_layout *to, srv_mark mark) {
    void *marks = room_for(to->marks, to->mark_count, &to->mark_room, sizeof *to->marks);
    char *text = strdup(mark.text);
    if (marks) to->marks = marks;
    if (!marks || !text) {
        free(text);
        to->failed = true;
        return;
    }
    mark.text = text;
    to->marks[to->mark_count++] = mark;
}

static void add_text(srv_layout *to, double x, double y, double size, srv_anchor anchor, char *text) {
    add_mark(to, (srv_mark){.x = x, .y = y, .size = size, .anchor = anchor, .text = text});
}

static void add_upright(srv_layout *to, double x, double y, double size, srv_anchor anchor, char *text) {
    add_mark(to,
             (srv_mark){.x = x, .y = y, .size = size, .anchor = anchor, .is_upright = true, .text = text});
}

/* One of two axes: its labels and how many can be told. */
typedef struct axis {
    const srv_maps *maps;
    bool of_keys;
    size_t count;
    srv_cell_side side;
    size_t step;  /* every such one is labelled */
    double width; /* of the widest label */
} axis;

static void label_of(const axis *a, size_t index, char out[SRV_LABEL_SIZE]) {
    if (a->of_keys) {
        srv_maps_key_label(a->maps, index, out);
    } else {
        srv_maps_query_label(a->maps, index, out);
    }
    srv_ink_fit(out, label_size, LONGEST_LABEL);
}

/* 1, 2, 5, 10, 20 … */
static size_t round_step(double least) {
    static const size_t steps[] = {1, 2, 5};
    for (size_t ten = 1;; ten *= 10)
        for (size_t i = 0; i < 3; i++)
            if ((double)(ten * steps[i]) >= least) return ten * steps[i];
}

static axis make_axis(const srv_maps *maps, const srv_panel_size *panel, bool of_keys) {
    axis a = {maps, of_keys, of_keys ? maps->keys : maps->rows, of_keys ? panel->column : panel->row, 1, 0};
    char label[SRV_LABEL_SIZE];
    a.step = round_step((double)(LABEL * a.side.pool) / (double)a.side.pixels);
    for (size_t i = 0; i < a.count; i += a.step) {
        label_of(&a, i, label);
        a.width = fmax(a.width, srv_ink_width(label, label_size));
    }
    return a;
}

/* From the panel's edge to the middle of where an index is drawn. */
static double middle_of(const axis *a, size_t index) {
    size_t cell = index / a->side.pool;
    return ((double)cell + 0.5) * (double)a->side.pixels;
}

static void label_rows(srv_layout *to, const axis *a, srv_box panel) {
    char label[SRV_LABEL_SIZE];
    for (size_t i = 0; i < a->count; i += a->step) {
        double y = (double)panel.y + middle_of(a, i);
        label_of(a, i, label);
        add_text(to, (double)panel.x - 7, y + 4, label_size, SRV_ANCHOR_END, label);
        if (a->step > 1) add_rule(to, panel.x - 5, (size_t)y, 4, 1);
    }
}

static void label_columns(srv_layout *to, const axis *a, srv_box panel) {
    char label[SRV_LABEL_SIZE];
    size_t below = panel.y + panel.height;
    for (size_t i = 0; i < a->count; i += a->step) {
        double x = (double)panel.x + middle_of(a, i);
        label_of(a, i, label);
        add_upright(to, x + 4, (double)below + 7, label_size, SRV_ANCHOR_END, label);
        if (a->step > 1) add_rule(to, (size_t)x, below + 1, 1, 4);
    }
    for (size_t i = 0; i < a->maps->extra; i += a->step) {
        double x = (double)(panel.x + to->panel.own + to->panel.gap) + middle_of(a, i);
        label_of(a, a->maps->keys + i, label);
        add_upright(to, x + 4, (double)below + 7, label_size, SRV_ANCHOR_END, label);
    }
}

/* The colours, what they mean, and the patches below them. */
static void add_legend(srv_layout *to, const srv_maps *maps, const srv_picture_options *options, size_t x,
                       size_t y, size_t height) {
    to->bar = (srv_box){x, y, BAR, max_of(min_of(height, MOST_BAR), LEAST_BAR)};
    add_frame(to, to->bar);
    for (int tick = 0; tick <= 4; tick++) {
        double share = tick / 4.0,
               weight = tick == 0 ? 0 : srv_color_weight(options->scale, share, maps->max);
        char text[SRV_WEIGHT_SIZE];
        size_t at = y + (size_t)lrint((1 - share) * (double)(to->bar.height - 1));
        srv_weight_text(weight, text);
        add_rule(to, x + BAR + 1, at, 3, 1);
        add_text(to, (double)(x + BAR + 8), (double)at + 4, label_size, SRV_ANCHOR_START, text);
    }
    size_t below = y + to->bar.height + 16;
    if (maps->masked > 0) {
        char text[] = "masked";
        to->masked = (srv_box){x, below, BAR, BAR};
        add_frame(to, to->masked);
        add_text(to, (double)(x + BAR + 8), (double)below + 11, label_size, SRV_ANCHOR_START, text);
        below += BAR + 8;
    }
    if (maps->keyless > 0) {
        char text[] = "sees no key";
        to->keyless = (srv_box){x + (BAR - SRV_MARKER) / 2, below, SRV_MARKER, BAR};
        add_text(to, (double)(x + BAR + 8), (double)below + 11, label_size, SRV_ANCHOR_START, text);
        below += BAR + 8;
    }
    if (maps->extra > 0) {
        char text[] = "+ the layer's own";
        add_text(to, (double)x, (double)below + 11, label_size, SRV_ANCHOR_START, text);
        below += BAR + 8;
    }
    to->height = max_of(to->height, below);
}

/* How many bytes of a line fit, up to a space where there is one. */
static size_t line_end(const char *text, size_t length, double width) {
    size_t space = 0, size;
    double used = 0;
    for (size_t at = 0; at < length; at += size) {
        char one[8] = "";
        srv_character(text + at, &size);
        memcpy(one, text + at, size);
        used += srv_ink_width(one, label_size);
        if (text[at] == ' ') space = at;
        if (used > width && at > 0) return space > 0 ? space : at;
    }
    return length;
}

/* Appends the caption's lines, broken to the picture's width, from `y` on. Returns where they end. */
static size_t add_caption(srv_layout *to, const srv_text *caption, size_t y) {
    double width = (double)(to->width - 2 * MARGIN);
    char line[SRV_CLEAN_SIZE(SRV_CAPTION_CHARACTERS)];
    for (size_t at = 0; at < caption->size; at++) {
        size_t length =
            (size_t)((const char *)memchr(caption->data + at, '\n', caption->size - at) - caption->data) - at;
        while (length > 0) {
            size_t end = line_end(caption->data + at, length, width);
            memcpy(line, caption->data + at, end);
            line[end] = '\0';
            y += CAPTION_LINE;
            add_text(to, MARGIN, (double)y - 4, label_size, SRV_ANCHOR_START, line);
            if (end < length && caption->data[at + end] == ' ') end++;
            at += end;
            length -= end;
        }
    }
    return y;
}

/* The panels and what stands on their edges. Returns the right end of the grid. */
static size_t add_panels(srv_layout *to, const srv_maps *maps) {
    srv_panel_size *size = &to->panel;
    axis rows = make_axis(maps, size, false), columns = make_axis(maps, size, true);
    char title[SRV_PANEL_TITLE_SIZE];
    double widest = 0;
    for (size_t i = 0; i < maps->panels; i++) {
        srv_maps_panel_title(maps, i, title);
        widest = fmax(widest, srv_ink_width(title, text_size));
    }
    size_t left = MARGIN + AXIS + (size_t)ceil(rows.width) + 10, top = MARGIN + TITLE + PANEL_TITLE;
    size_t right = max_of(size->width + BETWEEN, (size_t)ceil(widest) + SRV_MARKER),
           below = size->height + BETWEEN + PANEL_TITLE;
    for (size_t i = 0; i < maps->panels; i++) {
        srv_box box = {left + i % size->across * right, top + i / size->across * below, size->width,
                       size->height};
        to->panels[i] = box;
        add_frame(to, (srv_box){box.x, box.y, size->own, box.height});
        if (maps->extra > 0)
            add_frame(to, (srv_box){box.x + size->own + size->gap, box.y, size->extra, box.height});
        srv_maps_panel_title(maps, i, title);
        add_text(to, (double)box.x, (double)box.y - 6, text_size, SRV_ANCHOR_START, title);
        if (i % size->across == 0) label_rows(to, &rows, box);
        if (i + size->across >= maps->panels) label_columns(to, &columns, box);
    }
    size_t width = (size->across - 1) * right + size->width, height = (size->down - 1) * below + size->height;
    char query[] = "query", key[] = "key", context[] = "key (context)";
    add_upright(to, MARGIN + 12, (double)top + (double)height / 2, text_size, SRV_ANCHOR_MIDDLE, query);
    size_t bottom = top + height + 10 + (size_t)ceil(columns.width) + AXIS;
    add_text(to, (double)left + (double)width / 2, (double)bottom - 4, text_size, SRV_ANCHOR_MIDDLE,
             maps->plan->request.context ? context : key);
    to->height = bottom;
    return max_of(left + width, left + (size->across - 1) * right + (size_t)ceil(widest));
}

bool srv_layout_make(const srv_maps *maps, const srv_picture_options *options, srv_layout *out) {
    *out = (srv_layout){
        .panel = srv_panel_measure(maps->panels, maps->rows, maps->keys, maps->extra, options->cell)};
    out->panels = calloc(maps->panels, sizeof *out->panels);
    if (!out->panels) return false;
    char title[SRV_CLEAN_SIZE(SRV_TITLE_CHARACTERS)];
    size_t right = add_panels(out, maps), top = MARGIN + TITLE + PANEL_TITLE;
    size_t panels = out->panels[maps->panels - 1].y + out->panel.height - top;
    add_legend(out, maps, options, right + BETWEEN, top, panels);
    out->width = max_of(right + BETWEEN + BAR + 8 + LEGEND + MARGIN, LEAST_WIDTH);
    srv_title(maps, options, title);
    srv_ink_fit(title, title_size, (double)(out->width - 2 * MARGIN));
    add_text(out, MARGIN, MARGIN + 12, title_size, SRV_ANCHOR_START, title);
    srv_text caption = {0};
    const srv_cell_side *row = &out->panel.row, *column = &out->panel.column;
    srv_caption(maps, options, row->pixels * column->pixels > 1 ? "cell" : "pixel", row->pool, column->pool,
                &caption);
    if (!caption.failed) out->height = add_caption(out, &caption, out->height + 6) + MARGIN;
    out->failed |= caption.failed;
    srv_text_done(&caption);
    return !out->failed;
}

void srv_layout_done(srv_layout *layout) {
    for (size_t i = 0; i < layout->mark_count; i++)
        free(layout->marks[i].text);
    free(layout->marks);
    free(layout->rules);
    free(layout->panels);
}
