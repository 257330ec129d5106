#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Children, exec, threads, exceptions, and SIGTRAPs that are not ours.
. tests/scenario/lib.sh

count() { # SPEC CMD...: hits and output
	local spec=$1
	shift
	out=$("$DPROBES" stat -o "$dir/counts" "$spec" -- "$@" 2>"$dir/err")
	status=$?
	got=$(awk 'NR == 2 { print $1 }' "$dir/counts")
}

count calls:victim_function "$VICTIMS/calls" 4 5000
is "four threads: every hit, once" "$got $status" "20000 0"
is "four threads: the output" "$out" "$("$VICTIMS/calls" 4 5000)"

count forker:victim_function "$VICTIMS/forker"
is "children of every kind run on correctly" "$out $status" "0 failures 0"
is "and are not counted" "$got" 200

"$DPROBES" stat -q -o "$dir/counts" libc.so.6:malloc libc.so.6:free thrower:thrower_inner thrower:thrower_outer \
	libstdc++.so.6:__cxa_throw libgcc_s.so.1:_Unwind_RaiseException -- "$VICTIMS/thrower" >"$dir/out"
is "exceptions through probed functions" "$? $(cat "$dir/out")" "0 $("$VICTIMS/thrower")"
is "and their counts" "$(hits "$dir/counts" thrower:thrower_inner) $(hits "$dir/counts" thrower:thrower_outer)" "3000 3000"
is "and of what throws" "$(awk '/:(__cxa_throw|_Unwind_RaiseException)$/ { print $1 }' "$dir/counts" | xargs)" "1000 1000"

for when in before after; do
	count victim_function "$VICTIMS/own-trap" $when <<<go
	is "own SIGTRAP handler, set $when the start" "$(tail -n 1 <<<"$out") $status" "0 failures 0"
	is "and the probe's hits ($when)" "$got" "4002"

	mkfifo "$dir/fifo.$when"
	: >"$dir/out"
	"$VICTIMS/own-trap" $when <"$dir/fifo.$when" >"$dir/out" &
	victim=$!
	pids+=($victim)
	exec 5>"$dir/fifo.$when"
	poll 10 test -s "$dir/out"
	"$DPROBES" stat -q -o "$dir/counts" victim_function -p $victim 2>"$dir/err" &
	tool=$!
	poll 10 sh -c "'$DPROBES' list -p $victim | grep -q victim_function"
	echo go >&5
	exec 5>&-
	wait $victim
	is "own SIGTRAP handler, attached, handler set $when" "$? $(tail -n 1 "$dir/out")" "0 0 failures"
	wait $tool
	is "and the probe's hits (attached, $when)" "$(awk 'NR == 2 { print $1 }' "$dir/counts")" "4002"
done

(ulimit -c 0; "$DPROBES" stat -o "$dir/counts" victim_function -- "$VICTIMS/own-trap" default <<<go >/dev/null 2>"$dir/err")
is "a program's own int3 without a handler kills it as ever" "$?" 133
like "and that is not called ours" "$(cat "$dir/err")" 'own-trap was killed by SIGTRAP$'

count libc.so.6:malloc /bin/sh -c 'exec /usr/bin/sort </dev/null'
like "exec ends the probes, and the summary says so" "$(cat "$dir/err")" 'exec of /usr/bin/sort ended the probes$'
count libc.so.6:execve /bin/sh -c '/nonexistent/x; exit 3'
like "an exec that fails does not" "$status $(tail -n 1 "$dir/err")" '^3 .*exited with status 3$'
out=$("$DPROBES" stat -q -o "$dir/counts" victim_function -- "$VICTIMS/execs" 200 2>"$dir/err")
is "nor one in a vfork child, by syscall(3), whose hits are none of ours" "$? $out $(hits "$dir/counts" execs:victim_function)" \
	"0 200 200"

# What a command inherits of the breakpoints' signal it has when it begins.
for how in block ignore; do
	for follow in "" -f; do
		wanted=$("$VICTIMS/dispositions" $how "$VICTIMS/dispositions")
		got=$("$VICTIMS/dispositions" $how "$DPROBES" stat $follow -q -o /dev/null libc.so.6:malloc -- "$VICTIMS/dispositions")
		is "launched ${follow:-alone}, with SIGTRAP to $how: it is as it was inherited" "$got" "$wanted"
	done
done
plan
