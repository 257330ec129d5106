#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What another version or build of dprobes has put into a process is left alone: to take it out, or
# to add to it, one has to know its layout and where its agent is entered.
. tests/scenario/lib.sh

# In the arena's file the arena is what is no code; the agent's text is the last code before it.
area() { awk '/\/memfd:dprobes/ { if ($2 != "r-xp") { print text; exit } text = $1 }' "/proc/$victim/maps"; }
arena() { awk '/\/memfd:dprobes/ && $2 != "r-xp" { sub(/-.*/, "", $1); print "0x" $1; exit }' "/proc/$victim/maps"; }
poke() { # ADDRESS BYTES: some of the victim's memory
	printf "$2" | dd of="/proc/$victim/mem" bs=1 seek=$(($1)) conv=notrunc status=none
}
peek() { dd if="/proc/$victim/mem" bs=1 skip=$(($1)) count="$2" status=none | od -An -v -tx1 | tr -d ' \n'; }
# The last byte of a long nop in the agent's text, which nothing reads: its address
padding() {
	local range size at

	range=$(area)
	size=$((0x${range#*-} - 0x${range%-*}))
	at=$(dd if="/proc/$victim/mem" bs=4096 skip=$((0x${range%-*} / 4096)) count=$((size / 4096)) status=none |
		LC_ALL=C grep -abo -m1 -P '\x0f\x1f\x84\x00\x00\x00\x00\x00' | head -n 1 | cut -d: -f1)
	echo $((0x${range%-*} + at + 7))
}
says() { # WHAT WANTED COMMAND...: fails with these words
	local what=$1 wanted=$2 out

	out=$("${@:3}" 2>&1)
	like "$what" "$? $out" "^1 [a-z]+: process $victim, of uid $(id -u), has probes of another $wanted in it, which this dprobes \(layout [0-9]+\) must not touch; use the dprobes that they are of\$"
}
moves() { # the victim goes on
	local before

	before=$(awk '{ print $14 + $15 }' "/proc/$victim/stat")
	further() { [ "$(awk '{ print $14 + $15 }' "/proc/$victim/stat" 2>/dev/null)" -gt "$before" ] 2>/dev/null; }
	poll 10 further
}

# Of another build: the same layout, but not the same bytes.
start "$VICTIMS/busy" 3
maps_of "$victim" >"$dir/maps"
"$TOOLS/text-sum" "$victim" >"$dir/text"
"$DPROBES" stat -o /dev/null libc.so.6:malloc -p "$victim" 2>/dev/null &
tool=$!
pids+=("$tool")
hits_some() { "$DPROBES" list -v -p "$victim" | grep -q ' [1-9][0-9]* hits'; }
poll 10 hits_some
kill -KILL "$tool"
wait "$tool" 2>/dev/null
at=$(padding)
is "there is padding in the agent" "$(peek $((at - 7)) 8)" 0f1f840000000000
poke "$at" '\x01'
says "another build: the next dprobes" build "$DPROBES" stat libc.so.6:malloc -p "$victim" --duration 1
says "another build: detach" build "$DPROBES" detach -p "$victim"
is "another build: its probes are listed" "$("$DPROBES" list -p "$victim" | grep -c malloc)" 1
is "another build: the program goes on" "$(moves; echo $?)" 0
poke "$at" '\x00'
is "its own dprobes takes them out" "$("$DPROBES" detach -p "$victim" 2>&1)" \
	"dprobes: what was left in process $victim has been taken out"
is "and nothing is left then" "$(maps_of "$victim" | diff "$dir/maps" - && "$TOOLS/text-sum" "$victim" | diff "$dir/text" -)" ""
kill -TERM "$victim"
wait "$victim"
is "and the program found its results right" "$?" 0

# Of another version: a process that probes itself with its own libdprobes can have any.
LD_PRELOAD=$PWD/build/libdprobes.so.1 start "$VICTIMS/live" work 2
"$DPROBES" insmod "${MODULES:-build/tests/modules}/probe.so" kind=kprobe -p "$victim"
version=$(peek $(($(arena) + 8)) 1)
other=$((0x$version + 1))
is "an arena has its version" "$(peek "$(arena)" 8)" 447050726f626531
poke $(($(arena) + 8)) "\\x$(printf %x "$other")"
for verb in "stat victim_function --duration 1" "detach" "list"; do
	# shellcheck disable=SC2086
	says "another version: ${verb%% *}" "version \(layout $other\)" "$DPROBES" $verb -p "$victim"
done
says "another version: a client of Uprobes" "version \(layout $other\)" "$TOOLS/upcount" "$victim" 0x1000 0.1
is "another version: the program goes on" "$(moves; echo $?)" 0
poke $(($(arena) + 8)) "\\x$version"
is "its own dprobes lists them" "$("$DPROBES" list -p "$victim" | grep -c victim_function)" 1

# What makes no sense is left as it is, too.
size=$(($(arena) + 16))
was=$(peek "$size" 8)
poke "$size" '\xff\xff\xff\xff\xff\xff\xff\x7f'
out=$("$DPROBES" stat victim_function --duration 1 -p "$victim" 2>&1)
like "an arena that is damaged" "$? $out" "^1 dprobes: what is mapped into process $victim as dprobes is damaged"
is "an arena that is damaged: the program goes on" "$(moves; echo $?)" 0
poke "$size" "$(sed 's/../\\x&/g' <<<"$was")"
kill -KILL "$victim"
wait "$victim" 2>/dev/null
plan
