#include "capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FILE *files[2];
static int saved[2];

static FILE *stream(int i) {
    return i == 0 ? stdout : stderr;
}

void capture_begin(void) {
    for (int i = 0; i < 2; i++) {
        fflush(stream(i));
        saved[i] = dup(fileno(stream(i)));
        files[i] = tmpfile();
        if (saved[i] < 0 || files[i] == NULL || dup2(fileno(files[i]), fileno(stream(i))) < 0) abort();
    }
}

static char *finish(int i) {
    fflush(stream(i));
    dup2(saved[i], fileno(stream(i)));
    close(saved[i]);
    long size = lseek(fileno(files[i]), 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    if (text == NULL || pread(fileno(files[i]), text, (size_t)size, 0) != size) abort();
    text[size] = '\0';
    fclose(files[i]);
    return text;
}

captured capture_end(void) {
    captured text;
    text.out = finish(0);
    text.err = finish(1);
    return text;
}

void captured_free(captured *text) {
    free(text->out);
    free(text->err);
}
