#!/bin/sh
# Names that the linker sees bear their part's prefix: attn_ engine, cfg_ config, srv_ server (constants in capitals);
# main stands in server/main.c. Prints FILE:LINE: finding; exits 1 when there is any. Looks at the objects under LINT_OBJECTS of the
# tree in the current folder.
set -eu
objects=${LINT_OBJECTS:?the folder of the object files}
checked=0
status=0
for source in $(find engine config server -name '*.c' -print | sort); do
    object=$objects/${source%.c}.o
    [ -f "$object" ] || continue
    checked=$((checked + 1))
    case $source in
    engine/*) prefix=attn_ capitals=ATTN_ ;;
    config/*) prefix=cfg_ capitals=CFG_ ;;
    server/*) prefix=srv_ capitals=SRV_ ;;
    esac
    # Names that begin with two underscores are the compiler's own (sanitizers).
    for symbol in $(nm -g --defined-only "$object" | awk 'NF == 3 && $3 !~ /^__/ { print $3 }'); do
        case $source:$symbol in
        server/main.c:main | *:"$prefix"* | *:"$capitals"*) continue ;;
        esac
        line=$(grep -n -m 1 -w -e "$symbol" "$source" | cut -d : -f 1)
        echo "$source:${line:-1}: '$symbol' has external linkage and does not begin with $prefix"
        status=1
    done
done
[ "$checked" -gt 0 ] || { echo "$objects:1: no object file to check"; status=1; }
exit $status
