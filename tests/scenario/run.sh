#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Probe programs in real processes: records, when they are committed, and the account of every hit.
# [rows 247, 250, 266, 281]
. tests/scenario/lib.sh
ulimit -c 0

# program NAME WHERE BODY [POINT KEYWORDS]: writes $dir/NAME.dp for the victim logger
program() {
	printf 'name = logger\nmodtype = user\nmajor = 1\nvars = 4\n%s\noffset = %s\nminor = 7\n%s\n%s\n' \
		"${5:-}" "$2" "${4:-}" "$3" >"$dir/$1.dp"
}
# run NAME ARGS...: sets $out $err $status and $n, the number of records
run() {
	local file=$dir/$1.dp
	shift
	"$DPROBES" run --json --core "$dir/core.%p.%n" "$file" -- "$VICTIMS/logger" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(grep -v '^{' "$dir/stdout") err=$(cat "$dir/stderr")
	n=$(grep -c '^{' "$dir/stdout")
}

# When is a record committed? [rows 271, 273, 274, 278]
program load logger_load $'push r,rdi\nlog 1'
run load restart 20
is "an instruction that faults and is restarted: its output" "$status $out" "0 100"
is "and one record each" "$n" 20
like "and the account: each attempt is a hit" "$err" ': 40 hits, 0 missed, 20 records, 20 records discarded; '
run load nested 20
is "a handler that hits the same probe while it waits: its output" "$status $out" "0 100"
is "and one record for each" "$n" 40
run load jump 20
is "an instruction that is jumped out of: its output" "$status $out" "0 0"
is "and no record" "$n" 0
like "but the account" "$err" ': 20 hits, 0 missed, 0 records, 20 records discarded; '
run load die
is "an instruction that the process dies of" "$status $n" "139 0"
like "and the account of that" "$err" ': 1 hit, 0 missed, 0 records, 1 record discarded; logger was killed by SIGSEGV'
run load leave 300
is "threads that end while their record waits" "$status $out" "0 left"
like "are cleared away" "$err" ': 300 hits, 0 missed, 0 records, 300 records discarded; '
program loadanyway logger_load $'push r,rdi\nlog 1' 'logonfault = yes'
run loadanyway jump 20
is "logonfault: the record counts" "$n" 20
run loadanyway restart 20
is "logonfault: once for each attempt" "$n" 40
run loadanyway die
is "logonfault: the last record of a process that dies" "$status $n" "139 1"
program ret logger_load+3 $'push r,rax\nlog 1'
run ret restart 5
is "at a ret" "$n $out" "5 25"

# What is in a record [rows 259, 286, 310]
program deep logger_deep $'push r,rdi\nlog 1\npush 16\npush 8\npush r,rsp\nadd\nlog mrf\nlog 0\nexit'
run deep stack
data=$(sed -n 's/.*"data":"\([0-9a-f]*\)".*/\1/p' "$dir/stdout")
is "elements and memory" "$data" "0701002900000000000000""001000""11111111111111112222222222222222""070000"
like "JSON" "$(grep '^{' "$dir/stdout")" \
	'^\{"time":[0-9]+\.[0-9]{6},"pid":[0-9]+,"tid":[0-9]+,"comm":"logger","probe":"logger:logger_deep","minor":7,"major":1,"cpu":[0-9]+,"data":"[0-9a-f]*","truncated":false\}$'
"$DPROBES" run -q "$dir/deep.dp" -- "$VICTIMS/logger" stack | grep -v '^42$' >"$dir/stdout"
like "text" "$(sed -n 1p "$dir/stdout")" '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} [0-9]+ [0-9]+ logger logger:logger_deep major=1 minor=7$'
is "elements as text" "$(sed -n 2p "$dir/stdout")" "  elements 0x29"
is "memory in hex and ASCII" "$(sed -n 4p "$dir/stdout")" \
	'    00000000  11 11 11 11 11 11 11 11 22 22 22 22 22 22 22 22  |........""""""""|'
