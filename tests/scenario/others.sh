#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Other tools at a process whose probes are armed as jumps: debuggers, tracers, profilers.
. tests/scenario/lib.sh
have() {
	command -v "$1" >/dev/null && return
	shift
	for name; do skip "$name" "it is not there"; done
	return 1
}
bytes() { dd if="/proc/$victim/mem" bs=1 skip=$((0x$addr)) count=16 2>/dev/null | od -An -tx1 | tr -d ' \n'; }
armed() { [ "$(bytes)" != "$before" ]; }
count() { hits "$dir/counts" libc.so.6:strtod; }

# begin HOW OPTION...: a victim that is probed where it spends its time. Under a tracer its signals are
# blocked (-b): now and then strace alone lets one come late.
begin() {
	local arm=$1
	shift
	start "$VICTIMS/storm" -t 2 "$@"
	addr=$("$DPROBES" list --json libc.so.6:strtod -p "$victim" | sed -n 's/.*"addr":"0x\([0-9a-f]*\)".*/\1/p')
	before=$(bytes)
	DPROBES_ARM=$arm "$DPROBES" stat -o "$dir/counts" libc.so.6:strtod libc.so.6:malloc libc.so.6:fork \
		-p "$victim" >"$dir/summary" 2>&1 &
	tool=$!
	pids+=("$tool")
	poll 10 armed
}
# finish NAME: the tool ends, then the program
finish() {
	interrupt "$tool"
	is "$1: the tool ends well" "$?" 0
	like "$1: hits" "$(count)" '^[1-9][0-9]*$'
	is "$1: the text is what it was" "$(bytes)" "$before"
	kill -TERM "$victim"
	wait "$victim"
	like "$1: the program is right" "$? $(tail -n 1 "$dir/out")" '^0 ok [1-9]'
}

sees_calls() { [ "$(wc -l 2>/dev/null <"$dir/strace")" -ge 20 ]; }
for how in interior quiesce; do
	if have gdb "gdb, $how"; then
		begin $how -b -c -f
		timeout 300 gdb -p "$victim" -batch -ex 'set pagination off' -ex 'handle all nostop noprint pass' \
			-ex "break *0x$addr" -ex continue -ex continue -ex 'info registers rip' -ex delete \
			-ex "tbreak *0x$addr" -ex continue -ex 'stepi 30' -ex bt -ex detach >"$dir/gdb" 2>&1
		is "gdb, $how: its breakpoints are hit" "$(grep -cE '^(Thread.* hit )?(Temporary b|B)reakpoint [12],' "$dir/gdb")" 3
		finish "gdb, $how"

		# It comes and goes while a breakpoint of its own is there, and the tool goes first.
		begin $how -b -c -f
		until_gone="while kill -INT $tool 2>/dev/null && ! grep -qs '^State:.Z' /proc/$tool/status; do sleep 0.02; done"
		timeout 300 gdb -p "$victim" -batch -ex 'set pagination off' -ex 'handle all nostop noprint pass' \
			-ex "break *0x$addr" -ex continue -ex "shell $until_gone" \
			-ex continue -ex delete -ex detach >"$dir/gdb" 2>&1
		wait "$tool"
		like "gdb outlives the tool, $how" "$? $(tail -n 1 "$dir/summary")" '^1 dprobes: .*being traced by someone else'
		until_hit strtod stat -q -o "$dir/counts" libc.so.6:strtod
		like "gdb outlives the tool, $how: the next one" "$? $(count)" '^0 [1-9]'
		is "gdb outlives the tool, $how: the text is what it was" "$(bytes)" "$before"
		kill -TERM "$victim"
		wait "$victim"
		like "gdb outlives the tool, $how: the program is right" "$? $(tail -n 1 "$dir/out")" '^0 ok [1-9]'
	fi
	if have strace "strace, $how"; then
		# Where there are children strace does not end by itself, whoever else is there.
		begin $how -b -c
		for i in 1 2 3; do
			rm -f "$dir/strace"
			strace -f -qq -o "$dir/strace" -p "$victim" 2>/dev/null &
			strace=$!
			pids+=("$strace")
			poll 20 sees_calls
			kill -TERM "$strace"
			wait "$strace"
		done
		like "strace, $how: it sees calls" "$(wc -l <"$dir/strace")" '^[1-9][0-9]+'
		finish "strace, $how"
	fi
	if have perf "perf, $how"; then
		begin $how -c -f
		if timeout 300 perf record -q -e cpu-clock -g -F 2000 -o "$dir/perf" -p "$victim" \
			-- bash -c '. tests/scenario/lib.sh; worked "$1" 20' - "$victim" >"$dir/perf.out" 2>&1; then
			like "perf, $how: samples" "$(perf script -i "$dir/perf" 2>/dev/null | grep -c cpu-clock)" '^[1-9]'
		else
			skip "perf, $how: samples" "it may not record"
		fi
		finish "perf, $how"
	fi
