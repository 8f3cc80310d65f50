# The commands of every day. `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
# Tests wait for disks and other programs a third of their time.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
QUIRE_CCACHE ?= $(shell command -v ccache)
export QUIRE_CCACHE
FUZZ_SECONDS ?= 600

DEPS := scripts/install-deps.sh
BUILD := scripts/build.sh

.PHONY: help
help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the optimised program, build/quire
	@$(DEPS) build
	@scripts/configure.sh release --new -DQUIRE_TESTS=OFF
	@$(BUILD) build $(JOBS) quire

.PHONY: run
run: build ## Build, open a workspace on a copy of this source tree and print what to do next
	@scripts/run.sh

.PHONY: install
install: ## Build and install the program; PREFIX is ~/.local, or /usr/local for root
	@$(DEPS) build
	@scripts/configure.sh release --new -DQUIRE_TESTS=OFF
	@$(BUILD) build $(JOBS) quire_installed
	@scripts/install.sh build "$(PREFIX)"

.PHONY: uninstall
uninstall: ## Remove what `make install` installed below PREFIX
	@scripts/install.sh --remove "$(PREFIX)"

.PHONY: deb
deb: ## Build a Debian package, build/quire_VERSION_ARCHITECTURE.deb
	@$(DEPS) build deb
	@scripts/configure.sh release --new -DQUIRE_TESTS=OFF
	@$(BUILD) build $(JOBS) quire_installed
	@scripts/deb.sh build

.PHONY: test
test: ## Install what is missing, build everything and run every test
	@$(DEPS) build test node
	@scripts/configure.sh release -DQUIRE_TESTS=ON
	@$(BUILD) build $(JOBS)
	@python3 scripts/run_tests.py --build build --jobs $(TEST_JOBS) $(TEST_FLAGS)

.PHONY: test-san
test-san: ## The same tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(DEPS) build test node
	@scripts/configure.sh dev -DQUIRE_TESTS=ON
	@$(BUILD) build-dev $(JOBS)
	@python3 scripts/run_tests.py --build build-dev --jobs $(TEST_JOBS) $(TEST_FLAGS)

.PHONY: test-tsan
test-tsan: ## The same tests under ThreadSanitizer
	@$(DEPS) build test node
	@scripts/configure.sh tsan -DQUIRE_TESTS=ON
	@$(BUILD) build-tsan $(JOBS)
	@python3 scripts/run_tests.py --build build-tsan --jobs $(TEST_JOBS) $(TEST_FLAGS)

.PHONY: bench
bench: ## Measure Quire and its peers, and write docs/benchmarks.md
	@$(DEPS) build bench node
	@scripts/configure.sh release -DQUIRE_BENCH=ON --new -DQUIRE_TESTS=OFF
	@$(BUILD) build $(JOBS)
	@python3 scripts/run_bench.py --build build $(BENCH_FLAGS)

# Needs cargo and the crates that bench/native/Cargo.toml pins; nothing else here does.
.PHONY: bench-native
bench-native: ## The same with the native crates loro, diamond-types and automerge beside it (needs cargo)
	@command -v cargo >/dev/null || { echo "quire: make bench-native needs cargo, the package manager of Rust" >&2; exit 1; }
	@CARGO_TARGET_DIR=$(CURDIR)/build/native cargo build --release --quiet --manifest-path bench/native/Cargo.toml
	@$(MAKE) --no-print-directory bench

.PHONY: nightly
nightly: ## The long checks: every sanitizer, long random and crash runs, fuzzing, the analyser, benchmarks
	@QUIRE_LONG=1 $(MAKE) --no-print-directory test
	@QUIRE_LONG=1 $(MAKE) --no-print-directory test-san
	@$(MAKE) --no-print-directory test-tsan
	@-$(DEPS) fuzz
	@JOBS=$(JOBS) scripts/fuzz.sh $(FUZZ_SECONDS)
	@$(MAKE) --no-print-directory bench
	@$(MAKE) --no-print-directory lint LINT_FLAGS=--analyse

.PHONY: format
format: ## Rewrite the C++ sources with clang-format
	@$(DEPS) lint
	@scripts/sources.sh | xargs clang-format -i

.PHONY: lint
lint: ## Check formatting, layers, words, include budget and clang-tidy
	@$(DEPS) build test lint
	@scripts/configure.sh release -DQUIRE_TESTS=ON
	@scripts/lint.sh --jobs $(JOBS) $(LINT_FLAGS)

.PHONY: clean
clean: ## Remove all build folders (installed packages stay)
	rm -rf build build-*
