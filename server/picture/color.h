/* Weights → levels → colours. Zero is the background. Pure; any thread. */
#ifndef SRV_PICTURE_COLOR_H
#define SRV_PICTURE_COLOR_H

#include <stddef.h>
#include <stdint.h>

typedef enum srv_color_scale { SRV_SCALE_LINEAR, SRV_SCALE_SQRT, SRV_SCALE_LOG, SRV_SCALES } srv_color_scale;
extern const char *const srv_color_scale_names[SRV_SCALES];

typedef enum srv_color_map { SRV_CIVIDIS, SRV_VIRIDIS, SRV_MAGMA, SRV_GREY, SRV_COLOR_MAPS } srv_color_map;
extern const char *const srv_color_map_names[SRV_COLOR_MAPS];

typedef struct srv_rgb {
    uint8_t r, g, b;
} srv_rgb;

/* Steps from no weight to the largest one of a picture. */
enum { SRV_LEVELS = 208 };
/* The logarithmic scale ends there: smaller weights have level 0. */
enum { SRV_LOG_OCTAVES = 16 };

/* The level of a weight (0 … SRV_LEVELS − 1); `max` > 0 has the last one. */
uint8_t srv_color_level(srv_color_scale scale, float weight, float max);
/* The weight that stands at a share 0 … 1 of all levels. */
double srv_color_weight(srv_color_scale scale, double share, float max);

/* A level on white paper: level 0 is white, and each is darker than the one before. */
srv_rgb srv_color_on_white(srv_color_map map, size_t level);

#endif