done

# What the kernel's uprobes do to the text of a process that is probed: count NAME, uproot.
mkfifo "$dir/end"
kernel_counts() {
	exec 9<>"$dir/end"
	# The one before was ready as well.
	rm -f "$dir/ready"
	"$TOOLS/uprobe-count" -o "$dir/kernel" "$place" -p "$victim" <"$dir/end" 9>&- >"$dir/ready" 2>"$dir/err" &
	kernel=$!
	pids+=("$kernel")
	poll 10 grep -q ready "$dir/ready"
}
kernel_ends() {
	exec 9>&-
	echo >"$dir/end"
	wait "$kernel"
	read -r seen _ <"$dir/kernel"
}
said() { grep -q "$1" "$dir/summary"; }
uprobes() {
	local how=$1
	start "$VICTIMS/storm" -t 2 -f
	addr=$("$DPROBES" list --json libc.so.6:strtod -p "$victim" | sed -n 's/.*"addr":"0x\([0-9a-f]*\)".*/\1/p')
	before=$(bytes)
	kernel_counts
	"$DPROBES" stat --duration 1s libc.so.6:strtod -p "$victim" 2>"$dir/refused"
	like "uprobes, $how: one that is there is respected" "$? $(head -n 1 "$dir/refused")" \
		'^[12] dprobes: libc.so.6:strtod cannot be probed: .*breakpoint.*'
	kernel_ends
	like "uprobes, $how: and counts" "$seen" '^[1-9]'
	kill -TERM "$victim"
	wait "$victim"

	begin "$how" -f
	kernel_counts
	[ "$how" = trap ] || poll 10 said 'somebody else has set a breakpoint'
	worked "$victim" 10
	kernel_ends
	if [ "$how" = quiesce ]; then worked "$victim" 20; else poll 10 said 'has gone; it is probed again'; fi
	like "uprobes, $how: one that comes and goes counts" "$seen" '^[1-9]'
	[ "$how" = quiesce ] || is "uprobes, $how: ours is back" "$(armed && echo yes)" yes
	finish "uprobes, $how, gone first"

	begin "$how" -f
	kernel_counts
	[ "$how" = trap ] || poll 10 said 'somebody else has set a breakpoint'
	interrupt "$tool"
	worked "$victim" 10
	if [ "$how" = trap ]; then
		kernel_ends
	else
		like "uprobes, $how, ours gone first: theirs is where it was" "$(bytes)" "^cc${before#??}"
		kernel_ends
		like "uprobes, $how, ours gone first: theirs counts" "$seen" '^[1-9]'
	fi
	is "uprobes, $how, ours gone first: the text is what it was" "$(bytes)" "$before"
	kill -TERM "$victim"
	wait "$victim"
	like "uprobes, $how, ours gone first: the program is right" "$? $(tail -n 1 "$dir/out")" '^0 ok [1-9]'
}
# The same, where a program has uprobes of the library's there.
jumps() { [[ $(bytes) = e9* ]]; }
ceded() { [[ $(bytes) = "cc${before:2:8}"* ]]; }
library_uprobes() {
	start "$VICTIMS/storm" -t 2 -f
	addr=$("$DPROBES" list --json libc.so.6:strtod -p "$victim" | sed -n 's/.*"addr":"0x\([0-9a-f]*\)".*/\1/p')
	before=$(bytes)
	"$TOOLS/upcount" "$victim" "$addr" 300 >"$dir/upcount" 2>&1 &
	tool=$!
	pids+=("$tool")
	poll 10 jumps
	kernel_counts
	poll 10 ceded
	is "uprobes of both kinds: ours cedes" "$?" 0
	worked "$victim" 10
	kernel_ends
	poll 10 jumps
	is "uprobes of both kinds: ours is back" "$?" 0
	like "uprobes of both kinds: the kernel's counts" "$seen" '^[1-9]'
	worked "$victim" 10
	kill -TERM "$victim"
	wait "$victim"
	like "uprobes of both kinds: the program is right" "$? $(tail -n 1 "$dir/out")" '^0 ok [1-9]'
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
}
place=$("$TOOLS/spec-offset" libc.so.6:strtod -- "$VICTIMS/storm" 2>/dev/null)
"$TOOLS/uprobe-count" -o "$dir/kernel" "$place" -- true 2>/dev/null
if [ $? -eq 77 ]; then
	skip uprobes "the kernel's uprobes are not to be had"
else
	for how in interior quiesce trap; do uprobes $how; done
	library_uprobes
fi
plan
