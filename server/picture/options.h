/* How a picture is wanted: the query's parameters that only pictures have. Pure; any thread. */
#ifndef SRV_PICTURE_OPTIONS_H
#define SRV_PICTURE_OPTIONS_H

#include "color.h"
#include "server/codec/ask.h"

typedef struct srv_picture_options {
    size_t sequence;
    srv_color_scale scale;
    srv_color_map map;
    size_t cell; /* pixels of a cell's side; 0: as fits, and cells are pooled where one pixel is too much */
    size_t columns;      /* characters of a line */
    bool color;          /* characters in 24-bit colour */
    const char *title;   /* NULL: model and layer; the ask's */
    const char *caption; /* NULL: none but what is always said */
    bool caption_is_stats;
} srv_picture_options;

enum { SRV_MAX_CELL = 256, SRV_MIN_COLUMNS = 20, SRV_MAX_COLUMNS = 1000 };

/* Those that have an effect on a PNG or SVG, on characters, and on CSV; each list ended by NULL. */
extern const char *const srv_picture_parameters[], *const srv_terminal_parameters[],
                                                       *const srv_csv_parameters[];

/* Reads the parameters of a bound ask. False with a problem that names the parameter. */
bool srv_picture_options_read(const srv_ask *ask, srv_picture_options *out, srv_problem *problem);

#endif