program bad logger_deep $'push r,rdi\nlog 1\npush 0\npush mem,u32\nlog 1\nexit'
run bad stack
like "an exception commits what was logged, fault item last, and marks it" "$status $n $out $(grep '^{' "$dir/stdout")" \
	'^0 1 42 .*"data":"0701002900000000000000ff08000000000000000000","exception":"EX_INVALID_ADDR","parm":"0x0","parm2":"0x0","truncated":false\}$'
program zero logger_deep $'push 1\npush 0\ndiv\nexit'
run zero stack
like "an exception with an empty log makes a record" "$n $(grep '^{' "$dir/stdout")" '^1 .*"data":"","exception":"EX_DIV_BY_ZERO"'
program cut logger_deep $'push 1\nlog 1\nexit' '' 'logmax = 2'
run cut stack
like "what does not fit in the log at all is still a record" "$n $(grep '^{' "$dir/stdout")" '^1 .*"data":"","truncated":true'
# [row 287]
program aborted logger_deep $'push 1\nlog 1\nabort'
run aborted stack
is "abort discards" "$n $out" "0 42"
# Without an exit, too. [rows 256, 311, 317]
program silent logger_deep 'inc lv,0'
run silent stack
is "an empty log makes no record" "$n" 0
like "variables are shown with the summary" "$err" 'logger lv\[0\] = 0x1 \(1\)'
program facility logger_deep 'exit 3'
run facility stack
like "exit 3 is told" "$(grep '^{' "$dir/stdout")" '"facility":3'
"$DPROBES" run -q --core "$dir/core.%p.%n" "$dir/facility.dp" -- "$VICTIMS/logger" stack >"$dir/stdout"
like "in words too" "$(cat "$dir/stdout")" 'exit 3: a core dump'
# [rows 261, 262]
program cut logger_deep $'push 100\npush r,rsp\nlog mrf' '' 'logmax = 20'
run cut stack
like "a log that is too long is cut, and says so" "$(grep '^{' "$dir/stdout")" '"data":"001100[0-9a-f]{34}","truncated":true'

# Registers [rows 248, 265]
program change logger_deep $'push 999\npop r,rdi' '' 'allow = reg'
run change stack
is "a register that a program changes is changed" "$out" 1000

# passcount, maxhits, remove, suspend
program some logger_tick $'push r,rsi\nlog 1' $'pass_count = 2\nmax_hits = 3'
run some threads 1 10
is "hits 3, 4 and 5 log" "$(grep -o '"data":"070100[0-9a-f]*' "$dir/stdout" | cut -c15- | tr '\n' ' ')" \
	"0200000000000000 0300000000000000 0400000000000000 "
like "the account of the others" "$err" ': 10 hits, 0 missed, 3 records, 2 let pass, 5 after the probe.s end; '
program removed logger_tick $'push r,rsi\nlog 1\nremove'
run removed threads 1 10
is "remove: one record" "$n" 1
like "remove: the account" "$err" ': 10 hits, 0 missed, 1 record, 9 after the probe.s end; '
cat >"$dir/resumed.dp" <<'END'
name = logger
modtype = user
offset = logger_tick
minor = 1
	push r,rsi
	log 1
	suspend
offset = logger_tick
minor = 2
	push 1
	push r,rsi
	push 4
	sub
	jnz done
	push 1
	resume
done:	exit
END
run resumed threads 1 10
is "suspend, and resume by another probe" "$(grep -o '"data":"070100[0-9a-f]*' "$dir/stdout" | cut -c15- | tr '\n' ' ')" \
	"0000000000000000 0500000000000000 "

