#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs at watchpoints [row 267]: values and registers against single steps, exact counts, every state that
# signals can be in, displaced stores, killed tools, and what is refused.
. tests/scenario/lib.sh
. tests/scenario/lib-registers.sh

watched=$VICTIMS/watched stored=$VICTIMS/stored
program() { # FILE MODULE, the rest on stdin; no log unless it says so
	{ printf 'name = "%s"\nmodtype = user\nvars = 4\n' "$2"; cat; } >"$dir/$1.dp"
}
program count stored <<'DP'
logmax = 0
watch = w
address = stored
	inc lv,0
	exit
DP
if ! "$DPROBES" run "$dir/count.dp" -- "$stored" kept >/dev/null 2>"$dir/err"; then
	skip "programs at watchpoints" "$(head -n 1 "$dir/err")"
	plan
	exit
fi
lv() { sed -n "s/.* lv\[$1\] = .*(\([0-9]*\)).*/\1/p" "$dir/talk"; }
hits() { sed -n 's/.*: \([0-9]*\) hits*, .*/\1/p' "$dir/talk" | tail -n 1; }
missed() { sed -n 's/.* hits*, \([0-9]*\) missed.*/\1/p' "$dir/talk" | tail -n 1; }
symbol() { nm "$watched" | awk -v s="$1" '$3 == s { print $1 }'; }

# The oracle: each instruction that changes the variable, found by single steps.
program registers watched <<'DP'
watch = w
address = watched
len = 8
	push r,rsp; push r,rdi; push r,rax; push r,rip; push v,"new"; push v,"old"
	log 6
	exit
DP
from=$(setarch -R "$DPROBES" list --json watched:main -- "$watched" stores | sed 's/.*"addr":"\([^"]*\)".*/\1/')
setarch -R "$TOOLS/watch-steps" -r "$(symbol main)" "$(symbol watched)" "$watched" stores >"$dir/steps"
setarch -R "$DPROBES" run -q "$dir/registers.dp" -- "$watched" stores | sed -n 's/^  elements //p' >"$dir/elements"
is "values and registers are those behind each store" \
	"$(python3 -c '
import sys
for line in open(sys.argv[1]):
    v = line.split()
    print(v[0], v[1], int(v[2], 16) - int(sys.argv[2], 16), *v[3:])' "$dir/elements" "$from" |
		diff - <(awk '{ print $1, $2, $4, $5, $6, $7 }' "$dir/steps"))" ""
is "the oracle saw every way to store" "$(wc -l <"$dir/steps")" 17

# Probes at the stores: the copies are executed, and the pc is the program's.
{
	cut -d' ' -f3 "$dir/steps" | sort -un | while read -r at; do
		printf 'offset = main + %d\n\tinc lv,0\n\texit\n' "$at"
	done
	sed -n '/^watch/,$p' "$dir/registers.dp"
} | program beside watched
for arm in interior quiesce trap; do
	export DPROBES_ARM=$arm
	setarch -R "$DPROBES" run -q "$dir/registers.dp" -- "$watched" stores | grep elements >"$dir/alone"
	setarch -R "$DPROBES" run "$dir/beside.dp" -- "$watched" stores 2>"$dir/talk" | grep elements >"$dir/together"
	# A longer argument on the stack: rsp and rdi, which main() was given, differ.
	is "$arm: stores that are probed themselves" \
		"$(diff <(sed 's/0x7ff[^ ]*//g' "$dir/alone") <(sed 's/0x7ff[^ ]*//g' "$dir/together"))" ""
	like "$arm: were ten probes" "$(cat "$dir/talk")" '1 watchpoint, 10 probes at 10 sites .*: 27 hits, 0 missed'
done
unset DPROBES_ARM

# Executions are those of a probe there.
program executed watched <<'DP'
watch = x
address = watched_write
	inc lv,0
	exit
