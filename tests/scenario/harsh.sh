#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Small stacks, signal storms, and threads that come and go.
. tests/scenario/lib.sh
times=${TIMES:-20000}
cycles=${CYCLES:-20}

for mode in stacks threads; do
	"$DPROBES" stat -o "$dir/counts" harsh_tick -- "$VICTIMS/harsh" $mode "$times" >"$dir/out" 2>"$dir/err"
	status=$?
	like "$mode: it is right" "$status $(tail -n 1 "$dir/out")" '^0 right'
	is "$mode: every tick is counted" "$(hits "$dir/counts" harsh:harsh_tick)" \
		"$(tail -n 1 "$dir/out" | cut -d' ' -f2)"

	for how in interior trap quiesce; do
		start "$VICTIMS/harsh" $mode
		bad=0 total=0
		for ((i = 0; i < cycles; i++)); do
			DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" --duration 10ms harsh_tick -p "$victim" \
				2>"$dir/err" || { bad=$((bad + 1)); cat "$dir/err"; }
			n=$(hits "$dir/counts" harsh:harsh_tick)
			total=$((total + ${n:-0}))
		done
		is "$mode, $how: $cycles attaches" "$bad" 0
		if [ "$total" -gt 0 ]; then ok "$mode, $how: $total hits"; else not_ok "$mode, $how: hits"; fi
		kill -TERM "$victim"
		wait "$victim"
		like "$mode, $how: it is right after the attaches" "$? $(tail -n 1 "$dir/out")" '^0 right'
	done
done

# Programs there: what is not recorded is counted as missed, with its cause.
cat >"$dir/tick.dp" <<'END'
name = harsh
modtype = user
logmax = 64
vars = 1
offset = harsh_tick
	inc lv,0
	push 24
	push r,rsp
	log mrf
END
for mode in stacks threads; do
	"$DPROBES" run --json -o "$dir/records" "$dir/tick.dp" -- "$VICTIMS/harsh" $mode "$times" >"$dir/out" 2>"$dir/err"
	status=$?
	like "$mode, with a program: it is right" "$status $(tail -n 1 "$dir/out")" '^0 right'
	ticks=$(tail -n 1 "$dir/out" | cut -d' ' -f2)
	count() { sed -n "s/.* \([0-9]*\) $1.*/\1/p" "$dir/err" | tail -n 1; }
	lost=$(count 'records\? lost') missed=$(count 'missed for want') discarded=$(count 'records\? discarded')
	is "$mode, with a program: every hit is accounted for" \
		"$(($(wc -l <"$dir/records") + ${lost:-0} + ${missed:-0} + ${discarded:-0}))" "$ticks"
done
# In malloc, called from a signal handler and from everywhere
"$DPROBES" trace -q -o "$dir/lines" 'libc.so.6:malloc(arg0:u64)' 'libc.so.6:_int_malloc' 'libc.so.6:free(arg0)' -- "$VICTIMS/busy" 4 400 >"$dir/out" 2>"$dir/err" ||
	"$DPROBES" trace -q -o "$dir/lines" 'libc.so.6:malloc(arg0:u64)' 'libc.so.6:free(arg0)' -- "$VICTIMS/busy" 4 400 >"$dir/out" 2>"$dir/err"
is "inside malloc" "$? $(tail -n 1 "$dir/out")" "0 right"
plan
