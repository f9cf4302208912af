/* Writing lines to somebody who may not read them (outlet.h). The descriptor is shared with other programs, so it stays
 * as it was found: it is asked, not made non-blocking. A pipe that says yes has room for PIPE_BUF bytes (pipe(7)); the
 * lock sees to it that another thread's line does not take that room in between. */
#include "outlet.h"

#include <poll.h>
#include <unistd.h>

bool srv_outlet_write(srv_outlet *outlet, const char *line, size_t size) {
    struct pollfd event = {.fd = outlet->descriptor, .events = POLLOUT};
    pthread_mutex_lock(&outlet->lock);
    bool is_written = poll(&event, 1, 0) > 0 && write(outlet->descriptor, line, size) == (ssize_t)size;
    pthread_mutex_unlock(&outlet->lock);
    return is_written;
}
