#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Kinds of programs × what happens to them × how they are probed, in and out of a user namespace.
# The program checks its results and counts its own calls; so do we.
. tests/scenario/lib.sh

source=tests/victims/matrix.c
cc=${CC:-cc}
mkdir "$dir/bin"
# kind NAME COMMAND...: build the victim that way
kinds=()
kind() {
	local name=$1
	shift
	if ! command -v "$1" >/dev/null || ! "$@" -D_GNU_SOURCE -O2 -pthread -o "$dir/bin/$name" $source 2>"$dir/err"; then
		skip "$name" "it cannot be built: $(head -n 1 "$dir/err")"
	elif ! "$DPROBES" stat -q -o /dev/null victim_function -- "$dir/bin/$name" nothing 1 >/dev/null 2>"$dir/err"; then
		if grep -q 'cannot\|can be probed\|not .*probed' "$dir/err"; then
			skip "$name" "it is refused: $(sed -n '1s/^dprobes: //p' "$dir/err")"
		else
			not_ok "$name: neither probed nor refused" "$(cat "$dir/err")"
		fi
	else
		kinds+=("$name")
	fi
}
said() { sed -n "s/^right: .*$1 \([0-9]*\).*/\1/p" "$dir/out"; }
sum() { sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/counts" | awk '{ s += $1 } END { print s + 0 }'; }
armed() { "$DPROBES" list -p "$victim" | grep -q victim_function; }

# balance FOLLOW EVENT ROUNDS: what we counted is what the program did. One that ends with its
# threads anywhere, or executes, may have counted a call that it did not come to make.
balance() {
	local want off most=0
	want=$(($(said own) + ($1 ? $(said others) : 0)))
	off=$((want - $(sum)))
	if [ "$1" = 1 ]; then
		case $2 in
		exec | exit) most=$((3 * $3)) ;;
		esac
	fi
	if [ $off -ge 0 ] && [ $off -le $most ]; then echo all; else echo "$(sum) of $want"; fi
}
# begin WHERE...: the victim, waiting for a line
begin() {
	rm -f "$dir/in"
	mkfifo "$dir/in"
	: >"$dir/out"
	"$@" wait <"$dir/in" >"$dir/out" 2>"$dir/err" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/in"
	poll 10 grep -q ready "$dir/out"
}
go() { echo go >&5; }
over() { exec 5>&-; }
tool() { # OPTION...
	"$DPROBES" stat --json -q "$@" -o "$dir/counts" victim_function -p "$victim" 2>"$dir/talk" 5>&- &
	tool=$!
	pids+=("$tool")
	poll 10 armed
}

launched() { # NAME FOLLOW EVENT ROUNDS PREFIX...
	local name=$1 follow=$2 event=$3 rounds=$4 option=
	shift 4
	[ "$follow" = 0 ] || option=-f
	"$@" "$DPROBES" stat --json -q $option -o "$dir/counts" victim_function -- "$bin" "$event" "$rounds" >"$dir/out" 2>"$dir/talk"
	is "$name" "$? $(balance "$follow" "$event" "$rounds")" "0 all"
}
attached() { # the same
	local name=$1 follow=$2 event=$3 rounds=$4 option= status
	shift 4
	[ "$follow" = 0 ] || option=-f
	begin "$@" "$bin" "$event" "$rounds"
	tool $option
	go
	over
	wait "$victim"
	status=$?
	wait "$tool"
	is "$name" "$status $? $(balance "$follow" "$event" "$rounds")" "0 0 all"
}
text() { "$TOOLS/text-sum" "$victim"; }
# stirred NAME HOW PREFIX...: what happens to the tool, or to the program from outside
stirred() {
	local name=$1 how=$2 before status
	shift 2
	begin "$@" "$bin" nothing 300
	before=$(text)
	tool
	go
	case $how in
	tool-KILL)
		kill -KILL "$tool"
		wait "$tool"
		"$DPROBES" detach -q -p "$victim"
		is "$name: it is cleaned" "$? $(text)" "0 $before"
		;;
	tool-STOP)
		kill -STOP "$tool"
		poll 5 stopped "$tool"
		kill -CONT "$tool"
		;;
	program-STOP)
		for _ in 1 2 3; do
			kill -STOP "$victim"
			poll 5 stopped "$victim"
			kill -CONT "$victim"
		done
		;;
	detach-stopped)
		kill -STOP "$victim"
		interrupt "$tool"
		is "$name: the tool leaves it" "$? $(text)" "0 $before"
		kill -CONT "$victim"
		;;
	program-KILL)
		over
		kill -KILL "$victim"
		wait "$victim"
		wait "$tool"
		is "$name" "$?" 0
		return
		;;
	esac
	over
	wait "$victim"
	status=$?
	wait "$tool"
	case $how in
	*-STOP) is "$name" "$status $? $(balance 0 nothing 300)" "0 0 all" ;;
	*) is "$name" "$status $(said wrong)" "0 0" ;;
	esac
}

kind dynamic "$cc"
kind fixed-address "$cc" -no-pie
kind static "$cc" -static
kind static-pie "$cc" -static-pie
kind musl musl-gcc
kind musl-static musl-gcc -static

places=(out)
if unshare -Ur true 2>/dev/null; then places+=(in); else skip "in a user namespace" "this machine does not allow them"; fi

for kind in "${kinds[@]}"; do
	bin=$dir/bin/$kind
	for place in "${places[@]}"; do
		prefix=()
		[ $place = out ] || prefix=(unshare -Ur)
		at="$kind, $place"
		for event in fork vfork posix_spawn clone exec dlopen threads signals exit; do
			case $kind/$event in
			*static*/dlopen) continue ;; # there is no linker
			esac
			launched "$at, $event, launched" 0 $event 5 "${prefix[@]}"
			attached "$at, $event, attached" 0 $event 5 "${prefix[@]}"
			case $event in
			fork | vfork | posix_spawn | clone | exec | exit)
				launched "$at, $event, launched -f" 1 $event 5 "${prefix[@]}"
				attached "$at, $event, attached -f" 1 $event 5 "${prefix[@]}"
				;;
			esac
		done
		for how in tool-KILL tool-STOP program-STOP detach-stopped program-KILL; do
			stirred "$at, $how" $how "${prefix[@]}"
		done
	done
done 2>/dev/null
plan
