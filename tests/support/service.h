/* The service without HTTP, as fuzz targets and torture tests drive it: models, one worker and a budget, and a
 * call that asks and waits. One thread at a time. Failures to build one are returned, for those who make
 * allocations fail. */
#ifndef TESTS_SUPPORT_SERVICE_H
#define TESTS_SUPPORT_SERVICE_H

#include "server/pipeline.h"

#include <pthread.h>

/* An answer that has been read to its end. */
typedef struct service_answer {
    srv_problem problem;
    char *body; /* NUL-terminated, malloc'ed; NULL with a problem, or where there was no memory to read it */
    size_t size;
} service_answer;

typedef struct service {
    srv_service shared;
    srv_budget budget;
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool answered, passed;
    srv_answer answer;
} service;

/* Serves one weights file as the model 'file', or the demo models (path NULL), with `memory` bytes for
 * requests. False with the error, and nothing to undo. */
bool service_open(service *out, const char *path, size_t memory, attn_error *error);
/* Asks with copies of body and query and waits. False without memory: no answer. The answer's body is the
 * caller's; the budget has everything back. */
bool service_ask(service *to, const char *body, size_t size, const char *query, size_t query_size,
                 service_answer *out);
/* The same in other formats than JSON's, by their media types, and with the body packed. */
typedef struct service_forms {
    const char *takes, *gives;
    srv_coding coding;
    const srv_addressed
        *addressed; /* by the Open Inference Protocol, whose only format the others are not; or NULL */
    size_t head;    /* with it: bytes of JSON in front of others, SIZE_MAX: all of it is JSON */
} service_forms;
bool service_ask_in(service *to, const service_forms *forms, const char *body, size_t size, const char *query,
                    size_t query_size, service_answer *out);
void service_close(service *open);

/* A file in memory, its path in `path`; ends the program where there is none. Closing the descriptor removes it. */
enum { MEMORY_FILE_PATH = 32 };
int memory_file(char path[MEMORY_FILE_PATH]);
/* Weights that attend to another sequence: inputs 4 wide, keys from 3, values from 2 wide, 2 heads. */
void service_write_cross(const char *path);

#endif
