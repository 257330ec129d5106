#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program hands its process over to a debugger (exit 1): gdb finds the thread at the probed instruction, and
# the program as it is without probes. What gdb shows is compared with a breakpoint of its own there.
. tests/scenario/lib.sh
ulimit -c 0

if ! gdb -nx -batch 2>"$dir/err"; then
	skip "exit 1 and gdb" "no gdb"
	plan
	exit
fi
logger=$(realpath "$VICTIMS/logger")
# program NAME LINES...: writes $dir/NAME.dp, of probes in the logger
program() {
	local name=$1
	shift
	printf '%s\n' 'name = logger' 'modtype = user' 'major = 1' "$@" >"$dir/$name.dp"
}
# debugged OPTIONS... -- CMD: the tool in the background; returns when it has called the debugger. Sets $tool, $victim
debugged() {
	: >"$dir/stderr"
	"$DPROBES" run "$@" >"$dir/stdout" 2>"$dir/stderr" &
	tool=$!
	pids+=("$tool")
	called() { grep -q ': gdb -p [0-9]*$' "$dir/stderr"; }
	poll 20 called || not_ok "the debugger is called" "$(cat "$dir/stdout" "$dir/stderr")"
	victim=$(sed -n 's/.*: gdb -p \([0-9]*\)$/\1/p' "$dir/stderr")
}
# gdb shows the stop of a process as a signal, and would pass it on.
go_on=(-ex 'handle SIGSTOP nostop noprint nopass' -ex continue)
# look GDB ARGUMENTS...: frames, registers, and the instruction, without addresses that differ from run to run
look() {
	gdb -nx -batch "$@" -ex 'echo LOOK\n' -ex bt -ex 'info registers rax rcx rdx rdi rsi r8 r9 r10 eflags' -ex 'p $mxcsr' -ex 'x/i $pc' \
		-ex 'x/2xg $rsp+8' -ex 'x/96xb logger_load' -ex 'echo END\n' "${go_on[@]}" 2>"$dir/gdb.err" >"$dir/gdb"
	sed -n '/^LOOK/,/^END/p' "$dir/gdb" | sed 's/ 0x[0-9a-f]* in//; s/0x[0-9a-f]*\(:\| <\)/AT\1/; s/=> 0x[0-9a-f]*/=> AT/; s/argv=0x[0-9a-f]*/argv/' |
		grep -vE '^(rcx|rdx|rsi|r8|r9|r10) .*0x[57]'
}

