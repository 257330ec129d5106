#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The program that probes itself, linked to either library.
. tests/scenario/lib.sh

build=${DPROBES%/*}
for how in shared static; do
	libs="-L$build -ldprobes -Wl,-rpath,$PWD/$build"
	[ $how = shared ] || libs="$build/libdprobes.a -lZydis -llzma -rdynamic"
	if ! cc -O2 -Iinclude -o "$dir/sizes" examples/malloc_sizes.c $libs 2>"$dir/err"; then
		not_ok "$how: it is built" "$(cat "$dir/err")"
		continue
	fi
	got=$("$dir/sizes" 2>&1)
	status=$?
	like "$how: malloc by size" "$status $got" '^0? *[0-9]+ below 16 bytes'
	# Of every three words one has 4 bytes, one 104, one 204.
	is "$how: every call is counted" \
		"$(awk '/ below 16 /{ if ($1 >= 6667) a = 1 } / below 256 /{ if ($1 >= 13333) b = 1 } END { print a + b }' <<<"$got")" 2
	like "$how: one sort was timed" "$got" '^qsort took at most [1-9][0-9]* us, 0 calls missed$'
done
plan