DP
"$DPROBES" run "$dir/executed.dp" -- "$watched" >/dev/null 2>"$dir/talk" <<<$'b 70\nt 5\nq'
is "an instruction that is watched is a probe" "$(lv 0) $(hits)" "120 120"

# Each state that signals can be in: the program sees what it sees unprobed, and each store counts.
for way in blocked ignored handled in_handler on_stack waited forked executed threads all_blocked watches kept; do
	setarch -R "$stored" $way >"$dir/plain" 2>&1
	setarch -R "$DPROBES" run "$dir/count.dp" -- "$stored" $way >"$dir/probed" 2>"$dir/talk"
	is "$way: runs as unprobed" "$? $(diff "$dir/plain" "$dir/probed")" "0 "
	n=$(tail -n 1 "$dir/plain")
	[ "$way" = watches ] && n=21 # and one in each handler of the traps of its own
	is "$way: every store runs the program" "$(lv 0) $(hits) $(missed)" "$n $n 0"
done
setarch -R "$stored" really >"$dir/plain"
setarch -R "$DPROBES" run "$dir/count.dp" -- "$stored" really >"$dir/probed" 2>"$dir/talk"
is "SIGTRAP blocked behind our back: runs as unprobed" "$? $(diff "$dir/plain" "$dir/probed")" "0 "
is "SIGTRAP blocked behind our back: counted as missed" "$(lv 0) $(hits) $(missed)" "5 55 50"
like "and why is told" "$(cat "$dir/talk")" 'w:stored/8: 50 of its hits have not run the program: .*SIGTRAP was blocked'
setarch -R "$DPROBES" run "$dir/count.dp" -- "$stored" confined >"$dir/probed" 2>"$dir/talk"
is "a filter that forbids to return from handlers" "$? $(head -n 1 "$dir/probed")" "0 confined: 0, 0 traps, 0 pending, 0 blocked"
like "ends the probes before it comes" "$(lv 0) $(tail -n 1 "$dir/talk")" '^4 .*the probes have ended before it installs a seccomp filter'

# Stack that the signal's frame and the agent write and read: their own accesses are no hits, and do no
# harm. Neither does a program that reads what is watched.
program where stored <<'DP'
watch = w
address = stored
	push r,rsp
	log 1
	exit
DP
unharmed() { # OFFSET: below the thread's stack pointer
	program stack stored <<-DP
		logmax = 0
		watch = w
		address = stored
			push r,rsp
			push mem,u64
			inc lv,0
			exit
		watch = rw
		address = $(printf '0x%x' $((sp - $1)))
		len = 8
			push r,rsp
			push mem,u64
			exit
	DP
	env -i setarch -R "$DPROBES" run -q "$dir/stack.dp" -- "$stored" in_handler kept >"$dir/probed" 2>"$dir/talk" &&
		cmp -s "$dir/plain" "$dir/probed"
}
env -i setarch -R "$stored" in_handler kept >"$dir/plain"
sp=$(env -i setarch -R "$DPROBES" run -q "$dir/where.dp" -- "$stored" in_handler kept | sed -n 's/^  elements //p' | tail -n 1)
bad=()
for ((i = 0; i < 4400; i += i < 2600 ? 200 : 24)); do unharmed $i || bad+=("$i"); done
is "the stack of signals is watched" "${bad[*]:-}" ""

# One instruction, several watchpoints: the kernel raises one trap for all.
program several watched <<'DP'
watch = w
address = watched
	inc lv,0
	exit
address = watched + 4
watch = w
len = 4
	inc lv,1
	exit
address = watched
watch = rw
len = 1
	inc lv,2
	exit
DP
"$DPROBES" stat -q --json w:watched w:watched+4/4 w:watched/1:rw -- "$watched" stores |
	sed 's/.*"hits":\([0-9]*\).*/\1/' >"$dir/each"
"$DPROBES" run "$dir/several.dp" -- "$watched" stores 2>"$dir/talk"
is "several watchpoints at one instruction: all hits are counted" "$(hits)" "$(paste -sd+ "$dir/each" | bc)"
is "and those without a trap are missed" "$(($(lv 0) + $(lv 1) + $(lv 2) + $(missed)))" "$(hits)"

