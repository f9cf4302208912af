#!/bin/sh
# Each header compiles alone and opens with a comment and a guard. The compiler prints FILE:LINE:; exits 1 when there
# is any finding. Looks at the tree in the current folder; CC and LINT_CFLAGS as the Makefile gives them.
set -eu
headers=$(find engine config server -name '*.h' -print | sort)
status=0
for header in $headers; do
    head -n 1 "$header" | grep -q '^/\*' || { echo "$header:1: no comment says what it is for"; status=1; }
    guard=$(grep -m 1 '^#ifndef' "$header" | cut -d ' ' -f 2)
    [ -n "$guard" ] && grep -q "^#define $guard\$" "$header" || { echo "$header:1: no include guard"; status=1; }
done
# shellcheck disable=SC2086 # lists of words
[ -z "$headers" ] || ${CC:-cc} -std=c17 -D_GNU_SOURCE -I. ${LINT_CFLAGS:-} -Wall -Wextra -Werror -Wno-unused -fsyntax-only -x c $headers || status=1
exit $status
