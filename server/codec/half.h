/* float32 → IEEE 754 binary16. Pure; any thread. */
#ifndef SRV_CODEC_HALF_H
#define SRV_CODEC_HALF_H

#include <stdbool.h>
#include <stdint.h>

/* Rounds to nearest, ties to even; infinities stay. False, with *out untouched, where a finite value rounds
 * to more than ±65504. NaN must not occur. */
bool srv_half_from_float(float value, uint16_t *out);

#endif
