/* What the routes serve from. Filled in by app.c before the port opens. */
#ifndef SRV_ROUTES_SITE_H
#define SRV_ROUTES_SITE_H

#include "config/cfg.h"
#include "server/http/router.h"
#include "server/obs/inference.h"
#include "server/obs/metrics.h"

#include <stdatomic.h>

struct srv_site {
    srv_service service;
    const char *self_test; /* how the start-up test of the matrix library ended; static storage */
    const cfg_settings *settings;
    size_t max_connections; /* in force */
    srv_metrics *metrics;
    srv_inference *inference; /* requests by the Open Inference Protocol; there once the models are */
    const srv_keys *keys;     /* NULL: none are asked for */
    double started;           /* seconds since 1970 */
    atomic_bool draining;
};

#endif