program of-watched watched <<'DP'
watch = w
address = watched
	inc lv,0
	exit
DP

# The example
setarch -R "$DPROBES" run -D PROGRAM=watched -D VARIABLE=watched -D VALUE=9 examples/overwritten.dp -- \
	"$watched" stores >"$dir/out" 2>"$dir/talk"
is "overwritten.dp" "$(sed -n 's/^  elements //p' "$dir/out") $(lv 0)" \
	"$(printf '0x3 0x%x 17' $((from + $(awk '$2 == "0x9" { print $4; exit }' "$dir/steps"))))"

# A debugger sees each trap, and keeps it or passes it on. Where dprobes traces, none comes.
if by_registers; then
	:
elif command -v gdb >/dev/null; then
	mkfifo "$dir/commands"
	: >"$dir/out"
	"$watched" <"$dir/commands" >"$dir/out" 2>&1 &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/commands"
	poll 10 grep -q ready "$dir/out"
	"$DPROBES" run "$dir/of-watched.dp" -p "$victim" >/dev/null 2>"$dir/talk" 5>&- &
	tool=$!
	pids+=("$tool")
	poll 20 asleep "$tool"
	holds() { ls -l "/proc/$tool/fd" 2>/dev/null | grep -q perf_event; }
	poll 20 holds
	gdb -q -nx -batch -p "$victim" -ex 'handle SIGTRAP nostop noprint pass' -ex 'shell touch '"$dir/gdb" -ex continue \
		>/dev/null 2>&1 5>&- &
	debugger=$!
	pids+=("$debugger")
	poll 60 test -e "$dir/gdb"
	sleep 0.3
	echo 'b 40' >&5
	answered() { [ "$(wc -l <"$dir/out")" -ge 2 ]; }
	poll 20 answered
	kill -INT "$debugger"
	wait "$debugger"
	interrupt "$tool"
	is "a debugger that passes traps on" "$(lv 0) $(hits)" "40 40"
	echo q >&5
	exec 5>&-
	wait "$victim"
	is "… and the program goes on" "$?" 5
else
	skip "a debugger" "needs gdb"
fi

# Limits of executions, and what a program may change
program limits stored <<'DP'
logmax = 0
watch = rw
address = stored
passcount = 10
maxhits = 25
	inc lv,0
	exit
DP
"$DPROBES" run "$dir/limits.dp" -- "$stored" threads >/dev/null 2>"$dir/talk"
is "passcount and maxhits" "$(lv 0) $(hits)" "25 2000"
program restore watched <<'DP'
allow = write
watch = w
address = watched
	push v,"new"
	log 1
	push v,"old"
	jz first
	push &watched
	push v,"old"
	pop mem,u64
first:	exit
DP
"$DPROBES" run -q "$dir/restore.dp" -- "$watched" stores 2>&1 | sed -n 's/^  elements //p' | head -n 3 >"$dir/restored"
# 1 stays; 2 becomes 1 again, and 1 + 1 is 2
is "a program that puts a value back" "$(tr '\n' ' ' <"$dir/restored")" "0x1 0x2 0x2 "
program second watched <<'DP'
watch = w
address = watched_many + 24
len = 8
	inc lv,0
	exit
DP
"$DPROBES" run "$dir/of-watched.dp" "$dir/second.dp" -- "$watched" stores 2>"$dir/talk" >/dev/null
is "two files with watchpoints" "$? $(lv 0) $(hits)" $'0 17\n0 17'

# A core dump of the process at the store that makes a value wrong
if command -v gdb >/dev/null; then
	program wrong watched <<'DP'
watch = w
address = watched
	push v,"new"
	push d,9
	sub
	jz wrong
	exit
