#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Small stacks, signal storms, and threads that come and go.
. tests/scenario/lib.sh
times=${TIMES:-20000}
cycles=${CYCLES:-40}

for mode in stacks threads; do
	"$DPROBES" stat -o "$dir/counts" harsh_tick -- "$VICTIMS/harsh" $mode "$times" >"$dir/out" 2>"$dir/err"
	status=$?
	like "$mode: it is right" "$status $(tail -n 1 "$dir/out")" '^0 right'
	is "$mode: every tick is counted" "$(hits "$dir/counts" harsh:harsh_tick)" \
		"$(tail -n 1 "$dir/out" | cut -d' ' -f2)"

	start "$VICTIMS/harsh" $mode
	bad=0 total=0
	for ((i = 0; i < cycles; i++)); do
		"$DPROBES" stat -q -o "$dir/counts" --duration 10ms harsh_tick -p "$victim" 2>"$dir/err" ||
			{ bad=$((bad + 1)); cat "$dir/err"; }
		n=$(hits "$dir/counts" harsh:harsh_tick)
		total=$((total + ${n:-0}))
	done
	is "$mode: $cycles attaches" "$bad" 0
	if [ "$total" -gt 0 ]; then ok "$mode: $total hits"; else not_ok "$mode: hits"; fi
	kill -TERM "$victim"
	wait "$victim"
	like "$mode: it is right after the attaches" "$? $(tail -n 1 "$dir/out")" '^0 right'
done
plan
