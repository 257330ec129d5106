#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Watchpoints that come by --merge and --replace to programs that a hold has, while four threads write. Where registers
# are set by ptrace(2) they come to programs without watchpoints, and others are refused.
. tests/scenario/lib.sh
. tests/scenario/lib-stored.sh

program code 'address = store'
program whole $'watch = w\naddress = stored'
program beside $'watch = w\naddress = stored_beside'
several four own sum traps stored
several others written alarms own stored_beside
several three own sum stored
program five $'watch = w\naddress = stored_beside\nlen = 1'{,,,,}
variables() { "$DPROBES" --getvars --all -p "$victim" 2>/dev/null | wc -l; }
# Another tool has one register, and a hold three: four have no room in the places of these.
taken_meanwhile() {
	classic -i "$dir/three.dp" -c
	is "three in the places of four" "$status $(armed)" "0 own stored sum"
	"$DPROBES" stat w:alarms -p "$victim" >/dev/null 2>"$dir/stat" &
	tool=$!
	pids+=("$tool")
	poll 20 has_events "$tool"
	shown=$(variables)
	classic -i "$dir/others.dp" -c
	like "four where another tool has a register" "$status $err" '^[12] .*debug register'
	had=$(lv)
	poll 10 grows
	is "the three go on" $? 0
	is "what was refused shows no variables" "$(variables)" "$shown"
	interrupt "$tool"
	is "and are watched still" "$(armed)" "own stored sum"
}

for way in events registers; do
	export DPROBES_WATCH=$way
	start "$stored" run
	classic -i "$dir/code.dp"
	if [ $status -ne 0 ]; then not_ok "$way: the first program" "$err"; break; fi
	had=$(lv)
	classic -i "$dir/five.dp" -m
	like "$way: four of five" "$status $err" '^[12] .*(watchpoint number 5, and a thread has 4|do not work on this machine|no such breakpoint events|keeps users|need the right)'
	poll 10 grows
	is "$way: the old program goes on" $? 0
	classic -i "$dir/whole.dp" -c
	if [ $status -ne 0 ] && grep -q 'do not work on this machine\|no such breakpoint events\|keeps users\|need the right' <<<"$err"; then
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
		is "$way: and the other one has hits" "$(poll 20 has_hits stored_beside; echo $?)" 0
		classic -i "$dir/four.dp" -c
		is "$way: four in the places of two" "$status $(armed)" "0 own stored sum traps"
		classic -i "$dir/others.dp" -c
		is "$way: four others in their places" "$status $(armed)" "0 alarms own stored_beside written"
		had=$(lv)
		poll 10 grows
		is "$way: which run their program" $? 0
		is "$way: each where it is" "$(poll 20 has_hits stored_beside; echo $?)" 0
		classic -i "$dir/five.dp" -c
		like "$way: five in their places" "$status $err" '^[12] .*watchpoint number 5, and a thread has 4'
		had=$(lv)
		poll 10 grows
		is "$way: four stay" "$? $(armed)" "0 alarms own stored_beside written"
		[ $way = registers ] || taken_meanwhile
	fi
	end_stored "$way"
done

# Threads cannot be stopped, at the moment when registers are to be set or cleared.
export DPROBES_WATCH=registers DPROBES=build/tests/dprobes-kill-points
for DPROBES_FAIL in "registers: more" "registers: drop"; do
	export DPROBES_FAIL
	start "$stored" run
	classic -i "$dir/whole.dp"
	if [ $status -ne 0 ]; then skip "$DPROBES_FAIL fails" "$err"; continue; fi
	if [ "$DPROBES_FAIL" = "registers: more" ]; then
		classic -i "$dir/beside.dp" -m
		is "no register can be set" "$status $(armed)" "1 stored"
	else
		classic -i "$dir/beside.dp" -c
		is "no register can be cleared" "$status $(armed)" "0 stored_beside"
	fi
	had=$(lv)
	poll 10 grows
	is "the program that is there goes on" $? 0
	classic -i "$dir/code.dp" -m
	before=$(rounds)
	poll 10 goes_on
	is "another one comes" "$? $status" "0 0"
	end_stored "$DPROBES_FAIL"
done
plan
