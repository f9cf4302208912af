/* A JSON body taken apart as its pieces arrive: tensors go into nests (lists) and parts (base64), and what is left is a
 * short text that Jansson reads in the end, in which an empty list stands for captured lists, and a number in quotes
 * (which part) for captured base64. Which members are tensors the contract says (srv_contract).
 *
 * Nothing but scanning happens here, so that an HTTP thread can do it: numbers are read, lists counted, base64 is
 * decoded; names, types, shapes and everything outside the tensors are for those who read the text. Pieces may be
 * cut anywhere.
 *
 * Whatever is wrong within a tensor's text is left to Jansson to complain about: the text then ends with the broken
 * place (srv_scan_break), so that all errors of syntax are told by one reader, in its words. srv_scan_offset turns
 * its places into those of the body.
 *
 * One thread at a time. Internal to server/codec. */
#ifndef SRV_CODEC_JSON_SCAN_H
#define SRV_CODEC_JSON_SCAN_H

#include "json_nest.h"
#include "json_number.h"
#include "json_unit.h"

typedef struct srv_captured {
    const char *name;
    srv_element element;
    srv_even even;
} srv_captured;

enum { SRV_CAPTURES = 8 };
extern const srv_captured srv_captured_fields[SRV_CAPTURES];

/* Whose body it is. */
typedef enum srv_contract {
    SRV_CONTRACT_ATTENTION, /* the fields of srv_captured_fields, each with its own capture: lists and base64 */
    SRV_CONTRACT_INFERENCE, /* "data" of the objects in the list "inputs": lists alone, each in the next capture. More
                               lists than there are captures stay in the text */
} srv_contract;

/* The base64 of one "data" member. */
typedef struct srv_json_data {
    size_t first;      /* byte of the capture's elements where its own begin */
    size_t characters; /* of the string */
    size_t padding;    /* of them, at the end: 0 … 2 */
    size_t unsound;    /* the first character that is not what base64 has there; SIZE_MAX: none */
    size_t too_large;  /* the first element of a double beyond float32; SIZE_MAX: none */
    bool is_wide;      /* f64 that lies here as it came: to be narrowed (json_narrow.c) */
    bool was_converted;
} srv_json_data;

/* Converts `count` elements, behind the first `before` of the part, from a dtype to float32, and notes what that does not
 * hold. */
void srv_json_data_convert(srv_json_data *part, attn_dtype dtype, const void *from, size_t before,
                           size_t count, float *to);

typedef struct srv_capture {
    srv_nest nest;   /* its elements are those of the parts as well */
    srv_buffer data; /* srv_json_data */
} srv_capture;

/* The one of a field that is captured, in an array of SRV_CAPTURES. */
const srv_capture *srv_capture_of(const srv_capture *captures, const char *name);

typedef enum srv_scan_mode { SRV_SCAN_REST, SRV_SCAN_LISTS, SRV_SCAN_DATA, SRV_SCAN_BROKEN } srv_scan_mode;

/* Where the text and the body part: what stands at `text` and behind it in the one stands at `body` in the other. */
typedef struct srv_mark {
    size_t text, body;
} srv_mark;

enum { SRV_TOKEN_BYTES = 32 };

