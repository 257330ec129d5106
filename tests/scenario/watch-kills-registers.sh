#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debug registers that were set by ptrace(2) outlive a killed tool: it is killed at each kill point by its name, while
# four threads hit all the time. The threads go on, and the next dprobes counts and leaves no register; or its guardian
# clears them, where that is not killed as well.
. tests/scenario/lib.sh
. tests/scenario/lib-stored.sh

export DPROBES_WATCH=registers
kill_points=build/tests/dprobes-kill-points
count_program
start "$stored" run
seen=0
kill_at() { # POINT NTH VERB ARGS...: there is no guardian
	DPROBES_FAIL="registers: guardian" DPROBES_KILL_POINT=$1 DPROBES_NTH=$2 "$kill_points" "${@:3}" -p "$victim" >/dev/null 2>"$dir/err"
	[ $? -eq 137 ] || return
	seen=$((seen + 1))
	survives "$3 killed after $1 ($2)"
}
# One that is passed by this run only.
points=$(grep -rhoP 'dp_kill_point\("\K(attach|install|live|arm|registers|tree: signal|leave|remote|text)[^"]*' proc | sort -u)
while read -r point; do
	for nth in 1 2; do kill_at "$point" $nth run --duration 50ms "$dir/count.dp"; done
done <<<"$points"
for point in "registers: noted" "registers: set" "registers: hit" "registers: cleared" "registers: let go" "leave: action"; do
	for nth in 1 3; do kill_at "$point" $nth stat --duration 50ms w:stored; done
done
if [ $seen -gt 40 ]; then ok "$seen kills were seen"; else not_ok "only $seen kills were seen"; fi

# The tool is killed at work: the guardian takes all out, and no other dprobes is there.
traced() { grep -q "TracerPid:[^0-9]*$tool\$" "/proc/$victim/status" && asleep "$tool"; }
work() { # FAILS VERB ARGS...: sets $tool
	DPROBES_FAIL=$1 "$kill_points" "${@:2}" -p "$victim" >/dev/null 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 20 traced
	sleep 0.2
}
kill_tool() {
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
}
has_guardian() { pgrep -P "$tool" -x dprobes-errand >/dev/null; }
for what in "stat w:stored w:stored:rw" "run $dir/count.dp"; do
	work none $what
	if has_guardian; then ok "$what has a guardian"; else not_ok "$what has no guardian" "$(cat "$dir/err")"; fi
	kill_tool
	poll 10 is_clean
	is "whose guardian has cleaned" "$(is_clean; echo $?)" 0
	survives "killed at work: $what"
	work "registers: guardian" $what
	kill_tool
	before=$(rounds)
	if [ "$(registers_of | wc -l)" -ge 4 ]; then ok "without one the registers stay"; else not_ok "no register has stayed"; fi
	poll 10 goes_on
	is "and the threads go on" "$?" 0
	survives "killed at work, without a guardian: $what"
done
work none stat --duration 1 w:stored
guardian=$(pgrep -P "$tool" -x dprobes-errand)
wait "$tool"
is "a guardian ends with its tool" "$([ -n "$guardian" ] && [ -e "/proc/$guardian" ]; echo $?)" 1
for i in {1..20}; do
	"$DPROBES" stat -o /dev/null w:stored w:stored:rw -p "$victim" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
	kill -0 "$victim" || break
done
survives "20 tools killed, each after the other"
kill "$victim"
wait "$victim" 2>/dev/null
plan
