#!/usr/bin/env bash
# each.sh Fuzz|Benchmark: every test function of that kind in the module, as lines of "package name".
set -euo pipefail

cd "$(dirname "$0")/.."
go test -list "^$1" ./... | awk -v kind="^$1" '
    $1 ~ kind { names[++n] = $1; next }
    $1 == "ok" { for (i = 1; i <= n; i++) print $2, names[i]; n = 0; next }
    $1 == "?" || /no test files/ { next }
    { print > "/dev/stderr" }'