# opcode [row 309] [defect 20]
program opcode logger_deep 'inc lv,0' 'opcode = 0x48'
run opcode stack
is "an opcode that is right" "$status $out" "0 42"
program opcode logger_deep 'inc lv,0' 'opcode = 0x55'
run opcode stack
like "one that is wrong is found before anything runs" "$status $out $err" \
	'^2 +dprobes: .*opcode.dp:8:10: the opcode at logger:logger_deep is 0x48, not 0x55'

# build_id [defect 20]
build=$(readelf -n "$VICTIMS/logger" | awk '/Build ID/ { print $3 }')
program build logger_deep 'inc lv,0'
sed "s/^name/build_id = $build\nname/" "$dir/build.dp" >"$dir/right.dp"
run right stack
is "the build that is meant" "$status $out" "0 42"
for other in "00${build:2}" "${build%??}" "${build}00"; do
	sed "s/^name/build_id = $other\nname/" "$dir/build.dp" >"$dir/wrong.dp"
	run wrong stack
	like "another one is found before anything runs, ${#other} digits" "$status $out $err" \
		'^2 +dprobes: .*wrong.dp:[0-9]+:12: logger:logger_deep is of another build than the file was written for'
	like "with a caret" "$err" '^ +\^~~~'
done
objcopy --remove-section .note.gnu.build-id "$VICTIMS/logger" "$dir/logger"
"$DPROBES" run "$dir/right.dp" -- "$dir/logger" stack >"$dir/stdout" 2>"$dir/stderr"
like "and a module that has none" "$? $(cat "$dir/stderr")" '^2 dprobes: .*right.dp:[0-9]+:12: logger:logger_deep is of another build'

# Threads: every record once, whole, and in order [row 288]
program ticks logger_tick $'push r,rsi\npush r,rdi\nlog 2'
"$DPROBES" run --json "$dir/ticks.dp" -- "$VICTIMS/logger" threads 8 "${TIMES:-4000}" >"$dir/stdout" 2>"$dir/stderr"
like "eight threads: the account" "$(cat "$dir/stderr")" ": $((8 * ${TIMES:-4000})) hits, 0 missed, "
is "every record that was not lost, once, whole, in the order of its thread" \
	"$("$TOOLS/check-records" "$dir/stdout" "$dir/stderr" $((8 * ${TIMES:-4000})) 2>&1)" "good"

# Death at any moment
program forever logger_tick $'push r,rsi\npush r,rdi\nlog 2'
bad=0
# After a few records, or many.
recorded() { [ "$(grep -c '^{' "$1")" -ge "$2" ]; }
for i in 1 2 3 4 5 6; do
	: >"$dir/stdout"
	"$DPROBES" run --json "$dir/forever.dp" -- "$VICTIMS/logger" forever 4 >"$dir/stdout" 2>"$dir/stderr" &
	tool=$!
	pids+=("$tool")
	poll 30 recorded "$dir/stdout" $((1 + i * i * 100))
	kill -KILL "$(sed -n 's/^{.*"pid":\([0-9]*\).*/\1/p' "$dir/stdout" | head -n 1)"
	timeout 120 tail -s 0.02 --pid=$tool -f /dev/null || { bad=$((bad + 1)); kill -KILL $tool; }
	wait $tool
	[ $? -eq 137 ] || bad=$((bad + 1))
	[ "$("$TOOLS/check-records" "$dir/stdout" "$dir/stderr" 2>&1)" = good ] || bad=$((bad + 1))
done
is "the target is killed: the tool ends, and no record is torn in two" "$bad" 0
start "$VICTIMS/logger" forever 4
bad=0
for i in 1 2 3 4 5 6; do
	: >"$dir/stdout2"
	"$DPROBES" run --json "$dir/forever.dp" -p "$victim" >"$dir/stdout2" 2>"$dir/stderr" &
	tool=$!
	poll 30 recorded "$dir/stdout2" $((1 + i * i * 100))
	kill -KILL $tool
	wait $tool 2>/dev/null
	head -n -1 "$dir/stdout2" | "$TOOLS/check-records" /dev/stdin "$dir/stderr" >"$dir/said" 2>&1
	grep -q good "$dir/said" || bad=$((bad + 1))
	kill -0 "$victim" || bad=$((bad + 1))
