#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The same programs, with every function of theirs and of their libraries followed by a tool; and what the
# kernel's own return probes do to them.
. tests/scenario/lib.sh
. tests/scenario/lib-torture.sh

# foreign NAME CMD...: followed by a tool, with all functions of its libraries. What the tool finds
# wrong with an account it says.
foreign() {
	local name=$1 specs=("r:*") bad lib
	shift
	for lib in libc.so.6 libstdc++.so.6 libgcc_s.so.1; do
		! ldd "$1" | grep -qF "$lib" || specs+=("r:$lib:*")
	done
	run "$dir/foreign" "$DPROBES" stat -q -o "$dir/stat" "${specs[@]}" -- "$@"
	# What a glob leaves out it says.
	sed -i -E '/^dprobes: [0-9]+ (of [0-9]+ matches cannot|more matches are) /d' "$dir/foreign/err"
	bad=$(differs "$dir/foreign")
	[ -n "$bad" ] || bad=$(awk 'NR > 1 && $1 > 0 { n++ } END { if (n < 20) print n + 0, "functions were called" }' "$dir/stat")
	if [ -z "$bad" ]; then ok "$name, by a tool: it does what it does alone"
	else not_ok "$name, by a tool: it does what it does alone" "$bad"; fi
}

broken=() compared=0
# For comparison: what the kernel's own return probes do to it
kernel() {
	local status
	limit=10 run "$dir/kernel" "$TOOLS/uretprobe-run" "$@"
	status=$(<"$dir/kernel/status")
	[ "$status" != 77 ] || return
	compared=$((compared + 1))
	[ -z "$(differs "$dir/kernel")" ] || broken+=("$name${args:+ $args}")
}

while read -r status exits name args; do
	for how in O0 O2; do
		# shellcheck disable=SC2086
		set -- "$torture/$name-$how" $args
		run "$dir/bare" "$@"
		foreign "$name-$how${args:+ $args}" "$@"
		[ $how = O0 ] || kernel "$@"
	done
done < <(cases)
echo "# the kernel's own return probes break ${#broken[@]} of $compared: $(printf '%s, ' "${broken[@]}")"
plan
