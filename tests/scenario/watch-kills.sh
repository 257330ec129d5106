#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool is killed after each step of its protocols while a program runs at a watchpoint that four threads
# hit all the time, and at any moment. The threads go on, and the next dprobes counts and leaves nothing.
. tests/scenario/lib.sh
. tests/scenario/lib-stored.sh

kill_points=build/tests/dprobes-kill-points
count_program
if ! "$DPROBES" run "$dir/count.dp" -- "$stored" kept >/dev/null 2>"$dir/err"; then
	skip "programs at watchpoints" "$(head -n 1 "$dir/err")"
	plan
	exit
fi
start "$stored" run

for ((n = 1; n < 100; n++)); do
	DPROBES_KILL_POINT=$n "$kill_points" run --duration 50ms "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/err"
	status=$?
	[ $status -eq 137 ] || break
	survives "killed $(sed -n 's/^steps: killed //p' "$dir/err") (step $n)"
done
is "in the end no step is left to be killed at" "$status" 0
if [ $n -gt 30 ]; then ok "$((n - 1)) steps were seen"; else not_ok "only $((n - 1)) steps were seen"; fi

for i in {1..20}; do
	"$DPROBES" run "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
done
survives "20 tools killed, each after the other"
kill "$victim"
wait "$victim" 2>/dev/null
plan
