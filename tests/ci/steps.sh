#!/bin/sh
# `make ci`: every gate, one after the other, with the minutes of each at the end. The first that fails ends the run
# with its last lines; its whole output lies in build/ci/STEP.log. A missing tool fails its step, none is passed over.
# Run from the repository's root. LLVM: the release of clang; TESTED=1: `make test` has just run the tests of the
# release build, so that they are not run again; FUZZ_SECONDS for each fuzz target; STEPS: only these.
set -u
: "${LLVM:?run by make ci}" "${FUZZ_SECONDS:=60}" "${TESTED:=}" "${STEPS:=}"
logs=build/ci
mkdir -p "$logs"
summary=
begun=$(date +%s)

finish() {
    printf '\n%s\n' "== make ci: minutes for each step"
    printf '%b' "$summary"
    printf '  %-13s %6s\n' all "$(minutes "$begun")"
    # The runners' closing lines, summed up.
    grep -hoE '^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+|^[0-9]+ passed, [0-9]+ failed' "$logs"/*.log 2>/dev/null |
        awk -F '[:,] *' '/%/ { good += $3 - $5 - $7; bad += $5 + $7; next } { good += $1; bad += $2 }
            END { printf "%d passed, %d failed\n", good, bad }'
    exit "$1"
}

minutes() {
    echo $(($(date +%s) - $1)) | awk '{ printf "%.1f", $1 / 60 }'
}

# step NAME COMMAND…
step() {
    name=$1
    shift
    [ -z "$STEPS" ] || case " $STEPS " in *" $name "*) ;; *) return 0 ;; esac
    since=$(date +%s)
    echo "== $name: $*"
    if "$@" >"$logs/$name.log" 2>&1; then
        summary="$summary$(printf '  %-13s %6s' "$name" "$(minutes "$since")")\n"
        grep -E '^[0-9]+%: Checks|inputs replayed|^[0-9]+ passed|^lines: | answers, | generated, |^stat::number_of_exec' "$logs/$name.log"
        return 0
    fi
    summary="$summary$(printf '  %-13s %6s  FAILED' "$name" "$(minutes "$since")")\n"
    # Where suites run side by side, what failed may stand far from the end.
    grep -nE ':[FE]:|\*\*\* ' "$logs/$name.log" | head -n 40
    tail -n 60 "$logs/$name.log"
    finish 1
}

# Nothing of an earlier run counts.
rm -f "$logs"/*.log
# A target's lines stay together: suites run side by side.
jobs="-j$(nproc) --output-sync=target"
clang=clang-$LLVM
step format make format-check
step scripts shellcheck -S warning tests/ci/steps.sh tests/lint/*.sh tests/docker/*.sh tests/arm64/*.sh tests/kernels/*.sh .ci/run
[ "$TESTED" = 1 ] || step tests make $jobs WERROR=1 check
step widths make $jobs WERROR=1 check-widths
step readme make $jobs WERROR=1 readme-check
step openapi make $jobs WERROR=1 openapi-check
step openapi-fuzz make $jobs WERROR=1 openapi-fuzz
step triton make $jobs WERROR=1 triton-check
step clang make $jobs CC="$clang" OUT=build/clang WERROR=1 check SUITES=unit
step tidy make tidy
step asan make $jobs VARIANT=asan WERROR=1 check
step tsan make $jobs VARIANT=tsan WERROR=1 check SUITES='unit api' FUZZERS=
step coverage make $jobs coverage
step fuzz make $jobs fuzz FUZZ_SECONDS="$FUZZ_SECONDS"
step arm64 make arm64-check
step install make $jobs install-test
step image make image-test
finish 0
