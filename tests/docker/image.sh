#!/bin/sh
# The image test (`make image-test`): builds the image with a real Docker engine and runs it as a stranger would: a
# read-only root, no capability, a user id of no meaning. Where no engine runs it starts one of its own, in a temporary
# folder; where no registry can be reached it makes the base image with debootstrap. Nothing is left behind on an engine
# of its own; on another the image attnd-test stays.
#
# All containers but one have no network but their own loopback, which the client enters: no port of this machine is
# taken. That one is published on a free port of 127.0.0.1, as the README's line does. Root, for all of that.
set -eu
cd "$(dirname "$0")/../.."

IMAGE=attnd-test
# What computes and serves, and what draws (cairo, a font and what they need).
MOST_ABOVE_BASE=$((60000000 + 15000000))
work=$(mktemp -d)
engine=
container=

say() { echo "image: $*"; }
fail() {
    echo "image: FAILED: $*" >&2
    [ -z "$container" ] || docker logs "$container" 2>&1 | tail -n 20 >&2
    exit 1
}
finish() {
    [ -z "$container" ] || docker rm --force "$container" >/dev/null 2>&1 || :
    if [ -n "$engine" ]; then
        kill "$engine" 2>/dev/null || :
        wait "$engine" || :
    fi
    umount "$work"/exec/netns/* 2>/dev/null || : # the engine leaves its own mounted
    rm -rf --one-file-system "$work"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

now_ms() { echo $(($(date +%s%N) / 1000000)); }
# Runs a condition until it holds, for at most so many seconds.
within() {
    end=$(($(now_ms) + $1 * 1000))
    shift
    until "$@"; do
        [ "$(now_ms)" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# --- an engine, a base, the image ---

start_engine() {
    say "no engine runs: starting one"
    dockerd --iptables=false --ip6tables=false --storage-driver=vfs --data-root "$work/data" \
        --exec-root "$work/exec" --pidfile "$work/pid" --host "unix://$work/docker.sock" >"$work/engine.log" 2>&1 &
    engine=$!
    DOCKER_HOST=unix://$work/docker.sock
    export DOCKER_HOST
    within 60 engine_answers || { tail -n 20 "$work/engine.log" >&2; fail "no engine could be started"; }
}
engine_answers() { docker version >/dev/null 2>&1; }

# As Debian's own slim images are: no manuals, no translations, of the documentation the copyright files.
make_base() {
    root=$work/base
    suite=${1#*:}
    say "no registry can be reached: making $1 with debootstrap"
    debootstrap --variant=minbase "${suite%-slim}" "$root" >"$work/debootstrap.log" 2>&1 ||
        { tail -n 20 "$work/debootstrap.log" >&2; fail "debootstrap"; }
    cat >"$root/etc/dpkg/dpkg.cfg.d/slim" <<'EOF'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
EOF
    find "$root/usr/share/doc" \( -type f ! -name copyright -o -type l \) -delete
    rm -rf "$root"/usr/share/info/* "$root"/usr/share/lintian/* "$root"/usr/share/locale/* "$root"/usr/share/man/* \
        "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb
    tar --create --numeric-owner --one-file-system --directory "$root" . | docker import - "$1" >/dev/null
    rm -rf --one-file-system "$root"
}

bytes_of() { docker run --rm --network none --user 0 --entrypoint du "$1" -sxb / | cut -f1; }

check_size() {
    below=$(bytes_of "$1")
    above=$(($(bytes_of "$IMAGE") - below))
    say "base $below bytes, above it $above"
    [ "$above" -le "$MOST_ABOVE_BASE" ] || fail "more than $MOST_ABOVE_BASE bytes above the base"
}

# --- containers ---

# start [OPTION…] -- [ARGUMENT…]: one container at a time, its arguments those of the image.
start() {
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # no option holds a space
    container=$(docker run --detach --network none --read-only --cap-drop ALL --security-opt no-new-privileges \
        --user 12345 $options "$IMAGE" "$@")
}
state() { docker inspect --format "{{.State.$1}}" "$container"; }
ask() { nsenter --net --target "$(state Pid)" curl --silent --show-error --max-time 120 "$@"; }
is_ready() { [ "$(ask --output /dev/null --write-out '%{http_code}' localhost:8080/readyz 2>/dev/null)" = 200 ]; }
is_healthy() { [ "$(state Health.Status)" = healthy ]; }
has_probed_in_vain() { [ "$(state Health.FailingStreak)" -gt 0 ] || docker inspect --format '{{range .State.Health.Log}}{{.ExitCode}} {{end}}' "$container" | grep -q 1; }
is_loading() { [ "$(ask localhost:8080/readyz 2>/dev/null | grep -c '"loading"')" = 1 ]; }
is_computing() { ask localhost:8080/metrics | grep -c '^attnd_requests_in_flight 1$' >/dev/null; }

# The container's end: in how long, and how.
stop() {
    begin=$(now_ms)
    docker stop "$container" >/dev/null
    ended=$(now_ms)
    [ "$(state ExitCode)" = 0 ] || fail "$1: exit code $(state ExitCode)"
    say "stopped $1: exit code 0 after $((ended - begin)) ms"
}
drop() {
    docker rm "$container" >/dev/null
    container=
}

test_example() {
    start --
    within 30 is_ready || fail "not ready"
    ask --data '{"inputs":[[1,0,0,0],[0,1,0,0]],"causal":true}' localhost:8080/v1/attention >"$work/answer"
    sed -n 's/.*"outputs":\[\[\([^,]*\),.*/\1/p' "$work/answer" |
        awk '{ seen = 1; if ($1 + 0.48809922 > 1e-5 || $1 + 0.48809922 < -1e-5) exit 1 } END { exit !seen }' ||
        fail "the example's first output is not -0.48809922: $(cat "$work/answer")"
    [ "$(ask localhost:8080/version | grep -c SINGLE_THREADED)" = 0 ] || fail "OpenBLAS without locks allows one worker"
    say "the example's answer is right; $(ask localhost:8080/version | grep -o '"openblas":"[^"]*"')"
    within 30 is_healthy || fail "ready but not healthy"
    stop "while idle"
    [ $((ended - begin)) -lt 2000 ] || fail "idle, the end took $((ended - begin)) ms"
    drop
}

# The README's own line: whoever is on this machine may ask, on a port that the engine chose.
test_published() {
    container=$(docker run --detach --read-only --cap-drop ALL --publish 127.0.0.1::8080 "$IMAGE")
    address=$(docker port "$container" 8080)
    case $address in 127.0.0.1:*) ;; *) fail "published on $address" ;; esac
    published() { curl --silent --max-time 120 "http://$address/readyz" | grep -c '"ok"' >/dev/null; }
    within 30 published || fail "no answer on the published port"
    curl --silent --show-error --max-time 120 --data '{"inputs":[[1,0,0,0],[0,1,0,0]],"causal":true}' \
        "http://$address/v1/attention" >"$work/published"
    cmp "$work/answer" "$work/published" || fail "the published port answers otherwise than the container's own"
    say "published on 127.0.0.1 it answers the same bytes"
    stop "with a port published"
    drop
}

