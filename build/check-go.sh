#!/usr/bin/env bash
# check-go.sh: says in one sentence what to do when Go is missing or older than go.mod asks for. Silent otherwise.
set -euo pipefail

cd "$(dirname "$0")/.."
want=$(awk '$1 == "go" { print $2; exit }' go.mod)

give_up() {
    printf 'go: %s\n' "$*" >&2
    printf 'go: get Go %s or newer from https://go.dev/dl/, unpack it to /usr/local and put /usr/local/go/bin into PATH.\n' "$want" >&2
    exit 1
}

command -v go >/dev/null 2>&1 || give_up "Go is not installed (or not in PATH)."
# From 1.21 on an older Go may fetch the one go.mod names by itself; what counts is what then answers.
if ! have=$(go env GOVERSION 2>/dev/null); then
    have=$(cd / && GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || give_up "the go command in PATH does not work."
    give_up "Go ${have#go} is too old and could not fetch a newer one."
fi
have=${have#go}
have=${have%%[!0-9.]*} # "1.27rc1" and "1.26.8-X:…" compare as their release
oldest=$(printf '%s\n%s\n' "$want" "$have" | sort -V | head -n 1)
[ "$oldest" = "$want" ] || [ "$have" = "${want%.0}" ] || give_up "Go $have is too old."
