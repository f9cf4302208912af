/* When to come back (retry.h). */
#include "retry.h"

#include <math.h>

enum { LONGEST = 30 };

unsigned srv_retry_after(double service_ms, size_t queued, size_t workers) {
    double seconds = ceil(service_ms * (double)queued / (double)(workers > 0 ? workers : 1) / 1e3);
    if (!(seconds > 1)) return 1;
    return seconds < (double)LONGEST ? (unsigned)seconds : LONGEST;
}
