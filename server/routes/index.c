/* GET /: what there is, as text, from the table of routes. */
#include "reply.h"
#include "routes.h"

void srv_route_index(srv_call *call) {
    srv_text text = {0};
    srv_text_append_string(&text, "attnd: attention outputs and per-head attention maps over HTTP\n\n");
    for (size_t i = 0; i < srv_route_table.count; i++) {
        const srv_route *route = &srv_route_table.rows[i];
        srv_text_append_string(&text, route->method);
        srv_text_append_string(&text, " ");
        srv_text_append_string(&text, route->path);
        srv_text_append_string(&text, "\n");
    }
    srv_reply_text(&call->reply, "text/plain; charset=utf-8", &text);
}
