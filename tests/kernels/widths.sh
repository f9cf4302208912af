#!/bin/sh
# Every way to compute that this processor has (`make check-widths`): the golden numbers and the unit suites whose numbers
# come from vector code or OpenBLAS, at each width of attnd's own, and with each kernel set of OpenBLAS that is in the
# library and can run here.
set -eu
cd "$(dirname "$0")/../.."
out=${OUT:?the folder of the build}

# The suites with this environment.
run() {
    for suite in golden "unit properties" "unit online" "unit linear" "unit reduced_maps" "unit hidden_keys" "unit run" "unit blas"; do
        echo "== $suite: $*"
        # shellcheck disable=SC2086 # the program and its suite
        env "$@" ATTND_BINARY="$PWD/$out/attnd" "$out/tests/"$suite
    done
}

for vectors in plain avx2 avx512; do
    # What is refused here is told, so that nobody takes it for tested.
    if "$out/attnd" config --vectors "$vectors" >/dev/null; then run ATTND_TESTED_VECTORS="$vectors"; fi
done
# A set that the library does not have leaves another in use; one that the processor cannot run ends at once.
for core in Prescott Nehalem Sandybridge Haswell Zen SkylakeX Cooperlake SapphireRapids ARMV8 NEOVERSEN1; do
    if OPENBLAS_CORETYPE=$core "$out/attnd" version 2>/dev/null | grep -qi "\"core\": \"$core\""; then
        run OPENBLAS_CORETYPE="$core"
    else
        echo "== not here: OpenBLAS's kernels for $core"
    fi
done
