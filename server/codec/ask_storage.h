/* The memory behind an ask: what decoders fill in and srv_ask_bind reads. Internal to server/codec. */
#ifndef SRV_CODEC_ASK_STORAGE_H
#define SRV_CODEC_ASK_STORAGE_H

#include "ask.h"
#include "buffer.h"

#include <stdint.h>

/* One of inputs, context, values: ΣL rows of `width` numbers, packed. */
typedef struct srv_rows {
    float *data;      /* NULL: absent */
    bool is_borrowed; /* the body's, not to be written to */
    size_t count, width;
    size_t *lengths; /* rows of each sequence */
    size_t sequences;
    bool binary, list; /* from a tensor with a shape; from a list of them */
    /* The first row that is not as wide as the first one: told when the layer's width is known. 0: none. */
    size_t odd_width, odd_sequence, odd_row;
} srv_rows;

/* One sequence's part of a mask or bias: heads × queries × S elements from `offset` on. 1 broadcasts. */
typedef struct srv_block {
    size_t offset, heads, queries;
} srv_block;

/* A mask or a bias of the whole batch, not expanded. */
typedef struct srv_grid {
    uint8_t *flags;    /* a mask's elements, or … */
    float *numbers;    /* … a bias's; both NULL: absent */
    bool is_borrowed;  /* they are the body's, not to be written to */
    srv_block *blocks; /* one for every sequence; all the same where the batch axis broadcasts */
    size_t rank;       /* of one sequence's part: 1 … 3 */
    bool binary, list; /* from a tensor with a shape; from a list of them */
} srv_grid;

/* The integers of `lengths` or `context_lengths`. */
typedef struct srv_lengths {
    size_t *list; /* NULL: absent */
    size_t count, sum;
} srv_lengths;

/* Memory that a decoder hands over, in which tensors lie. */
enum { SRV_KEPT_BUFFERS = 8 };

struct srv_ask_storage {
    const struct srv_capture *captures; /* tensors of a JSON body, while it is read; NULL: it is no such */
    srv_share *share; /* what is allocated while decoding is taken from it; NULL: nobody counts */
    srv_buffer kept[SRV_KEPT_BUFFERS];
    json_t *query; /* the options that came from the query, by name; NULL: none did */
    /* Where the client wrote what has another place in the contract's own JSON, by name: pointers, those of tensors
     * with a '/' at the end. NULL: everything is in its place. */
    json_t *places;
    struct srv_oip *inference;     /* NULL: another format */
    const struct srv_named *named; /* tensors of a binary body, while it is read; NULL: none */
    void *arranged;                /* a body's tensor in another order of bytes; NULL: it lies in the body */
    srv_lengths lengths, context_lengths;
    srv_rows inputs, context, values;
    attn_sequence *sequences;
    srv_grid padding, mask, bias;
    size_t *heads, *queries;
    uint32_t *token_numbers;           /* ΣS; NULL: no statistic wants them */
    bool positions, context_positions; /* given */
};

/* An ask for the default model's first layer with the default results, and nothing else; NULL
 * without memory. */
srv_ask *srv_ask_new(void);

/* Before `bytes` more are allocated. False with a problem in the ask. */
bool srv_ask_take(srv_ask *ask, size_t bytes);

/* Bytes that numbering so many labels takes (srv_ask_number_tokens), and what it takes for a moment. */
size_t srv_ask_cost_of_numbers(size_t labels);

/* Adds a hint for the client: one line, static storage. */
void srv_ask_warn(srv_ask *ask, const char *hint);

#endif
