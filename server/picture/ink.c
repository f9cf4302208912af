/* Text by cairo (ink.h). The font is opened once and never closed; cairo locks it while it is read. */
#include "ink.h"

#include "label.h"

#include <cairo-ft.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char font_file[] = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf";

static pthread_once_t opened = PTHREAD_ONCE_INIT;
static cairo_font_face_t *face;

static void open_font(void) {
    static FT_Library library;
    static FT_Face file;
    if (FT_Init_FreeType(&library) == 0 && FT_New_Face(library, font_file, 0, &file) == 0)
        face = cairo_ft_font_face_create_for_ft_face(file, 0);
    else
        face = cairo_toy_font_face_create("sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

static cairo_font_options_t *font_options(void) {
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    return options;
}

static cairo_scaled_font_t *scaled(double size) {
    cairo_matrix_t matrix, identity;
    cairo_font_options_t *options = font_options();
    pthread_once(&opened, open_font);
    cairo_matrix_init_scale(&matrix, size, size);
    cairo_matrix_init_identity(&identity);
    cairo_scaled_font_t *font = cairo_scaled_font_create(face, &matrix, &identity, options);
    cairo_font_options_destroy(options);
    return font;
}

double srv_ink_width(const char *text, double size) {
    cairo_scaled_font_t *font = scaled(size);
    cairo_text_extents_t extents = {0};
    cairo_scaled_font_text_extents(font, text, &extents);
    cairo_scaled_font_destroy(font);
    return extents.x_advance;
}

void srv_ink_fit(char *text, double size, double width) {
    while (srv_ink_width(text, size) > width && srv_label_shorten(text))
        ;
}

static void draw_mark(cairo_t *to, const srv_mark *mark) {
    cairo_text_extents_t extents = {0};
    char text[SRV_CLEAN_SIZE(SRV_INK_CHARACTERS)];
    srv_label_visual(mark->text, text, sizeof text);
    cairo_save(to);
    cairo_translate(to, mark->x, mark->y);
    if (mark->is_upright) cairo_rotate(to, -1.57079632679489661923);
    cairo_set_font_size(to, mark->size);
    cairo_text_extents(to, text, &extents);
    double share = mark->anchor == SRV_ANCHOR_START ? 0 : mark->anchor == SRV_ANCHOR_MIDDLE ? 0.5 : 1;
    cairo_move_to(to, -share * extents.x_advance, 0);
    cairo_show_text(to, text);
    cairo_restore(to);
}

uint8_t *srv_ink_draw(const srv_mark *marks, size_t count, size_t width, size_t height, size_t *stride) {
    int row = cairo_format_stride_for_width(CAIRO_FORMAT_A8, (int)width);
    if (row < 0) return NULL;
    uint8_t *coverage = calloc(height, (size_t)row);
    if (!coverage) return NULL;
    pthread_once(&opened, open_font);
    cairo_surface_t *surface =
        cairo_image_surface_create_for_data(coverage, CAIRO_FORMAT_A8, (int)width, (int)height, row);
    cairo_t *to = cairo_create(surface);
    cairo_font_options_t *options = font_options();
    cairo_set_font_options(to, options);
    cairo_set_font_face(to, face);
    for (size_t i = 0; i < count; i++)
        draw_mark(to, marks + i);
    cairo_surface_flush(surface);
    bool is_drawn = cairo_status(to) == CAIRO_STATUS_SUCCESS;
    cairo_font_options_destroy(options);
    cairo_destroy(to);
    cairo_surface_destroy(surface);
    *stride = (size_t)row;
    if (is_drawn) return coverage;
    free(coverage);
    return NULL;
}

const char *srv_ink_library_version(void) {
    return cairo_version_string();
}
