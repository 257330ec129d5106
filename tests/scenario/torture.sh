#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that leave their functions in every way there is, with every function of theirs, and of
# libraries that they call, followed: they do what they do alone, and every call is accounted for.
. tests/scenario/lib.sh
torture=$VICTIMS/torture
follow=${DPROBES%/*}/tests/follow-all.so
limit=${TORTURE_LIMIT:-30}
ulimit -c 0

# Status, whether it comes to its exit handlers, program, arguments
cases() {
	local name
	for name in backtraces children coroutines frames jumps library passing recursion returns signals \
		stays tails threads throws unwinds; do
		echo "0 exits $name"
	done
	printf '%s\n' "3 exits exits exit" "3 exits exits thread" "4 exits exits quick" "5 ends exits at-once" \
		"134 ends exits abort" "134 ends exits uncaught" "134 ends exits noexcept" "134 ends exits terminate"
}

# run DIR CMD...: its output into DIR, its status
run() {
	mkdir -p "$1"
	# The shell's own words about signals
	{ timeout -k 5 "$limit" "${@:2}" >"$1/out" 2>"$1/err" </dev/null; } 2>/dev/null
	echo $? >"$1/status"
}

differs() {
	local f
	for f in status out err; do
		diff "$dir/bare/$f" "$1/$f" >"$dir/diff" || { echo "$f:"; head -n 8 "$dir/diff"; }
	done
}

# accounts FILE: a line for each that does not add up; nothing if all is right
accounts() {
	awk '/^#/ { print; next }
	{
		n++
		for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
		if (!v["probes"] || v["entries"] != v["returned"] + v["unwound"] + v["abandoned"] + v["inside"] ||
		    v["damaged"] || v["wrong"])
			print
	}
	END { if (!n) print "no report" }' "$1" 2>&1 | head -n 8
}

# own NAME ARM EXITS CMD...: followed in its own process
own() {
	local name=$1 arm=$2 exits=$3 bad
	shift 3
	rm -f "$dir/report"
	run "$dir/own" env DPROBES_ARM="$arm" FOLLOW=all FOLLOW_REPORT="$dir/report" LD_PRELOAD="$follow" "$@"
	bad=$(differs "$dir/own")
	if [ -z "$bad" ]; then ok "$name, $arm: it does what it does alone"
	else not_ok "$name, $arm: it does what it does alone" "$bad"; fi
	[ "$exits" = exits ] || return
	bad=$(accounts "$dir/report")
	if [ -z "$bad" ]; then ok "$name, $arm: the account"
	else not_ok "$name, $arm: the account" "$bad"; fi
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
		is "$name-$how${args:+ $args}: alone" "$(<"$dir/bare/status")" "$status"
		for arm in interior trap; do
			own "$name-$how${args:+ $args}" $arm "$exits" "$@"
		done
		# shellcheck disable=SC2097,SC2098
		[ $how = O0 ] || FOLLOW_HOW=ret own "$name-$how${args:+ $args}, by its exits" interior "$exits" "$@"
		[ $how = O0 ] || kernel "$@"
	done
done < <(cases)
echo "# the kernel's own return probes break ${#broken[@]} of $compared: $(printf '%s, ' "${broken[@]}")"
plan
