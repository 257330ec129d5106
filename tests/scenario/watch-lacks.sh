#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Watchpoints of an insertion that cannot be armed: the others of the same program are, and --query says what lacks.
# Without debug registers that work, the points that are code are armed alone.
. tests/scenario/lib.sh
. tests/scenario/lib-stored.sh

several four own sum young traps
several six own sum alarms young traps stored_beside
several three own sum young
program mixed 'address = store' $'watch = w\naddress = own\nlen = 4' $'watch = w\naddress = sum\nlen = 4' \
	$'watch = w\naddress = alarms\nlen = 4' $'watch = w\naddress = young\nlen = 4' $'watch = w\naddress = stored_beside'
program bad 'address = store' $'watch = w\naddress = stored+1\nlen = 4' $'watch = w\naddress = nosuch' $'watch = w\naddress = 0x10\nlen = 4'
program code 'address = store'
program alone $'watch = w\naddress = traps'
states() { "$DPROBES" --query --all -P "$victim" 2>/dev/null | sed -n 's/^ *\([^ ]*\)  0x[0-9a-f]* *\([a-z,-]*\).*/\1 \2/p' | sort | uniq -c | sed 's/^ *//' | tr '\n' ';'; }
of() { "$DPROBES" --query --all -P "$victim" 2>/dev/null | grep -c " compiled,$1 "; }
# What is wrong with the places themselves
start "$stored" run
classic -i "$dir/bad.dp"
like "bad places" "$status $(xargs <<<"$err")" '^1 .*1 of 4 points armed'
like "what is wrong with each" "$(xargs <<<"$err")" 'no multiple of 4.* no variable nosuch.*nothing is mapped at 0x10 '
is "a length that the address does not allow" "$(of bad-watch-length)" 1
is "where nothing is" "$(of invalid-offset)" 2
is "the code is probed" "$(of active)" 1
had=$(lv)
poll 10 grows
is "and runs its program" $? 0
end_stored places

for way in events registers none; do
	export DPROBES_WATCH=$way
	# As on a machine whose debug registers do not trap
	[ $way != none ] || export DPROBES_WATCH=registers DPROBES=build/tests/dprobes-kill-points DPROBES_FAIL="debug: works"
	start "$stored" run
	classic -i "$dir/alone.dp"
	if [ $status -ne 0 ]; then
		like "$way: none" "$status $err" '^[12] .*(do not work on this machine|no such breakpoint events|keeps users|need the right)'
		is "$way: nothing is held" "$(poll 10 has_no_hold; echo $?)" 0
		classic -i "$dir/mixed.dp"
		like "$way: without registers, the code" "$status $(xargs <<<"$err")" '^1 .*1 of 6 points armed'
		is "$way: each of the others is told, a fifth as such" "$(of no-debug-registers) $(of no-debug-register)" "4 1"
		is "$way: what is probed" "$(of active) $(armed)" "1 "
		had=$(lv)
		poll 10 grows
		is "$way: its program runs" $? 0
		had=$(lv)
		classic -i "$dir/alone.dp" -m
		like "$way: no point of another one can be armed" "$status $err" '^1 '
		poll 10 grows
		is "$way: the first goes on" $? 0
		end_stored "$way"
		[ $way = none ] || skip "$way: registers that are taken" "debug registers do not work here"
		continue
	fi
	put_away
	classic -i "$dir/six.dp"
	like "$way: four of six" "$status $(xargs <<<"$err")" '^1 .*traps/4 is watchpoint number 5, and a thread has 4.*4 of 6 points armed'
	is "$way: the first four" "$(armed)" "alarms own sum young"
	is "$way: what lacks" "$(of no-debug-register) $(of active)" "2 4"
	had=$(lv)
	poll 10 grows
	is "$way: they run their program" $? 0
	classic -i "$dir/alone.dp" -m
	like "$way: none is left for another program" "$status $err" '^[12] '
	is "$way: so nothing comes" "$(armed)" "alarms own sum young"
	put_away
	poll 10 is_clean

	# Beside code, whose probe comes whatever becomes of the others
	classic -i "$dir/mixed.dp"
	like "$way: code and four of five" "$status $(xargs <<<"$err")" '^1 .*5 of 6 points armed'
	is "$way: the last lacks" "$(of no-debug-register) $(of active) $(armed)" "1 5 alarms own sum young"
	end_stored "$way"

	# Another tool has all four: a program that comes is refused whole. That has no part in what comes later.
	if [ $way = events ]; then
		start "$stored" run
		classic -i "$dir/code.dp"
		"$DPROBES" stat w:own w:sum w:alarms w:written -p "$victim" >/dev/null 2>"$dir/stat" &
		tool=$!
		pids+=("$tool")
		poll 20 has_events "$tool" || not_ok "$way: another tool" "$(cat "$dir/stat")"
		classic -i "$dir/alone.dp" -m
		like "$way: none is left for a second program" "$status $err" '^[12] .*no debug register left'
		interrupt "$tool"
		classic -i "$dir/alone.dp" -m
		is "$way: it comes when they are free" "$status $(armed | sed 's/store *//')" "0 traps"
		is "$way: both are probed" "$(of active)" 2
		had=$(lv)
		poll 10 grows
		is "$way: and the first goes on" $? 0
		end_stored "$way"
	fi

	# Another tool has one. What ptrace(2) has set, the kernel keeps for it as long as the thread lives.
	start "$stored" run
	DPROBES_WATCH=events "$DPROBES" stat w:stored_beside -p "$victim" >/dev/null 2>"$dir/stat" &
	tool=$!
	pids+=("$tool")
	poll 20 has_events "$tool" || not_ok "$way: another tool" "$(cat "$dir/stat")"
	classic -i "$dir/four.dp"
	like "$way: three of four, where one is taken" "$status $(xargs <<<"$err")" '^1 .*no debug register left.*3 of 4 points armed'
	is "$way: the first three" "$(of no-debug-register) $(armed | sed 's/stored_beside *//')" "1 own sum young"
	put_away
	classic -i "$dir/code.dp"
	classic -i "$dir/four.dp" -m
	like "$way: the same beside a program that is there" "$status $(xargs <<<"$err")" '^1 .*3 of 4 points armed'
	had=$(lv)
	poll 10 grows
	is "$way: which run" $? 0
	classic -i "$dir/three.dp" -c
	is "$way: others in their places" "$status $(armed | sed 's/stored_beside *//')" "0 own sum young"
	had=$(lv)
	classic -i "$dir/six.dp" -c
	like "$way: where programs go, all must have room" "$status $err" '^[12] .*watchpoint number 5, and a thread has 4'
	poll 10 grows
	is "$way: so the three stay" "$? $(armed | sed 's/stored_beside *//')" "0 own sum young"
	interrupt "$tool"
	end_stored "$way"
done
plan
