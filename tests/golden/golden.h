/* One golden vector as a request to the engine, and how an answer is held to it, stage by stage. Any failure
 * to read a vector fails the running test. */
#ifndef TESTS_GOLDEN_GOLDEN_H
#define TESTS_GOLDEN_GOLDEN_H

#include "engine/engine.h"
#include "vector.h"

#define GOLDEN_TOLERANCE 1e-5

typedef enum golden_stage {
    GOLDEN_Q,
    GOLDEN_K,
    GOLDEN_V,
    GOLDEN_SCORES,
    GOLDEN_WEIGHTS,
    GOLDEN_OUTPUT,
    GOLDEN_STAGES,
} golden_stage;

enum { GOLDEN_ALL_STAGES = (1 << GOLDEN_STAGES) - 1 };

typedef struct golden_case {
    char name[64];
    vector *file;
    attn_model *model;
    const attn_layer *layer;
    attn_sequence *sequences;
    attn_request request; /* asks for everything, of `layer` */
    size_t rows_without_keys;
} golden_case;

/* Every result of a run in one array, so that two runs can be compared bit by bit. */
typedef struct golden_answer {
    float *values;
    size_t count;
    size_t *at; /* where stage s of sequence n begins: at[n · GOLDEN_STAGES + s]; one more marks the end */
    size_t rows_without_keys;
} golden_answer;

/* How many vectors there are, and the one at an index in the order of their names. */
size_t golden_count(void);
golden_case *golden_load(size_t index);
void golden_free(golden_case *golden);

/* Runs the request on a layer (the case's own or a changed copy) by a pool of so many workers. */
golden_answer golden_run(const golden_case *golden, const attn_layer *layer, size_t workers);
void golden_answer_done(golden_answer *answer);

/* Whether the stages of the set agree with the vector; else `text` (COMPARE_TEXT_SIZE, may be NULL) names
 * sequence, stage, index, got and want. */
bool golden_agrees(const golden_case *golden, const golden_answer *answer, unsigned stages, char *text);
/* The same for the reference in double precision. */
bool golden_reference_agrees(const golden_case *golden, double tolerance, char *text);

#endif
