#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that confine themselves while they are probed: they run as they do unprobed.
. tests/scenario/lib.sh
CALLS=20000
END='; the probes have ended before it'
AGAIN='; attach again once it is there \(-p [0-9]+\)$'
FORBIDS="$END installs a seccomp filter that forbids"
specs=(victim_function short_function)

# What has to be said of each, and how often each function is to be hit: a number, or
# "more" where other threads work until the probes end.
declare -A says=(
	[strict]="$END enters seccomp's strict mode$AGAIN"
	[strict2]="$END enters seccomp's strict mode$AGAIN"
	[tight]="$FORBIDS rt_sigreturn$AGAIN" [tight2]="$FORBIDS rt_sigreturn$AGAIN"
	[threads]="$FORBIDS rt_sigreturn$AGAIN" [tsync]="$FORBIDS rt_sigreturn$AGAIN"
	[second]="$FORBIDS rt_sigreturn$AGAIN" [returns]="$FORBIDS rt_sigaction$AGAIN"
	[nosy]="$FORBIDS process_vm_readv$AGAIN"
	[loose]='exited with status 7$' [null]='exited with status 7$' [child]='exited with status 7$')
declare -A hits=([second]=$((2 * CALLS)) [loose]=$((2 * CALLS)) [null]=$((2 * CALLS)) [child]=$((2 * CALLS))
	[threads]=more [tsync]=more [nosy]=more)

# all_hits FUNCTION: of all processes
all_hits() { hits "$dir/counts" "sandbox:$1" | awk '{ n += $1 } END { print n }'; }
# as_unprobed NAME VICTIM HOW SAYS HITS COMMAND...: the command's, which probes it
as_unprobed() {
	local name=$1 victim=$2 how=$3 says=$4 hits=$5 status wanted f
	shift 5
	wanted=$("$victim" "$how")
	status=$?
	"$@" -o "$dir/counts" "${specs[@]}" -- "$victim" "$how" >"$dir/out" 2>"$dir/err"
	is "$name: its results, output and status" "$? $(cat "$dir/out")" "$status $wanted"
	like "$name: what ended the probes" "$(tail -n 1 "$dir/err")" "$says"
	for f in "${specs[@]}"; do
		if [ "$hits" != more ]; then
			is "$name: hits of $f" "$(all_hits "$f")" "$hits"
		elif [ "$(all_hits "$f")" -lt $CALLS ]; then
			not_ok "$name: hits of $f" "$(cat "$dir/counts")"
		fi
	done
}

# kind VICTIM HOW...: all of them
kind() {
	local victim=$1 how
	shift
	for how in "$@"; do
		as_unprobed "$DPROBES_ARM, ${victim#"$VICTIMS/"}, $how" "$victim" "$how" "${says[$how]}" "${hits[$how]:-$CALLS}" \
			"$DPROBES" stat
	done
}

export DPROBES_ARM=interior
kind "$VICTIMS/sandbox" strict strict2 tight tight2 returns loose second nosy threads tsync null child
export DPROBES_ARM=quiesce
kind "$VICTIMS/sandbox" tsync
export DPROBES_ARM=trap
kind "$VICTIMS/sandbox" strict tight second nosy tsync child
for libc in static musl musl-static; do
	kind "$VICTIMS/$libc/sandbox" tight tight2
done
unset DPROBES_ARM

# With -f each for itself.
bare="^dprobes: process [0-9]+ goes on without probes: it installs a seccomp filter that forbids rt_sigreturn$"
for how in tight tsync child; do
	want=$CALLS
	[ $how = tsync ] && want=more
	# A child has called the functions as often by then, and its parent does so twice.
	[ $how = child ] && want=$((3 * CALLS))
	as_unprobed "followed, $how" "$VICTIMS/sandbox" $how 'exited with status 7$' "$want" "$DPROBES" stat -f
	like "followed, $how: who goes on without" "$(cat "$dir/err")" "$bare"
