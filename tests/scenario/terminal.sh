#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Names and messages that others choose come to the terminal as text, whatever is in them, and --json is
# JSON in UTF-8.
. tests/scenario/lib.sh

modules=${MODULES:-build/tests/modules}
library=$PWD/build/libdprobes.so.1
# C0, a newline, C1 as UTF-8 and as a byte, DEL, a byte that is no UTF-8; and a character that is.
bad=$'e\e]0;x\a\nf\xc2\x9b\x9b\x7f\xff\xc3\xa9'
# Programs with such names, and functions with what symbols may have of it; the kernel cuts the names
# of threads.
program=$dir/$bad
short=$dir/short$bad
symbol=$'victim_f\xc2\x9b\x9b\xff\xc3\xa9'
objcopy --redefine-sym "victim_function=$symbol" "$VICTIMS/live" "$program"
objcopy --redefine-sym "victim_function=$symbol" "$VICTIMS/calls" "$short"
chmod 755 "$program" "$short"
odd=$'o\e]0;x\a\xc2\x9b\xff'
oshown='o\x1b]0;x\x07\xc2\x9b\xff'
cp "$modules/odd.so" "$dir/$odd.so"
cp "$modules/odd.so" "$dir/$bad.so"

# One line of what is wrong with a file, or nothing: text [FILE] or json FILE
cat >"$dir/check.py" <<'P'
import json, sys
kind, data = sys.argv[1], open(sys.argv[2], "rb").read()
try:
    text = data.decode("utf-8")
except UnicodeDecodeError as e:
    sys.exit("no UTF-8: %r" % data[max(0, e.start - 20):e.start + 20])
for i, c in enumerate(text):
    if (c < " " and c != "\n") or "\x7f" <= c < "\xa0":
        sys.exit("%r in %r" % (c, text[max(0, i - 30):i + 30]))
if kind == "json":
    for line in text.splitlines():
        try:
            json.loads(line)
        except ValueError as e:
            sys.exit("%s: %s" % (e, line))
P
# said KIND NAME WANTED COMMAND...: it says what is fit to be shown, and WANTED
said() {
	local kind=$1 name=$2 wanted=$3 wrong
	shift 3
	timeout 300 "$DPROBES" "$@" >"$dir/said" 2>"$dir/talk"
	wrong=$(python3 "$dir/check.py" "$kind" "$dir/said" 2>&1; python3 "$dir/check.py" text "$dir/talk" 2>&1)
	if [ -n "$wrong" ]; then
		not_ok "$name" "$wrong"
	elif ! cat "$dir/said" "$dir/talk" | grep -qF -- "$wanted"; then
		not_ok "$name" "$(cat "$dir/said" "$dir/talk")" "wanted: $wanted"
	else
		ok "$name"
	fi
}
lines() { wc -l <"$dir/said"; }
shown='e\x1b]0;x\x07\x0af\xc2\x9b\x9b\x7f\xffé'
quoted='e\u001b]0;x\u0007\u000af\u009b\\x9b\u007f\\xffé'
sshown='victim_f\xc2\x9b\x9b\xffé'
squoted='victim_f\u009b\\x9b\\xffé'
comm='e\x1b]0;x\x07\x0af\xc2\x9b\x9b\x7f\xff\xc3'

start "$program" sleep
function='victim_*'
brief=(--duration 60ms -p "$victim")
said text "trace: the names of threads and functions" " $comm $shown:$sshown arg0=" trace "$function" "${brief[@]}"
said json "trace --json" "\"comm\":\"e\\u001b]0;x\\u0007\\u000af\\u009b\\\\x9b\\u007f\\\\xff\\\\xc3\",\"probe\":\"$quoted:$squoted\"" \
	trace --json "$function" "${brief[@]}"
said text "trace: strings of the program" "$sshown" trace "r:$function(arg0:str)" "${brief[@]}"
said text "trace: a string with what terminals obey" 'putenv arg0="e\x1b]0;x\x07\nf\xc2\x9b\x9b\x7f\xffé=\"1\\"' \
	trace 'libc.so.6:putenv(arg0:str)' -- env "$bad=\"1\\" true
