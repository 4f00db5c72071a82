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
sources = $(shell find $(1) \( -name testdata -o -name node_modules -o -name dist \) -prune -o \( -type d -o -type f ! -name '*_test.go' ! -name '*.test.ts' \) -print 2>/dev/null)
SOURCES := go.mod go.sum Makefile $(call sources,backend cmd)
PAGES := frontend/dist/index.html
PAGE_SOURCES := $(call sources,frontend) $(wildcard app/i18n/*.json)
# The window's libraries: GTK and WebKit on Linux, the system's own elsewhere.
DESK_TAGS := desktop,production,webkit2_41
# The version of a release is its tag; everything else keeps the version in the source. The revision is stamped by Go where
# git can be asked (it cannot in an archive, or in a tree of somebody else's).
TAG = $(shell git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null)
VCS = $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo auto || echo false)

.PHONY: build build-terminal pages run test test-agents test-pages test-browser test-desktop screenshots install bench bench-window soak lint fmt clean help \
	check-go deps-run deps-test fmt-check vet cross unit

## build: compile the desk, the command line, the tray helper and, on Linux, the init into bin/ (the default)
build: build-terminal bin/countersign-desk bin/countersign-tray

build-terminal: check-go bin/countersign $(INIT)

# $(call go-build,OUTPUT,PACKAGE,FLAGS)
define go-build
	@echo "== build: $(1) (the first time takes a minute or two)"
	@mkdir -p bin
	@go build -trimpath -buildvcs=$(VCS) -ldflags '-s -w$(TAG:v%= -X main.version=%)' $(3) -o $(1) $(2) 2> >(tee bin/build.log >&2) || \
	    { ! grep -qE 'dial tcp|lookup |x509:|proxyconnect' bin/build.log || \
	      echo "build: Go could not fetch its modules: is this machine online? Behind a proxy, set HTTPS_PROXY or GOPROXY." >&2; exit 1; }
	@touch $(1)
endef

bin/countersign: export CGO_ENABLED = 0
bin/countersign: $(SOURCES) $(PAGES)
	$(call go-build,$@,./cmd/countersign)

bin/countersign-desk: export CGO_ENABLED = 1
bin/countersign-desk: main.go $(SOURCES) $(call sources,app) $(PAGES)
	$(call go-build,$@,.,-tags $(DESK_TAGS))

bin/countersign-tray: export CGO_ENABLED = 1
bin/countersign-tray: $(SOURCES) $(call sources,app)
	$(call go-build,$@,./cmd/countersign-tray)

# The pages of the window, embedded into the programs.
pages: $(PAGES)

$(PAGES): $(PAGE_SOURCES) frontend/node_modules/.package-lock.json
	@echo "== build: the pages"; mkdir -p bin
	@cd frontend && npm run --silent build >../bin/pages.log 2>&1 || { cat ../bin/pages.log >&2; exit 1; }
	@touch $@

frontend/node_modules/.package-lock.json: frontend/package.json frontend/package-lock.json
	@echo "== build: fetching what the pages are built with (once)"
	@mkdir -p bin
	@cd frontend && npm ci --no-audit --no-fund --loglevel=error >../bin/npm.log 2>&1 || { cat ../bin/npm.log >&2; exit 1; }
	@touch $@

bin/countersign-init: Makefile $(wildcard backend/sandbox/init/*)
	@echo "== build: $@"
	@mkdir -p bin
	@cc=$$(command -v cc || command -v gcc || command -v clang) || \
	    { echo "build: a C compiler is missing; 'build/linux/deps.sh run' installs it or says how" >&2; exit 1; }; \
	 CC=$$cc sh backend/sandbox/init/build.sh $@
	@touch $@

## run: install what is missing, build, and open the desk with a demo agent that waits for you in it (without a display: in the terminal)
run: check-go deps-run build
	@if [ -t 0 ] || [ -n "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}" ]; then exec bin/countersign demo; else exec bin/countersign demo --headless; fi

## install: install what was built for this account (PREFIX, default ~/.local), with the desktop entry and the links it opens
install: build
	@build/linux/install.sh

## test: install what is missing, build, and run every check and test; ends with the skips and the counts
test: check-go deps-test build fmt-check vet cross $(if $(filter no,$(LINT)),,lint) test-pages unit test-browser test-desktop

## test-pages: the types and the logic of the pages
test-pages: $(PAGES)
	@echo "== test-pages"
	@cd frontend && npm run --silent check && npm test --silent

## test-browser: the pages in a real browser against a real core
test-browser: build
	@echo "== test-browser"
	@mkdir -p bin/test && go build -o bin/test/claude ./test/agent
	@cd frontend && npm run --silent e2e

## test-desktop: the real window with tray, notifications and keyring on a screen of its own
test-desktop: build
	@echo "== test-desktop"
	@mkdir -p bin/test && go build -o bin/test/claude ./test/agent
	@go test -tags window -json -count=1 -timeout 20m ./test/desktop/... | tee bin/test/desktop.json | go run ./build/testsummary -label test-desktop -allow-none || \
	    { again=$$(sed -n 's/.*"Action":"fail".*"Test":"\([A-Za-z]*\)["/].*/\1/p' bin/test/desktop.json | sort -u | paste -sd'|'); [ -n "$$again" ] || exit 1; \
	      echo "== test-desktop: once more, because a screen, a panel and a service can be late on a busy machine: $$again"; \
	      go test -tags window -json -count=1 -timeout 20m -run "^($$again)$$" ./test/desktop/... | go run ./build/testsummary -label "test-desktop, once more" -allow-none; }

## screenshots: take pictures of window, tray and notification in both themes and languages (docs/screenshots)
screenshots: check-go deps-test build
	@mkdir -p bin/test && go build -o bin/test/claude ./test/agent
	@COUNTERSIGN_SCREENSHOTS=$(CURDIR)/docs/screenshots go test -tags window -count=1 -timeout 20m -run '^TestScreenshots$$' ./test/desktop/...

## test-agents: drive the real Claude Code against a scripted model (installs it with npm into the cache, once)
test-agents: check-go deps-test build
	@build/agents/claude.sh $(CLAUDE_VERSION) $(CLAUDE_DIR)
	@echo "== test-agents: claude $(CLAUDE_VERSION)"
	@claude=$(CLAUDE_DIR)/node_modules/.bin/claude; [ -x $$claude ] || claude=; \
	 COUNTERSIGN_CLAUDE=$$claude go test -tags agents -json -count=1 -timeout 30m ./test/agents/... | go run ./build/testsummary -label test-agents -allow-none

## bench: run every benchmark
bench: check-go deps-test build
	@build/each.sh Benchmark | while read -r pkg name; do go test -run '^$$' -bench "^$$name\$$" -benchmem "$$pkg"; done

## bench-window: the desk's window beside an empty one: start, memory, processor time while idle
bench-window: check-go deps-test build
	@go test -tags window -run '^$$' -bench BenchmarkWindow -benchtime 5x -timeout 15m ./test/desktop | grep -E '^Benchmark|^(FAIL|ok|---)'

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

## clean: remove what was built (the caches of Go, of npm, of the linter and of the agents stay: see CACHE)
clean:
	@rm -rf bin frontend/node_modules frontend/dist/assets frontend/dist/index.html

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
	@go vet -tags $(DESK_TAGS) . ./app/...
	@go vet -tags agents,window ./test/...

# No cgo, as in a release: the command must build for every system from any of them; the window and the tray need a C compiler
# for macOS, so there only their pure part is checked. vet type-checks the tests too.
cross:
	@for platform in $(PLATFORMS); do \
	    echo "== vet and build for $$platform"; \
	    export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
	    go vet ./...; \
	    go build -o /dev/null ./cmd/...; \
	    [ $$GOOS != windows ] || go build -tags $(DESK_TAGS) -o /dev/null .; \
	done

# -count=1: these tests look at the machine (namespaces, keyring, kernel), so an old result proves nothing.
unit:
	@echo "== test: the backend under the race detector, then the rest (some minutes)"
	@mkdir -p bin/test && go build -o bin/test/summary ./build/testsummary
	@( $(if $(INIT),export COUNTERSIGN_TEST_INIT=$(CURDIR)/$(INIT);) status=0; \
	   CGO_ENABLED=1 go test -race -json -count=1 -timeout 15m -coverprofile=bin/test/cover.out ./backend/... || status=1; \
	   go test -json -count=1 -timeout 15m $$(go list ./... | grep -v '^countersign/backend/') || status=1; \
	   exit $$status ) | bin/test/summary -label test -cover bin/test/cover.out $(COVERED:%=-gate countersign/backend/%=90)
