#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program without any libc; and the tool killed after each of its steps, there and
# where the libc is part of the program.
. tests/scenario/lib.sh
cycles=${CYCLES:-12}

text_sum() { "$TOOLS/text-sum" "$1"; }

# killed NAME SPEC: the tool, after each step; on the victim that runs
killed() {
	local n status=137 bad=0 step
	maps_of "$victim" >"$dir/maps"
	text_sum "$victim" >"$dir/text"
	for ((n = 1; n < 100; n++)); do
		DPROBES_KILL_POINT=$n build/tests/dprobes-kill-points stat -q -o /dev/null --duration 10ms -p "$victim" "$2" \
			2>"$dir/err" && break
		step=$(sed -n 's/^steps: killed //p' "$dir/err")
		[ -n "$step" ] || { bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; break; }
		until_hit "$2" stat --json -q -o "$dir/counts" "$2"
		grep -q '"hits":[1-9]' "$dir/counts" || { bad=$((bad + 1)); echo "# $step: $(cat "$dir/err")"; }
		{ maps_of "$victim" | diff "$dir/maps" - && text_sum "$victim" | diff "$dir/text" -; } >"$dir/left" ||
			{ bad=$((bad + 1)); echo "# $step"; sed 's/^/# /' "$dir/left"; }
	done
	like "$1: the tool killed after each of its steps, the next cleans up" "$bad $((n - 1))" '^0 [2-9][0-9]$'
}

start "$VICTIMS/bare/pie"
maps_of "$victim" >"$dir/maps"
for how in interior quiesce trap; do
	DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" --duration 20ms victim_function work -p "$victim" 2>"$dir/err"
	like "nothing is mapped below it, $how" "$? $(hits "$dir/counts" pie:work) $(cat "$dir/err")" '^0 [1-9][0-9]* $'
	is "nothing is mapped below it, $how: nothing is left" "$(maps_of "$victim" | diff "$dir/maps" -)" ""
done
kill -TERM "$victim"
wait "$victim"
is "nothing is mapped below it: it found its results right" "$(tail -n 1 "$dir/out")" right

bare=$VICTIMS/bare/bare
for how in interior quiesce trap; do
	out=$(DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" victim_function work -- "$bare" 50 2>"$dir/err")
	is "no libc, $how: results, and every hit" "$? $(tail -n 1 <<<"$out") $(hits "$dir/counts" bare:work)" "0 right 300"
	start "$bare"
	maps_of "$victim" >"$dir/maps"
	bad=0
	for ((i = 0; i < cycles; i++)); do
		DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" --duration 10ms victim_function work -p "$victim" \
			2>"$dir/err" || { bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
		maps_of "$victim" | cmp -s - "$dir/maps" || bad=$((bad + 1))
	done
	like "no libc, $how: attached $cycles times" "$bad $(hits "$dir/counts" bare:work)" '^0 [1-9]'
	[ $how != interior ] || killed "no libc" work 2>/dev/null
	kill -TERM "$victim"
	wait "$victim"
	is "no libc, $how: it found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
done
start "$VICTIMS/static/busy" 1
killed "static" work 2>/dev/null
kill -TERM "$victim"
wait "$victim"
is "static: it found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"
plan
