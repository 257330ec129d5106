#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs under Syscall User Dispatch: nothing of ours comes to their handlers, whatever
# becomes of the tool.
. tests/scenario/lib.sh
kill_points=build/tests/dprobes-kill-points
cycles=${CYCLES:-12}
runs=1
SAYS='dispatches system calls to a handler of its own \(prctl PR_SET_SYSCALL_USER_DISPATCH\)'

# begin KIND: a victim of that kind; 77: the kernel has no such thing
begin() {
	runs=$((runs + 1))
	stop=$dir/stop.$runs
	start "$VICTIMS/dispatch" "$1" "$stop"
	maps_of "$victim" >"$dir/maps"
	"$TOOLS/text-sum" "$victim" >"$dir/text"
}
left() { maps_of "$victim" | diff "$dir/maps" - && "$TOOLS/text-sum" "$victim" | diff "$dir/text" -; }
# over NAME: it has found nothing wrong
over() {
	touch "$stop"
	wait "$victim"
	like "$1: nothing but the guest's calls came to the handler" "$? $(tail -n 1 "$dir/out")" '^0 right [1-9]'
}
alive() { [ -d "/proc/$victim" ] && ! grep -q '^State:.*[ZX]' "/proc/$victim/status"; }
ticks() { awk '{ print $14 + $15 }' "/proc/$victim/stat"; }
moves() { [ "$(ticks)" -gt "$before" ]; }

begin selector
if grep -q 'no dispatch' "$dir/out"; then
	skip "programs under Syscall User Dispatch" "the kernel has none (x86-64, Linux 5.11)"
	plan
	exit
fi
touch "$stop"
wait "$victim"
if ! "$DPROBES" doctor | grep -q '^ok *dispatch: works'; then
	skip "programs under Syscall User Dispatch" "the kernel does not tell of it (Linux 6.4)"
	plan
	exit
fi

for kind in selector threads range; do
	begin $kind
	bad=0
	for ((i = 0; i < cycles; i++)); do
		until_hit victim_function stat -q -o "$dir/counts" victim_function r:victim_function &&
			[ "$(hits "$dir/counts" dispatch:victim_function)" -gt 0 ] ||
			{ bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
		[ -z "$(left)" ] || bad=$((bad + 1))
	done
	is "$kind: $cycles times attached and detached, with hits" "$bad" 0
	"$DPROBES" trace -o "$dir/lines" --duration 40ms victim_function -p "$victim" 2>"$dir/err"
	like "$kind: records are written" "$? $(tail -n 1 "$dir/lines")" '^0 .*dispatch:victim_function'
	"$DPROBES" stat short_function -p "$victim" >"$dir/counts" 2>"$dir/err"
	like "$kind: no breakpoint" "$? $(cat "$dir/err")" \
		'^1 .*short_function cannot be probed: .* its process allows no breakpoint: it dispatches system calls'
	"$DPROBES" stat --pending libnone.so:f -p "$victim" --duration 10ms >"$dir/counts" 2>"$dir/err"
	like "$kind: nor one in the linker" "$? $(cat "$dir/err")" '^[12] .*it dispatches system calls to a handler of its own'
	DPROBES_ARM=trap "$DPROBES" stat victim_function -p "$victim" --duration 10ms >"$dir/counts" 2>"$dir/err"
	like "$kind: nor if that is asked for" "$? $(cat "$dir/err")" '^(0 .*\(0 trap, 1 jump\)|1 .*it dispatches system calls)'
	"$DPROBES" doctor -p "$victim" >"$dir/facts"
	like "$kind: the doctor" "$? $(cat "$dir/facts")" "^note +dispatch: it $SAYS; probes can be jumps only"
	is "$kind: nothing is left" "$(left)" ""
	over "$kind"
done

begin narrow
"$DPROBES" stat --duration 10ms victim_function -p "$victim" >"$dir/counts" 2>"$dir/err"
like "narrow: refused" "$? $(cat "$dir/err")" "^1 dprobes: thread $victim of process $victim $SAYS, and no selector"
"$DPROBES" doctor -p "$victim" >"$dir/facts"
like "narrow: the doctor says so, too" "$? $(cat "$dir/facts")" "no +attach: .*$SAYS, and no selector"
is "narrow: nothing has changed" "$(alive && left)" ""
before=$(ticks)
if poll 10 moves; then ok "narrow: it goes on"; else not_ok "narrow: it goes on"; fi
kill -KILL "$victim"
wait "$victim" 2>/dev/null

# Uprobes wait for a handler by system calls.
begin selector
"$TOOLS/upcount" "$victim" "$("$DPROBES" list --json victim_function -p "$victim" |
	sed -n 's/.*"addr":"\{0,1\}\([0-9a-fx]*\).*/\1/p')" 1 >"$dir/counts" 2>&1
like "Uprobes are refused" "$? $(cat "$dir/counts")" "^[1-9][0-9]* .*$SAYS"
is "Uprobes: nothing has changed" "$(left)" ""
over "Uprobes"

