#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The programs that probe and watch themselves, linked to either library.
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
	if cc -O2 -pthread -Iinclude -o "$dir/overwritten" examples/overwritten.c $libs 2>"$dir/err"; then
		got=$("$dir/overwritten" 2>&1)
		if grep -q 'perf_event_paranoid\|debug register' <<<"$got"; then
			skip "$how: who overwrites" "$got"
		else
			# Its one byte is a dot, and the end of the text is another one.
			is "$how: who overwrites" "$(sed 's/0x[0-9a-f]*$/OFFSET/' <<<"$got")" \
				$'written 0 times so far\nwritten 2 times: first to 0xfeedfa2e, by another thread in copy()+OFFSET'
		fi
	else
		not_ok "$how: it is built" "$(cat "$dir/err")"
	fi
done
plan