# masks PID: of all its threads; the first one waits for the others, and hits nothing
masks() { grep -h SigBlk "/proc/$1"/task/*/status; }

# The text of an unprobed one
start "$VICTIMS/logger" forever 1
kill -STOP "$victim"
text=$("$TOOLS/text-sum" "$victim")
kill -KILL "$victim"

# Entry, in the middle, at an instruction that returns, and at the return of a tracked call. [row 323]
program entry 'offset = logger_deep' 'exit 1'
program middle 'offset = logger_call+10' 'exit 1'
program at_ret 'offset = logger_deep+4' 'opcode = 0xc3' 'exit 1'
program return 'offset = logger_deep' 'retprobe = yes' 'exit 1'
program logs 'offset = logger_deep' 'push r,rdi' 'log 1' 'exit 1'
for arm in interior trap quiesce; do
	for at in entry:logger_deep middle:logger_call+10 at_ret:logger_deep+4 return:logger_deep+4 logs:logger_deep; do
		name=${at%%:*} place=${at#*:}
		DPROBES_ARM=$arm debugged "$dir/$name.dp" -- "$logger" stack
		poll 5 stopped "$victim" && ok "$arm, $name: the process is stopped" || not_ok "$arm, $name: the process is stopped"
		is "$arm, $name: nothing of the tool's is mapped" "$(grep -c 'dprobes' "/proc/$victim/maps")" 0
		is "$arm, $name: its text is the program's" "$("$TOOLS/text-sum" "$victim")" "$text"
		look -p "$victim" >"$dir/ours"
		look -ex 'set startup-with-shell off' -ex "break *($place)" -ex 'run stack' -ex 'delete' "$logger" >"$dir/theirs"
		[ "$(grep -cE '^#0 .*logger_|^rdi +0x29 |^AT.*logger_load' "$dir/theirs")" -ge 3 ] || not_ok "gdb shows its own breakpoint" "$(cat "$dir/gdb" "$dir/gdb.err")"
		is "$arm, $name: gdb shows what it shows at its own breakpoint" "$(cat "$dir/ours")" "$(cat "$dir/theirs")"
		wait "$tool"
		is "$arm, $name: it goes on to its usual result, which is the tool's" "$? $(tail -n 1 "$dir/stdout")" "0 42"
	done
done
like "the record says what became of it" "$(cat "$dir/stdout")" '^  exit 1: the debugger: process [0-9]+ is stopped, this thread in front of the instruction$'
like "with what the program has logged" "$(cat "$dir/stdout")" 'major=1 minor=0$'
like "the summary says what ended the probes" "$(cat "$dir/stderr")" '^dprobes: 1 probe .*: 1 hit, 0 missed, 1 record; a debugger takes over$'
like "and where to go on" "$(cat "$dir/stderr")" "^dprobes: process $victim is stopped at logger:logger_deep, thread $victim: gdb -p $victim$"

# Several threads, all of them at the probe: one is in front of it, the others run on behind SIGCONT.
program tick 'offset = logger_tick' 'pass_count = 1000' 'exit 1'
for arm in interior trap; do
	start "$VICTIMS/logger" forever 4
	logger_pid=$victim
	DPROBES_ARM=$arm debugged "$dir/tick.dp" -p "$logger_pid"
	wait "$tool"
	is "$arm, threads: the tool has ended, with success" "$?" 0
	is "$arm, threads: the process stays stopped" "$(poll 5 stopped "$logger_pid" && echo stopped)" stopped
	tid=$(sed -n 's/.* thread \([0-9]*\): gdb.*/\1/p' "$dir/stderr")
	gdb -nx -batch -p "$logger_pid" -ex 'info threads' 2>"$dir/gdb.err" >"$dir/gdb"
	like "$arm, threads: the one that hit is in front of its instruction" "$(grep "LWP $tid" "$dir/gdb")" "LWP $tid\)[^ ]* .*logger_tick"
	is "$arm, threads: the text is the program's" "$("$TOOLS/text-sum" "$logger_pid")" "$text"
	is "$arm, threads: nothing of the tool's is mapped" "$(grep -c dprobes "/proc/$logger_pid/maps")" 0
	ends=$(grep -c 'for another hit' "$dir/stdout")
	echo "# $arm: $ends other records asked for it"
	kill -CONT "$logger_pid"
	worked "$logger_pid" 1
	is "$arm, threads: it goes on" "$?" 0
	kill -TERM "$logger_pid"
	wait "$logger_pid"
	is "$arm, threads: to its usual end" "$?" 0
done

# The tool is killed on the way: the process goes on, and the next dprobes takes out what is left.
for how in 'interior held' 'interior told' 'interior led out' 'interior stopped' 'trap told'; do
	arm=${how%% *} at=${how#* }
	start "$VICTIMS/logger" forever 2
	DPROBES_ARM=$arm DPROBES_KILL_POINT="halt: $at" build/tests/dprobes-kill-points run -o "$dir/records" "$dir/tick.dp" -p "$victim" 2>"$dir/stderr"
	is "$arm, killed when $at: it was" "$? $(grep -c 'killed after' "$dir/stderr")" "137 1"
	kill -CONT "$victim"
	worked "$victim" 1
	is "$arm, killed when $at: the process goes on" "$?" 0
	"$DPROBES" detach -p "$victim" >"$dir/records" 2>&1
	is "$arm, killed when $at: nothing stays there" "$? $("$TOOLS/text-sum" "$victim")" "0 $text"
	kill -TERM "$victim"
	wait "$victim"
	is "$arm, killed when $at: it ends as usual" "$?" 0
done

# Between two steps: the kernel makes one more without a tracer, in the agent, behind its system calls, or in front of the
# instruction. The thread's mask is its own again.
left=0 bad=
for arm in interior trap quiesce; do
	for nth in 1 2 {3..120..9} 1000; do
		start "$VICTIMS/logger" forever 1
		mask=$(masks "$victim")
		DPROBES_NTH=$nth DPROBES_ARM=$arm DPROBES_KILL_POINT="halt: stepped" build/tests/dprobes-kill-points run -o "$dir/records" "$dir/tick.dp" -p "$victim" 2>"$dir/stderr"
		left=$((left + $(grep -c 'killed after' "$dir/stderr")))
		kill -CONT "$victim"
		worked "$victim" 1 || bad="$bad $arm $nth: is dead"
		"$DPROBES" detach -p "$victim" >"$dir/records" 2>&1
		# Before that, a thread may be in a hit.
		[ "$(masks "$victim")" = "$mask" ] || bad="$bad $arm $nth: its mask"
		[ "$("$TOOLS/text-sum" "$victim")" = "$text" ] || bad="$bad $arm $nth: its text"
		kill -TERM "$victim"
		wait "$victim" || bad="$bad $arm $nth: ends with $?"
	done
done 2>"$dir/err"
is "killed in steps: the process goes on, with its mask" "$bad" ""
[ "$left" -ge 30 ] && ok "killed in steps: in many of them" || not_ok "killed in steps: in many of them" "$left"

# Where only the tool is killed, the thread is led out all the same, and stops with the mask that it had.
for how in 'interior held' 'interior told' 'interior led out' 'trap told'; do
	arm=${how%% *} at=${how#* }
	start "$VICTIMS/logger" forever 1
	mask=$(masks "$victim")
	DPROBES_KILL_TOOL=1 DPROBES_ARM=$arm DPROBES_KILL_POINT="halt: $at" build/tests/dprobes-kill-points run -o "$dir/records" "$dir/tick.dp" -p "$victim" 2>"$dir/stderr"
	is "$arm, only the tool killed when $at: it was" "$? $(grep -c 'killed after' "$dir/stderr")" "137 1"
	poll 5 stopped "$victim" && ok "$arm, only the tool killed when $at: the process stops" || not_ok "$arm, only the tool killed when $at: the process stops"
	is "$arm, only the tool killed when $at: with its mask" "$(masks "$victim")" "$mask"
	kill -CONT "$victim"
	worked "$victim" 1
	is "$arm, only the tool killed when $at: the process goes on" "$?" 0
	"$DPROBES" detach -p "$victim" >"$dir/records" 2>&1
	is "$arm, only the tool killed when $at: nothing stays there" "$? $("$TOOLS/text-sum" "$victim")" "0 $text"
	kill -TERM "$victim"
	wait "$victim"
done

# Signals that come all the time: none is lost, and the thread is where it hit.
python=/usr/bin/python3
cat >"$dir/alarms.py" <<'END'
import os, signal, time
n = [0]
def alarm(sig, frame): n[0] += 1
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
print("there", flush=True)
for i in range(300):
    os.getppid()
    time.sleep(0.001)
signal.setitimer(signal.ITIMER_REAL, 0)
print("done", n[0] > 50, flush=True)
END
printf '%s\n' 'name = libc.so.6' 'modtype = user' 'major = 1' 'offset = getppid' 'pass_count = 20' 'exit 1' >"$dir/getppid.dp"
if "$python" -c '' 2>"$dir/err"; then
	for arm in interior trap; do
		DPROBES_ARM=$arm debugged "$dir/getppid.dp" -- "$python" "$dir/alarms.py"
		gdb -nx -batch -p "$victim" -ex bt -ex 'x/i $pc' 2>"$dir/gdb.err" >"$dir/gdb"
		like "$arm, signals: gdb shows the function" "$(grep -E '^#[0-3]' "$dir/gdb")" '^#[0-3] .*getppid \('
		kill -CONT "$victim"
		wait "$tool"
		is "$arm, signals: it goes on to its usual result" "$? $(tail -n 1 "$dir/stdout")" "0 done True"
	done
else
	skip "signals" "no python3"
fi

# Handlers of the program's that run when the thread waits in the agent, nearly all the time, come to their end first.
cat >"$dir/burns.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile int alarms;
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}
static void alarm_comes(int sig)
{
	long end = now() + 1500000;
	while (now() < end)
		continue;
	alarms++;
}
static void every(long us)
{
	struct itimerval t = { { 0, us }, { 0, us } };
	setitimer(ITIMER_REAL, &t, NULL);
}
int main(void)
{
	int i;
	signal(SIGALRM, alarm_comes);
	every(2000);
	for (i = 0; i < 60; i++) {
		usleep(1000);
		getppid();
	}
	every(0);
	puts(alarms > 10 ? "done" : "no alarms");
	return 3;
}
END
"${CC:-cc}" -O1 -o "$dir/burns" "$dir/burns.c" || exit 1
for arm in interior trap quiesce; do
	bad=
	for i in {1..5}; do
		DPROBES_ARM=$arm debugged "$dir/getppid.dp" -- "$dir/burns"
		gdb -nx -batch -p "$victim" -ex bt 2>"$dir/gdb.err" >"$dir/gdb"
		grep -qE '^#[0-3] .*getppid \(' "$dir/gdb" || bad="$bad$(grep '^#' "$dir/gdb")"
		kill -CONT "$victim"
		wait "$tool"
		bad="$bad$? $(tail -n 1 "$dir/stdout"),"
	done
	is "$arm, handlers run nearly all the time: gdb shows the function, and it goes on" "$bad" "3 done,3 done,3 done,3 done,3 done,"
done

# A debugger of the user's choice, which has the terminal meanwhile
program named 'offset = logger_deep' 'exit 1'
"$DPROBES" run --debugger "gdb -nx -batch -p %p -ex bt -ex 'handle SIGSTOP nostop noprint nopass' -ex continue >$dir/gdb 2>&1; echo %i %% >$dir/said" "$dir/named.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
is "--debugger: the program goes on in it" "$? $(tail -n 1 "$dir/stdout")" "0 42"
like "--debugger: it is called for the process" "$(cat "$dir/gdb")" '^#0 .* logger_deep \(\)$'
is "--debugger: and told of the thread" "$(cat "$dir/said")" "$(sed -n 's/.* thread \([0-9]*\): gdb.*/\1/p' "$dir/stderr") %"
"$DPROBES" run --debugger 'kill -CONT %p; exit 3' "$dir/named.dp" -- "$logger" stack >"$dir/stdout" 2>"$dir/stderr"
is "--debugger: one that fails" "$? $(tail -n 1 "$dir/stdout")" "0 42"
like "--debugger: is told" "$(cat "$dir/stderr")" '^dprobes: --debugger: kill -CONT [0-9]+; exit 3: exited with status 3$'
for bad in %x 'gdb %'; do
	"$DPROBES" run --debugger "$bad" "$dir/named.dp" -- true >"$dir/records" 2>&1
	like "--debugger $bad is refused" "$? $(cat "$dir/records")" '^2 dprobes: --debugger .* stands for nothing; %p, %i and %% do; '
done
"$DPROBES" stat --debugger true main -- true >"$dir/records" 2>&1
like "stat does not use it" "$? $(cat "$dir/records")" '^2 dprobes: stat does not use --debugger'

# With -f: the process that asked is left to the debugger, and traced no more; the others stay as they are.
untraced() { [ "$(awk '/^TracerPid/ { print $2 }' "/proc/$1/status")" = 0 ]; }
for arm in interior trap quiesce; do
	DPROBES_ARM=$arm debugged -f "$dir/entry.dp" -- sh -c "$logger stack; echo behind"
	poll 5 stopped "$victim" && ok "-f, $arm: the process is stopped" || not_ok "-f, $arm: the process is stopped"
	untraced "$victim" && ok "-f, $arm: and not traced" || not_ok "-f, $arm: and not traced"
	is "-f, $arm: its text is the program's" "$("$TOOLS/text-sum" "$victim")" "$text"
	is "-f, $arm: nothing of the tool's is mapped" "$(grep -c 'dprobes' "/proc/$victim/maps")" 0
	look -p "$victim" >"$dir/ours"
	look -ex 'set startup-with-shell off' -ex "break *(logger_deep)" -ex 'run stack' -ex 'delete' "$logger" >"$dir/theirs"
	is "-f, $arm: gdb shows what it shows at its own breakpoint" "$(cat "$dir/ours")" "$(cat "$dir/theirs")"
	wait "$tool"
	is "-f, $arm: it goes on, and so does the command" "$? $(grep -v -e ^[0-9][0-9]: -e '^ ' "$dir/stdout" | tr '\n' ' ')" "0 42 behind "
done
like "-f: the record says what became of it" "$(cat "$dir/stdout")" '^  exit 1: the debugger: process [0-9]+ is stopped, this thread in front of the instruction$'

# On a busy machine the thread has not taken its SIGSTOP when it is held to take the probes out: it takes that in a call
# that the tool has it make, and stays stopped behind it.
busy=()
for i in 1 2 3 4; do
	timeout 100 sh -c 'while :; do :; done' &
	busy+=($!)
	pids+=($!)
done
left=0
for i in {1..20}; do
	for arm in trap quiesce; do
		DPROBES_ARM=$arm debugged -f "$dir/entry.dp" -- "$logger" stack
		poll 5 stopped "$victim" || left=$((left + 1))
		kill -CONT "$victim"
		wait "$tool"
	done
done
is "-f, on a busy machine: 40 processes are stopped" "$left" 0
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null

# The command itself is stopped, and its end is the tool's. A child of it forks on meanwhile: its records come.
program forks 'offset = logger_tick' 'maxhits = 1' 'push r,rdi' 'log 1' 'exit' 'offset = logger_deep' 'exit 1'
debugged -f "$dir/forks.dp" -- sh -c "(while :; do timeout 0.1 $logger forever 1; done) & echo \$! >$dir/loop; exec $logger stack"
marks() { grep -c 'logger:logger_tick' "$dir/stdout"; }
before=$(marks)
more() { [ "$(marks)" -ge $((before + 3)) ]; }
poll 20 more && ok "-f: the others are probed, and their children" || not_ok "-f: the others are probed, and their children" "$(cat "$dir/stdout" "$dir/stderr")"
stopped "$victim" && ok "-f: while the command stays stopped" || not_ok "-f: while the command stays stopped"
kill -CONT "$victim"
gone() { ! kill -0 "$victim" 2>"$dir/err"; }
poll 10 gone
kill -TERM "$(cat "$dir/loop")"
wait "$tool"
is "-f: its end is the tool's" "$? $(grep -x 42 "$dir/stdout")" "0 42"
like "-f: and told" "$(tail -n 1 "$dir/stderr")" "; process $victim exited with status 0$"

# Several processes, all stopped at one time, each for itself
called() { [ "$(grep -c ': gdb -p [0-9]*$' "$dir/stderr")" = 3 ]; }
"$DPROBES" run -f "$dir/entry.dp" -- sh -c "$logger stack & $logger stack & $logger stack; wait" >"$dir/stdout" 2>"$dir/stderr" &
tool=$!
pids+=("$tool")
poll 20 called && ok "-f: three processes are stopped" || not_ok "-f: three processes are stopped" "$(cat "$dir/stdout" "$dir/stderr")"
for victim in $(sed -n 's/.*: gdb -p \([0-9]*\)$/\1/p' "$dir/stderr"); do
	stopped "$victim" && untraced "$victim" || not_ok "-f: $victim is stopped, and not traced"
	kill -CONT "$victim"
done
wait "$tool"
is "-f: and go on" "$? $(grep -cx 42 "$dir/stdout")" "0 3"

# A fork child without an exec, whose parent has handlers, and threads that are attached to
cat >"$dir/child.py" <<'END'
import os
pid = os.fork()
if not pid:
    os._exit(7 if os.getppid() > 0 else 1)
print("parent", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
END
printf '%s\n' 'name = libc.so.6' 'modtype = user' 'major = 1' 'offset = getppid' 'exit 1' >"$dir/child.dp"
if /usr/bin/python3 -c '' 2>"$dir/err"; then
	debugged -f "$dir/child.dp" -- /usr/bin/python3 "$dir/child.py"
	gdb -nx -batch -p "$victim" -ex bt -ex 'info inferiors' "${go_on[@]}" 2>"$dir/gdb.err" >"$dir/gdb"
	like "-f, a fork child: gdb shows the function" "$(grep -E '^#0' "$dir/gdb")" '^#0 .*getppid \('
	wait "$tool"
	is "-f, a fork child: its parent has its status" "$? $(tail -n 1 "$dir/stdout")" "0 parent 7"
else
	skip "-f, a fork child" "no python3"
fi
start "$VICTIMS/logger" forever 4
logger_pid=$victim
debugged -f "$dir/tick.dp" -p "$logger_pid"
wait "$tool"
is "-f, threads: the tool has nothing more to follow" "$? $(grep -c '; all others have ended$' "$dir/stderr")" "0 1"
all_untraced() { ! grep -h '^TracerPid' /proc/"$logger_pid"/task/*/status | grep -qv '	0$'; }
stopped "$logger_pid" && all_untraced && ok "-f, threads: all are stopped, and none is traced" || not_ok "-f, threads: all are stopped, and none is traced"
gdb -nx -batch -p "$logger_pid" -ex 'info threads' 2>"$dir/gdb.err" >"$dir/gdb"
like "-f, threads: the one that hit is in front of its instruction" "$(grep "LWP $(sed -n 's/.* thread \([0-9]*\): gdb.*/\1/p' "$dir/stderr")" "$dir/gdb")" 'LWP [0-9]+\)[^ ]* .*logger_tick'
kill -CONT "$logger_pid"
worked "$logger_pid" 1
is "-f, threads: they go on" "$? $("$TOOLS/text-sum" "$logger_pid")" "0 $text"
kill -TERM "$logger_pid"
wait "$logger_pid"

# --debugger with -f runs beside the tool, one at a time; ^C is the debugger's meanwhile.
cat >"$dir/debug" <<END
#!/bin/bash
echo "begin \$1" >>$dir/said
for ((i = 0; i < 200; i++)); do
	[ -e $dir/forked ] && break
	sleep 0.05
done
[ -e $dir/forked ] && kill -INT "\$(cat $dir/tool)" && sleep 0.3
kill -CONT \$1
echo "end \$1" >>$dir/said
exit 3
END
chmod +x "$dir/debug"
: >"$dir/said"
"$DPROBES" run -f --debugger "$dir/debug %p" "$dir/entry.dp" -- sh -c "$logger stack & $logger stack & for i in 1 2 3 4 5; do /bin/true; done; echo >$dir/forked; wait; $logger stack" >"$dir/stdout" 2>"$dir/stderr" &
tool=$!
echo "$tool" >"$dir/tool"
wait "$tool"
is "-f --debugger: all have gone on" "$? $(grep -cx 42 "$dir/stdout")" "0 3"
is "-f --debugger: one at a time" "$(cut -d' ' -f1 "$dir/said" | tr '\n' ' ')" "begin end begin end begin end "
is "-f --debugger: failures are told" "$(grep -c 'exited with status 3$' "$dir/stderr")" 3

# The tool is killed on the way.
for at in 'halt: told' 'halt: stopped' 'tree: parts'; do
	start "$VICTIMS/logger" forever 2
	DPROBES_KILL_POINT="$at" build/tests/dprobes-kill-points run -f -o "$dir/records" "$dir/tick.dp" -p "$victim" 2>"$dir/stderr"
	is "-f, killed at $at: it was" "$? $(grep -c 'killed after' "$dir/stderr")" "137 1"
	kill -CONT "$victim"
	worked "$victim" 1
	is "-f, killed at $at: the process goes on" "$?" 0
	"$DPROBES" detach -p "$victim" >"$dir/records" 2>&1
	is "-f, killed at $at: nothing stays there" "$? $("$TOOLS/text-sum" "$victim")" "0 $text"
	kill -TERM "$victim"
	wait "$victim"
done

# A process that probes itself is stopped when the tool's probes are out; its own stay.
LD_PRELOAD=$PWD/build/libdprobes.so.1 start "$VICTIMS/live" work 2
live=$victim
before=$("$TOOLS/text-sum" "$live")
"$DPROBES" insmod "${MODULES:-build/tests/modules}/probe.so" kind=kprobe -p "$live" >"$dir/records"
own=$("$TOOLS/text-sum" "$live")
[ "$own" != "$before" ] || not_ok "one that probes itself: it has a probe"
printf '%s\n' 'name = live' 'modtype = user' 'major = 1' 'offset = victim_function' 'push r,rdi' 'log 1' 'exit 1' >"$dir/own.dp"
debugged "$dir/own.dp" -p "$live"
wait "$tool"
is "one that probes itself: the tool ends" "$?" 0
like "one that probes itself: the record says when it is stopped" "$(cat "$dir/stdout")" 'exit 1: the debugger: process [0-9]+ probes itself, and is stopped when the probes of dprobes are out; this thread goes on until then$'
poll 5 stopped "$live" && ok "one that probes itself: it is" || not_ok "one that probes itself: it is"
is "one that probes itself: only its own probes are in its text" "$("$TOOLS/text-sum" "$live")" "$own"
gdb -nx -batch -p "$live" -ex 'info threads' "${go_on[@]/continue/detach}" 2>"$dir/gdb.err" >"$dir/gdb"
is "one that probes itself: gdb can look at it" "$(grep -c '^[* ] .*LWP' "$dir/gdb")" "$(find "/proc/$live/task" -mindepth 1 -maxdepth 1 | wc -l)"
kill -CONT "$live"
worked "$live" 1
is "one that probes itself: it goes on" "$?" 0
"$DPROBES" stat --duration 0.2 victim_function -p "$live" >"$dir/records" 2>&1
is "one that probes itself: the next tool has its probes there" "$?" 0
kill -TERM "$live"
plan
