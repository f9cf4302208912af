#!/bin/sh
# Directions between the parts: who may include whom. Prints FILE:LINE: finding; exits 1 when there is any.
# Looks at the tree in the current folder.
set -eu
here=$(dirname "$0")
find engine config server -name '*.[ch]' -print | sort | xargs -r awk -f "$here/code.awk" | awk -F: '
function refuse(what) { print file ":" line ": " what; found = 1 }
$3 !~ /#[ \t]*include/ { next }
{
    file = $1; line = $2; quoted = $3 ~ /include[ \t]*"/
    name = $3; sub(/^[^<"]*[<"]/, "", name); sub(/[>"].*$/, "", name)
    part = file; sub(/\/.*$/, "", part)
    target = name; while (sub(/^\.\.\//, "", target)) climbed = 1
    first = target; sub(/\/.*$/, "", first)
    # A quoted name from the repository root names its part; any other is a neighbour within the part.
    to = first == "engine" || first == "config" || first == "server" || first == "tests" ? first : quoted ? part : "outside"

    if (to == "tests") refuse("tests are included by tests only")
    if (part == "engine" && (to == "server" || to == "config")) refuse("engine/ includes nothing of server/ or config/")
    if (part == "config" && (to == "engine" || to == "server")) refuse("config/ includes Jansson and itself only")
    if (part == "server" && to == "engine" && name != "engine/engine.h") refuse("server/ includes engine/engine.h only")
    if (part == "server" && to == "config" && name != "config/cfg.h") refuse("server/ includes config/cfg.h only")
    if (name ~ /^cblas/ || name ~ /openblas/) {
        if (file !~ /^engine\/blas\//) refuse("cblas.h belongs to engine/blas/")
        else if (blas != "" && blas != file) refuse("cblas.h is included in " blas " already; one file is enough")
        blas = file
    }
    if (name == "microhttpd.h" && file !~ /^server\/http\//) refuse("microhttpd.h belongs to server/http/")
    if ((name == "png.h" || name ~ /^cairo/) && quoted == 0 && file !~ /^server\/picture\//) refuse(name " belongs to server/picture/")
    if (name == "jansson.h" && part == "engine" && file !~ /^engine\/weights\//) refuse("Jansson reads file headers in engine/weights/ only")
    if (name == "check.h" || name ~ /^curl\//) refuse("a library of the tests")
    if (name == "locale.h") refuse("no locale: numbers look the same everywhere")
}
END { exit found }'
