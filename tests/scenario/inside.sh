#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls that are inside when a process forks, or when libraries come and go: all return, and each once.
. tests/scenario/lib.sh
depth=150000
calls=$((depth + 1))
victim_prog=$VICTIMS/inside

down() { poll 30 grep -q down "$dir/out"; }
go() { echo >&5; exec 5>&-; }
tables() { [ "$(grep -c ' rw-s 00000000 .*memfd:dprobes' "/proc/$1/maps")" -ge 1 ]; }
field() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }

# Where address space is limited there are few blocks, and calls go into tables.
ulimit -S -v 16000000
# A launched one, because the first way down is to be followed
launch() { # OPTION... -- WORD...
	rm -f "$dir/go"
	mkfifo "$dir/go"
	: >"$dir/out"
	"$DPROBES" "$@" <"$dir/go" >"$dir/out" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	exec 5>"$dir/go"
	down
	victim=$(pgrep -P $tool)
}

launch stat --json -f -o "$dir/counts" r:inside_call -- "$victim_prog" $depth fork
is "fork: a table has been added" "$(poll 20 tables "$victim" && echo yes)" yes
go
wait $tool
is "fork: the program is right" "$? $(tail -n 1 "$dir/out")" "0 right"
parent=$(grep "\"pid\":$victim," "$dir/counts") child=$(grep -v "\"pid\":$victim," "$dir/counts")
is "the parent's calls" "$(field hits <<<"$parent") $(field inside <<<"$parent") $(field abandoned <<<"$parent")" \
	"$((2 * calls)) 0 0"
is "all that were not missed return" "$(field returned <<<"$parent")" \
	"$((2 * calls - $(field missed <<<"$parent")))"
is "the child's: what it has entered, and what it was in returns as well" \
	"$(field hits <<<"$child") $(field missed <<<"$child") $(field returned <<<"$child") $(field inside <<<"$child")" \
	"11 0 $((calls + 11)) 0"
is "nothing else is said" "$(grep -cE 'balance|BUG|entered before' "$dir/err")" 0

# The same where all calls are in blocks
(
	ulimit -S -v unlimited
	"$DPROBES" stat --json -f -o "$dir/counts" r:inside_call -- "$victim_prog" 20000 fork <<<"" >"$dir/out" 2>"$dir/err"
	echo "$?" >"$dir/status"
)
is "in blocks: the program is right" "$(cat "$dir/status") $(tail -n 1 "$dir/out")" "0 right"
is "in blocks: all return, in the child as well" \
	"$(sed -n 's/.*"hits":\([0-9]*\),.*"returned":\([0-9]*\),.*"inside":\([0-9]*\)}/\1 \2 \3/p' "$dir/counts" | sort | tr '\n' ' ')" \
	"11 20012 0 40002 40002 0 "

# A library that shows that it is armed: its cbrt is called from the bottom.
cat >"$dir/late.c" <<'C'
double cbrt(double x);
__attribute__((noipa)) double cbrt(double x) { return x / 9; }
C
if ! ${CC:-cc} -shared -fPIC -O1 -fno-builtin -o "$dir/late.so" "$dir/late.c" 2>"$dir/err"; then
	skip "the agent is replaced" "there is no compiler"
	plan
	exit
fi
launch stat --json -o "$dir/counts" r:inside_call "$dir/late.so:cbrt" -- "$victim_prog" $depth open "$dir/late.so"
is "replaced: a table has been added" "$(poll 20 tables "$victim" && echo yes)" yes
go
wait $tool
is "replaced: the program is right" "$? $(tail -n 1 "$dir/out")" "0 right"
is "the library's probe" "$(grep cbrt "$dir/counts" | field hits)" 1
mine=$(grep inside_call "$dir/counts")
is "calls are inside all the same" "$(field hits <<<"$mine") $(field inside <<<"$mine") $(field abandoned <<<"$mine")" \
	"$((2 * calls)) 0 0"
is "and return" "$(field returned <<<"$mine")" "$((2 * calls - $(field missed <<<"$mine")))"
is "nothing else is said of them" "$(grep -cE 'balance|BUG|entered before|for a moment' "$dir/err")" 0

# What is logged becomes longer, and with it all visits.
launch trace -o "$dir/lines" 'r:inside_call(arg0)' "$dir/late.so:cbrt(arg0,arg1,arg2,arg3,arg4)" -- "$victim_prog" 500 open "$dir/late.so"
go
wait $tool
is "records become longer: the program is right" "$? $(tail -n 1 "$dir/out")" "0 right"
is "each call has its record" "$(grep -c 'inside_call.* = ' "$dir/lines")" 1002
is "with its argument" "$(grep -c 'inside_call.*arg0=0x1f4 = 125250 ' "$dir/lines")" 2
plan
