/* Groups a file's tensors into attention blocks. Knows no scheme by name. Its arrays follow the number of
 * tensors that the header really has; any thread. */
#include "blocks.h"

#include "label.h"
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor whose name is in a scheme. */
typedef struct match {
    const attn_file_tensor *tensor;
    const attn_scheme *scheme;
    attn_role role;
    size_t prefix_size;
} match;

static int by_block(const void *left, const void *right) {
    const match *a = left, *b = right;
    size_t shorter = a->prefix_size < b->prefix_size ? a->prefix_size : b->prefix_size;
    int order = memcmp(a->tensor->name, b->tensor->name, shorter);
    if (order == 0) order = (a->prefix_size > b->prefix_size) - (a->prefix_size < b->prefix_size);
    if (order == 0) order = (a->scheme > b->scheme) - (a->scheme < b->scheme);
    return order != 0 ? order : strcmp(a->tensor->name, b->tensor->name);
}

static bool same_block(const match *a, const match *b) {
    return a->scheme == b->scheme && a->prefix_size == b->prefix_size &&
           memcmp(a->tensor->name, b->tensor->name, a->prefix_size) == 0;
}

static size_t find_matches(const attn_file_header *header, match *matches) {
    size_t count = 0;
    for (size_t i = 0; i < header->tensor_count; i++) {
        match *found = &matches[count];
        found->tensor = &header->tensors[i];
        found->scheme = attn_scheme_match(found->tensor->name, &found->role, &found->prefix_size);
        if (found->scheme != NULL) count++;
    }
    qsort(matches, count, sizeof *matches, by_block);
    return count;
}

/* Makes a block of the matches [0, count), which share scheme and prefix. *starts: a weight is among them. */
static attn_code gather(const match *matches, size_t count, const char *file, attn_block *block, bool *starts,
                        attn_error *error) {
    *block = (attn_block){.scheme = matches[0].scheme,
                          .prefix = matches[0].tensor->name,
                          .prefix_size = matches[0].prefix_size};
    *starts = false;
    for (size_t i = 0; i < count; i++) {
        const attn_file_tensor **place = &block->tensors[matches[i].role];
        if (*place != NULL)
            return attn_error_set(error, ATTN_BAD_MODEL, attn_label_path(file).text,
                                  "tensors '%s' and '%s' both claim to be the %s of one layer",
                                  attn_label_name((*place)->name).text,
                                  attn_label_name(matches[i].tensor->name).text,
                                  attn_role_text(matches[i].role));
        *place = matches[i].tensor;
        if (attn_role_starts_block(matches[i].role)) *starts = true;
    }
    return ATTN_OK;
}

static attn_code gather_all(const match *matches, size_t count, const char *file, attn_block *blocks,
                            size_t *block_count, attn_error *error) {
    *block_count = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same_block(&matches[first], &matches[end]);)
            end++;
        bool starts;
        attn_code code = gather(&matches[first], end - first, file, &blocks[*block_count], &starts, error);
        if (code != ATTN_OK) return code;
        if (starts) ++*block_count;
    }
    return ATTN_OK;
}

/* Names the first tensors and all schemes. */
static attn_code refuse_none(const attn_file_header *header, const char *file, attn_error *error) {
    enum { SHOWN = 3 };
    char names[SHOWN * (ATTN_LABEL_SIZE / 2 + 4) + 1] = "", known[ATTN_TEXT_SIZE] = "";
    for (size_t i = 0, at = 0; i < SHOWN && i < header->tensor_count; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s'%.*s'", i > 0 ? ", " : "",
                               ATTN_LABEL_SIZE / 2, header->tensors[i].name);
    const attn_scheme *scheme;
    for (size_t i = 0, at = 0; (scheme = attn_scheme_at(i)) != NULL && at < sizeof known; i++)
        at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i > 0 ? "; " : "", scheme->summary);
    return attn_error_set(error, ATTN_BAD_MODEL, attn_label_path(file).text,
                          "no attention weights among %zu tensors (%s%s); known names, under any prefix: %s",
                          header->tensor_count, names, header->tensor_count > SHOWN ? " ..." : "", known);
}

static const attn_file_tensor *first_tensor(const attn_block *block) {
    for (size_t role = 0; role < ATTN_ROLE_COUNT; role++)
        if (block->tensors[role] != NULL) return block->tensors[role];
    return NULL;
}

static attn_code check_one_family(const attn_block *blocks, size_t count, const char *file,
                                  attn_error *error) {
    for (size_t i = 1; i < count; i++)
        if (blocks[i].scheme != blocks[0].scheme)
            return attn_error_set(
                error, ATTN_BAD_MODEL, attn_label_path(file).text,
                "holds layers of two naming schemes, '%s' (%s) and '%s' (%s); one a file is accepted",
                attn_label_name(first_tensor(&blocks[0])->name).text, blocks[0].scheme->family,
                attn_label_name(first_tensor(&blocks[i])->name).text, blocks[i].scheme->family);
    return ATTN_OK;
}

attn_code attn_blocks_find(const attn_file_header *header, const char *file, attn_block **out, size_t *count,
                           attn_error *error) {
    attn_code code = ATTN_OK;
    size_t match_count = 0, block_count = 0;
    attn_block *blocks = NULL;
    match *matches = calloc(header->tensor_count + 1, sizeof *matches);
    if (matches == NULL) goto no_memory;
    match_count = find_matches(header, matches);
    blocks = calloc(match_count + 1, sizeof *blocks);
    if (blocks == NULL) goto no_memory;
    code = gather_all(matches, match_count, file, blocks, &block_count, error);
    if (code == ATTN_OK && block_count == 0) code = refuse_none(header, file, error);
    if (code == ATTN_OK) code = check_one_family(blocks, block_count, file, error);
    if (code != ATTN_OK) goto out;
    attn_blocks_name(blocks, block_count);
    *out = blocks;
    *count = block_count;
    blocks = NULL;
    goto out;
no_memory:
    code =
        attn_error_set(error, ATTN_NO_MEMORY, attn_label_path(file).text, "no memory for the list of layers");
out:
    free(matches);
    free(blocks);
    return code;
}
