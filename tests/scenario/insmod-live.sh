#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Probe modules into processes that run, and out of them again.
. tests/scenario/lib.sh

modules=${MODULES:-build/tests/modules}
library=$PWD/build/libdprobes.so.1

preloaded() { # VICTIM ARGS...
	LD_PRELOAD=$library start "$@"
}
ends() { # NAME: the victim finds its results right
	local out
	kill -TERM "$victim"
	wait "$victim"
	out="$? $(tail -n 1 "$dir/out")"
	is "$1: the program found its results right" "$out" "0 right"
}
tool() { # ARGS...: sets got, err, status
	got=$("$DPROBES" "$@" 2>"$dir/tool")
	status=$?
	err=$(cat "$dir/tool")
}
probes() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -c victim_function; }

# What users do
preloaded "$VICTIMS/live" sleep 2
tool lsmod -p "$victim"
is "no modules at first" "$status $got" "0 PID     MODULE SIZE USED STATE"
tool insmod "$modules/probe.so" kind=kprobe -p "$victim"
is "insmod -p returns at once, with what init said" "$status $got $err" "0 <5>kprobe on victim_function "
tool lsmod -p "$victim"
like "lsmod shows it" "$(tail -1 <<<"$got")" "^$victim +probe [0-9]+ 0 Live\$"
tool lsmod -v
like "also among those of all processes, and its file" "$got" "^$victim +probe [0-9]+ 0 Live $PWD/$modules/probe.so\$"
is "its probe is listed" "$(probes)" 1
tool insmod "$modules/probe.so" -p "$victim"
is "not twice" "$status $err" "1 dprobes: a module probe is loaded already"
tool insmod "$modules/params.so" number=5 list=7,8 -p "$victim"
like "another one, with parameters" "$status $got" '^0 <6>[a-z]*: 5 .*'
tool lsmod -p "$victim"
poll 10 been_hit victim_function
is "both are listed" "$(awk 'NR > 1 { print $2 }' <<<"$got" | tr '\n' ' ')" "params probe "
tool rmmod probe -p "$victim"
like "rmmod shows what exit said" "$status $got" '^0 <4>kprobe: [1-9][0-9]* hits'
is "its probe is gone" "$(probes)" 0
tool dmesg -p "$victim"
like "dmesg has all of it" "$(tr '\n' ' ' <<<"$got")" '<5>kprobe on victim_function .*: 5 .*<4>kprobe: [0-9]+ hits'
tool rmmod probe -p "$victim"
is "rmmod of what is not there" "$status $err" "1 dprobes: no module probe is loaded in it"
tool insmod "$modules/stays.so" hold=1 -p "$victim"
tool rmmod stays -p "$victim"
is "rmmod of one in use" "$status $err" "1 dprobes: stays is in use"
tool insmod "$modules/probe.so" symbol=do_it -a do_it=victim_function -p "$victim"
like "an alias" "$status $got" '^0 <5>kprobe on do_it'
poll 10 been_hit victim_function
tool rmmod probe -p "$victim"
like "and its hits" "$got" 'kprobe: [1-9][0-9]* hits'
ends "all that"

