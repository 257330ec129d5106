#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool is killed, stopped, or loses its terminal, and the program is stopped or killed, while probes
# are armed. What is left goes quiet, and "dprobes detach" or the next dprobes takes it out.
. tests/scenario/lib.sh

start "$VICTIMS/busy" 3
maps_of "$victim" >"$dir/maps"
"$TOOLS/text-sum" "$victim" >"$dir/text"
clean() { maps_of "$victim" | diff "$dir/maps" - && "$TOOLS/text-sum" "$victim" | diff "$dir/text" -; }
# Its probes count, and the tool has armed them all: it waits for what may happen (in poll(2), call 7).
hits_some() { [[ $(number hits) == [1-9]* ]]; }
let_go() { hits_some && grep -q '^TracerPid:.0$' "/proc/$victim/status"; }
armed() { let_go && [[ $(cat "/proc/$tool/syscall") == "7 "* ]]; }
listed() { "$DPROBES" list -p "$victim" | grep -q malloc; }
# The numbers before a word in the list of what is armed.
number() { "$DPROBES" list -v -p "$victim" | sed -n "s/.* \([0-9]*\) $1.*/\1/p" | head -n 1; }
ticks() { awk '{ print $14 + $15 }' "/proc/$victim/stat"; }
moves() { [ "$(ticks)" -gt "$before" ]; }
is_state() { grep -q "^State:.*$2" "/proc/$1/status"; }

begin() { # VERB [CONDITION]: at work on the victim
	"$DPROBES" "$1" -o /dev/null libc.so.6:malloc libc.so.6:free -p "$victim" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 "${2:-armed}"
}
dies() { # SIGNAL
	kill -"$1" "$tool"
	wait "$tool" 2>/dev/null
	status=$?
}

begin stat
out=$("$DPROBES" detach -p "$victim" 2>&1)
like "detach leaves a dprobes that is at work alone" "$? $out" "^1 .*already probed by dprobes $tool"
held() { "$DPROBES" list --json -p "$victim" | grep -oE '"tool":[0-9]+' | sort -u; }
is "list says whose the probes are" "$(held)" "\"tool\":$tool"
dies KILL
is "and that it has ended" "$(held) $("$DPROBES" list -v -p "$victim" | grep -vc 'its tool has ended$')" '"tool":0 0'
out=$("$DPROBES" detach -p "$victim" 2>&1)
is "detach takes out what a killed one left" "$? $out" "0 dprobes: what was left in process $victim has been taken out"
is "and nothing is left then" "$(clean)" ""
out=$("$DPROBES" detach -p "$victim" 2>&1)
is "where there is nothing it says so" "$? $out" "0 dprobes: nothing was left in process $victim"

begin trace let_go # which is busy, and hardly ever waits
dies KILL
missed=$(number missed)
more() { [ "$(number missed)" -gt "$missed" ]; }
poll 10 more # by then no thread is on its way that had not seen the end
hits=$(number hits)
missed=$(number missed)
poll 10 more
is "after the tool's end its probes do nothing" "$(number hits | awk -v h="$hits" '{ print ($1 > 0 && $1 == h) }')" 1
if more; then ok "and the hits are counted as missed"; else not_ok "hits after the tool's end are not counted as missed"; fi
until_hit malloc stat --json -q -o "$dir/counts" libc.so.6:malloc
like "the next dprobes takes over" "$(cat "$dir/counts")" '"hits":[1-9]'
is "and leaves nothing" "$(clean)" ""

begin stat
dies HUP
is "a closed terminal ends the tool in good order" "$status $(clean)" "0 "
like "and the summary says so" "$(tail -n 1 "$dir/talk")" 'interrupted$'

begin stat
kill -STOP "$tool"
before=$(ticks)
poll 10 moves && ok "the tool is stopped: the program goes on" || not_ok "the tool is stopped: the program goes on"
kill -CONT "$tool"
kill -STOP "$victim"
poll 10 is_state "$victim" T
dies INT
is "the program is stopped: the tool leaves all the same" "$status $(clean)" "0 "
poll 1 is_state "$victim" T && ok "and it is still stopped" || not_ok "and it is still stopped" "$(grep State "/proc/$victim/status")"
begin stat listed
dies KILL
out=$("$DPROBES" detach -q -p "$victim" 2>&1)
is "stopped, attached to and cleaned" "$? $out$(clean)" "0 "
poll 1 is_state "$victim" T && ok "and still stopped" || not_ok "and still stopped" "$(grep State "/proc/$victim/status")"
kill -CONT "$victim"
before=$(ticks)
poll 10 moves && ok "it goes on with SIGCONT" || not_ok "it goes on with SIGCONT"
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"

