/* What several fields of a request have to do with each other, once all have been read: options that cannot
 * both hold, and hints for the client. A hint says in one line what is probably not meant. */
#include "json_walk.h"

#include <string.h>

static bool fail_option(srv_ask *ask, const char *name, const char *text) {
    srv_place above = {NULL, "return", 0}, place = {&above, name, 0};
    return srv_place_fail(&place, &ask->problem, SRV_CONFLICT, "%s", text);
}

static bool check_returns(srv_ask *ask) {
    attn_request *request = &ask->request;
    if (request->average_heads && (request->want & ATTN_WANT_SCORES) != 0)
        return fail_option(ask, "average_heads",
                           "'average_heads' beside 'scores', which have no mean; one of the two is expected");
    if (request->top_k > 0 && (request->want & ATTN_WANT_MAPS) == 0)
        return fail_option(ask, "top_k", "'top_k' without 'attention', whose weights it chooses from");
    return true;
}

static bool check_lengths(srv_ask *ask) {
    if (ask->storage->context_lengths.list == NULL || ask->request.context != NULL) return true;
    srv_place place = {NULL, "context_lengths", 0};
    return srv_place_fail(&place, &ask->problem, SRV_CONFLICT,
                          "'context_lengths' without 'context', whose rows they cut into sequences");
}

/* Whether every query may see exactly the keys behind its own position: torch's triu(diagonal=1), in which
 * true means masked, handed in where 1 means attended. */
static bool looks_inverted(const uint8_t *flags, size_t size) {
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++)
            if (flags[i * size + j] != (j > i)) return false;
    return size > 1;
}

static void hint_at_inversion(srv_ask *ask) {
    const srv_grid *mask = &ask->storage->mask;
    for (size_t i = 0; mask->flags != NULL && i < ask->request.sequence_count; i++) {
        size_t keys = ask->storage->sequences[i].keys;
        if (mask->blocks[i].queries != keys || !looks_inverted(mask->flags + mask->blocks[i].offset, keys))
            continue;
        srv_ask_warn(
            ask,
            "attention_mask shows every query only the keys after it; 1 means 'may be attended', so this "
            "looks like an inverted look-ahead mask");
        return;
    }
}

static bool is_all_zero(const uint8_t *flags, size_t count) {
    return count == 0 || (flags[0] == 0 && memcmp(flags, flags + 1, count - 1) == 0);
}

static void hint_at_empty_masks(srv_ask *ask) {
    const srv_grid *mask = &ask->storage->mask;
    for (size_t i = 0; mask->flags != NULL && i < ask->request.sequence_count; i++) {
        const srv_block *block = mask->blocks + i;
        size_t count = block->heads * block->queries * ask->storage->sequences[i].keys;
        if (!is_all_zero(mask->flags + block->offset, count)) continue;
        srv_ask_warn(ask, "attention_mask is 0 all over a sequence, whose queries have no keys then; 1 means "
                          "'may be attended'");
        return;
    }
}

static void hint_at_window(srv_ask *ask) {
    const attn_request *request = &ask->request;
    if (!request->window_given || request->window == 0) return;
    for (size_t i = 0; i < request->sequence_count; i++)
        if (request->window < request->sequences[i].queries || request->window < request->sequences[i].keys)
            return;
    srv_ask_warn(ask, "window is at least as long as every sequence, so it leaves no key out");
}

static void hint_at_returns(srv_ask *ask) {
    attn_request *request = &ask->request;
    bool maps = (request->want & ATTN_WANT_MAPS) != 0;
    bool rows = maps || (request->want & ATTN_WANT_SCORES) != 0;
    bool heads = rows || (request->want & ATTN_WANT_STATISTICS) != 0;
    if ((!heads && request->heads != NULL) || (!rows && request->queries != NULL))
        srv_ask_warn(ask, "heads and queries choose from attention and scores, neither of which is returned");
    if (!maps && request->average_heads) {
        request->average_heads = false;
        srv_ask_warn(ask, "average_heads is about attention, which is not returned");
    }
    if (ask->base64 && ask->precision > 0)
        srv_ask_warn(ask, "precision is about decimal numbers; base64 holds all bits");
}

bool srv_json_check_together(srv_ask *ask) {
    if (!check_lengths(ask) || !check_returns(ask)) return false;
    hint_at_inversion(ask);
    hint_at_empty_masks(ask);
    hint_at_window(ask);
    hint_at_returns(ask);
    return true;
}