wrong:	exit 3
DP
	mkfifo "$dir/go"
	: >"$dir/out"
	"$DPROBES" run --core "$dir/core" "$dir/wrong.dp" -- "$watched" <"$dir/go" >"$dir/out" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	echo 'b 20' 6>&- >"$dir/go" & # which is open until the core is there, and its record
	exec 6>"$dir/go"
	poll 20 grep -q 'minor=' "$dir/out"
	exec 6>&-
	wait "$tool"
	is "exit 3 makes a core at the store" \
		"$(gdb -q -nx -batch -ex 'p/d $rdi' -ex bt "$watched" "$dir/core" 2>/dev/null |
			sed -n 's/^\$1 = //p; s/^#0 .*watched_write .*/in watched_write/p; s/^#1 .* write_some .*/by write_some/p' |
			tail -n 3 | tr '\n' ' ')" "9 in watched_write by write_some "
fi

# Tools come and go, killed and not, while threads store all the time.
start "$stored" run
maps_of "$victim" >"$dir/maps"
lives() { [ "$(tail -n 1 "$dir/out")" -gt "$1" ] 2>/dev/null; }
for i in {1..12}; do
	"$DPROBES" run "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
	if [ $((i % 3)) -eq 0 ]; then
		interrupt "$tool"
	else
		kill -KILL "$tool"
		wait "$tool" 2>/dev/null
	fi
	kill -0 "$victim" || break
done
if kill -0 "$victim"; then ok "killed tools leave a program that lives"; else not_ok "the program has died with a tool"; fi
before=$(tail -n 1 "$dir/out")
poll 10 lives "$before"
is "and that goes on" "$?" 0
"$DPROBES" detach -p "$victim" >/dev/null 2>&1
is "nothing is left" "$(maps_of "$victim" | grep -c dprobes)" 0
"$DPROBES" run --duration 0.5 "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/talk"
like "the next one counts" "$(hits)" '^[1-9][0-9]+$'
is "exactly" "$(lv 0) $(missed)" "$(hits) 0"
"$DPROBES" run --duration 2 "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/talk"
costs='each is a signal of [0-9]+ ns here without its program, so they take [0-9]+ % of a CPU'
by_registers && costs='without perf events each stops its thread until dprobes has looked, for which dprobes alone takes [0-9]+ ns'
like "what frequent hits cost is told" "$(cat "$dir/talk")" "watchpoints hit [0-9]+ times a second: $costs"
is "nothing is left by that either" "$(maps_of "$victim" | grep -c dprobes)" 0
kill "$victim"
wait "$victim" 2>/dev/null

# What is armed, in the format of the kernel's list, and as specs again
program listed stored <<'DP'
watch = w
address = stored
	exit
watch = rw
address = stored_beside + 4
len = 2
	exit
offset = main
	exit
DP
start "$stored" run
"$DPROBES" run "$dir/listed.dp" -p "$victim" >/dev/null 2>"$dir/talk" &
tool=$!
pids+=("$tool")
listed() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q ' main'; }
poll 20 listed
is "list has watchpoints" "$("$DPROBES" list -p "$victim" | sed 's/^[0-9a-f]*  //')" \
	$'w  stored+0x0    [WATCH/8:w]\nw  stored_beside+0x4    [WATCH/2:rw]\nk  main+0x0    [OPTIMIZED]'
is "at their addresses" "$("$DPROBES" list -p "$victim" | sed -n 's/^0*\([0-9a-f]*\)  w.*/w:0x\1/p' |
	while read -r w; do "$DPROBES" list "$w/2" -p "$victim" | grep -c "$w"; done | tr '\n' ' ')" "1 1 "
"$DPROBES" list -p "$victim" >"$dir/lines"
is "its lines are specs" "$(while read -r line; do "$DPROBES" list "$line" -- "$stored" </dev/null; done <"$dir/lines")" \
	$'w:stored/8\nw:stored_beside+0x4/2:rw\nstored:main'