# Weights that a container made, read-only in another: what is served is what `attnd run` says, to the byte.
test_mounted_model() {
    mkdir "$work/models"
    chmod 777 "$work/models"
    docker run --rm --network none --cap-drop ALL --user 12345 --volume "$work/models:/models" "$IMAGE" \
        init --d-model 64 --heads 4 --layers 2 --seed 7 -o /models/mine.safetensors >/dev/null
    start --volume "$work/models:/models:ro" -- serve --model mine=/models/mine.safetensors
    within 30 is_ready || fail "not ready"
    ask localhost:8080/v1/models/mine/example >"$work/request"
    ask --data "@$work/request" localhost:8080/v1/attention >"$work/answer"
    docker exec --interactive "$container" attnd run --model mine=/models/mine.safetensors - <"$work/request" \
        >"$work/run"
    grep -q '"model":"mine"' "$work/answer" || fail "mounted model: $(head -c 300 "$work/answer")"
    cmp "$work/answer" "$work/run" || fail "HTTP and attnd run differ"
    say "a mounted .safetensors file is served, to the bytes of attnd run"
    stop "with a model mounted"
    drop
}

# write_large_model WIDTH: a file of zeros that take no place on the disk, but time to load: 16·WIDTH² bytes.
write_large_model() {
    width=$1
    in_proj=$((12 * width * width))
    whole=$((16 * width * width))
    header="{\"in_proj_weight\":{\"dtype\":\"F32\",\"shape\":[$((3 * width)),$width],\"data_offsets\":[0,$in_proj]},\
\"out_proj.weight\":{\"dtype\":\"F32\",\"shape\":[$width,$width],\"data_offsets\":[$in_proj,$whole]}}"
    size=${#header} # below 256
    printf "$(printf '\\%03o' "$size")\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$work/models/large.safetensors"
    truncate --size=$((8 + size + whole)) "$work/models/large.safetensors"
}

# start_loading [OPTION…]
start_loading() {
    start --volume "$work/models:/models:ro" "$@" -- serve --model large=/models/large.safetensors --heads large=8
    within 30 is_loading || fail "the port does not open before the model is loaded"
}

# 1 GiB on a tenth of a processor, until that has been seen.
test_health() {
    write_large_model 8192
    start_loading --cpus 0.1 --health-interval 1s
    within 60 has_probed_in_vain || fail "no health check while loading"
    [ "$(state Health.Status)" = starting ] || fail "health while loading: $(state Health.Status)"
    is_loading || fail "loading was over before its health was seen"
    docker update --cpus "$(nproc)" "$container" >/dev/null
    within 120 is_healthy || fail "not healthy after loading"
    is_ready || fail "healthy but not ready"
    say "health: starting while the model is loaded, then healthy"
    stop "after a large model"
    drop
}

# 4 GiB, of which little is read.
test_stop_while_loading() {
    write_large_model 16384
    start_loading
    stop "while loading"
    docker logs "$container" 2>&1 | grep -q '^ready' && fail "loading was over before the end"
    [ $((ended - begin)) -lt 2000 ] || fail "while loading, the end took $((ended - begin)) ms"
    drop
}

write_request() {
    awk -v rows="$1" 'BEGIN {
        printf "{\"model\":\"plain\",\"return\":{\"attention\":false},\"inputs\":["
        for (i = 0; i < rows; i++) printf "%s[%d,%d]", i ? "," : "", i % 7, i % 5
        print "]}" }' >"$work/request"
}