typedef struct srv_scan {
    srv_contract contract;
    srv_share *share;
    size_t max_text; /* 0: no limit */
    srv_capture captures[SRV_CAPTURES];
    srv_buffer text, marks;

    srv_scan_mode mode;
    const char *piece; /* the present one … */
    size_t before;     /* … and how many bytes came before it */
    size_t tail;       /* bytes behind a broken place */
    size_t nul; /* the place of a NUL outside strings, where the text was ended; SIZE_MAX: there is none */

    /* The rest. */
    size_t depth;                /* open objects and lists of the text */
    size_t blanks;               /* white space in a row */
    bool in_string, is_escaped;  /* a backslash was the last byte */
    bool after_colon;            /* behind a name: a value may begin */
    size_t string, string_end;   /* the inside of the last string, in the text */
    size_t name, name_end;       /* the same of the last one before a colon */
    bool has_come[SRV_CAPTURES]; /* the value of the field has begun */
    size_t capture;              /* whose value began last; SRV_CAPTURES: none's */
    bool in_inputs;          /* the last list or object among the members of the body is the list "inputs" */
    size_t data_count;       /* lists of SRV_CONTRACT_INFERENCE */
    size_t tensor_depth;     /* members at this depth are those of a base64 tensor; 0: there is none */
    size_t lists_depth;      /* at this depth the lists go on; 0: there are none */
    size_t dtype, dtype_end; /* the dtype of the present tensor, in the text; 0: not come yet */

    /* The lists. */
    enum { SRV_LIST_BEGUN, SRV_LIST_VALUE, SRV_LIST_COMMA } behind;
    bool has_text; /* the list in the text has elements */
    enum { SRV_TOKEN_NONE, SRV_TOKEN_NUMBER, SRV_TOKEN_WORD } token_kind; /* that has not ended */
    char token[SRV_TOKEN_BYTES];
    size_t token_size; /* all of its bytes; the first ones are in `token` */
    srv_number number;

    /* The base64. */
    srv_json_data part;
    size_t data_text; /* where its number stands in the text */
    char head[SRV_TOKEN_BYTES];
    size_t head_size; /* all of its raw bytes */
    char unit[SRV_UNIT_BYTES];
    size_t unit_size;
    unsigned char group[4];
    size_t group_size;
    size_t padded; /* the first '=', where there is one; SIZE_MAX: there is none */
    bool has_loose_bits;
    attn_dtype convert; /* from this dtype; F32: not */
    unsigned char bytes[8];
    size_t byte_count; /* of an element to convert */
} srv_scan;

void srv_scan_begin(srv_scan *scan, srv_contract contract, srv_share *share, size_t max_text);
/* The next piece. False with a problem where there is no memory, or the text outside the tensors is too long; then
 * nothing more may come. */
bool srv_scan_feed(srv_scan *scan, const char *piece, size_t size, srv_problem *problem);
/* The body is over: the text is whole then, or broken. */
bool srv_scan_end(srv_scan *scan, srv_problem *problem);
void srv_scan_done(srv_scan *scan);

/* How much of the body has been read when `at` bytes of the text have: up to the end of the last one, or (`is_next`)
 * up to the next one. */
size_t srv_scan_offset(const srv_scan *scan, size_t at, bool is_next);

/* What follows is for json_scan*.c alone. */

/* The place of a byte of the present piece in the body. */
static inline size_t srv_scan_at(const srv_scan *scan, const char *at) {
    return scan->before + (size_t)(at - scan->piece);
}
/* Appends bytes of the body to the text. */
bool srv_scan_keep(srv_scan *scan, size_t body, const char *bytes, size_t size, srv_problem *problem);
/* Appends what is not in the body. */
bool srv_scan_add(srv_scan *scan, const char *bytes, size_t size, srv_problem *problem);

/* Work on [at, end) in their mode; return how far they got, NULL with a problem. */
const char *srv_scan_lists(srv_scan *scan, const char *at, const char *end, srv_problem *problem);
const char *srv_scan_data(srv_scan *scan, const char *at, const char *end, srv_problem *problem);
/* The bracket, the quote before them is in the text. */
bool srv_scan_lists_begin(srv_scan *scan, srv_problem *problem);
bool srv_scan_data_begin(srv_scan *scan, srv_problem *problem);
/* A NUL, which Jansson would pass over in places: nothing is read behind it. */
const char *srv_scan_nul(srv_scan *scan, const char *at);
/* The body ends within them or stops making sense, at `body`. */
bool srv_scan_lists_break(srv_scan *scan, size_t body, srv_problem *problem);
bool srv_scan_data_break(srv_scan *scan, size_t body, srv_problem *problem);

static inline srv_nest *srv_scan_nest(srv_scan *scan) {
    return &scan->captures[scan->capture].nest;
}

#endif
