#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# -f: children keep the probes, an exec carries them on, and every process has its own account.
. tests/scenario/lib.sh
matrix=$VICTIMS/matrix

# field N of the "right: own N others N images N" line in a file
said() { sed -n "s/^right: .*$1 \([0-9]*\).*/\1/p" "$2"; }
sum() { sed 's/.*"hits":\([0-9]*\).*/\1/' "$1" | awk '{ s += $1 } END { print s + 0 }'; }

out=$("$DPROBES" stat --json -q -f -o "$dir/counts" forker:victim_function -- "$VICTIMS/forker")
is "children of every kind run on correctly" "$? $out" "0 0 failures"
is "and every call of those with memory of their own is counted" "$(sum "$dir/counts")" 4200
is "each process by itself" "$(grep -c '"hits":50,' "$dir/counts") $(grep -c '"hits":100,' "$dir/counts") $(grep -c '"hits":200,' "$dir/counts")" "40 20 1"

"$DPROBES" stat -f forker:victim_function -- "$VICTIMS/forker" >"$dir/out" 2>"$dir/err"
like "what vfork children do in their parent's memory is said" "$(tail -n 1 "$dir/err")" \
	'61 process images with probes, 40 without: 4200 hits, 0 missed, 100 of vfork children not counted; process [0-9]+ exited with status 0$'

for arm in interior quiesce trap; do
	for event in fork posix_spawn clone; do
		DPROBES_ARM=$arm "$DPROBES" stat --json -q -f -o "$dir/counts" matrix:victim_function -- \
			"$matrix" $event 5 >"$dir/out" 2>"$dir/err"
		is "$event, $arm: counts and results" "$? $(sum "$dir/counts")" \
			"0 $(($(said own "$dir/out") + $(said others "$dir/out")))"
	done
done

"$DPROBES" trace -f 'matrix:victim_function if arg0 == 7' -o "$dir/lines" -- "$matrix" fork 4 >"$dir/out" 2>"$dir/err"
is "records: of each child its own" "$(awk '{ n[$2]++ } END { for (p in n) if (n[p] == 1) c++; print c }' "$dir/lines")" 8

out=$("$DPROBES" trace -f 'libc.so.6:malloc' -o "$dir/lines" -- sh -c 'cat /etc/hostname | wc -l >/dev/null; exec sort /etc/hostname' 2>"$dir/err")
is "an exec carries the probes on: output" "$out" "$(sort /etc/hostname)"
is "and those who executed have records" "$(awk '{ print $4 }' "$dir/lines" | sort -u | tr '\n' ' ')" "cat sh sort wc "
is "the shell and what it became are one process" \
	"$(awk '{ seen[$2 $4] = 1; pid[$2] = 1 } END { for (p in pid) n += seen[p "sh"] && seen[p "sort"]; print n }' "$dir/lines")" 1

out=$("$DPROBES" stat -f 'r:libc.so.6:malloc' -v -- sh -c 'ls / >/dev/null; exec sort /etc/hostname' 2>&1 >/dev/null | grep -c 'calls: \([0-9]*\) returned;')
is "functions that are followed: the account of each balances" "$out" 3

cat >"$dir/count.dp" <<'P'
name = "libc.so.6"
modtype = user
major = 1
vars = 1
offset = malloc
minor = 1
inc lv,0
P
if "$DPROBES" run -f "$dir/count.dp" -- sh -c 'cat /etc/hostname; exec sort /etc/hostname' >/dev/null 2>"$dir/err"; then
	is "probe programs: variables of each image" "$(grep -c 'lv\[0\] = 0x[1-9a-f]' "$dir/err")" 3
else
	not_ok "probe programs: variables of each image" "$(cat "$dir/err")"
fi

"$DPROBES" stat -f nosuch.so:f libc.so.6:malloc -- sh -c 'ls / >/dev/null' >/dev/null 2>"$dir/err"
like "a spec that no process had is named" "$? $(tail -n 1 "$dir/err")" '^0 dprobes: no process had nosuch.so:f$'
"$DPROBES" stat -q -f libc.so.6:malloc -- sh -c 'sleep 0.01; kill -SEGV $$' >/dev/null 2>&1
is "the status is the command's" "$?" 139

# attach EVENT ROUNDS OPTION...: to one that is running
attach() {
	local event=$1 rounds=$2
	shift 2
	rm -f "$dir/go"
	mkfifo "$dir/go"
	: >"$dir/out"
	"$matrix" "$event" "$rounds" wait <"$dir/go" >"$dir/out" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/go"
	poll 10 test -s "$dir/out"
	"${tool_cmd:-$DPROBES}" stat --json -f "$@" -o "$dir/counts" matrix:victim_function -p $victim 2>"$dir/err" 5>&- &
	tool=$!
	pids+=("$tool")
}
armed() { "$DPROBES" list -p $victim | grep -q victim_function; }
go() { echo go >&5; exec 5>&-; }