# Modules that use each other
preloaded "$VICTIMS/live" sleep 2
refs() { "$DPROBES" lsmod -p "$victim" | awk -v m="$1" '$2 == m { print $4 }'; }
tool insmod "$modules/takes.so" -p "$victim"
like "what no module exports yet" "$status $err" '^1 dprobes: .*takes.so needs gives_(sum|base), which is neither .* nor exported by a module'
tool insmod "$modules/gives.so" -p "$victim"
is "a module that exports calls its own" "$status $got" "0 <6>gives 41, -7"
tool insmod "$modules/takes.so" -p "$victim"
is "another one uses its function, its variable, and probes it" "$status $got" "0 <6>takes 42 and 43, 2 hits"
is "lsmod counts that" "$(refs gives) $(refs takes)" "1 0"
tool rmmod gives -p "$victim"
is "so the first one stays" "$status $err" "1 dprobes: gives is in use by takes"
tool insmod "$modules/greedy.so" -p "$victim"
like "what is for the GPL only" "$status $err" '^1 dprobes: .*greedy.so needs gives_sum, which is exported to modules under the GPL only; its licence is Proprietary$'
tool insmod "$modules/twin.so" -p "$victim"
like "what the process has, too" "$status $err" '^1 dprobes: .*twin.so needs getppid, which is neither'
is "who has been refused uses nothing" "$(refs gives)" 1
tool rmmod takes -p "$victim"
is "the second one goes" "$status $(refs gives)" "0 0"
tool insmod "$modules/takes.so" fails -p "$victim"
like "one whose init fails" "$status $err" 'returned -5'
is "uses nothing either" "$(refs gives)" 0
tool rmmod gives -p "$victim"
is "and then the first one goes" "$status $got" "0 <6>gave 41"
ends "modules that use each other"

# What is shown of a probe whose module has gone
preloaded "$VICTIMS/live" sleep 2
gone() { "$DPROBES" list -p "$victim" | grep '\[GONE\]$'; }
tool insmod "$modules/gives.so" -p "$victim"
tool insmod "$modules/probe.so" symbol=gives_sum -p "$victim"
addr=$("$DPROBES" list -p "$victim" | awk '/gives_sum/ { print $1 }')
is "a probe on a function of another module" "${#addr} $(gone)" "16 "
tool rmmod gives -p "$victim"
line="$addr  k  0x$(sed 's/^0*//' <<<"$addr") [GONE]"
is "when that is unloaded" "$status $(gone)" "0 $line"
tool insmod "$modules/gives.so" -p "$victim"
is "and loaded again" "$status $(gone)" "0 $line"
tool rmmod probe -p "$victim"
is "until it is unregistered" "$status $(gone)" "0 "
ends "a probe whose module has gone"

# Loaded and unloaded while handlers run on other threads
preloaded "$VICTIMS/live" sleep 3
for kind in kprobe jprobe kretprobe; do
	for ((i = 0; i < ${CYCLES:-8}; i++)); do
		tool insmod "$modules/probe.so" kind=$kind lines=1 -p "$victim"
		[ $status = 0 ] || break
		tool rmmod probe -p "$victim"
		[ $status = 0 ] || break
	done
	like "$kind: in and out under running handlers" "$status $err" '^0 (dprobes: [0-9]+ lines were lost.*)?$'
done
for name in forget leave 'forget=1 kind=kretprobe sites'; do
	# shellcheck disable=SC2086 # several words
	tool insmod "$modules/probe.so" $name=1 -p "$victim"
	[ "$name" = leave ] || tool rmmod probe -p "$victim"
	like "probes that a module leaves behind ($name) are taken away" "$got" '<4>probe: left 1 probes'
	is "and are not listed" "$(probes)" 0
done
tool insmod "$modules/probe.so" -p "$victim"
is "after an init that failed it can be loaded" "$status" 0
ends "in and out"

preloaded "$VICTIMS/live" sleep
tool insmod "$modules/probe.so" kind=kretprobe symbol=clock_nanosleep -p "$victim"
poll 10 been_hit clock_nanosleep
tool rmmod probe -p "$victim"
like "a return probe of a call that has not returned" "$status $got" '^0 <4>kretprobe: [1-9]'
ends "a return probe"

