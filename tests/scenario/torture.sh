#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that leave their functions in every way there is, with every function of theirs, and of
# libraries that they call, followed in their own process: they do what they do alone, and every call is
# accounted for.
. tests/scenario/lib.sh
. tests/scenario/lib-torture.sh
follow=${DPROBES%/*}/tests/follow-all.so

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
	done
done < <(cases)
plan
