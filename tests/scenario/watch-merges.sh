#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Watchpoints that come by --merge and --replace to programs that a hold has, while four threads write. Where registers
# are set by ptrace(2) they come to programs without watchpoints, and others are refused.
. tests/scenario/lib.sh

stored=$VICTIMS/stored
program() { # NAME ADDRESS...: a watchpoint of a byte or more each
	printf 'name = stored\nmodtype = user\nvars = 1\nlogmax = 0\n' >"$dir/$1.dp"
	for at in "${@:2}"; do printf '%s\n\tinc lv,0\n\texit\n' "$at" >>"$dir/$1.dp"; done
}
program code 'address = store'
program whole $'watch = w\naddress = stored'
program beside $'watch = w\naddress = stored_beside'
program four $'watch = w\naddress = stored_beside\nlen = 1'{,,,}
program five $'watch = w\naddress = stored_beside\nlen = 1'{,,,,}
classic() { err=$("$DPROBES" "$@" -P "$victim" 2>&1 >"$dir/stdout"); status=$?; }
hits() { "$DPROBES" list -v 2>/dev/null | sed -n "s/.* w  $1+0x0 .*hits=\([0-9]*\) .*/\1/p"; }
counted() { "$DPROBES" --query --all 2>/dev/null; }
rounds() { tail -n 1 "$dir/out"; }
goes_on() { [ "$(rounds)" -gt "$before" ] 2>/dev/null; }
lv() { "$DPROBES" --getvars --all 2>/dev/null | sed -n 's/.*lv\[0\] = .*(\([0-9]*\)).*/\1/p' | tail -n 1; }
grows() { [ "$(lv)" -gt "$had" ] 2>/dev/null; }
is_clean() { [ -z "$("$TOOLS/registers" "$victim" 2>/dev/null)" ] && ! maps_of "$victim" | grep -q dprobes; }
events() { ls -l "/proc/$(pgrep -f "dprobes hold" | tail -n 1)/fd" 2>/dev/null | grep -c perf_event; }

for way in events registers; do
	export DPROBES_WATCH=$way
	start "$stored" run
	classic -i "$dir/code.dp"
	if [ $status -ne 0 ]; then not_ok "$way: the first program" "$err"; break; fi
	had=$(lv)
	classic -i "$dir/five.dp" -m
	like "$way: five" "$status $err" '^[12] .*watchpoint number 5, and a thread has 4'
	poll 10 grows
	is "$way: the old program goes on" $? 0
	classic -i "$dir/whole.dp" -c
	if [ $status -ne 0 ] && grep -q 'no such breakpoint events\|keeps users\|need the right' <<<"$err"; then
		skip "$way" "$err"
	else
		is "$way: a watchpoint in the place of code" "$status" 0
		hold=$(sed -n 's/.*process \([0-9]*\) holds.*/\1/p' <<<"$err")
		had=$(lv)
		poll 10 grows
		is "$way: runs its program" $? 0
		classic -i "$dir/beside.dp" -m
		is "$way: another beside it" "$status $err" "0 dprobes: 1 of 1 point armed in process $victim; process $hold holds it"
		classic -i "$dir/whole.dp" -m
		had=$(lv)
		poll 10 grows
		is "$way: the first goes on" $? 0
	fi
	"$DPROBES" --remove --all >/dev/null 2>&1
	poll 10 is_clean
	is "$way: all is taken away" $? 0
	before=$(rounds)
	poll 10 goes_on
	is "$way: the program goes on" $? 0
	kill "$victim"
	wait "$victim" 2>/dev/null
done
plan