done
is "the tool is killed: the target goes on" "$bad" 0
"$DPROBES" run --json --duration 0.1s "$dir/forever.dp" -p "$victim" >"$dir/stdout2" 2>"$dir/stderr"
like "and the next tool works" "$? $(tail -n 1 "$dir/stderr")" '^0 .* [1-9][0-9]* records.*--duration is over'

# Variables from outside [rows 253, 263, 289, 290, 291, 314]
program vars logger_tick $'inc lv,0\ninc gv,1'
"$DPROBES" run -q "$dir/vars.dp" -p "$victim" &
tool=$!
counted() { "$DPROBES" -g -a | grep -q "lv\[0\] = 0x[1-9a-f]"; }
poll 10 counted
like "dprobes -g -a" "$("$DPROBES" -g -a)" "^$victim global gv\[0\] = 0x0 \(0\)"
like "locals" "$("$DPROBES" --getvars --all --local | head -1)" "^$victim logger lv\[0\] = 0x[1-9a-f][0-9a-f]* \([0-9]+\)$"
like "by name and index" "$("$DPROBES" --getvars --name logger --local --index=1-2)" "^$victim logger lv\[1\] = 0x0 \(0\)
$victim logger lv\[2\] = 0x0 \(0\)$"
is "--reset prints nothing" "$("$DPROBES" -g -a --reset --index=1)" ""
kill -STOP "$victim"; poll 5 stopped "$victim"
"$DPROBES" -g -a --reset
is "--reset makes them zero" "$("$DPROBES" -g -a | grep -vc '= 0x0 (0)$')" 0
kill -CONT "$victim"
interrupt $tool
# What detours count by themselves; the probe's hits say how much that is.
program counted logger_tick 'inc lv,0'
"$DPROBES" run -q "$dir/counted.dp" -p "$victim" &
tool=$!
poll 10 counted
local0() { "$DPROBES" -g -a --index=0 --json | sed -n 's/.*"lv","index":0,"value":\([0-9]*\)}/\1/p'; }
hits() { "$DPROBES" list --json -p "$victim" | sed -n 's/.*"hits":\([0-9]*\),.*/\1/p'; }
kill -STOP "$victim"; poll 5 stopped "$victim"
before=$(hits)
# A thread may have been stopped between one count and the other.
near() { if [ $(($1 - $2)) -ge -4 ] && [ $(($1 - $2)) -le 4 ]; then echo near; else echo "$1, not $2"; fi; }
is "a variable that detours count" "$(near "$(local0)" "$before")" near
"$DPROBES" -g -a --reset
is "--reset makes it zero, too" "$(local0)" 0
kill -CONT "$victim"
poll 10 counted
kill -STOP "$victim"; poll 5 stopped "$victim"
is "and it counts from there" "$(near "$(local0)" "$(($(hits) - before))")" near
kill -CONT "$victim"
interrupt $tool
is "no program runs, no variables" "$("$DPROBES" -g -a; echo $?)" 1
kill -TERM "$victim"
wait "$victim"
is "the target's end" "$?" 0
# The list of armed probes has a kind for them.
start "$VICTIMS/busy" 1
"$DPROBES" run -q -o /dev/null examples/malloc.dp -p "$victim" 2>"$dir/err" &
tool=$!
pids+=("$tool")
listed() { "$DPROBES" list -p "$victim" | grep -q '  d  malloc+0x0  libc.so.6 '; }
if poll 10 listed; then ok "a program's probe is listed as d"
else not_ok "a program's probe is listed as d" "$("$DPROBES" list -p "$victim")"; fi
interrupt "$tool"
kill -TERM "$victim"
wait "$victim"
plan