for event in fork exec threads; do
	attach $event 5
	poll 10 armed
	go
	wait $victim
	is "attached, $event: the program is right" "$?" 0
	wait $tool
	status=$?
	off=$(($(said own "$dir/out") + $(said others "$dir/out") - $(sum "$dir/counts")))
	# A thread that an exec takes away between its own count and the call.
	most=0
	[ $event = exec ] && most=$((5 * 3))
	like "attached, $event: its calls are counted" "$status $([ $off -ge 0 ] && [ $off -le $most ] && echo all)" '^0 all$'
done

attach signals 1000
poll 10 armed
go
sleep 0.05
interrupt $tool
is "the tool ends in the middle of a storm of signals" "$?" 0
wait $victim
is "and the program is right" "$?" 0

# Threads asleep in calls that no stop restarts; and a process that ends while the tool leaves.
rm -f "$dir/go"
mkfifo "$dir/go"
: >"$dir/out"
timeout 300 "$VICTIMS/sleepers" <"$dir/go" >"$dir/out" 2>&1 &
waits=$!
exec 5>"$dir/go"
poll 10 grep -q asleep "$dir/out"
victim=$(pgrep -P $waits)
for _ in 1 2 3; do "$DPROBES" stat -q -f --duration 50ms -o /dev/null libc.so.6:malloc -p "$victim" || not_ok "sleepers: the tool"; done
exec 5>&-
wait $waits
is "sleepers notice nothing" "$? $(tail -n 1 "$dir/out")" "0 0 failures"
for ((i = 0; i < 5; i++)); do
	attach threads 20 -q --duration 30ms
	go
	wait $victim
	bad=$?
	wait $tool
	[ $bad = 0 ] || break
done
is "it ends while the tool leaves: the program is right" "$bad" 0

# Under its tracer it shows a t.
halts() { grep -q '^State:.[Tt]' "/proc/$victim/status"; }
attach fork 20
poll 10 armed
go
kill -STOP $victim
poll 5 halts
kill -CONT $victim
kill -STOP $victim
poll 5 halts
interrupt $tool
like "stopped and let go on, and left stopped" "$? $(grep -c '^State:.*T' /proc/$victim/status)" '^0 1$'
kill -CONT $victim
wait $victim
is "the program is right" "$?" 0

# Where there is no memory for a child it goes on as if it were not followed, and all ends come.
out=$(DPROBES_FAIL='tree: born' timeout -k 1 60 build/tests/dprobes-kill-points stat -q --json -f -o "$dir/counts" forker:victim_function \
	-- "$VICTIMS/forker" 2>"$dir/err")
is "no memory for a child: all run on correctly" "$? $out" "0 0 failures"
is "no memory for a child: the first one is counted" "$(grep -c '"hits":[1-9]' "$dir/counts")" 1

# The tool is killed at each step of taking a child in.
tool_cmd=build/tests/dprobes-kill-points
seen=0
for ((n = 20; n < 120; n++)); do
	export DPROBES_KILL_POINT=$n
	attach fork 3 -q
	export -n DPROBES_KILL_POINT
	killed() { ! kill -0 $tool 2>/dev/null || armed; }
	poll 10 killed
	go
	wait $victim
	status=$?
	wait $tool 2>/dev/null
	[ $? -eq 137 ] || break
	name=$(sed -n 's/^steps: killed //p' "$dir/err")
	case $name in
	*fork:*) seen=$((seen + 1)) ;;
	esac
	[ $status -eq 0 ] || not_ok "killed $name (step $n): the program is right" "$status $(cat "$dir/out")"
	[ $seen -lt 12 ] || break
done 2>/dev/null
like "killed while it takes children in: the program is right, $seen steps" "$seen $status" '^([6-9]|1[0-9]) 0$'
unset tool_cmd

# The tool has no memory to take a child in. A signal that waits for its parent is not the child's.
said=$(DPROBES_FAIL="fork: memory" build/tests/dprobes-kill-points stat -f -o /dev/null libc.so.6:malloc -- /usr/bin/python3 -S -c '
import os, signal
trap = {signal.SIGTRAP}
signal.pthread_sigmask(signal.SIG_BLOCK, trap)
os.kill(os.getpid(), signal.SIGTRAP)
pid = os.fork()
if not pid:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, trap)
    os._exit(0)
print("child:", os.waitpid(pid, 0)[1], "parent:", signal.SIGTRAP in signal.sigpending())' 2>"$dir/err")
is "no memory to take a child in: both go on, and the parent has its signal" "$? $said" "0 child: 0 parent: True"
like "and the tool says so" "$(head -n 1 "$dir/err")" 'goes on without probes: .*cannot be taken into its child .*: Cannot allocate memory$'
plan
