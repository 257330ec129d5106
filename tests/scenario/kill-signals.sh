#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool is killed after each step between which signal actions, masks and hooks change
# hands. What the program then does with SIGTRAP is as ever, in all kinds of programs.
. tests/scenario/lib.sh

kill_points=build/tests/dprobes-kill-points
at=('install: intercepts' 'install: action' 'install: masks' 'install: in force' 'leave: stopped'
	'leave: in force no more' 'leave: masks' 'leave: drained' 'leave: action' 'leave: intercepts')

ticks() { awk '{ print $14 + $15 }' "/proc/$victim/stat"; }
# What it does in a twentieth of a second, or it has ended.
works() { ! [ "$(ticks 2>/dev/null || echo 0)" -lt "$enough" ] || is_over; }
is_over() { ! kill -0 "$victim" 2>/dev/null || grep -q '^State:.*[ZX]' "/proc/$victim/status"; }
go_on() {
	enough=$(($(ticks) + 5))
	poll 10 works || bad="$bad, stuck $1"
	! is_over || bad="$bad, over $1"
}
complain() {
	bad="$bad, $1"
	sed 's/^/# /' "$dir/terr"
}

# killed KIND MODE: at each step, then the next tool, and again
killed() {
	local step
	start "$VICTIMS/$1/blocked" "$2" 0
	bad=
	for step in "${at[@]}"; do
		DPROBES_KILL_POINT=$step "$kill_points" stat -q -o /dev/null --duration 10ms work -p "$victim" 2>"$dir/terr"
		grep -q "^steps: killed after $step" "$dir/terr" || complain "not killed after $step"
		go_on "after $step"
		[ -z "$bad" ] || break
		"$DPROBES" stat -q -o "$dir/counts" --duration 10ms work -p "$victim" 2>"$dir/terr" ||
			complain "the next one, after $step"
	done 2>/dev/null
	[ -z "$bad" ] || kill -KILL "$victim" 2>/dev/null
	kill -TERM "$victim" 2>/dev/null
	wait "$victim"
	is "${1:-glibc}, $2" "$? $(tail -n 1 "$dir/out")$bad" "0 right: $2"
}

for kind in '' static musl musl-static; do
	killed "$kind" sleep
	killed "$kind" open
	case "$kind" in
	*static) killed "$kind" handler ;;
	*) for mode in pending ignore handler; do killed "$kind" $mode; done ;;
	esac
done
# A signal of faults.
export BLOCKED_SIGNAL=11
for mode in handler pending open; do killed '' $mode; done
plan
