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

# For comparison: what the kernel's own return probes do to it. Some hang then, so nothing waits for that.
kernel() {
	local own=$dir/kernel-$((++asked))
	mkdir "$own"
	cp -r "$dir/bare" "$own"
	(
		dir=$own
		limit=10 run "$dir/kernel" "$TOOLS/uretprobe-run" "$@"
		[ "$(<"$dir/kernel/status")" != 77 ] || exit
		echo >"$dir/compared"
		[ -z "$(differs "$dir/kernel")" ] || echo "$name${args:+ $args}" >"$dir/broken"
	) &
}

asked=0
while read -r status exits name args; do
	for how in O0 O2; do
		# shellcheck disable=SC2086
		set -- "$torture/$name-$how" $args
		run "$dir/bare" "$@"
		foreign "$name-$how${args:+ $args}" "$@"
		[ $how = O0 ] || kernel "$@"
	done
done < <(cases)
wait
compared=$(find "$dir" -path '*/kernel-*/compared' | wc -l)
broken=$(cat "$dir"/kernel-*/broken 2>/dev/null)
echo "# the kernel's own return probes break $(wc -w <<<"${broken// /_}") of $compared: ${broken//$'\n'/, }"
plan
