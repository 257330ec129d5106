#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Whoever reads what a verb prints, as head(1) does, may go: that is success, nothing is said of it, and the
# probes are taken out.
. tests/scenario/lib.sh

library=$PWD/build/libdprobes.so.1
# left ARGS...: status of dprobes, whose output is a pipe that nobody reads any more; $dir/err
cat >"$dir/left.py" <<'END'
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
with open(sys.argv[1], "w") as err:
    print(subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=w, stderr=err, timeout=300).returncode)
END
left() { /usr/bin/python3 "$dir/left.py" "$dir/err" "$DPROBES" "$@"; }
# goes NAME ARGS...
goes() {
	local name=$1 status
	shift
	status=$(left "$@")
	is "$name" "$status $(grep -ciE 'written|broken|output' "$dir/err")" "0 0"
}

cat >"$dir/every.dp" <<'END'
name = "libc.so.6"
modtype = user
major = 1
logmax = 100
vars = 1
offset = malloc
minor = 1
	push r,rdi
	log 1
	exit
END
for preload in "" "$library"; do
	LD_PRELOAD=$preload start "$VICTIMS/live" sleep
	where=${preload:+ a program with libdprobes}
	at=(-p "$victim")
	goes "stat:$where" stat --duration 50ms victim_function "${at[@]}"
	goes "stat of a glob:$where" stat --duration 50ms --all 'libc.so.6:*' "${at[@]}"
	goes "stat --json:$where" stat --json --duration 50ms 'libc.so.6:mem*' "${at[@]}"
	goes "stat -i:$where" stat -i 20ms victim_function "${at[@]}"
	goes "trace:$where" trace victim_function "${at[@]}"
	goes "trace --json of returns:$where" trace --json r:victim_function "${at[@]}"
	goes "list:$where" list 'libc.so.6:*' "${at[@]}"
	goes "list -v --json:$where" list -v --json 'libc.so.6:mem*' "${at[@]}"
	goes "doctor:$where" doctor "${at[@]}"
	goes "doctor --json:$where" doctor --json "${at[@]}"
	is "no probe stays:$where" "$("$DPROBES" list "${at[@]}")" ""
	"$DPROBES" run -q "$dir/every.dp" "${at[@]}" >/dev/null 2>&1 &
	tool=$!
	pids+=("$tool")
	shown() { "$DPROBES" -g -a 2>/dev/null | grep -q "^$victim "; }
	poll 20 shown
	goes "--getvars:$where" -g -a
	goes "list of what is armed:$where" list -v
	interrupt "$tool"
	[ -z "$preload" ] || break
	kill -KILL "$victim"
	wait "$victim" 2>/dev/null
done
goes "insmod" insmod "${MODULES:-build/tests/modules}/odd.so" -p "$victim"
goes "lsmod" lsmod -p "$victim"
goes "dmesg" dmesg -p "$victim"
goes "dmesg -w" dmesg -w --duration 100ms -p "$victim"
goes "enabled" enabled -p "$victim"
goes "sysctl" sysctl debug.kprobes_optimization -p "$victim"
goes "rmmod" rmmod odd -p "$victim"
kill -KILL "$victim"
wait "$victim" 2>/dev/null
# A command that is started: it goes on to its end.
goes "stat of a command" stat libc.so.6:malloc -- sh -c 'sleep 0.1; : >"$0"' "$dir/one"
goes "its children" stat -f libc.so.6:malloc -- sh -c '/bin/true; : >"$0"' "$dir/two"
goes "trace of a command" trace libc.so.6:malloc -- sh -c '/bin/true; : >"$0"' "$dir/three"
goes "run of a command" run "$dir/every.dp" -- sh -c '/bin/true; : >"$0"' "$dir/five"
goes "insmod of a command" insmod "${MODULES:-build/tests/modules}/odd.so" -- sh -c ': >"$0"' "$dir/four"
for file in one two three four five; do
	there() { [ -e "$dir/$file" ]; }
	poll 10 there
	is "it has come to its end: $file" $? 0
done
for verb in help --help --version "help stat"; do
	# shellcheck disable=SC2086
	goes "$verb" $verb
done
plan
