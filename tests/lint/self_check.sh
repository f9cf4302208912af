#!/bin/sh
# The rules themselves: each is fed a bad sample and has to refuse it at the right line, and a good tree has to pass.
set -eu
rules=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
failed=0
LINT_CFLAGS=
LINT_OBJECTS=objects
export LINT_CFLAGS LINT_OBJECTS

fresh() {
    rm -rf engine config server tests objects
    mkdir -p engine/base engine/blas engine/weights config server/http server/cli tests
}

# accept RULE: the tree passes.
accept() {
    if ! output=$(sh "$rules/$1.sh" 2>&1); then
        printf 'lint self-check: %s refuses a good tree:\n%s\n' "$1" "$output"
        failed=1
    fi
}

# refuse RULE FILE LINE TEXT: TEXT as the content of FILE is refused at LINE.
refuse() {
    fresh
    mkdir -p "$(dirname "$2")"
    printf '%s\n' "$4" >"$2"
    if output=$(sh "$rules/$1.sh" 2>&1); then
        echo "lint self-check: $1 accepts $2 with: $4"
        failed=1
    elif ! printf '%s\n' "$output" | grep -q "^$2:$3:"; then
        printf 'lint self-check: %s does not name %s:%s but says:\n%s\n' "$1" "$2" "$3" "$output"
        failed=1
    fi
}

fresh
cat >engine/base/good.h <<'C'
/* Says strcpy(a, b) and #include "server/x.h" in a comment only. */
#ifndef GOOD_H
#define GOOD_H
struct good { int (*exit)(int); };
#endif
C
cat >engine/base/good.c <<'C'
#include "good.h" /* getenv("X") */
const char *attn_text(struct good *g, int n);
const char *attn_text(struct good *g, int n) {
    return n == '"' || g->exit(1) ? "system(\"x\")" : "// exit(1)"; // atoi("1")
}
C
printf '#include <cblas.h>\n' >engine/blas/one.c
printf '#include "../base/good.h"\n' >engine/blas/two.c
printf '#include "engine/engine.h"\n#include "config/cfg.h"\n' >server/good.c
printf '#include <microhttpd.h>\n' >server/http/good.c
printf 'const char *cfg_x(void);\nconst char *cfg_x(void) {\n    return getenv("X");\n}\n' >config/environment.c
for rule in includes calls names headers; do accept $rule; done

refuse includes engine/base/a.c 2 '
#include "server/problem.h"'
refuse includes engine/base/a.c 1 '#include "../../config/cfg.h"'
refuse includes engine/base/a.h 1 '#include <cblas.h>'
refuse includes engine/base/a.c 1 '#include <jansson.h>'
refuse includes config/a.c 1 '#include "engine/engine.h"'
refuse includes config/a.c 1 '#include "../server/problem.h"'
refuse includes server/a.c 1 '#include "engine/base/error.h"'
refuse includes server/cli/a.c 1 '#include "../../engine/base/error.h"'
refuse includes server/a.c 1 '#include "config/schema.h"'
refuse includes server/cli/a.c 1 '#  include <microhttpd.h>'
refuse includes server/http/a.c 1 '#include <openblas/cblas.h>'
refuse includes server/a.c 1 '#include "tests/support/suites.h"'
refuse includes server/a.c 1 '#include <png.h>'
refuse includes server/http/a.c 1 '#include <cairo-ft.h>'
refuse includes server/a.c 1 '#include <locale.h>'

refuse calls engine/base/a.c 3 '/* one
two */
void attn_a(char *a) { strcpy(a, ""); }'
refuse calls server/a.c 1 'int srv_a(void) { return atoi ("1"); }'
refuse calls server/cli/a.c 1 'void srv_a(void) { exit(1); }'
refuse calls server/a.c 1 'const char *srv_a(void) { return "/*" ? getenv("A") : 0; }'
refuse calls server/a.c 1 'extern char **environ;'
refuse calls config/sources.c 1 'const char *cfg_a(void) { return secure_getenv("A"); }'
refuse calls server/a.c 1 'void srv_a(void) { setlocale(1, ""); }'
refuse calls server/a.c 1 'void srv_a(char c) { if (c == 34) system("x"); }'
refuse calls engine/base/a.c 1 'void attn_a(void) { fprintf(stderr, "x"); }'
for banned in strcat sprintf gets strtok popen alloca fork; do
    refuse calls server/a.c 1 "void srv_a(void) { $banned(); }"
done

for name in util utils common misc helper helpers string_util; do refuse names "server/$name.c" 1 ''; done
refuse names server/common/a.c 1 ''
refuse names server/CamelCase.c 1 ''

refuse headers engine/base/a.h 5 '/* Uses a type that it does not include. */
#ifndef A_H
#define A_H
int attn_a(int b);
size_t attn_b(void);
#endif'
refuse headers server/a.h 1 '/* No guard. */
int srv_a(int b);'
refuse headers server/a.h 1 '#ifndef A_H
#define A_H
#endif'

# symbol SOURCE NAME: a function of that name in that file is refused, and accepted as static.
symbol() {
    fresh
    mkdir -p "objects/$(dirname "$1")"
    printf '\nvoid %s(void) {}\n' "$2" >"$1"
    ${CC:-cc} -w -c -o "objects/${1%.c}.o" "$1"
    if output=$(sh "$rules/symbols.sh" 2>&1); then
        echo "lint self-check: symbols accepts $2 in $1"
        failed=1
    elif ! printf '%s\n' "$output" | grep -q "^$1:2:"; then
        printf 'lint self-check: symbols does not name %s:2 but says:\n%s\n' "$1" "$output"
        failed=1
    fi
    sed -i 's/^void/static void/' "$1"
    ${CC:-cc} -w -c -o "objects/${1%.c}.o" "$1"
    accept symbols
}
symbol engine/base/a.c srv_a
symbol engine/base/a.c main
symbol config/a.c attn_a
symbol server/a.c cfg_a
symbol server/a.c main
exit $failed