like "with their hits" "$("$DPROBES" list --json -p "$victim" | head -n 1)" \
	'"kind":"w","symbol":"stored","offset":0.*"mode":"watch".*"hits":[1-9].*"access":"w","len":8'
interrupt "$tool"
kill "$victim"
wait "$victim" 2>/dev/null

# A trap waits for a thread that has blocked it in the kernel: the agent stays until then.
if ! by_registers; then
	mkfifo "$dir/in"
	: >"$dir/out"
	"$stored" - <"$dir/in" >"$dir/out" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/in"
	poll 10 grep -q ready "$dir/out"
	said() { [ "$(wc -l <"$dir/out")" -ge "$1" ]; }
	"$DPROBES" run "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/talk" 5>&- &
	tool=$!
	pids+=("$tool")
	watches() { ls -l "/proc/$tool/fd" 2>/dev/null | grep -q 'perf_event'; }
	poll 20 watches
	poll 20 asleep "$tool"
	echo hold >&5
	poll 10 said 3
	interrupt "$tool"
	like "an agent stays while a trap waits" "$(cat "$dir/talk")" 'still inside the agent, which stays there'
	echo let >&5
	poll 10 said 5
	if kill -0 "$victim"; then ok "which takes the trap when it comes"; else not_ok "the trap has killed the program"; fi
	"$DPROBES" detach -p "$victim" >/dev/null 2>&1
	is "and then it goes" "$(maps_of "$victim" | grep -c dprobes)" 0
	echo let >&5
	exec 5>&-
	wait "$victim"
	is "the program ends as it should" "$?" 0
fi

# An exec ends them, and the program that comes has none.
"$DPROBES" run "$dir/of-watched.dp" -- "$watched" >"$dir/out" 2>"$dir/talk" <<<$'b 30\ne\nhello'
is "counts of before an exec stay" "$? $(lv 0) $(hits)" "0 30 30"
like "which ends them" "$(cat "$dir/talk")" 'exec of .*/cat ended the probes'

# What is refused, in which words
refused() { # NAME WORDS [OPTION...]: the program on stdin
	local name=$1 words=$2
	shift 2
	program refused watched
	like "refused: $name" "$("$DPROBES" run "$@" "$dir/refused.dp" -- "$watched" stores 2>&1)" "$words"
}
many() { for i in 0 1 2 3 4; do printf 'watch = w\naddress = watched_%s\nlen = 4\n\texit\n' "$([ $i = 4 ] && echo small || echo "many + $((8 * i))")"; done; }
refused 'five' 'w:watched_small/4 is watchpoint number 5, and a thread has 4 debug registers' < <(many)
refused 'unknown' 'refused.dp:5:11: watched has no variable nowhere' <<<$'watch = w\naddress = nowhere\nexit'
refused 'large' 'watched_many has 32 bytes' <<<$'watch = w\naddress = watched_many\nexit'
refused 'unaligned' 'no multiple of 8' <<<$'watch = w\naddress = watched_many + 4\nlen = 8\nexit'
refused 'unmapped' 'nothing is mapped at 0x10' <<<$'watch = rw\naddress = 0x10\nlen = 4\nexit'
refused 'children' '-f is not for watchpoints' -f <<<$'watch = w\naddress = watched\nexit'
refused 'another value' 'the values of a watchpoint are new and old' <<<$'watch = w\naddress = watched\npush v,"rdi"\nexit'
refused 'no right to write' 'allow' <<<$'watch = w\naddress = watched\npush &watched; push 1; pop mem,u64\nexit'

# Without rights
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	cp "$DPROBES" "$stored" "$dir"
	chmod -R go+rX "$dir"
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		"$dir/dprobes" run "$dir/count.dp" -- "$dir/stored" blocked >/dev/null 2>"$dir/talk"
	is "an ordinary user's program" "$(lv 0) $(missed)" "55 0"
else
	skip "an ordinary user" "needs root, setpriv, and kernel.perf_event_paranoid up to 2"
fi
plan
