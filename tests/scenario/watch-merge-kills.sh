#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Four watchpoints come in the places of four, or two beside two, while threads write, come and go. The tool is killed
# after steps of that: the threads go on, and the next dprobes counts and leaves nothing. And the program makes children, or executes
# another program, meanwhile.
. tests/scenario/lib.sh
. tests/scenario/lib-stored.sh

kill_points=build/tests/dprobes-kill-points
several four own sum traps young
several others young alarms own stored_beside
several two own sum
several more young alarms
program count $'watch = w\naddress = young'
holder() { "$DPROBES" -q -a -P "$victim" --json 2>/dev/null | sed -n 's/.*"hold":\([0-9]*\),.*/\1/p' | head -n 1; }
ended() { ! grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null; }
asked() { answered -i "$dir/$comes.dp" $how || ended "$hold"; }
# exchange POINT NTH: the hold of $first is killed there when $comes is asked for by $how, and has no guardian. The
# command makes a new one then.
exchange() {
	rm -f "$dir/from"
	DPROBES_FAIL="registers: guardian" DPROBES_FROM=$dir/from DPROBES_KILL_POINT=$1 DPROBES_NTH=$2 DPROBES="$kill_points" classic -i "$dir/$first.dp"
	hold=$(holder)
	[ $status -eq 0 ] || return
	: >"$dir/from"
	poll 60 asked
}

# What is passed while watchpoints come, and how often before
steps() {
	if [ $how = -m ]; then
		printf '%s\n' "1 extend: built" "1 extend: armed"
		[ $way = events ] || printf '%s\n' "1 registers: noted" "1 registers: set" "3 registers: set" "5 registers: set"
		return
	fi
	printf '%s\n' "1 extend: built" "1 extend: armed"
	if [ $way = events ]; then
		printf '%s\n' "1 events: stopped" "4 events: stopped" "5 events: stopped"
	else
		printf '%s\n' "1 registers: dropped" "5 registers: dropped" "1 registers: noted" "2 registers: noted" \
			"1 registers: set" "5 registers: set"
	fi
}

for way in ${WAYS:-events registers}; do
	export DPROBES_WATCH=$way
	start "$stored" turns
	classic -i "$dir/four.dp"
	if [ $status -ne 0 ]; then skip "$way" "$err"; kill "$victim"; wait "$victim" 2>/dev/null; continue; fi
	put_away
	while read -r first comes how; do
		seen=0
		while read -r nth point; do
			exchange "$point" "$nth"
			if [ -z "$hold" ]; then not_ok "$way: $first, before $point" "$err"; break; fi
			ended "$hold" && seen=$((seen + 1))
			put_away
			survives "$way, $how: killed after $point ($nth)"
		done < <(steps)
		if [ $seen -ge $(($(steps | wc -l) - 1)) ]; then ok "$way, $how: $seen kills were seen"; else not_ok "$way, $how: only $seen kills were seen"; fi
	done <<<$'four others -c\ntwo more -m'
	classic -i "$dir/four.dp"
	classic -i "$dir/others.dp" -c
	is "$way: without a kill all change places" "$status $(armed)" "0 alarms own stored_beside young"
	is "$way: threads that come have registers" "$(poll 20 has_hits young; echo $?)" 0
	put_away
	survives "$way: all has been taken away"
	kill "$victim"
	wait "$victim" 2>/dev/null

	start "$stored" turns
	classic -i "$dir/four.dp"
	bad=0
	for i in {1..5}; do
		for what in others four; do
			classic -i "$dir/$what.dp" -c
			[ $status -eq 0 ] || { bad=$((bad + 1)); sed 's/^/# /' <<<"$err"; }
		done
	done
	is "$way: ten replacements while it makes children" "$bad" 0
	before=$(rounds)
	poll 20 goes_on
	is "$way: and it goes on" $? 0
	(sleep 0.3; kill -USR1 "$victim") &
	pids+=($!)
	until has_no_hold; do
		classic -i "$dir/others.dp" -c
		classic -i "$dir/four.dp" -c
	done
	wait "$victim"
	is "$way: the program that it executes" $? 3
done
plan
