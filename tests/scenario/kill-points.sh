#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool is killed after each step of its protocols. The program must go on
# correctly, and the next dprobes must be able to clean up and work.
. tests/scenario/lib.sh

kill_points=build/tests/dprobes-kill-points
start "$VICTIMS/busy" 3
maps_of "$victim" >"$dir/maps"
"$TOOLS/text-sum" "$victim" >"$dir/text"

rounds() { grep -c . "$dir/out"; }
alive() { [ -d "/proc/$victim" ] && ! grep -q '^State:.*[ZX]' "/proc/$victim/status"; }
# CPU time that it uses tells that it runs, and is not stopped or stuck.
ticks() { awk '{ print $14 + $15 }' "/proc/$victim/stat"; }
moves() { [ "$(ticks)" -gt "$before" ]; }

for ((n = 1; n < 100; n++)); do
	DPROBES_KILL_POINT=$n "$kill_points" stat -q -o /dev/null --duration 10ms -p "$victim" \
		libc.so.6:malloc libc.so.6:free 2>"$dir/err"
	status=$?
	[ $status -eq 137 ] || break
	name=$(sed -n 's/^steps: killed //p' "$dir/err")
	before=$(ticks 2>/dev/null)
	if ! alive || ! poll 10 moves; then
		not_ok "killed $name (step $n): the program goes on"
		plan
		exit
	fi
	until_hit malloc stat --json -q -o "$dir/again" libc.so.6:malloc
	again=$(cat "$dir/again" "$dir/err")
	left=$(maps_of "$victim" | diff "$dir/maps" - && "$TOOLS/text-sum" "$victim" | diff "$dir/text" -)
	if [ -z "$left" ] && printf '%s' "$again" | grep -q '"hits":[1-9]'; then
		ok "killed $name (step $n): it goes on, the next dprobes counts and leaves nothing"
	else
		not_ok "killed $name (step $n)" "$again" "$left"
	fi
done
is "in the end no step is left to be killed at" "$status" 0
if [ $n -gt 12 ]; then ok "$((n - 1)) steps were seen"; else not_ok "only $((n - 1)) steps were seen"; fi
# The next tool is killed as well, while it takes out what the first one left. It cannot say so where
# the first one did: the third has to know a breakpoint of ours where a jump was.
twice() {
	DPROBES_KILL_POINT="install: armed" "$kill_points" stat -q -o /dev/null -p "$victim" libc.so.6:malloc libc.so.6:free 2>"$dir/err"
	DPROBES_KILL_POINT=$1 "$kill_points" stat -q -o /dev/null -p "$victim" libc.so.6:malloc 2>>"$dir/err"
	name=$(sed -n 's/^steps: killed after //p' "$dir/err" | tail -n 1)
	"$DPROBES" detach -p "$victim" >"$dir/talk" 2>&1
}
for ((n = 1; n <= 16; n++)); do
	twice $n
	before=$(ticks 2>/dev/null)
	if ! alive || ! poll 10 moves; then
		not_ok "two tools killed, the second after $name (step $n): the program goes on"
		plan
		exit
	fi
	left=$(maps_of "$victim" | diff "$dir/maps" - && "$TOOLS/text-sum" "$victim" | diff "$dir/text" -)
	is "two tools killed, the second after $name (step $n): it goes on, and nothing is left" "$left" ""
done
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"
plan
