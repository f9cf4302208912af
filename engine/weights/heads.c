/* Finds head counts. Reads config.json through Jansson, at most 16 MiB of a regular file. Any thread. */
#include "heads.h"

#include "label.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_MAX = 16 << 20 /* bytes */ };

/* A decimal number from 1 to ATTN_HEADS_MAX and nothing else. */
static bool read_count(const char *text, size_t *out) {
    size_t number = 0, digits = 0;
    for (; text[digits] >= '0' && text[digits] <= '9' && digits < 6; digits++)
        number = 10 * number + (size_t)(text[digits] - '0');
    if (digits == 0 || text[digits] != '\0' || number < 1 || number > ATTN_HEADS_MAX) return false;
    *out = number;
    return true;
}

/* One of the two counts, and who has been asked for it. */
typedef struct count {
    const char *flag;  /* its setting */
    size_t configured; /* 0: not */
    size_t known;      /* 0: nobody has told it yet */
} count;

/* A file says `said` at `key`: what a setting says must be the same, since a map with another number of heads would look
 * right and be wrong. */
static attn_code take(count *to, size_t said, const char *file, const char *key, attn_error *error) {
    if (to->known == 0) to->known = said;
    if (to->configured == 0 || to->configured == said) return ATTN_OK;
    return attn_error_set(error, ATTN_BAD_MODEL, attn_label_path(file).text,
                          "%s says %zu; %s says %zu, which contradicts it: leave %s out", key, said, to->flag,
                          to->configured, to->flag);
}

static attn_code from_metadata(const attn_file_header *header, const char *file, const char *name, count *to,
                               attn_error *error) {
    const char *text = attn_file_header_metadata(header, name);
    char key[40];
    size_t said;
    if (text == NULL) return ATTN_OK;
    snprintf(key, sizeof key, "__metadata__.%s", name);
    if (read_count(text, &said)) return take(to, said, file, key, error);
    if (to->known != 0) return ATTN_OK;
    return attn_error_set(error, ATTN_BAD_MODEL, attn_label_path(file).text,
                          "%s is '%s'; a whole number from 1 to %d is accepted", key,
                          attn_label_name(text).text, ATTN_HEADS_MAX);
}

static attn_code from_config(const json_t *config, const char *path, const char *key, count *to,
                             attn_error *error) {
    const json_t *number = json_object_get(config, key);
    if (number == NULL || json_is_null(number)) return ATTN_OK;
    json_int_t said = json_integer_value(number);
    if (json_is_integer(number) && said >= 1 && said <= ATTN_HEADS_MAX)
        return take(to, (size_t)said, path, key, error);
    if (to->known != 0) return ATTN_OK;
    return attn_error_set(error, ATTN_BAD_FILE, attn_label_path(path).text,
                          "%s is not a whole number from 1 to %d", key, ATTN_HEADS_MAX);
}

/* PATH's folder followed by "config.json"; NULL without memory. */
static char *config_beside(const char *path) {
    static const char name[] = "config.json";
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *beside = malloc(folder + sizeof name);
    if (beside == NULL) return NULL;
    memcpy(beside, path, folder);
    memcpy(beside + folder, name, sizeof name);
    return beside;
}

/* Reads up to `size` bytes; how many came in *got. */
static bool read_up_to(int fd, char *out, size_t size, size_t *got) {
    *got = 0;
    while (*got < size) {
        ssize_t now = read(fd, out + *got, size - *got);
        if (now < 0 && errno == EINTR) continue;
        if (now < 0) return false;
        if (now == 0) break;
        *got += (size_t)now;
    }
    return true;
}

