#include "finite.h"

#include <stdint.h>
#include <string.h>

size_t attn_count_not_finite(const float *values, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        found += (bits & 0x7f800000u) == 0x7f800000u;
    }
    return found;
}
