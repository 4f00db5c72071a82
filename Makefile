# Countersign. Two commands do the whole job on a fresh machine: `make run` and `make test`. `make help` lists the rest.
#
# Every target is idempotent, and silent or nearly so when there is nothing to do; a step that takes long says so
# before it starts. Nothing is installed or downloaded into the tree: programs go to bin/, tools to $(CACHE).

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.NOTPARALLEL: # the steps of a target are in order, and tests measure time
MAKEFLAGS += --no-print-directory

CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/countersign

LINT_VERSION := v2.15.0
LINTER := $(CACHE)/bin/golangci-lint-$(LINT_VERSION)
LINT ?= yes

CLAUDE_VERSION := 2.1.332
CLAUDE_DIR := $(CACHE)/agents/claude-$(CLAUDE_VERSION)

FUZZTIME ?= 10m
PLATFORMS := darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# Packages whose statements must be covered to more than 90 %: a hole in one of them is a wrong decision.
COVERED := policy approval capability pathid

ifeq ($(shell uname -s),Linux)
INIT := bin/countersign-init
endif
# Directories too, so that a file that was removed is noticed.
SOURCES := go.mod go.sum Makefile $(shell find backend cmd -name testdata -prune -o \( -type d -o -type f ! -name '*_test.go' \) -print 2>/dev/null)
# The version of a release is its tag; everything else keeps the version in the source. The revision is stamped by Go where
# git can be asked (it cannot in an archive, or in a tree of somebody else's).
TAG = $(shell git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null)
VCS = $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo auto || echo false)

.PHONY: build run test test-agents bench soak lint fmt clean help check-go deps-run deps-test fmt-check vet cross unit

## build: compile bin/countersign and, on Linux, bin/countersign-init (the default)
build: check-go bin/countersign $(INIT)

bin/countersign: $(SOURCES)
	@echo "== build: $@ (about a minute the first time)"
	@mkdir -p bin
	@CGO_ENABLED=0 go build -trimpath -buildvcs=$(VCS) -ldflags '-s -w$(TAG:v%= -X main.version=%)' -o $@ ./cmd/countersign 2> >(tee bin/build.log >&2) || \
	    { ! grep -qE 'dial tcp|lookup |x509:|proxyconnect' bin/build.log || \
	      echo "build: Go could not fetch its modules: is this machine online? Behind a proxy, set HTTPS_PROXY or GOPROXY." >&2; exit 1; }
	@touch $@

bin/countersign-init: Makefile $(wildcard backend/sandbox/init/*)
	@echo "== build: $@"
	@mkdir -p bin
	@cc=$$(command -v cc || command -v gcc || command -v clang) || \
	    { echo "build: a C compiler is missing; 'build/linux/deps.sh run' installs it or says how" >&2; exit 1; }; \
	 CC=$$cc sh backend/sandbox/init/build.sh $@
	@touch $@

## run: install what is missing, build, and start the guided demo (without a terminal: the demo that needs no person)
run: check-go deps-run build
	@if [ -t 0 ]; then exec bin/countersign demo; else exec bin/countersign demo --headless; fi

## test: install what is missing, build, and run every check and test; ends with the skips and the counts
test: check-go deps-test build fmt-check vet cross $(if $(filter no,$(LINT)),,lint) unit

## test-agents: drive the real Claude Code against a scripted model (installs it with npm into the cache, once)
test-agents: check-go deps-test build
	@build/agents/claude.sh $(CLAUDE_VERSION) $(CLAUDE_DIR)
	@echo "== test-agents: claude $(CLAUDE_VERSION)"
	@claude=$(CLAUDE_DIR)/node_modules/.bin/claude; [ -x $$claude ] || claude=; \
	 COUNTERSIGN_CLAUDE=$$claude go test -tags agents -json -count=1 -timeout 30m ./test/agents/... | go run ./build/testsummary -label test-agents -allow-none

## bench: run every benchmark
bench: check-go deps-test build
	@build/each.sh Benchmark | while read -r pkg name; do go test -run '^$$' -bench "^$$name\$$" -benchmem "$$pkg"; done

## soak: fuzz every target, FUZZTIME each (default 10m); what it finds lands in the package's testdata
soak: check-go deps-test build
	@build/soak.sh $(FUZZTIME)

## lint: golangci-lint at its pinned version (built through Go modules into the cache, once)
lint: check-go $(LINTER)
	@echo "== lint"
	@GOLANGCI_LINT_CACHE=$(CACHE)/golangci-lint $(LINTER) run ./...

$(LINTER):
	@echo "== lint: building golangci-lint $(LINT_VERSION), once (three to six minutes)"
	@mkdir -p $(@D)
	@GOBIN=$(@D)/building-$(LINT_VERSION) CGO_ENABLED=0 go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION) 2> >(grep -v '^go: downloading' >&2) || \
	    { echo "lint: golangci-lint $(LINT_VERSION) could not be built; is this machine online? 'make test LINT=no' goes without it." >&2; exit 1; }
	@mv $(@D)/building-$(LINT_VERSION)/golangci-lint $@ && rmdir $(@D)/building-$(LINT_VERSION)

## fmt: format the Go code
fmt: check-go
	@gofmt -w .

## clean: remove what was built (the caches of Go, of the linter and of the agents stay: see CACHE)
clean:
	@rm -rf bin

## help: list the targets
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

# The steps of the targets above.

check-go:
	@build/check-go.sh

deps-run:
	@build/linux/deps.sh run

deps-test:
	@build/linux/deps.sh test

fmt-check:
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not formatted (make fmt mends it):" >&2; echo "$$unformatted" >&2; exit 1; }

vet:
	@echo "== vet"
	@go vet ./...
	@go vet -tags agents ./test/...

# No cgo, as in a release: the command must build for every system from any of them. vet type-checks the tests too.
cross:
	@for platform in $(PLATFORMS); do \
	    echo "== vet and build for $$platform"; \
	    export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
	    go vet ./...; \
	    go build -o /dev/null ./cmd/...; \
	done

# -count=1: these tests look at the machine (namespaces, keyring, kernel), so an old result proves nothing.
unit:
	@echo "== test: the backend under the race detector, then the rest (some minutes)"
	@mkdir -p bin/test && go build -o bin/test/summary ./build/testsummary
	@( $(if $(INIT),export COUNTERSIGN_TEST_INIT=$(CURDIR)/$(INIT);) status=0; \
	   CGO_ENABLED=1 go test -race -json -count=1 -timeout 15m -coverprofile=bin/test/cover.out ./backend/... || status=1; \
	   go test -json -count=1 -timeout 15m $$(go list ./... | grep -v '^countersign/backend/') || status=1; \
	   exit $$status ) | bin/test/summary -label test -cover bin/test/cover.out $(COVERED:%=-gate countersign/backend/%=90)