# A request of about two seconds on this machine, by trial; then once more while the container is stopped.
test_stop_while_computing() {
    start --
    within 30 is_ready || fail "not ready"
    rows=4000
    while write_request "$rows" && seconds=$(ask --data "@$work/request" --output /dev/null \
        --write-out '%{time_total}' localhost:8080/v1/attention) && [ "${seconds%.*}" -lt 2 ]; do
        rows=$((rows * 3 / 2))
        [ "$rows" -lt 1000000 ] || fail "no request takes two seconds"
    done
    (
        ask --data "@$work/request" --output /dev/null --write-out '%{http_code}' localhost:8080/v1/attention \
            >"$work/status"
        now_ms >"$work/answered"
    ) &
    client=$!
    within 30 is_computing || fail "the request is not seen in flight"
    stop "with a request of $seconds s running"
    wait "$client"
    [ "$(cat "$work/status")" = 200 ] || fail "the request that ran got $(cat "$work/status")"
    after=$((ended - $(cat "$work/answered")))
    say "the request got its 200; the end came $after ms later"
    [ "$after" -lt 2000 ] || fail "the end came late"
    drop
}

[ "$(id -u)" = 0 ] || fail "needs root (an engine, a base image, the containers' loopback)"
for tool in docker dockerd debootstrap curl nsenter; do
    command -v "$tool" >/dev/null || fail "$tool is missing; make image-test installs it"
done
engine_answers || start_engine
base=$(sed -n 's/^ARG BASE=//p' Dockerfile)
docker image inspect "$base" >/dev/null 2>&1 || docker pull --quiet "$base" >/dev/null 2>&1 || make_base "$base"
say "building"
make --no-print-directory image IMAGE=$IMAGE IMAGE_OPTIONS=--network=host >"$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log" >&2; fail "the build"; }
check_size "$base"
test_example
test_published
test_mounted_model
test_health
test_stop_while_loading
test_stop_while_computing
echo "case docker-stop: passed"
