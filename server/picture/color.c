/* Scales and colour maps (color.h). */
#include "color.h"

#include <math.h>

const char *const srv_color_scale_names[SRV_SCALES] = {"linear", "sqrt", "log"};
const char *const srv_color_map_names[SRV_COLOR_MAPS] = {"cividis", "viridis", "magma", "grey"};

enum { DEGREE = 6 };

/* Polynomials of degree 6 in t for red, green and blue, dark to light: our own least squares to the published colours,
 * off by at most 11 (cividis), 5 (viridis) and 6 (magma) of 255. cividis: Nuñez, Anderton & Renslow 2018
 * (doi:10.1371/journal.pone.0199239); viridis and magma: Smith & van der Walt 2015, matplotlib. */
static const double polynomials[][3][DEGREE + 1] = {
    [SRV_CIVIDIS] = {{-0.0090, -0.3847, 15.4292, -58.9770, 102.3705, -83.1872, 25.7761},
                     {0.1368, 0.6395, 0.3856, -1.4042, 2.6009, -2.1408, 0.6881},
                     {0.2942, 2.9827, -22.3638, 74.8636, -121.3032, 93.9742, -28.2625}},
    [SRV_VIRIDIS] = {{0.2745, 0.1077, -0.3272, -4.5999, 6.2037, 4.7518, -5.4321},
                     {0.0058, 1.3965, 0.2148, -5.7582, 14.1540, -13.7494, 4.6416},
                     {0.3327, 1.3868, 0.0920, -19.2918, 56.6563, -65.3210, 26.2721}},
    [SRV_MAGMA] = {{-0.0021, 0.2505, 8.3459, -27.6670, 52.1707, -50.7586, 18.6643},
                   {-0.0007, 0.6945, -3.5960, 14.2539, -27.9446, 29.0539, -11.4900},
                   {-0.0095, 2.4953, 0.3291, -13.6466, 12.8811, 4.2699, -5.5708}},
};

uint8_t srv_color_level(srv_color_scale scale, float weight, float max) {
    float share = max > 0 ? weight / max : 0;
    if (scale == SRV_SCALE_SQRT) share = sqrtf(share);
    if (scale == SRV_SCALE_LOG) share = share > 0 ? 1 + log2f(share) / (float)SRV_LOG_OCTAVES : 0;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return (uint8_t)lrintf(share * (SRV_LEVELS - 1));
}

double srv_color_weight(srv_color_scale scale, double share, float max) {
    switch (scale) {
    case SRV_SCALE_SQRT: return share * share * (double)max;
    case SRV_SCALE_LOG: return exp2((share - 1) * (double)SRV_LOG_OCTAVES) * (double)max;
    case SRV_SCALE_LINEAR:
    case SRV_SCALES: break;
    }
    return share * (double)max;
}

/* 0 … 1, dark to light. */
static void color_at(srv_color_map map, double t, double rgb[3]) {
    for (int channel = 0; channel < 3; channel++) {
        double sum = t;
        if (map != SRV_GREY) {
            const double *polynomial = polynomials[map][channel];
            sum = polynomial[DEGREE];
            for (int i = DEGREE - 1; i >= 0; i--)
                sum = sum * t + polynomial[i];
        }
        rgb[channel] = fmin(fmax(sum, 0), 1);
    }
}

static srv_rgb rgb_of(const double rgb[3]) {
    return (srv_rgb){(uint8_t)lrint(rgb[0] * 255), (uint8_t)lrint(rgb[1] * 255),
                     (uint8_t)lrint(rgb[2] * 255)};
}

/* The light end of most maps is yellow: the first levels lead there from white. */
static const double from_white = 0.12;

srv_rgb srv_color_on_white(srv_color_map map, size_t level) {
    double share = (double)level / (SRV_LEVELS - 1), rgb[3];
    color_at(map, 1 - share, rgb);
    double white = map == SRV_GREY ? 0 : fmax(0, 1 - share / from_white);
    for (int channel = 0; channel < 3; channel++)
        rgb[channel] += (1 - rgb[channel]) * white;
    return rgb_of(rgb);
}
