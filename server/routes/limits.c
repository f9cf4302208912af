/* GET /v1/limits: the limits in force, named and in the units of the settings file. */
#include "reply.h"
#include "routes.h"

#include <string.h>

/* The settings of one group of the file, "limits." or "timeouts.". */
static json_t *group_of(const cfg_settings *settings, const char *group) {
    json_t *object = json_object();
    const char *name;
    size_t number, length = strlen(group);
    for (size_t i = 0; cfg_number_at(settings, i, &name, &number); i++) {
        if (strncmp(name, group, length) == 0)
            json_object_set_new(object, name + length, json_integer((json_int_t)number));
    }
    return object;
}

void srv_route_limits(srv_call *call) {
    const srv_site *site = call->site;
    json_t *limits = group_of(site->settings, "limits.");
    /* What the daemon made of them: memory where the setting leaves the choice, connections where there are too few
     * descriptors. */
    json_object_set_new(limits, "max_connections", json_integer((json_int_t)site->max_connections));
    json_object_set_new(limits, "memory", json_integer((json_int_t)site->service.budget->limit));
    srv_reply_json(&call->reply, json_pack("{s:o, s:o}", "limits", limits, "timeouts",
                                           group_of(site->settings, "timeouts.")));
}
