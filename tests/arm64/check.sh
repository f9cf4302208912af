#!/bin/sh
# The other architecture (`make arm64-check`): cross-builds the daemon and the tests for arm64 without a warning, and runs
# the unit tests, PyTorch's golden numbers, the kernels and the cases over real HTTP under emulation. That proves the plain C twins of
# all vector code, arm64's own OpenBLAS kernels and signedness of char right; it says nothing of speed, and emulation
# hides what a weaker order of memory could do. Debian's arm64 libraries are unpacked into a folder, none is installed.
set -eu
cd "$(dirname "$0")/../.."

out=build/arm64
root=$PWD/$out/root
libraries=$root/usr/lib/aarch64-linux-gnu
# What was unpacked whole is kept while the Makefile names the same packages.
if [ "$(cat "$root/complete" 2>/dev/null)" != "$LIBRARIES" ]; then
    rm -rf "$root"
    mkdir -p "$out"
    mmdebstrap --quiet --variant=extract --architectures=arm64 \
        --include="$(echo "$LIBRARIES" | tr ' ' ',')" "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root"
    echo "$LIBRARIES" >"$root/complete"
fi

# The alternatives system would link OpenBLAS into the usual folder; nothing is configured here, so it is named.
blas=$(dirname "$(find "$libraries" -name openblas.pc | head -n 1)")/..
PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$blas/pkgconfig:$root/usr/share/pkgconfig
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
make -j"$(nproc)" --no-print-directory OUT="$out" VARIANT=release WERROR=1 CC="aarch64-linux-gnu-gcc --sysroot=$root" \
    CFLAGS=-DEMULATED LDFLAGS="-Wl,-rpath-link=$blas" "$out/attnd" "$out/tests/unit" "$out/tests/golden" "$out/tests/kernels" \
    "$out/tests/cases"

# Debian 13 calls it without -static.
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
cat >"$out/run" <<RUN
#!/bin/sh
exec $emulator -L $root -E LD_LIBRARY_PATH=${blas#"$root"} "\$@"
RUN
cat >"$out/attnd-emulated" <<RUN
#!/bin/sh
exec $PWD/$out/run $PWD/$out/attnd "\$@"
RUN
chmod +x "$out/run" "$out/attnd-emulated"
# An emulated processor is an order of magnitude slower than the tests' limits expect.
CK_TIMEOUT_MULTIPLIER=20 ATTND_BINARY=$PWD/$out/attnd-emulated
export CK_TIMEOUT_MULTIPLIER ATTND_BINARY
printf '%s\n' unit golden kernels cases |
    xargs -P "$(nproc)" -n 1 sh -c 'echo "== $1 (arm64, emulated)"; exec "$0/run" "$0/tests/$1"' "$out"