static attn_code parse_config(int fd, const char *path, size_t size, json_t **out, attn_error *error) {
    attn_place where = attn_label_path(path);
    attn_code code = ATTN_OK;
    json_error_t problem = {0};
    json_t *config = NULL;
    size_t got = 0;
    char *text = malloc(size + 1);
    if (text == NULL) {
        code = attn_error_set(error, ATTN_NO_MEMORY, where.text, "no memory to read it");
    } else if (!read_up_to(fd, text, size, &got)) {
        code = attn_error_set(error, ATTN_IO, where.text, "cannot be read: %s", strerror(errno));
    } else if ((config = json_loadb(text, got, 0, &problem)) == NULL) {
        bool memory = json_error_code(&problem) == json_error_out_of_memory;
        code = attn_error_set(error, memory ? ATTN_NO_MEMORY : ATTN_BAD_FILE, where.text,
                              "is not JSON: %s (at its byte %d)", problem.text, problem.position);
    } else if (!json_is_object(config)) {
        code = attn_error_set(error, ATTN_BAD_FILE, where.text, "is not a JSON object");
        json_decref(config);
    } else {
        *out = config;
    }
    free(text);
    return code;
}

/* *out stays NULL where there is no such file. */
static attn_code read_config(const char *path, json_t **out, attn_error *error) {
    attn_place where = attn_label_path(path);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return ATTN_OK;
    struct stat about;
    attn_code code = ATTN_OK;
    if (fd < 0 || fstat(fd, &about) != 0)
        code = attn_error_set(error, ATTN_IO, where.text, "cannot be opened: %s", strerror(errno));
    else if (!S_ISREG(about.st_mode))
        code = attn_error_set(error, ATTN_IO, where.text, "is not a regular file");
    else if (about.st_size > CONFIG_MAX)
        code = attn_error_set(error, ATTN_BAD_FILE, where.text, "has %jd bytes; up to %d are accepted",
                              (intmax_t)about.st_size, CONFIG_MAX);
    else
        code = parse_config(fd, path, (size_t)about.st_size, out, error);
    if (fd >= 0) close(fd);
    return code;
}

static attn_code ask_config(const char *file, count *heads, count *kv_heads, attn_error *error) {
    char *path = config_beside(file);
    if (path == NULL)
        return attn_error_set(error, ATTN_NO_MEMORY, attn_label_path(file).text, "no memory for a path");
    json_t *config = NULL;
    attn_error unread = {0};
    attn_code code = read_config(path, &config, &unread);
    bool is_needed = heads->known == 0 || code == ATTN_NO_MEMORY;
    if (code != ATTN_OK && is_needed) attn_error_set(error, code, unread.where, "%s", unread.text);
    if (code != ATTN_OK && !is_needed) code = ATTN_OK;
    if (code == ATTN_OK) code = from_config(config, path, "num_attention_heads", heads, error);
    if (code == ATTN_OK) code = from_config(config, path, "num_key_value_heads", kv_heads, error);
    json_decref(config);
    free(path);
    return code;
}

attn_code attn_head_counts_find(const attn_model_source *source, const attn_file_header *header,
                                const char *file, attn_head_counts *out, attn_error *error) {
    count heads = {"--heads", source->heads, source->heads};
    count kv_heads = {"--kv-heads", source->kv_heads, source->kv_heads};
    bool is_told = attn_file_header_metadata(header, "num_heads") != NULL;
    attn_code code = from_metadata(header, file, "num_heads", &heads, error);
    if (code == ATTN_OK) code = from_metadata(header, file, "num_kv_heads", &kv_heads, error);
    if (code == ATTN_OK && !is_told) code = ask_config(file, &heads, &kv_heads, error);
    if (code == ATTN_OK) *out = (attn_head_counts){heads.known, kv_heads.known};
    return code;
}

void attn_nearest_divisors(size_t width, size_t heads, size_t *below, size_t *above) {
    *below = *above = 0;
    for (size_t low = 1; low <= width / low; low++) {
        if (width % low != 0) continue;
        const size_t pair[2] = {low, width / low};
        for (size_t i = 0; i < 2; i++) {
            if (pair[i] < heads && pair[i] > *below) *below = pair[i];
            if (pair[i] > heads && (*above == 0 || pair[i] < *above)) *above = pair[i];
        }
    }
}
