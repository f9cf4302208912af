/* What the routes serve from. Filled in by app.c before the port opens. */
#ifndef SRV_ROUTES_SITE_H
#define SRV_ROUTES_SITE_H

#include "server/http/router.h"

#include <stdatomic.h>

struct srv_site {
    srv_service service;
    const char *self_test; /* how the start-up test of the matrix library ended; static storage */
    atomic_bool draining;
};

#endif
