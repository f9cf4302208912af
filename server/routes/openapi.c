/* GET /openapi.json: the contract that this daemon keeps, for machines. */
#include "reply.h"
#include "routes.h"
#include "server/openapi/document.h"

void srv_route_openapi(srv_call *call) {
    srv_text text = {0};
    srv_openapi_append(&text);
    srv_reply_text(&call->reply, "application/json", &text);
}
