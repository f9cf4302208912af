/* Palette pixels → PNG, by libpng's simplified interface. Any thread. */
#ifndef SRV_PICTURE_PNG_H
#define SRV_PICTURE_PNG_H

#include "raster.h"
#include "server/codec/text.h"

/* Upper bound for the bytes of such a PNG. */
size_t srv_png_size(size_t pixels);

/* Appends a PNG of the pixels in a map's colours; a failure is without memory and shows in out->failed. */
void srv_png_put(const srv_raster *raster, srv_color_map map, srv_text *out);

const char *srv_png_library_version(void);

#endif
