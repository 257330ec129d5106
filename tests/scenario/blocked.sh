#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that do things of their own with SIGTRAP.
. tests/scenario/lib.sh
rounds=${ROUNDS:-100}
armed() { grep -q memfd:dprobes "/proc/$1/maps" && "$DPROBES" list -p "$1" 2>/dev/null | grep -q k; }

for mode in ignore handler spawn mask pending exec clearsighand sleep open cancel; do
	wanted=$("$VICTIMS/blocked" $mode "$rounds")
	got=$(timeout 300 "$DPROBES" stat -o "$dir/counts" work libc.so.6:malloc libc.so.6:realloc libc.so.6:free \
		'libc.so.6:__strlen_*' -- "$VICTIMS/blocked" $mode "$rounds" 2>"$dir/err")
	is "$mode: what it prints" "$? $got" "0 $wanted"
	like "$mode: hits" "$(hits "$dir/counts" blocked:work)" '^[1-9][0-9]{2,}$'
done
# SIGTRAP is blocked when they are attached to, and stays so as far as they know.
for how in trap interior; do
	for mode in mask pending clearsighand ignore sleep open cancel; do
		start "$VICTIMS/blocked" $mode 0
		bad=0
		for i in 1 2 3 4 5; do
			DPROBES_ARM=$how until_hit work stat -o "$dir/counts" work libc.so.6:malloc \
				libc.so.6:pthread_sigmask libc.so.6:sigaction || bad=$((bad + 1))
		done
		like "$mode, attached, $how: hits" "$bad $(hits "$dir/counts" blocked:work)" '^0 [1-9][0-9]*$'
		kill -TERM "$victim"
		wait "$victim"
		like "$mode: it is right after that" "$? $(tail -n 1 "$dir/out")" "^0 right: $mode"
	done
done
# In trap mode every probe is a breakpoint. In a handler that runs in a call with a
# mask of its own as well.
for mode in sleep open cancel; do
	wanted=$(DPROBES_ARM=trap "$VICTIMS/blocked" $mode "$rounds")
	got=$(DPROBES_ARM=trap timeout 300 "$DPROBES" stat -o "$dir/counts" work 'libc.so.6:*' -- "$VICTIMS/blocked" $mode \
		"$rounds" 2>"$dir/err")
	is "$mode, trap: what it prints" "$? $got" "0 $wanted"
	like "$mode, trap: hits" "$(hits "$dir/counts" blocked:work)" '^[1-9][0-9]{2,}$'
done

# Attached to and detached from while it is asleep, by a tool that is killed, too.
wakes() { grep -c '^awake' "$dir/out"; }
woken() { [ "$(wakes)" -gt "$before" ]; }
wake() {
	before=$(wakes)
	kill -USR1 "$victim"
	poll 5 woken || kill -0 "$victim" 2>/dev/null
}
for how in trap interior quiesce; do
	for call in 0 1 2 3 4 5 6; do
		start "$VICTIMS/blocked" asleep 0 "$call"
		bad=0
		wake || bad=$((bad + 1))
		poll 5 asleep "$victim"
		DPROBES_ARM=$how "$DPROBES" stat -o "$dir/counts" work 'libc.so.6:*' -p "$victim" 2>"$dir/terr" &
		tool=$!
		pids+=("$tool")
		poll 20 armed "$victim"
		for i in 1 2 3; do wake || bad=$((bad + 1)); done
		kill -KILL "$tool"
		wait "$tool" 2>/dev/null
		for i in 1 2 3; do wake || bad=$((bad + 1)); done
		poll 5 asleep "$victim"
		DPROBES_ARM=$how "$DPROBES" stat -o "$dir/counts" --duration 50ms work 'libc.so.6:*' -p "$victim" \
			2>"$dir/terr" || bad=$((bad + 1))
		for i in 1 2 3; do wake || bad=$((bad + 1)); done
		kill -TERM "$victim"
		kill -USR1 "$victim"
		wait "$victim"
		is "call $call, $how: attached to and left asleep" "$bad $? $(tail -n 2 "$dir/out" | tr '\n' ' ')" \
			"0 0 awake 11 right: asleep "
	done
done
plan
