#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions whose ends have no room for a jump: their returns are counted exactly, and threads that
# come to the end from before it do not trap.
. tests/scenario/lib.sh

victim_prog="$VICTIMS/tight"
functions='tight_store tight_pops tight_behind tight_leaf tight_getter tight_away tight_two tight_loop'

echo | "$victim_prog" 1000 >"$dir/bare"
for arm in interior quiesce trap; do
	echo | DPROBES_ARM=$arm "$DPROBES" stat --json -o "$dir/json" 'r:tight_*' 'tight_*' \
		-- "$victim_prog" 1000 >"$dir/probed" 2>"$dir/err"
	is "$arm: the program" "$? $(cat "$dir/probed")" "0 $(cat "$dir/bare")"
	for f in $functions; do
		is "$arm: calls of $f" "$(grep "\"r:tight:$f\"" "$dir/json" |
			sed 's/.*"hits":\([0-9]*\),"missed":0,.*"returned":\([0-9]*\),"tail":0,"unwound":0,"abandoned":0,"inside":0}/\1 \2/')" \
			"1000 1000"
	done
	is "$arm: balances" "$(grep -cE 'balance|BUG|cut off' "$dir/err")" 0
done
"$DPROBES" list -v 'r:tight_*' -- "$victim_prog" >"$dir/list" 2>&1 </dev/null
is "no exit is a breakpoint" "$(grep -c ', 0 trap$' "$dir/list")" "$(wc -w <<<"$functions")"

# sigreturns FUNCTION...: how often a thread has trapped, each function called 1,000 times
sigreturns() {
	local go victim tool tracer

	mkfifo "$dir/go"
	: >"$dir/out"
	"$victim_prog" 1000 <"$dir/go" >"$dir/out" &
	victim=$!
	pids+=("$victim")
	exec {go}>"$dir/go"
	poll 10 grep -q ready "$dir/out"
	"$DPROBES" stat -o "$dir/counts" "${@/#/r:}" -p "$victim" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 10 grep -q "^TracerPid:.0$" "/proc/$victim/status"
	poll 10 grep -q dprobes "/proc/$victim/maps"
	poll 10 is_armed "$victim"
	strace -e trace=rt_sigreturn -o "$dir/strace" -p "$victim" 2>/dev/null &
	tracer=$!
	pids+=("$tracer")
	poll 10 grep -q "^TracerPid:.$tracer$" "/proc/$victim/status"
	echo >&"$go"
	exec {go}>&-
	wait "$victim" "$tool" "$tracer"
	rm -f "$dir/go"
	sigs=$(grep -c rt_sigreturn "$dir/strace")
	hits=$(awk 'NR > 1 { n += $1 } END { print n }' "$dir/counts")
}
is_armed() { "$DPROBES" list 2>/dev/null | grep -q tight_; }
# shellcheck disable=SC2086
sigreturns $functions
is "no thread traps" "$hits $sigs" "8000 0"
DPROBES_ARM=trap sigreturns tight_store
is "but where breakpoints were asked for" "$hits $((sigs >= 2000))" "1000 1"

# Probes come and go while the functions run.
for arm in interior quiesce; do
	echo | "$victim_prog" 40000000 >"$dir/bare"
	echo | "$victim_prog" 40000000 >"$dir/probed" &
	victim=$!
	pids+=("$victim")
	cycles=0
	while kill -0 "$victim" 2>/dev/null && [ "$cycles" -lt 40 ]; do
		DPROBES_ARM=$arm "$DPROBES" stat -q --duration 0.05 'r:tight_*' -p "$victim" \
			>/dev/null 2>>"$dir/err" && cycles=$((cycles + 1))
	done
	wait "$victim"
	is "$arm: the program, while probes come and go" "$? $(cat "$dir/probed")" "0 $(cat "$dir/bare")"
	like "$arm: they have" "$cycles" '^([3-9]|[1-9][0-9])$'
done
plan
