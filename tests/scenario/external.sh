#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that call functions of a process that probes itself (call_kmod): the process counts the calls and the tool
# logs what came back. [row 252]
. tests/scenario/lib.sh

# program NAME CODE [HEADER]: at plain(), with the argument logged in front
program() {
	printf 'name = facility\nmodtype = user\nmajor = 1\n%b\noffset = plain\n%b\n' "${3-allow = call}" "$2" >"$dir/$1.dp"
}
# called PROGRAM [OPTIONS...]: the process runs, the tool comes and goes, the process ends
called() {
	local name=$1
	shift
	start "$TOOLS/facility"
	"$DPROBES" run --json -o "$dir/records" --duration 0.4 "$@" "$dir/$name.dp" -p "$victim" 2>"$dir/err.tool"
	status=$?
	kill -TERM "$victim"
	wait "$victim"
	is "$arm, $name: the process has ended well, with nothing changed" "$? $(tail -n 1 "$dir/out")" "0 0 wrong, ${reports:-0} reports"
}
cat >"$dir/elements.py" <<'END'
import json, struct, sys
for line in open(sys.argv[1]):
    data = bytes.fromhex(json.loads(line)["data"])
    if data:
        print(*struct.unpack_from("<%dQ" % ((len(data) - 3) // 8), data, 3))
END
elements() { python3 "$dir/elements.py" "$dir/records"; }
if ! python3 -c '' 2>"$dir/err"; then
	skip "functions that programs call" "no python3"
	plan
	exit
fi
program mix 'push r,rdi\npush r,rdi\npush 5\npush 1\ncall_kmod\nlog 2'
program six 'push 1\npush 2\npush 3\npush 4\npush 5\npush 6\npush 6\ncallk\nlog 1'
program none 'push 99\ncallk\nlog 1'
program caught 'sx H\npush 99\ncallk\nlog 1\nexit\nH: log 3'
program fault 'push 0\npush 2\ncallk\nlog 1'
program nest 'push 8\npush 3\ncallk\nlog 1'
program twice 'push r,rdi\npush 0\npush 1\ncallk\npush 1\npush 1\ncallk\nlog 1'
program last 'push 1\npush 2\npush r,rdi\npush 0\npush 1\ncallk\nlog 1\nexit 20'
exception='"exception":"EX_INVALID_OPERAND","parm":"0x8","parm2":"0x63"'
for how in interior, quiesce, trap, interior,0; do
	export DPROBES_ARM=${how%,*} DPROBES_NATIVE=${how#*,}
	[ -n "$DPROBES_NATIVE" ] || unset DPROBES_NATIVE
	arm=${how%,}
	called mix
	[ "$(wc -l <"$dir/records")" -gt 200 ] || not_ok "$arm: there are records" "$(cat "$dir/err.tool")"
	is "$arm: each has what the function makes of its arguments" "$(elements | awk '$1 != 3 * $2 + 5' | wc -l)" 0
	is "$arm: it is called once for each" "$(sed -n 's/^mixed: //p' "$dir/out")" "$(wc -l <"$dir/records")"
	is "$arm: exits of others see each call, and what came back" "$(sed -n 's/^seen: //p' "$dir/out")" "$(
		n=$(wc -l <"$dir/records")
		echo "$n calls, $n values, 0 records"
	)"
	is "$arm: all hits have a record" "$(grep -oE '[0-9]+ hits' "$dir/err.tool")" "$(wc -l <"$dir/records") hits"
	called twice
	is "$arm: twice in a program" "$(sed -n 's/^mixed: //p' "$dir/out")" "$((2 * $(wc -l <"$dir/records")))"
	called six
	is "$arm: six arguments, in their order" "$(elements | sort -u)" 123456
	called last
	is "$arm: and then a facility" "$(sed -n 's/^20: \([0-9]*\) calls.*/\1/p' "$dir/out")" "$(wc -l <"$dir/records")"
	called none
	is "$arm: a number that has none is an exception" "$(grep -o '"exception.*' "$dir/records" | sed 's/,"truncated.*//' | sort -u)" "$exception"
	called caught
	is "$arm: which can be handled" "$(elements | sort -u)" "64 8 99"
	called nest
	is "$arm: a function that is probed itself" "$(elements | sort -u)" 9
	reports=1 called fault
	n=$(wc -l <"$dir/records")
	[ "$n" -ge 1 ] && [ "$n" -le 3 ] && ok "$arm: one that faults ends its probe" || not_ok "$arm: one that faults ends its probe" "$n records" "$(cat "$dir/err.tool")"
done
unset DPROBES_ARM DPROBES_NATIVE
arm=any
is "errors have numbers" "$(sed -n 2p "$dir/out")" "-16 external function 1 is taken: external; -22 -22 -22 -2"

# A program may call only if it asks for that, and is allowed to.
program silent 'push 99\ncallk\nlog 1' ''
"$DPROBES" run "$dir/silent.dp" -- true >"$dir/stdout" 2>&1
like "one that does not ask for it" "$? $(cat "$dir/stdout")" '^2 .*this calls a function, which the header does not ask for; put "allow = call" into it'
"$DPROBES" run --allow write,io,reg "$dir/mix.dp" -- true >"$dir/stdout" 2>&1
like "one that is not allowed to" "$? $(cat "$dir/stdout")" '^2 .*the program asks for more than --allow permits'

# A function of a shared object, which comes and goes with that
program square 'push r,rdi\npush r,rdi\npush 40\ncallk\nlog 2'
start "$TOOLS/facility"
"$DPROBES" insmod "${MODULES:-build/tests/modules}/external.so" -p "$victim" 2>"$dir/err.tool"
is "a shared object is loaded" "$? $(cat "$dir/err.tool")" "0 "
"$DPROBES" run --json -o "$dir/records" --duration 0.4 "$dir/square.dp" -p "$victim" 2>"$dir/err.tool"
is "its function is called" "$(elements | awk '$1 == $2 * $2 { n++ } END { print (n > 200) " " NR - n }')" "1 0"
n=$(wc -l <"$dir/records")
"$DPROBES" rmmod external -p "$victim" >"$dir/stdout"
like "as often as there are records" "$("$DPROBES" dmesg -p "$victim")" "square: $n calls\$"
"$DPROBES" run --json -n 1 -o "$dir/records" "$dir/square.dp" -p "$victim" 2>"$dir/err.tool"
like "when it has gone the function is none" "$(cat "$dir/records")" '"exception":'
kill -TERM "$victim"
wait "$victim"
is "the process goes on to its end" "$?" 0

# A process without the library has no functions, which is known before anything is probed.
printf 'name = logger\nmodtype = user\nmajor = 1\nallow = call\noffset = logger_deep\npush 1\npush 2\npush 1\ncallk\nlog 1\n' >"$dir/other.dp"
out=$("$DPROBES" run -q "$dir/other.dp" -- "$VICTIMS/logger" stack 2>&1)
like "in a process without any" "$? $out" '^2 dprobes: .*other.dp:9:1: process [0-9]+ does not probe itself, so it has no functions for programs'
like "with a caret" "$out" '^ +\^~~~~$'
start "$VICTIMS/logger" forever 1
"$DPROBES" -b "$dir/other.dp" -s "$VICTIMS/logger" -o "$dir/other.ppdf"
for how in "-i $dir/other.dp" "-p $dir/other.ppdf"; do
	# shellcheck disable=SC2086
	out=$("$DPROBES" $how -P "$victim" 2>&1)
	like "nor by ${how%% *}" "$? $out" '^[12] dprobes: .*other.(dp:9|ppdf:1):1: process [0-9]+ does not probe itself'
done
is "and nothing is probed there" "$("$DPROBES" list -p "$victim")" ""
plan