said text "stat" "  $shown:$sshown" stat -v "$function" "${brief[@]}"
said json "stat --json" "\"probe\":\"$quoted:$squoted\"" stat --json "$function" "${brief[@]}"
said text "list" "$sshown" list "$function" -p "$victim"
is "list: a line of its own for each" "$(lines)" 1
said text "list -v" "$sshown" list -v "r:$function" -p "$victim"
said json "list --json" "\"symbol\":\"$squoted\"" list --json "$function" -p "$victim"
said text "doctor" "process $victim can be probed" doctor -p "$victim"
said json "doctor --json" '"check":"verdict"' doctor --json -p "$victim"
said text "what is not there" 'no\x1b\xc2\x9bsuch' stat $'no\e\xc2\x9bsuch' "${brief[@]}"
said text "a spec that is none" '\x1b' stat $'libc.so.6:malloc+\e[2J' "${brief[@]}"
said text "a verb that is none" '\x1b[2J' $'\e[2J'
said text "a command that is none" 'no\x1b\xc2\x9b\x0asuch: no such command' stat malloc -- $'no\e\xc2\x9b\nsuch'
said text "a command" "  short$shown:$sshown" stat "$function" -- "$short" 2 10
said text "and its end" "short$shown exited with status 0" stat "$function" -- "$short" 2 10
said text "one that is followed" "  short$shown:$sshown" stat "$function" -f -- "$short" 2 10

# What is armed, and what waits.
"$DPROBES" stat -q -o "$dir/counts" --pending "$function" $'lib\e[2J\xc2\x9b.so:f' -p "$victim" 2>"$dir/err" &
tool=$!
pids+=("$tool")
armed() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q PENDING; }
poll 10 armed
said text "list of what is armed" "$sshown+0x0" list -v -p "$victim"
said text "list of what waits" 'f+0x0  lib\x1b[2J\xc2\x9b.so [PENDING]' list -p "$victim"
is "also a line of its own for each" "$(lines)" 2
said json "list --json of both" "\"symbol\":\"$squoted\"" list --json -p "$victim"
said text "who is there already" "already probed by dprobes $tool" stat "$function" "${brief[@]}"
kill -TERM "$tool"
wait "$tool" 2>/dev/null
kill -TERM "$victim"
wait "$victim"

# It becomes another program.
start "$VICTIMS/sheds" "$program" sleep
armed() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q malloc; }
(poll 10 armed; kill -USR1 "$victim") &
said text "an exec" "exec of $dir/$shown ended the probes" stat libc.so.6:malloc -p "$victim"
kill -KILL "$victim"

# Modules, and what they say.
message='<6>odd \x1b]0;x\x07 \x9b31m \xc2\x9b é \xff here'
said text "insmod -- CMD" "$message" insmod "$dir/$odd.so" -- true
said text "insmod of a file whose name is several lines" 'has a newline in it' insmod "$dir/$bad.so" -- true
said text "insmod -- CMD of one that refuses" "$message" insmod "$dir/$odd.so" refuse=1 -- true
LD_PRELOAD=$library start "$VICTIMS/live" sleep
said text "insmod -p" "$message" insmod "$dir/$odd.so" -p "$victim"
said text "lsmod" "$dir/$oshown.so" lsmod -v -p "$victim"
said text "insmod -p, twice" "is loaded already" insmod "$dir/$odd.so" -p "$victim"
said text "rmmod of none" 'no\x1b\xc2\x9bsuch' rmmod $'no\e\xc2\x9bsuch' -p "$victim"
said text "rmmod" '<6>odd\x09goes\x1b[2J' rmmod "$odd" -p "$victim"
said text "insmod -p of one that refuses" "$message" insmod "$dir/$odd.so" refuse=1 -p "$victim"
said text "dmesg" "$message" dmesg -p "$victim"
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
plan
