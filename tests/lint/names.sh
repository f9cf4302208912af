#!/bin/sh
# Names of files and folders: none that says nothing, and nothing but lower-case words. Prints FILE:1: finding; exits 1
# when there is any. Looks at the tree in the current folder.
set -eu
find engine config server tests -name '*.[ch]' -print | sort | awk '
{
    base = $0; sub(/^.*\//, "", base)
    if (base ~ /(^|_)(utils?|utilities|common|misc|helpers?|stuff)(_|\.)/ || $0 ~ /\/(utils?|common|misc|helpers?)\//) {
        print $0 ":1: the name says nothing about the content"; found = 1
    }
    if (base !~ /^[a-z][a-z0-9_]*\.[ch]$/) { print $0 ":1: file names are lower_case words"; found = 1 }
}
END { exit found }'
