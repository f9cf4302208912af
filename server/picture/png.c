/* PNG (png.h): eight bits a pixel and a palette, which is a third of the bytes of true colour to compress. */
#include "png.h"

#include <png.h>
#include <stdlib.h>

enum { BYTES_OF_CHUNKS = 4096 };

size_t srv_png_size(size_t pixels) {
    return pixels / 8 * 9 + BYTES_OF_CHUNKS;
}

/* Takes room for `size` bytes behind what is there; NULL without memory. */
static char *extend(srv_text *out, size_t size) {
    if (out->failed) return NULL;
    char *grown = realloc(out->data, out->size + size);
    if (!grown) {
        out->failed = true;
        return NULL;
    }
    out->data = grown;
    out->capacity = out->size + size;
    return grown + out->size;
}

void srv_png_put(const srv_raster *raster, srv_color_map map, srv_text *out) {
    png_byte palette[SRV_PALETTE * 3];
    for (size_t i = 0; i < SRV_PALETTE; i++) {
        srv_rgb color = srv_raster_color(map, i);
        palette[3 * i] = color.r;
        palette[3 * i + 1] = color.g;
        palette[3 * i + 2] = color.b;
    }
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)raster->width,
                       .height = (png_uint_32)raster->height,
                       .format = PNG_FORMAT_RGB_COLORMAP,
                       .flags = PNG_IMAGE_FLAG_FAST,
                       .colormap_entries = SRV_PALETTE};
    png_alloc_size_t size = srv_png_size(raster->width * raster->height);
    char *to = extend(out, size);
    if (!to) return;
    if (png_image_write_to_memory(&image, to, &size, 0, raster->pixels, (png_int_32)raster->width, palette))
        out->size += size;
    else
        out->failed = true;
    png_image_free(&image);
}

const char *srv_png_library_version(void) {
    return PNG_LIBPNG_VER_STRING;
}
