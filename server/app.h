/* The daemon put together. The only part that knows everyone: builds in order, frees in
 * reverse. Main thread. */
#ifndef SRV_APP_H
#define SRV_APP_H

#include "config/cfg.h"
#include "server/digests.h"
#include "server/http/http.h"
#include "server/obs/log.h"
#include "server/routes/site.h"

typedef struct srv_app {
    const cfg_settings *settings; /* borrowed */
    srv_outlet outlet;
    srv_log log;
    srv_repeats repeats;
    srv_budget memory; /* bytes that requests may hold together */
    srv_keys *keys;    /* NULL: everybody may ask */
    srv_site site;
    atomic_bool stop_loading;
    srv_http *http;       /* NULL: no port */
    srv_digests *digests; /* NULL: none */
} srv_app;

/* Proves the matrix library right, starts the workers, and makes room for models: all that computing needs.
 * On failure the app is as srv_app_close leaves it. */
attn_code srv_app_open(const cfg_settings *settings, srv_app *out, attn_error *error);
/* Opens the addresses; requests are answered from now on, with 503 where they need models. Takes `keys` over: without
 * (NULL) everybody may ask, which is a warning where the daemon can be reached from elsewhere. */
attn_code srv_app_listen(srv_app *app, srv_keys *keys, attn_error *error);
/* Loads the models of the settings, or the demo models, and lets everybody see them. On a thread of its own while
 * the main one waits. Errors: ATTN_CANCELLED when `stop_loading` became true, and those of the models. */
attn_code srv_app_load_models(srv_app *app, attn_error *error);
/* The end. For the settings' delay nothing changes but that /readyz says so; then new clients are refused, and requests
 * that have been accepted are answered, for as long as the settings say. What is not done by then is stopped and
 * told so. `signals` (a signalfd, or -1) tells of one more signal, which stops the waiting; false: in the middle of
 * some requests. */
bool srv_app_drain(srv_app *app, int signals);
/* Frees in reverse; a zeroed app is fine. */
void srv_app_close(srv_app *app);

#endif