start "$VICTIMS/busy" 3
begin stat
kill -KILL "$victim"
wait "$tool"
like "the program is killed: the tool says so" "$? $(tail -n 1 "$dir/talk")" '^0 .*busy was killed by SIGKILL$'

# Its first probes count while the last ones are being written.
for nth in 1 2 3; do
	start "$VICTIMS/busy" 3
	DPROBES_HALT=sync DPROBES_NTH=$nth build/tests/dprobes-kill-points stat -o /dev/null libc.so.6:malloc libc.so.6:free \
		-p "$victim" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 is_state "$tool" T
	kill -KILL "$victim"
	kill -CONT "$tool"
	wait "$tool"
	like "it is killed while it is armed, write $nth" "$? $(head -n 1 "$dir/talk") $(tail -n 1 "$dir/talk")" \
		'^0 steps: stopped after sync dprobes: .*: [0-9]+ hits, 0 missed; busy was killed by SIGKILL$'
done

# A command that has not come to its own code yet.
out=$(DPROBES_KILL_POINT="launch: forked" build/tests/dprobes-kill-points stat -q -o /dev/null libc.so.6:malloc -- echo ran 2>"$dir/talk")
is "the tool is killed before it has seized its command: that does not run" \
	"$out $(cat "$dir/talk")" " steps: killed after launch: forked"
launch() { # STEP OPTIONS...: the tool waits with its command in its hands
	local step=$1
	shift
	DPROBES_HALT="launch: $step" build/tests/dprobes-kill-points stat "$@" -o /dev/null libc.so.6:malloc -- \
		"$VICTIMS/busy" 3 >"$dir/out" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 is_state "$tool" T
	read -r victim <"/proc/$tool/task/$tool/children"
	pids+=("$victim")
}
runs_stopped() { [ "$(readlink "/proc/$victim/exe")" -ef "$VICTIMS/busy" ] && is_state "$victim" "[Tt] ("; }
# Stopped, and not for the tool: its probes are armed, and the tool waits for what may happen.
left_stopped() { runs_stopped && listed && [[ $(cat "/proc/$tool/syscall") == "7 "* ]]; }
for f in "" -f; do
	launch seized $f
	kill -STOP "$victim"
	kill -CONT "$tool"
	poll 10 left_stopped
	is "a command is stopped while it starts${f:+, $f}: it stays so" "$? $(grep -c . "$dir/out")" "0 0"
	before=$(ticks)
	kill -CONT "$victim"
	poll 10 moves && ok "and goes on with SIGCONT${f:+, $f}" || not_ok "and goes on with SIGCONT${f:+, $f}"
	kill -TERM "$victim"
	wait "$tool"
done
launch seized
kill -TRAP "$victim"
kill -CONT "$tool"
wait "$tool"
like "a command is sent a SIGTRAP while it starts: it dies of that" "$? $(tail -n 1 "$dir/talk")" \
	'^126 dprobes: .*busy cannot be executed: a signal has ended it$'
# The terminal's size changes before all its libraries are in place.
launch "libraries to come"
kill -WINCH "$victim"
kill -CONT "$tool"
poll 10 listed
is "a command gets a signal while it is stepped: it is probed" "$?" 0
kill -TERM "$victim"
wait "$tool"
is "and runs to its end" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"

# Its memory comes to an end just before its own.
start "$VICTIMS/blocked" mask 0
DPROBES_FAIL="leave: memory for masks" build/tests/dprobes-kill-points stat -q -o /dev/null --duration 20ms work -p "$victim" 2>"$dir/talk"
like "no memory to give signal masks back: the tool says so" "$? $(tail -n 1 "$dir/talk")" \
	"^1 dprobes: there is no memory to give process $victim its signal masks back; the agent stays there, inert;"
out=$("$DPROBES" detach -p "$victim" 2>&1)
is "the next dprobes takes the agent out" "$? $out" "0 dprobes: what was left in process $victim has been taken out"
kill -TERM "$victim"
wait "$victim"
is "the program had its masks all the time" "$? $(tail -n 1 "$dir/out")" "0 right: mask"
plan
