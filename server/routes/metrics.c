/* GET /metrics: what has been counted, and what is measured at this moment, as Prometheus text. */
#include "reply.h"
#include "routes.h"

#include <stdio.h>
#include <unistd.h>

/* Pages in memory, from the kernel (proc(5), statm); 0 where it does not tell. */
static double resident_bytes(void) {
    unsigned long long whole, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%llu %llu", &whole, &resident) != 2) resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

void srv_route_metrics(srv_call *call) {
    srv_site *site = call->site;
    srv_service *service = &site->service;
    srv_load load = srv_call_load(call);
    const srv_gauge gauges[] = {
        {"attnd_connections", "Open connections.", (double)load.connections},
        {"attnd_requests_in_flight", "Requests that have begun and not ended, but for this one.",
         (double)(load.requests - 1)},
        {"attnd_requests_waiting", "Requests that wait for a worker.",
         (double)atomic_load(&service->waiting)},
        {"attnd_requests_stopped", "Requests that were told to stop and have not ended.",
         (double)atomic_load(&service->stopped)},
        {"attnd_memory_reserved_bytes", "Memory that requests hold or have reserved.",
         (double)srv_budget_taken(service->budget)},
        {"attnd_memory_limit_bytes", "Memory that requests may hold together.",
         (double)service->budget->limit},
        {"attnd_workspace_kept_bytes", "Memory kept from ended requests for the next ones.",
         (double)attn_workspaces_kept()},
        {"attnd_workspace_high_water_bytes", "The most memory that forward passes have had at the same time.",
         (double)attn_workspaces_high_water()},
        {"attnd_shared_tiles",
         "Pieces of projections that waiting requests of one layer have had computed together, since the "
         "start.",
         (double)attn_pool_shared_tiles(service->pool)},
        {"attnd_workers", "Worker threads.", (double)attn_pool_workers(service->pool)},
        {"attnd_models_ready", "1 when the models are loaded, else 0.",
         srv_models_are_ready(service->models) ? 1 : 0},
        {"process_start_time_seconds", "Start of the process, in seconds since 1970.", site->started},
        {"process_resident_memory_bytes", "Memory of the process that is in RAM.", resident_bytes()},
    };
    srv_text text = {0};
    srv_metrics_write(site->metrics, gauges, sizeof gauges / sizeof gauges[0], &text);
    if (site->keys) srv_keys_metrics(site->keys, &text);
    srv_reply_text(&call->reply, "text/plain; version=0.0.4; charset=utf-8", &text);
}
