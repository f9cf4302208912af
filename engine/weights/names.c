/* Tells stacks and layers from prefixes such as "transformer.decoder.layers.3.multihead_attn": its parent is
 * what stands before the last '.', its leaf what follows. Sorting only; any thread. */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static size_t digits_at(const char *string, size_t size) {
    size_t count = 0;
    while (count < size && is_digit(string[count]))
        count++;
    return count;
}

/* Compares two runs of digits as numbers of any length. */
static int compare_numbers(const char *a, size_t a_size, const char *b, size_t b_size) {
    while (a_size > 1 && *a == '0')
        a++, a_size--;
    while (b_size > 1 && *b == '0')
        b++, b_size--;
    if (a_size != b_size) return a_size < b_size ? -1 : 1;
    return memcmp(a, b, a_size);
}

int attn_natural_compare(const char *a, size_t a_size, const char *b, size_t b_size) {
    size_t i = 0, j = 0;
    while (i < a_size && j < b_size) {
        size_t a_digits = digits_at(a + i, a_size - i), b_digits = digits_at(b + j, b_size - j);
        if (a_digits > 0 && b_digits > 0) {
            int order = compare_numbers(a + i, a_digits, b + j, b_digits);
            if (order != 0) return order;
            i += a_digits, j += b_digits;
        } else {
            if (a[i] != b[j]) return (unsigned char)a[i] < (unsigned char)b[j] ? -1 : 1;
            i++, j++;
        }
    }
    if (i < a_size || j < b_size) return i < a_size ? 1 : -1;
    if (a_size != b_size) return a_size < b_size ? -1 : 1; /* "01" and "1" */
    return memcmp(a, b, a_size);
}

/* A piece of a name; not NUL-terminated. */
typedef struct piece {
    const char *at;
    size_t size;
} piece;

static piece parent_of(const attn_block *block) {
    const char *dot = memrchr(block->prefix, '.', block->prefix_size);
    return (piece){block->prefix, dot != NULL ? (size_t)(dot - block->prefix) : 0};
}

static piece leaf_of(const attn_block *block) {
    const char *dot = memrchr(block->prefix, '.', block->prefix_size);
    const char *leaf = dot != NULL ? dot + 1 : block->prefix;
    return (piece){leaf, block->prefix_size - (size_t)(leaf - block->prefix)};
}

static int compare_pieces(piece a, piece b) {
    return attn_natural_compare(a.at, a.size, b.at, b.size);
}

/* Within one parent self stands before cross. */
static int by_parent(const void *left, const void *right) {
    const attn_block *a = left, *b = right;
    int order = compare_pieces(parent_of(a), parent_of(b));
    if (order == 0) order = a->is_cross - b->is_cross;
    return order != 0 ? order : compare_pieces(leaf_of(a), leaf_of(b));
}

/* Blocks [first, result) share a parent. */
static size_t siblings_end(const attn_block *blocks, size_t count, size_t first) {
    size_t end = first + 1;
    while (end < count && compare_pieces(parent_of(&blocks[first]), parent_of(&blocks[end])) == 0)
        end++;
    return end;
}

static bool has_leaf(const attn_block *blocks, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        piece leaf = leaf_of(&blocks[i]);
        if (leaf.size == strlen(name) && memcmp(leaf.at, name, leaf.size) == 0) return true;
    }
    return false;
}

static void find_cross_blocks(attn_block *blocks, size_t count) {
    for (size_t first = 0, end; first < count; first = end) {
        end = siblings_end(blocks, count, first);
        for (size_t i = first; i < end; i++) {
            piece leaf = leaf_of(&blocks[i]);
            const attn_cross_name *cross = attn_scheme_cross_name(leaf.at, leaf.size);
            blocks[i].is_cross = cross != NULL && (cross->beside == NULL ||
                                                   has_leaf(&blocks[first], end - first, cross->beside));
        }
    }
}

/* The first part of a name that begins with "encoder" or "decoder" tells the stack. */
static attn_stack stack_in(piece name) {
    for (size_t i = 0; i + 7 <= name.size; i++) {
        if (i > 0 && name.at[i - 1] != '.') continue;
        if (memcmp(name.at + i, "encoder", 7) == 0) return ATTN_STACK_ENCODER;
        if (memcmp(name.at + i, "decoder", 7) == 0) return ATTN_STACK_DECODER;
    }
    return ATTN_STACK_NONE;
}

/* Blocks beside a cross block are a decoder's whatever their prefix says. A cross block's own leaf
 * ("encoder_attn") says what it looks at, not where it stands. */
static void find_stacks(attn_block *blocks, size_t count) {
    for (size_t first = 0, end; first < count; first = end) {
        end = siblings_end(blocks, count, first);
        bool crossed = false;
        for (size_t i = first; i < end; i++)
            crossed = crossed || blocks[i].is_cross;
        for (size_t i = first; i < end; i++)
            blocks[i].stack =
                crossed ? ATTN_STACK_DECODER : stack_in((piece){blocks[i].prefix, blocks[i].prefix_size});
    }
}

static int by_stack(const void *left, const void *right) {
    const attn_block *a = left, *b = right;
    int order = (a->stack > b->stack) - (a->stack < b->stack);
    return order != 0 ? order : by_parent(left, right);
}

/* Whether names by stack are possible and needed: two stacks or a cross block, every block in a stack, and no
 * layer with two blocks of one kind. */
static bool has_stacks(const attn_block *blocks, size_t count) {
    bool found[ATTN_STACK_NONE + 1] = {false}, crossed = false;
    for (size_t first = 0, end; first < count; first = end) {
        end = siblings_end(blocks, count, first);
        size_t crosses = 0;
        for (size_t i = first; i < end; i++) {
            found[blocks[i].stack] = true;
            crosses += blocks[i].is_cross;
        }
        if (crosses > 1 || (crosses == 1 && end - first > 2)) return false;
        crossed = crossed || crosses > 0;
    }
    if (found[ATTN_STACK_NONE]) return false;
    return crossed || (found[ATTN_STACK_ENCODER] && found[ATTN_STACK_DECODER]);
}

/* A self and a cross block of one parent share their number. */
static void name_by_stack(attn_block *blocks, size_t count) {
    static const char *const stacks[] = {[ATTN_STACK_ENCODER] = "encoder", [ATTN_STACK_DECODER] = "decoder"};
    size_t numbers[ATTN_STACK_NONE] = {0};
    for (size_t i = 0; i < count; i++) {
        attn_block *block = &blocks[i];
        snprintf(block->name, sizeof block->name, "%s.%zu.%s", stacks[block->stack], numbers[block->stack],
                 block->is_cross ? "cross" : "self");
        bool shared = i + 1 < count && block[1].is_cross && siblings_end(block, 2, 0) == 2;
        if (!shared) numbers[block->stack]++;
    }
}

void attn_blocks_name(attn_block *blocks, size_t count) {
    qsort(blocks, count, sizeof *blocks, by_parent); /* nothing is cross yet */
    find_cross_blocks(blocks, count);
    find_stacks(blocks, count);
    qsort(blocks, count, sizeof *blocks, by_stack);
    if (has_stacks(blocks, count)) {
        name_by_stack(blocks, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        snprintf(blocks[i].name, sizeof blocks[i].name, "layers.%zu", i);
}
