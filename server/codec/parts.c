/* Listing parts and cutting them (parts.h). Literal text and tensors alternate: piece 2i is the text before tensor i
 * (it may be empty), piece 2i + 1 the tensor, and the last piece the text at the end. A block begins anywhere within a
 * piece. A tensor that need not be written is a block of its own, however large. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct listed {
    size_t text_end; /* of the literal text before the tensor */
    size_t count;    /* elements */
    srv_part tensor;
} listed;

/* Where a block begins: bytes into a text, elements into a tensor. */
typedef struct place {
    size_t piece, at;
} place;

struct srv_parts {
    srv_text text;
    listed *tensors;
    size_t tensor_count, tensor_capacity;
    place *blocks; /* one more than there are: where the last one ends */
    size_t block_count, block_capacity;
    size_t size, written, head;
    bool uses_memory, needs_check, writes_all, failed;
};

srv_parts *srv_parts_new(void) {
    return calloc(1, sizeof(srv_parts));
}

void srv_parts_free(srv_parts *parts) {
    if (!parts) return;
    srv_text_done(&parts->text);
    free(parts->tensors);
    free(parts->blocks);
    free(parts);
}

srv_text *srv_parts_text(srv_parts *parts) {
    return &parts->text;
}

/* Room for one more entry of `bytes` bytes; false without memory. */
static bool grow(void **list, size_t *capacity, size_t count, size_t bytes) {
    if (count < *capacity) return true;
    size_t more = *capacity == 0 ? 8 : 2 * *capacity, size;
    void *grown = attn_size_mul(more, bytes, &size) ? realloc(*list, size) : NULL;
    if (!grown) return false;
    *list = grown;
    *capacity = more;
    return true;
}

void srv_parts_add(srv_parts *parts, const srv_part *tensor) {
    void *list = parts->tensors;
    parts->failed =
        parts->failed || !grow(&list, &parts->tensor_capacity, parts->tensor_count, sizeof *parts->tensors);
    parts->tensors = list;
    if (parts->failed) return;
    parts->tensors[parts->tensor_count++] =
        (listed){.text_end = parts->text.size, .count = attn_view_count(&tensor->view), .tensor = *tensor};
    parts->needs_check = parts->needs_check || tensor->half;
}

static bool is_text(size_t piece) {
    return piece % 2 == 0;
}

static size_t text_begin(const srv_parts *parts, size_t piece) {
    return piece == 0 ? 0 : parts->tensors[piece / 2 - 1].text_end;
}

size_t srv_parts_bound(const srv_parts *parts, bool *is_exact) {
    size_t bound = parts->text.size;
    *is_exact = true;
    for (size_t i = 0; i < parts->tensor_count; i++) {
        const listed *one = &parts->tensors[i];
        size_t size = srv_part_size(&one->tensor);
        *is_exact = *is_exact && size != SIZE_MAX;
        bound += size == SIZE_MAX ? srv_part_bound(&one->tensor, one->count) : size;
    }
    return bound;
}

void srv_parts_end_head(srv_parts *parts) {
    parts->head = parts->text.size;
}

size_t srv_parts_head(const srv_parts *parts) {
    return parts->head;
}

void srv_parts_write_all(srv_parts *parts) {
    parts->writes_all = true;
}

/* The tensor's own memory, where that can be sent. */
static const char *memory_of(const srv_parts *parts, const srv_part *tensor) {
    return parts->writes_all ? NULL : srv_part_memory(tensor);
}

/* Bytes of a text, elements of a tensor. */
static size_t piece_length(const srv_parts *parts, size_t piece) {
    if (!is_text(piece)) return parts->tensors[piece / 2].count;
    bool is_last = piece / 2 == parts->tensor_count;
    return (is_last ? parts->text.size : parts->tensors[piece / 2].text_end) - text_begin(parts, piece);
}

static void begin_block(srv_parts *parts, size_t piece, size_t at) {
    void *list = parts->blocks;
    parts->failed =
        parts->failed || !grow(&list, &parts->block_capacity, parts->block_count, sizeof *parts->blocks);
    parts->blocks = list;
    if (!parts->failed) parts->blocks[parts->block_count++] = (place){piece, at};
}

/* Lays one piece behind what the present block has; returns the bytes that are still free in the last block. */
static size_t cut_piece(srv_parts *parts, size_t piece, size_t left) {
    const srv_part *tensor = is_text(piece) ? NULL : &parts->tensors[piece / 2].tensor;
    size_t length = piece_length(parts, piece), step = tensor ? srv_part_step(tensor) : 1;
    if (tensor && memory_of(parts, tensor)) {
        begin_block(parts, piece, 0);
        parts->uses_memory = true;
        return 0;
    }
    for (size_t at = 0, fits; at < length && !parts->failed; at += fits) {
        size_t room = tensor ? srv_part_fitting(tensor, left) : left;
        if (room < step && room < length - at) {
            begin_block(parts, piece, at);
            left = SRV_BLOCK_BYTES;
            room = tensor ? srv_part_fitting(tensor, left) : left;
        }
        fits = room < length - at ? room : length - at;
        left -= tensor ? srv_part_bound(tensor, fits) : fits;
    }
    return left;
}

static void add_sizes(srv_parts *parts) {
    parts->size = parts->written = parts->text.size;
    for (size_t i = 0; i < parts->tensor_count; i++) {
        const listed *one = &parts->tensors[i];
        size_t size = srv_part_size(&one->tensor);
        parts->size = size == SIZE_MAX || parts->size == SIZE_MAX ? SIZE_MAX : parts->size + size;
        if (!memory_of(parts, &one->tensor)) parts->written += srv_part_bound(&one->tensor, one->count);
    }
}

