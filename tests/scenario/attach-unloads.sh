#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Attached to while it loads and unloads what is probed, all the time, wherever it is just then.
. tests/scenario/lib.sh
. tests/scenario/lib-loads.sh

if ! made unloads "${CC:-cc}" 2>"$dir/err"; then
	skip "attaching to what comes and goes" "there is no compiler"
	plan
	exit
fi
n=${CYCLES:-10}
kill_points=build/tests/dprobes-kill-points

# cycle TOOL...: attached for a moment; what it says if that fails
cycle() {
	local tool
	: >"$dir/talk"
	# Ignored up to where the tool takes it, also before the child of the shell has executed it.
	trap '' INT
	"$@" >"$dir/lines" 2>"$dir/talk" &
	tool=$!
	trap - INT
	pids+=("$tool")
	sleep "0.0$((RANDOM % 10))"
	while kill -INT $tool; do sleep 0.03; done
	wait $tool && ! grep -v 'is pending: \|not pending any more$\|there are none$\|no process had ' "$dir/talk" >"$dir/said" && return
	echo "# status $?: $(cat "$dir/said")"
	return 1
}
# many NAME EVENT TOOL...: so many times, and the program is right
many() {
	local name=$1 bad=0 i
	begin "$2" 1000000
	echo go >&5
	shift 2
	for ((i = 0; i < n; i++)); do
		cycle "$@" -p "$victim" || bad=$((bad + 1))
		kill -0 "$victim" || break
	done
	is "$name: attached and detached" "$bad of $i" "0 of $n"
	kill -TERM "$victim"
	poll 20 is_done
	end
	is "$name: the program is right" "$? $(grep -c '^right' "$dir/out")" "0 1"
} 2>/dev/null

for event in threads close; do
	many "$event" $event "$DPROBES" stat --json -q "$lib:probed" "$other:probed"
	many "$event, calls" $event "$DPROBES" trace -q "r:$lib:probed" "r:$other:probed"
	for arm in quiesce trap; do
		DPROBES_ARM=$arm many "$event, $arm" $event "$DPROBES" stat --json -q "$lib:probed" "$other:probed"
	done
	many "$event, children" $event "$DPROBES" stat --json -q -f "$lib:probed" "$other:probed"
	# Whatever the tool waits for is cut short by a signal.
	DPROBES_TICK=300 many "$event, interrupted" $event $kill_points stat --json -q "$lib:probed" "$other:probed"
done

# Another program's Uprobes there.
offset=$(nm -D "$other" | awk '$3 == "probed" { print $1 }')
for arm in interior quiesce trap; do
	begin threads 1000000
	echo go >&5
	got=$(DPROBES_ARM=$arm "$TOOLS/upreload" "$victim" "$other" "$offset" $((20 * n)))
	like "Uprobes, $arm: registered whenever it is there" "$got" '^registered [1-9][0-9]*, gone [0-9]+, hits [1-9][0-9]*$'
	kill -TERM "$victim"
	poll 20 is_done
	end
	is "Uprobes, $arm: the program is right" "$? $(grep -c '^right' "$dir/out")" "0 1"
done
plan
