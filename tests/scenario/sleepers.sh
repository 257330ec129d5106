#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# No system call of the target returns early because of us.
. tests/scenario/lib.sh

all_asleep() { # every thread in a system call
	local t
	for t in /proc/"$victim"/task/*/syscall; do
		grep -q '^[0-9]' "$t" 2>/dev/null || return 1
	done
}

# disturb NAME [ARG]: three attaches to a process that sleeps, then wake it
disturb() {
	local i bad=0
	rm -f "$dir/fifo"
	mkfifo "$dir/fifo"
	: >"$dir/out"
	"$VICTIMS/sleepers" "${@:2}" <"$dir/fifo" >"$dir/out" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/fifo"
	poll 10 test -s "$dir/out" && poll 10 all_asleep
	for i in 1 2 3; do
		"$DPROBES" stat -q -o /dev/null --duration 20ms -p "$victim" \
			libc.so.6:epoll_wait libc.so.6:read libc.so.6:malloc \
			2>"$dir/err" || bad=$((bad + 1))
	done
	echo go >&5
	exec 5>&-
	wait "$victim"
	is "$1" "$? $bad $(grep -v asleep "$dir/out")" "0 0 0 failures"
}

disturb "threads asleep in eleven system calls notice nothing"
for call in epoll_wait "epoll_wait with a timeout" sigtimedwait nanosleep poll ppoll select futex read accept semtimedop; do
	disturb "$call, next to a thread in read()" "$call"
	disturb "$call, the only thread" "$call" alone
done
plan
