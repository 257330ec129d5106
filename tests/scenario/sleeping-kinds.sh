#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls that sleep under a signal mask of their own, in programs with musl: attached to
# and left asleep, while signals storm, by a tool that is killed, and cancelled.
. tests/scenario/lib.sh
cycles=${CYCLES:-4}

wakes() { grep -c '^awake' "$dir/out"; }
woken() { [ "$(wakes)" -gt "$before" ]; }
wake() {
	before=$(wakes)
	kill -USR1 "$victim"
	poll 5 woken
}
wake_thrice() {
	local i
	for i in 1 2 3; do wake || bad=$((bad + 1)); done
}
armed() { [ "$("$TOOLS/text-sum" "$victim")" != "$sum" ]; }
complain() {
	bad=$((bad + 1))
	sed 's/^/# /' "$dir/terr"
}

# end NAME MODE: it has found everything right
end() {
	kill -TERM "$victim"
	[ "$2" != asleep ] || kill -USR1 "$victim"
	wait "$victim"
	is "$1" "$bad $? $(tail -n 1 "$dir/out")" "0 0 right: $2"
}

# asleep KIND CALL HOW: a tool that is killed while it sleeps, the next one, and none
asleep() {
	start "$VICTIMS/$1/blocked" asleep 0 "$2"
	bad=0
	wake || bad=1
	sum=$("$TOOLS/text-sum" "$victim")
	DPROBES_ARM=$3 "$DPROBES" stat -o "$dir/counts" work -p "$victim" 2>"$dir/terr" &
	tool=$!
	pids+=("$tool")
	poll 10 armed || complain
	wake_thrice
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
	wake_thrice
	DPROBES_ARM=$3 "$DPROBES" stat -q -o "$dir/counts" --duration 50ms work -p "$victim" 2>"$dir/terr" || complain
	wake_thrice
	is "$1, call $2, $3: text as before" "$("$TOOLS/text-sum" "$victim")" "$sum"
	end "$1, call $2, $3: attached to and left asleep" "asleep"
}

# storm KIND MODE: comes and goes while it sleeps and is woken all the time
storm() {
	local how i
	start "$VICTIMS/$1/blocked" "$2" 0
	bad=0
	for how in trap interior quiesce; do
		for ((i = 0; i < cycles; i++)); do
			DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" --duration 10ms work -p "$victim" \
				2>"$dir/terr" || complain
		done
	done
	end "$1, $2: $cycles cycles of each kind" "$2"
}

# killed KIND MODE: after each of its steps, and the next one takes over
killed() {
	local n
	start "$VICTIMS/$1/blocked" "$2" 0
	bad=0
	for ((n = 1; n < 100; n++)); do
		DPROBES_ARM=trap DPROBES_KILL_POINT=$n build/tests/dprobes-kill-points stat -q -o /dev/null --duration 10ms work \
			-p "$victim" 2>"$dir/terr" && break
		grep -q '^steps: killed' "$dir/terr" || { complain; break; }
		"$DPROBES" stat -q -o "$dir/counts" --duration 10ms work -p "$victim" 2>"$dir/terr" || complain
	done 2>/dev/null
	[ "$n" -ge 20 ] || bad=$((bad + 1))
	end "$1, $2: the tool killed after each of its steps" "$2"
}

other=(interior quiesce)
for kind in musl musl-static; do
	for call in 0 1 2 3 4 5 6; do
		asleep $kind $call trap
		asleep $kind $call "${other[$((call % 2))]}"
	done
	for mode in sleep open leave cancel; do
		storm $kind $mode
	done
	killed $kind cancel
done
plan
