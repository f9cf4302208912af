#!/bin/sh
# Functions that are called nowhere, or in one place. Prints FILE:LINE: finding; exits 1 when there is any.
# Looks at the tree in the current folder.
set -eu
here=$(dirname "$0")
find engine config server -name '*.[ch]' -print | sort | xargs -r awk -f "$here/code.awk" | awk -F: '
BEGIN {
    # What is called nowhere: unbounded, hidden state, another program, or the locale.
    nowhere = "strcpy strcat stpcpy sprintf vsprintf gets strtok atoi atol atoll atof system popen alloca setlocale " \
              "uselocale newlocale rand srand random tmpnam mktemp tempnam fork vfork longjmp setjmp signal"
    n = split(nowhere, list, " ")
    for (i = 1; i <= n; i++) where[list[i]] = "none"
    # What has its place: a file, or a folder that ends with a slash.
    where["getenv"] = where["secure_getenv"] = where["environ"] = "config/environment.c"
    where["exit"] = where["_exit"] = where["_Exit"] = where["quick_exit"] = where["abort"] = "server/main.c"
    where["setenv"] = where["putenv"] = where["unsetenv"] = where["execv"] = where["execve"] = where["execvp"] = "server/blas_core.c"
    # The engine writes to no stream but the files that it is told to make.
    silent = "printf puts putchar perror syslog stderr stdout"
    n = split(silent, list, " ")
    for (i = 1; i <= n; i++) quiet[list[i]] = 1
}
{
    file = $1; line = $2
    text = $0; sub(/^[^:]*:[^:]*:/, "", text)
    if (text ~ /^[ \t]*#[ \t]*include/) next
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(text, RSTART, RLENGTH)
        before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
        member = before == "." || (before == ">" && substr(text, RSTART - 2, 1) == "-")
        text = substr(text, RSTART + RLENGTH)
        call = text ~ /^[ \t]*\(/ || word == "environ"
        if (call && !member && (word in where) && where[word] != file) {
            print file ":" line ": " word (where[word] == "none" ? " is called nowhere" : " belongs to " where[word])
            found = 1
        }
        if ((word in quiet) && !member && (call || word ~ /^std/) && file ~ /^engine\//) {
            print file ":" line ": the engine is silent; " word " has no place in it"
            found = 1
        }
    }
}
END { exit found }'