bool srv_parts_close(srv_parts *parts) {
    size_t pieces = 2 * parts->tensor_count + 1, left = 0;
    parts->failed = parts->failed || parts->text.failed;
    for (size_t piece = 0; piece < pieces && !parts->failed; piece++)
        left = cut_piece(parts, piece, left);
    if (parts->block_count == 0) begin_block(parts, 0, 0);
    begin_block(parts, pieces, 0);
    if (parts->failed) return false;
    parts->block_count--;
    add_sizes(parts);
    return true;
}

size_t srv_parts_blocks(const srv_parts *parts) {
    return parts->block_count;
}

size_t srv_parts_size(const srv_parts *parts) {
    return parts->size;
}

size_t srv_parts_written(const srv_parts *parts) {
    return parts->written;
}

size_t srv_parts_room(const srv_parts *parts) {
    return (parts->written < SRV_BLOCK_BYTES ? parts->written : SRV_BLOCK_BYTES) + SRV_PART_SLACK;
}

size_t srv_parts_bytes(const srv_parts *parts) {
    return sizeof *parts + parts->text.capacity + parts->tensor_capacity * sizeof *parts->tensors +
           parts->block_capacity * sizeof *parts->blocks;
}

bool srv_parts_use_memory(const srv_parts *parts) {
    return parts->uses_memory;
}

const char *srv_parts_memory(const srv_parts *parts, size_t block, size_t *size) {
    size_t piece = parts->blocks[block].piece;
    const srv_part *tensor = is_text(piece) ? NULL : &parts->tensors[piece / 2].tensor;
    const char *memory = tensor ? memory_of(parts, tensor) : NULL;
    if (memory) *size = srv_part_size(tensor);
    return memory;
}

/* What of a piece lies in a block: from *from to the returned end. */
static size_t stretch(const srv_parts *parts, size_t block, size_t piece, size_t *from) {
    place begin = parts->blocks[block], end = parts->blocks[block + 1];
    *from = piece == begin.piece ? begin.at : 0;
    return piece == end.piece ? end.at : piece_length(parts, piece);
}

/* The last piece that may have a part in a block. */
static size_t last_piece(const srv_parts *parts, size_t block) {
    size_t end = parts->blocks[block + 1].piece, last = 2 * parts->tensor_count;
    return end < last ? end : last;
}

size_t srv_parts_write(const srv_parts *parts, size_t block, char *out) {
    char *at = out;
    for (size_t piece = parts->blocks[block].piece; piece <= last_piece(parts, block); piece++) {
        size_t from, to = stretch(parts, block, piece, &from);
        if (to == from) continue;
        if (is_text(piece)) {
            memcpy(at, parts->text.data + text_begin(parts, piece) + from, to - from);
            at += to - from;
        } else {
            at = srv_part_write(&parts->tensors[piece / 2].tensor, from, to, at);
        }
    }
    return (size_t)(at - out);
}

bool srv_parts_need_check(const srv_parts *parts) {
    return parts->needs_check;
}

/* The first number of a block that does not fit, if any: its tensor, or NULL. */
static const srv_part *find_unfit(const srv_parts *parts, size_t block, size_t *element) {
    for (size_t piece = parts->blocks[block].piece; piece <= last_piece(parts, block); piece++) {
        if (is_text(piece) || !parts->tensors[piece / 2].tensor.half) continue;
        const srv_part *tensor = &parts->tensors[piece / 2].tensor;
        size_t from, to = stretch(parts, block, piece, &from);
        *element = srv_part_beyond_half(tensor, from, to);
        if (*element < to) return tensor;
    }
    return NULL;
}

bool srv_parts_check(const srv_parts *parts, size_t block) {
    size_t element;
    return find_unfit(parts, block, &element) == NULL;
}

void srv_parts_refuse(const srv_parts *parts, srv_problem *problem) {
    const srv_part *tensor = NULL;
    size_t element = 0;
    for (size_t block = 0; block < parts->block_count && !tensor; block++)
        tensor = find_unfit(parts, block, &element);
    if (!tensor) return;
    srv_problem_set(problem, SRV_NOT_REPRESENTABLE, SRV_WHERE_POINTER, "/return/dtype",
                    "'%s' holds %.9g; f16 ends at 65504, f32 is expected", tensor->member,
                    (double)srv_part_at(tensor, element));
}

size_t srv_parts_cost(size_t tensors, size_t text, size_t numbers) {
    /* Lists and the text double as they grow; a block is at least half full, or ends at a tensor in memory. */
    size_t listing, blocks, total;
    if (!attn_size_add(text, numbers, &blocks)) return SIZE_MAX;
    blocks = blocks / (SRV_BLOCK_BYTES / 2) + 2;
    if (!attn_size_add(blocks, tensors, &blocks) || !attn_size_mul(blocks, 3 * sizeof(place), &blocks) ||
        !attn_size_mul(tensors, 3 * sizeof(listed), &listing) || !attn_size_mul(text, 3, &text) ||
        !attn_size_add(listing, blocks, &total) || !attn_size_add(total, text, &total) ||
        !attn_size_add(total, sizeof(srv_parts) + 8 * (sizeof(listed) + sizeof(place)), &total))
        return SIZE_MAX;
    return total;
}
