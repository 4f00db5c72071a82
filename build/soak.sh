#!/usr/bin/env bash
# soak.sh TIME: runs every fuzz target of the module for TIME each, and goes on after one that fails. What is found is
# written into the package's testdata/fuzz, where it belongs once the fault is mended.
set -euo pipefail

cd "$(dirname "$0")/.."
time=${1:-10m}
targets=$(build/each.sh Fuzz)
[ -n "$targets" ] || {
    echo "soak: no fuzz targets found" >&2
    exit 1
}
total=$(wc -l <<<"$targets") n=0 failed=()
while read -r pkg name; do
    n=$((n + 1))
    echo "== soak $n of $total: $pkg $name, $time"
    go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$pkg" </dev/null || failed+=("$pkg $name")
done <<<"$targets"

printf '\n%s\n' "soak: $((total - ${#failed[@]})) passed, ${#failed[@]} failed"
[ ${#failed[@]} = 0 ] || {
    printf '  failed: %s\n' "${failed[@]}" >&2
    exit 1
}
