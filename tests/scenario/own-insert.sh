#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that stay (--insert) in a process that probes itself: the tool's guests and the process's own probes,
# at one instruction, in each order to come and to go.
. tests/scenario/lib.sh

put_away() { # a hold is nobody's child: cleanup() of lib.sh does not know it
	local p
	for p in "${pids[@]:-}"; do [ -z "$p" ] || "$DPROBES" -r -a -P "$p" 2>/dev/null; done
	cleanup
}
trap put_away EXIT
module=${MODULES:-build/tests/modules}/probe.so

live() { LD_PRELOAD=$PWD/build/libdprobes.so.1 start "$VICTIMS/live" work 2; }
# The library's own probes in libc come with the first of the process's, and stay.
text() { "$TOOLS/text-sum" "$victim" | grep '/live$'; }
own() { "$DPROBES" insmod "$module" kind=kprobe -p "$victim" >"$dir/talk" 2>&1; }
own_goes() { "$DPROBES" rmmod probe -p "$victim" >"$dir/talk" 2>&1; }
classic() { # ARGS...: sets $status and $err
	err=$("$DPROBES" "$@" 2>&1 >"$dir/stdout")
	status=$?
}
# A thread that could be asked is not there at any time: the tool says so, and is asked again.
agrees() { classic "$@"; ! [[ $err == *"does not answer"* || $err == *"try again"* ]]; }
order() { poll 10 agrees "$@"; }
field() { order -q -a -P "$victim" --json; sed -n "s/.*\"$1\":\(\[[^]]*\]\|[0-9]*\).*/\1/p" "$dir/stdout"; }
holder() { field hold | head -n 1; }
variable() { order -g -a -p "$victim" --json; sed -n 's/.*"index":0,"value":\([0-9]*\)}/\1/p' "$dir/stdout"; }
armed() { "$DPROBES" list -p "$victim" 2>/dev/null | awk '{ print $2, $3 }' | sort | xargs; }
ended() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }
# counts COMMAND: what it prints grows
counts() {
	local before
	before=$("$@")
	grown() { [ "$("$1")" -gt "$before" ]; }
	poll 10 grown "$1"
}
program() { # FILE LINES...
	local name=$1
	shift
	printf '%s\n' 'name = live' 'modtype = user' 'major = 1' "$@" >"$dir/$name.dp"
}
program counts 'vars = 1' 'offset = victim_function' 'minor = 4' 'inc lv,0' 'push r,rdi' 'log 1'
program some 'vars = 1' 'offset = victim_function' 'max_hits = 150' 'inc lv,0' 'push r,rdi' 'log 1'
program watched 'address = 0x1000' 'watch = w' 'len = 4' 'log 0'
program stops 'offset = victim_function' 'exit 1'

for arm in interior quiesce trap; do
	export DPROBES_ARM=$arm
	# Own first. The hold goes first, then the process's.
	live
	plain=$(text)
	own || not_ok "$arm: own probes" "$(cat "$dir/talk")"
	one=$(text)
	[ "$one" != "$plain" ] || not_ok "$arm: an own probe is in the text"
	order -i "$dir/counts.dp" -P "$victim"
	like "$arm: a program comes to own probes" "$status $(xargs <<<"$err")" "^0 .*1 of 1 point armed in process $victim; process [0-9]+ holds it"
	is "$arm: both are armed" "$(armed)" "d victim_function+0x0 k victim_function+0x0"
	counts variable
	is "$arm: the program counts" "$?" 0
	is "$arm: its status" "$(field flags) $(field status)" '["compiled","active"] 3'
	order -r -a -P "$victim"
	is "$arm: it goes" "$status $err" "0 "
	is "$arm: own probes stay, and nothing else" "$(armed) $(text)" "k victim_function+0x0 $one"
	own_goes
	is "$arm: they have counted all the time" "$("$DPROBES" dmesg -p "$victim" | grep -cE '[1-9][0-9]* hits, 0 returns, 0 missed')" 1
	is "$arm: the text is byte for byte what it was" "$(text)" "$plain"

	# The process's go first, then the hold; and new ones of the process come under the hold.
	own
	order -i "$dir/counts.dp" -P "$victim"
	own_goes
	is "$arm: own probes go from under a program" "$(armed)" "d victim_function+0x0"
	counts variable
	is "$arm: which counts on" "$?" 0
	own && is "$arm: and come again" "$(armed)" "d victim_function+0x0 k victim_function+0x0"
	own_goes
	order -r -a -P "$victim"
	is "$arm: the program goes last" "$status $(armed)" "0 "
	is "$arm: text after the last" "$(text)" "$plain"

	# Two programs: the first one stays as it is.
	order -i "$dir/some.dp" -P "$victim"
	is "$arm: a program without own probes" "$status" 0
	hold=$(holder)
	passed() { [ "$(field run)" = 150 ]; }
	poll 10 passed
	is "$arm: no hit beyond its last runs it" "$(field run) $(variable) $(field flags)" '150 150 ["compiled","disabled"]'
	classic -i "$dir/counts.dp" -P "$victim"
	like "$arm: another program" "$status $err" "^1 .*--merge adds to it, --replace puts"
	for how in -m -c; do
		classic -i "$dir/counts.dp" -P "$victim" $how
		like "$arm: $how" "$status $err" "^1 .*process $victim probes itself; one program is held there at a time"
	done
	classic stat live:victim_function -p "$victim" --duration 0.1
	like "$arm: another tool" "$status $err" '^1 .*already probed'
	is "$arm: the first is as it was" "$(holder) $(variable)" "$hold 150"

	# The hold is killed: what it has left counts, and the next one takes it out.
	kill -KILL "$hold"
	poll 10 ended "$hold"
	is "$arm: left by a hold that was killed" "$(armed)" "d victim_function+0x0"
	order -i "$dir/counts.dp" -P "$victim"
	is "$arm: the next one" "$status $(armed)" "0 d victim_function+0x0"
	hold=$(holder)
	kill -KILL "$hold"
	poll 10 ended "$hold"
	"$DPROBES" detach -p "$victim" >"$dir/talk" 2>&1
	is "$arm: or detach does" "$? $(armed) $(text)" "0  $plain"

	# The end of the process is the end of its hold.
	order -i "$dir/counts.dp" -P "$victim"
	hold=$(holder)
	kill -TERM "$victim"
	wait "$victim"
	is "$arm: the process ends as usual" "$?" 0
	poll 10 ended "$hold"
	is "$arm: and its hold" "$?" 0
done

live
own
classic -i "$dir/watched.dp" -P "$victim"
like "a watchpoint" "$status $err" '^[12] .*watched.dp:4:.*probes itself, and there programs have no watchpoints'
is "own probes stay" "$(armed)" "k victim_function+0x0"
one=$(text)
order -i "$dir/stops.dp" -P "$victim"
poll 10 stopped "$victim"
is "exit 1 in a program that stays" "$? $(text)" "0 $one"
kill -CONT "$victim"
worked "$victim" 1
is "the process goes on" "$?" 0

# Before its first own probe it is as any process; then it has to wait until the program has gone.
live
plain=$(text)
order -i "$dir/counts.dp" -P "$victim"
own
like "own probes while a tool's agent is there" "$? $(cat "$dir/talk")" '^1 .*victim_function: -16'
counts variable
is "the program counts on" "$?" 0
order -r -a -P "$victim"
own
is "then they come" "$? $(armed)" "0 k victim_function+0x0"
own_goes
is "and leave nothing" "$(text)" "$plain"
plan