all_asleep() { # every thread in a system call
	local t
	for t in /proc/"$victim"/task/*/syscall; do
		grep -q '^[0-9]' "$t" 2>/dev/null || return 1
	done
}
# disturb NAME [ARGS]: modules in and out of a process that sleeps, then wake it
disturb() {
	local bad=0 i
	rm -f "$dir/fifo"
	mkfifo "$dir/fifo"
	: >"$dir/out"
	LD_PRELOAD=$library "$VICTIMS/sleepers" "${@:2}" <"$dir/fifo" >"$dir/out" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/fifo"
	poll 10 test -s "$dir/out" && poll 10 all_asleep
	for i in 1 2 3; do
		tool insmod "$modules/probe.so" symbol=malloc -p "$victim"
		[ $status = 0 ] || bad="$bad $err"
		tool rmmod probe -p "$victim"
		[ $status = 0 ] || bad="$bad $err"
	done
	echo go >&5
	exec 5>&-
	wait "$victim"
	is "$1" "$? $bad $(grep -v asleep "$dir/out")" "0 0 0 failures"
}
disturb "threads asleep in all kinds of call notice nothing"
for call in epoll_wait nanosleep poll select read accept sigtimedwait "epoll_wait with a timeout"; do
	disturb "$call, the only thread" "$call" alone
done

# Two tools at once
preloaded "$VICTIMS/live" sleep
"$DPROBES" insmod "$modules/probe.so" -p "$victim" >/dev/null 2>"$dir/err1" & one=$!
"$DPROBES" insmod "$modules/params.so" -p "$victim" >/dev/null 2>"$dir/err2" & two=$!
wait $one; status=$?
wait $two; status="$status $?"
is "two tools at once: one after the other" "$status $(cat "$dir/err1" "$dir/err2")" "0 0 "
tool lsmod -p "$victim"
is "both have done it" "$(wc -l <<<"$got")" 3
kill -STOP "$victim"
poll 5 grep -q '^State:.*T' "/proc/$victim/status"
tool rmmod probe -p "$victim"
like "a stopped process" "$status $err" '^1 dprobes: process [0-9]+ is stopped; '
tool lsmod -p "$victim"
is "can be looked at" "$status $(wc -l <<<"$got")" "0 3"
kill -CONT "$victim"
tool rmmod probe -p "$victim"
is "and later" "$status" 0
ends "two tools"

# A tool that is killed
kill_points=build/tests/dprobes-kill-points
preloaded "$VICTIMS/live" sleep 1
for ((n = 1; n < 50; n++)); do
	DPROBES_KILL_POINT=$n "$kill_points" insmod "$modules/probe.so" -p "$victim" >/dev/null 2>"$dir/err"
	status=$?
	[ $status -eq 137 ] || break
	name=$(sed -n 's/^steps: killed //p' "$dir/err")
	sleep 0.3
	"$DPROBES" rmmod probe -p "$victim" >/dev/null 2>&1
	tool insmod "$modules/probe.so" -p "$victim"
	is "killed $name (step $n): the next one works" "$status $err" "0 "
	"$DPROBES" rmmod probe -p "$victim" >/dev/null
done
like "in the end no step is left, and there were some" "$status $n" '^0 [4-9]'
ends "killed tools"

# Children
preloaded "$VICTIMS/live" fork
child=$(sed -n 's/^child //p' "$dir/out")
tool insmod "$modules/probe.so" -p "$child"
is "a fork child is a process like any other" "$status $got" "0 <5>kprobe on victim_function"
tool lsmod -p "$victim"
is "and its parent has nothing of it" "$(wc -l <<<"$got")" 1
tool rmmod probe -p "$child"
like "out of it again" "$status $got" '^0 <4>kprobe: [0-9]+ hits'
ends "a fork child"
: >"$dir/pids"
"$DPROBES" insmod -o "$dir/lines" "$modules/probe.so" symbol=malloc -- bash -c \
	'echo $$ >'"$dir/pids"'; (echo $BASHPID >>'"$dir/pids"'; read -t 20 </dev/zero & echo $! >>'"$dir/pids"'; wait; read -t 20 x < <(sleep 20)); true' >/dev/null 2>&1 &
tools=$!
poll 10 sh -c "[ \$(wc -l <'$dir/pids') -ge 3 ]"
parent=$(sed -n 1p "$dir/pids") child=$(sed -n 2p "$dir/pids") spins=$(sed -n 3p "$dir/pids")
tool lsmod -p "$parent"
like "a command that insmod has started" "$got" "^$parent +probe .* Live"
tool lsmod -p "$child"
like "a module in a child whose parent had it" "$got" "^$child +probe .* Forked"
tool insmod "$modules/probe.so" symbol=malloc -p "$child"
like "is in the way there" "$status $err" '^1 dprobes: a module probe was loaded when this process was forked; unload that first'
kill -KILL "$spins" "$child" "$parent" 2>/dev/null
wait $tools 2>/dev/null

# Whom it is not for
start "$VICTIMS/live" sleep
for verb in "insmod $modules/probe.so" "rmmod probe" lsmod dmesg; do
	tool $verb -p "$victim"
	like "${verb%% *}: a process without libdprobes" "$status $err" \
		'^1 dprobes: process [0-9]+ does not use libdprobes.so .*; start it with dprobes insmod'
done
ends "not for it"
preloaded "$VICTIMS/live" spin 1
tool insmod "$modules/probe.so" -p "$victim"
like "no thread sleeps" "$status $err" '^1 dprobes: process [0-9]+ has no thread that sleeps where .*; try again'
tool lsmod -p "$victim"
is "nothing was done" "$status $(wc -l <<<"$got") $(probes)" "0 1 0"
ends "spinning"
preloaded "$VICTIMS/live" handler
tool insmod "$modules/probe.so" -p "$victim"
like "the only thread sleeps in a signal handler" "$status $err" '^1 dprobes: process [0-9]+ has no thread that sleeps where'
ends "in a signal handler"
preloaded "$VICTIMS/live" deaf
tool insmod "$modules/probe.so" -p "$victim"
like "the only thread blocks the signals of probes" "$status $err" '^1 dprobes: process [0-9]+ has no thread that sleeps where'
ends "deaf"
preloaded "$VICTIMS/live" deaf 1
tool insmod "$modules/probe.so" -p "$victim"
like "or the others do not sleep" "$status $err" '^1 dprobes: process [0-9]+ has no thread that sleeps where'
ends "deaf, and another"
cat >"$dir/slow.c" <<'END'
#include <stdio.h>
#include <unistd.h>
#include <dprobes/kprobes.h>
__attribute__((noipa)) int probed(int n) { return n + 1; }
static int on_hit(struct kprobe *p, struct pt_regs *regs) { puts("in"); fflush(stdout); sleep(4); return 0; }
int main(void)
{
	struct kprobe kp = { .symbol_name = "probed", .pre_handler = on_hit };
	if (register_kprobe(&kp))
		return 1;
	printf("%d\n", probed(1));
	return 0;
}
END
cc -Iinclude -o "$dir/slow" "$dir/slow.c" -Lbuild -ldprobes -Wl,-rpath,"$PWD/build" || exit 1
start "$dir/slow"
poll 5 asleep "$victim"
tool insmod "$modules/probe.so" symbol=malloc -p "$victim"
like "the only thread sleeps in a handler of its own" "$status $err" '^1 dprobes: process [0-9]+ is busy with probes: '
wait "$victim"
is "and comes out of it" "$? $(tail -1 "$dir/out")" "0 2"
got=$(ulimit -f 1; LD_PRELOAD=$library "$VICTIMS/calls" 1 20 2>&1)
is "where files may not be large the library is there without this" "$? $got" "0 590"
tool insmod "$modules/probe.so" -p 999999999
like "no such process" "$status $err" '^1 dprobes: no process 999999999'
preloaded "$VICTIMS/live" sleep
tool insmod "$modules/foreign.so" -p "$victim"
like "a module that needs what is not ours" "$status $err" '^1 dprobes: .*foreign.so needs '
tool insmod "$modules/probe.so" nosuch=1 -p "$victim"
like "a wrong parameter" "$status $err" '^1 dprobes: the module has no parameter nosuch'
tool insmod "$dir/nosuch.so" -p "$victim"
like "no such file" "$status $err" '^1 dprobes: cannot read .*nosuch.so'
tool lsmod -p "$victim"
is "none of them is there" "$(wc -l <<<"$got")" 1
ends "refused"
plan
