/* GET /version: what the daemon is made of and computes with. */
#include "reply.h"
#include "routes.h"
#include "server/facts.h"

void srv_route_version(srv_call *call) {
    const srv_site *site = call->site;
    srv_reply_json(&call->reply, srv_facts_document(attn_pool_workers(site->service.pool), site->self_test));
}