done

# A filter that is not seen to come.
{ "$DPROBES" stat -o "$dir/counts" "${specs[@]}" -- "$VICTIMS/sandbox" raw >"$dir/out" 2>"$dir/err"; } 2>/dev/null
like "past all hooks: who dies of it is told why" "$? $(tail -n 1 "$dir/err")" \
	'^159 .*was killed by SIGSYS: a seccomp filter forbids a call; .*attach again once it is there$'

# begin HOW: a victim that waits, and what it is to say; probed it is by whoever comes
begin() {
	rm -f "$dir/go"
	mkfifo "$dir/go"
	: >"$dir/out"
	"$VICTIMS/sandbox" "$1" wait <>"$dir/go" >"$dir/out" 2>/dev/null &
	victim=$!
	pids+=("$victim")
	poll 10 test -s "$dir/out"
}
go() { echo >"$dir/go"; }
# its status and last line, in $got
ended() {
	{ wait "$victim"; } 2>/dev/null
	got="$? $(tail -n 1 "$dir/out")"
}
over() { [ ! -d "/proc/$tool" ] || grep -q '^State:.Z' "/proc/$tool/status" 2>/dev/null; }
armed_or_over() { over || armed; }
armed() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q short; }
# attach [COMMAND]: in the background, until it has armed
attach() {
	"${1:-$DPROBES}" stat -o "$dir/counts" "${specs[@]}" -p "$victim" 2>"$dir/terr" &
	tool=$!
	pids+=("$tool")
	poll 10 armed
}
gone() { { kill -KILL "$1" && wait "$1"; } 2>/dev/null; }

# The tool is killed before, and while it is asked; or it is stopped, and does not answer.
for how in tight threads strict; do
	begin $how
	attach
	gone "$tool"
	go
	ended
	is "$how: the tool was killed before" "$got" "7 right: $how"
done
for how in tight threads; do
	begin $how
	attach
	kill -STOP "$tool"
	go
	ended
	is "$how: the tool is stopped" "$got" "7 right: $how"
	kill -CONT "$tool"
	wait "$tool"
	like "$how: it says that it was too late" "$? $(tail -n 1 "$dir/terr")" '^0 .*(did not look in time|exited with status 7)'
done
for how in tight threads; do
	begin $how
	attach
	kill -STOP "$tool"
	go
	sleep 0.2
	gone "$tool"
	ended
	is "$how: the tool is killed while it is asked" "$got" "7 right: $how"
done

# Uprobes of a program: its library takes them out; or is killed before.
address() { "$DPROBES" list --json victim_function -p "$1" | sed -n 's/.*"addr":"\{0,1\}\([0-9a-fx]*\).*/\1/p'; }
for how in tight strict2 killed; do
	[ $how = killed ] && is=tight || is=$how
	begin $is
	"$TOOLS/upcount" "$victim" "$(address "$victim")" 60 >"$dir/counts" 2>&1 &
	tool=$!
	pids+=("$tool")
	poll 10 grep -q memfd:dprobes "/proc/$victim/maps"
	[ $how = killed ] && gone "$tool"
	go
	ended
	is "Uprobes, $how: it is right" "$got" "7 right: $is"
	gone "$tool"
done

# And after each step of its protocols.
bad=
for ((n = 1; n < 150; n += ${STEPS:-3})); do
	begin tight
	DPROBES_KILL_POINT=$n build/tests/dprobes-kill-points stat -o /dev/null "${specs[@]}" -p "$victim" 2>"$dir/terr" &
	tool=$!
	pids+=("$tool")
	poll 10 armed_or_over
	go
	ended
	[ "$got" = "7 right: tight" ] || bad+=" $n: $got;"
	wait "$tool" 2>/dev/null
	[ $? -eq 137 ] || break
done 2>/dev/null
is "killed after each step: it runs as unprobed" "$bad" ""
like "there are steps" "$n" '^[3-9][0-9]$'
plan
