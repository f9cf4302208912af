/* Lists tensors. One thread, as the storage asks. */
#include "uses.h"

#include <stdio.h>
#include <string.h>

/* All names one after the other: a file may have very many. */
static char *copy_names(const attn_file_header *header, attn_storage *storage) {
    size_t size = 0;
    for (size_t i = 0; i < header->tensor_count; i++)
        size += strlen(header->tensors[i].name) + 1;
    return attn_storage_take(storage, size + 1, 1);
}

attn_tensor_use *attn_uses_list(const attn_file_header *header, attn_storage *storage) {
    attn_tensor_use *uses = attn_storage_take(storage, header->tensor_count + 1, sizeof *uses);
    char *names = copy_names(header, storage);
    if (uses == NULL || names == NULL) return NULL;
    for (size_t i = 0; i < header->tensor_count; i++) {
        const attn_file_tensor *tensor = &header->tensors[i];
        size_t size = strlen(tensor->name) + 1;
        uses[i] = (attn_tensor_use){
            .name = memcpy(names, tensor->name, size), .dtype = tensor->dtype, .rank = tensor->rank};
        memcpy(uses[i].shape, tensor->shape, sizeof uses[i].shape);
        names += size;
    }
    return uses;
}

bool attn_uses_mark(attn_tensor_use *uses, const attn_file_header *header, const attn_block *block,
                    attn_storage *storage) {
    for (size_t role = 0; role < ATTN_ROLE_COUNT; role++) {
        const attn_file_tensor *tensor = block->tensors[role];
        if (tensor == NULL) continue;
        char text[ATTN_LAYER_NAME_SIZE + 64];
        int size = snprintf(text, sizeof text, "%s %s", block->name, attn_role_text((attn_role)role));
        const char *use = attn_storage_copy(storage, text, (size_t)size);
        if (use == NULL) return false;
        uses[tensor - header->tensors].use = use;
    }
    return true;
}