# Where the kernel does not tell, a call that is dispatched does, before anything is mapped. It
# depends on where the thread is stopped: the byte permits some.
for kind in selector often; do
	begin $kind
	refused=0
	said=
	for ((i = 0; i < cycles; i++)); do
		DPROBES_FAIL='dispatch: asked' "$kill_points" stat -q -o /dev/null --duration 1ms victim_function -p "$victim" 2>"$dir/err"
		[ $? -eq 1 ] && grep -Eq "^dprobes: process $victim $SAYS, and this kernel does not tell" "$dir/err" && refused=$((refused + 1))
		said+=$(left)
	done
	is "an older kernel: $kind: $cycles times refused" "$refused" "$cycles"
	is "an older kernel: $kind: nothing has changed" "$said$(left)" ""
	over "an older kernel: $kind"
done
begin selector
DPROBES_FAIL='dispatch: asked' "$kill_points" doctor -p "$victim" >"$dir/facts"
like "an older kernel: the doctor, of the process" "$(cat "$dir/facts")" '^note +dispatch: it catches SIGSYS, and this kernel does not tell'
like "an older kernel: the doctor, of the machine" "$(DPROBES_FAIL='dispatch: asked' "$kill_points" doctor)" \
	'^note +dispatch: ptrace\(2\) does not tell .*; use Linux 6.4 or later'
over "an older kernel, looked at"

# A remote call that cannot begin leaves neither code in borrowed padding nor a thread on its way through it.
vdso() {
	python3 - "$victim" <<-'END'
		import hashlib, sys
		line = next(l for l in open(f"/proc/{sys.argv[1]}/maps") if "[vdso]" in l)
		start, end = (int(x, 16) for x in line.split()[0].split("-"))
		with open(f"/proc/{sys.argv[1]}/mem", "rb") as mem:
		    mem.seek(start)
		    print(hashlib.sha256(mem.read(end - start)).hexdigest())
	END
}
begin selector
was=$(vdso)
failed=0
for ((i = 0; i < 10 && !failed; i++)); do
	DPROBES_FAIL='remote: permit' "$kill_points" stat -q -o /dev/null --duration 1ms victim_function -p "$victim" 2>"$dir/err" ||
		failed=1
	alive || break
done
like "no remote call begins: refused" "$failed $(cat "$dir/err")" '^1 dprobes: process [0-9]+ has no thread that could help just now'
is "no remote call begins: nothing has changed" "$(vdso)$(left)" "$was"
over "no remote call begins"

# It begins while it is probed: the probes end before.
for kind in launched attached; do
	rm -f "$dir/out"
	stop=$dir/stop.$kind
	if [ $kind = launched ]; then
		touch "$stop.on"
		(sleep 1; touch "$stop") &
		"$DPROBES" stat -o "$dir/counts" victim_function short_function -- "$VICTIMS/dispatch" later "$stop" >"$dir/out" 2>"$dir/err"
		status=$?
	else
		start "$VICTIMS/dispatch" later "$stop"
		"$DPROBES" stat -o "$dir/counts" victim_function short_function -p "$victim" 2>"$dir/terr" &
		tool=$!
		pids+=("$tool")
		poll 10 eval '"$DPROBES" list -p $victim 2>/dev/null | grep -q short'
		touch "$stop.on"
		wait "$tool"
		like "$kind: what ended the probes" "$? $(tail -n 1 "$dir/terr")" \
			'^0 .*the probes have ended before it has its system calls dispatched to a handler of its own'
		"$DPROBES" stat -q -o "$dir/counts" --duration 10ms victim_function -p "$victim"
		is "$kind: it can be probed again" "$? $(awk '/victim/ { print ($1 > 0) }' "$dir/counts")" "0 1"
		touch "$stop"
		wait "$victim"
		status=$?
		cp "$dir/terr" "$dir/err"
	fi
	like "$kind: it runs as unprobed" "$status $(tail -n 1 "$dir/out")" '^0 right [1-9]'
	[ $kind = attached ] || like "$kind: what ended the probes" "$(tail -n 1 "$dir/err")" \
		'the probes have ended before it has its system calls dispatched to a handler of its own'
done

# The tool is killed after each step, and who is on an errand for it.
for kind in selector threads; do
	begin $kind
	seen=0 names=
	for ((n = 1; n < 150; n++)); do
		{ DPROBES_KILL_POINT=$n "$kill_points" stat -q -o /dev/null --duration 1ms -p "$victim" victim_function 2>"$dir/err"; } 2>/dev/null
		status=$?
		[ $status -eq 137 ] || break
		name=$(sed -n 's/^steps: killed //p' "$dir/err")
		names="$names$name;"
		before=$(ticks 2>/dev/null)
		if ! alive || ! poll 10 moves; then
			not_ok "$kind, killed $name (step $n): the program goes on" "$(cat "$dir/out")"
			plan
			exit
		fi
		until_hit victim_function stat --json -q -o "$dir/again" victim_function
		again=$(cat "$dir/again" "$dir/err")
		[ -z "$(left)" ] && printf '%s' "$again" | grep -q '"hits":[1-9]' ||
			not_ok "$kind, killed $name (step $n): the next dprobes counts, and leaves nothing" "$again" "$(left)"
		seen=$((seen + 1))
	done
	is "$kind: in the end no step is left to be killed at" "$status" 0
	if [ $seen -gt 20 ]; then ok "$kind: $seen steps were seen"; else not_ok "$kind: only $seen steps were seen"; fi
	[ $kind = threads ] || like "$kind: among them those around the selector" "$names" 'the selector permits;.*the selector forbids;'
	over "$kind, with the tool killed at each step"
done
plan
