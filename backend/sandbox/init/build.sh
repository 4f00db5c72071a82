#!/bin/sh
# build.sh OUT: compiles countersign-init to OUT. CC names the compiler, for a cross build too.
set -eu
out=${1:?usage: build.sh OUT}
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
tmp=$out.tmp.$$
trap 'rm -f -- "$tmp"' EXIT
"${CC:-cc}" -std=gnu11 -O2 -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie \
	-fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -Wall -Wextra -Werror \
	-Wl,--build-id=none,-z,noexecstack,-z,norelro -s -o "$tmp" "$here/countersign-init.c"
chmod 755 "$tmp"
mv -f -- "$tmp" "$out"
