#!/usr/bin/env bash
# claude.sh VERSION DIR: Claude Code at exactly VERSION in DIR, for `make test-agents`. Silent when it is there.
#
# Installed beside the tree, never in it, and without a lock file: the version is the pin. npm's own cache is used.
# Without npm it says so and ends well: the test then skips by name.
set -euo pipefail

version=$1 dir=$2
[ ! -x "$dir/node_modules/.bin/claude" ] || exit 0

if ! command -v npm >/dev/null 2>&1; then
    echo "test-agents: npm is missing, so the tests with Claude Code will be skipped (install Node.js 20 or newer)" >&2
    exit 0
fi

echo "== test-agents: installing Claude Code $version into $dir, once (a minute or two, 400 MB)"
mkdir -p "$(dirname "$dir")"
# Into a sibling first, so that an interrupted installation is never taken for a whole one.
new=$(mktemp -d "$dir.new.XXXXXX")
trap 'rm -rf "$new"' EXIT
printf '{"private":true}\n' >"$new/package.json"
quiet=(--no-audit --no-fund --no-update-notifier --no-package-lock --loglevel=error)
patience=(--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=120000)
if ! npm install --prefix "$new" "${quiet[@]}" "${patience[@]}" "@anthropic-ai/claude-code@$version" >"$new/log" 2>&1; then
    tail -n 5 "$new/log" | sed 's/^/  /' >&2
    echo "test-agents: npm could not install Claude Code $version; its last words are above. Is this machine online?" >&2
    exit 1
fi
# npm may settle for another version when the running Node.js is older than the package asks for.
installed=$(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' "$new/node_modules/@anthropic-ai/claude-code/package.json" | head -n 1)
if [ "$installed" != "$version" ] || [ ! -x "$new/node_modules/.bin/claude" ]; then
    echo "test-agents: asked npm for Claude Code $version and got ${installed:-nothing that runs}" >&2
    exit 1
fi
rm -rf "$dir"
chmod 755 "$new" # a test may look at it from another account
mv "$new" "$dir"
