#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs under seccomp: what a filter does not permit is not used.
. tests/scenario/lib.sh
cycles=${CYCLES:-12}

if [ "$(id -u)" -ne 0 ] || ! unshare true 2>/dev/null; then
	skip "programs under seccomp" "needs CAP_SYS_ADMIN"
	plan
	exit
fi

# Its own way to be told to end: the word filtered_stop in its memory. stop_it [HOW]
stop_it() {
	python3 - "$victim" "$VICTIMS/filtered" "${1:-1}" <<-'END'
		import subprocess, sys
		base = next(l for l in open(f"/proc/{sys.argv[1]}/maps") if "/filtered" in l)
		nm = subprocess.run(["nm", sys.argv[2]], capture_output=True, text=True).stdout
		word = next(l for l in nm.splitlines() if l.endswith(" filtered_stop"))
		with open(f"/proc/{sys.argv[1]}/mem", "r+b", buffering=0) as mem:
		    mem.seek(int(base.split("-")[0], 16) + int(word.split()[0], 16))
		    mem.write(bytes([int(sys.argv[3])]))
	END
	wait "$victim"
}
text_sum() { "$TOOLS/text-sum" "$1"; }
# refused NAME PATTERN ARGS: before anything was changed
refused() {
	local name=$1 pattern=$2
	shift 2
	"$@" >"$dir/stdout" 2>"$dir/err"
	like "$name" "$? $(wc -l <"$dir/err") $(cat "$dir/err")" "^[12] [1-3] dprobes: .*$pattern"
	is "$name: nothing was changed" "$(maps_of "$victim" | diff "$dir/maps" -) $(text_sum "$victim")" " $(cat "$dir/text")"
}

# What keeps breakpoints out of a process in MODE, if anything
fsgsbase=$(($(LD_SHOW_AUXV=1 /bin/true | awk '$1 == "AT_HWCAP2:" { print $2 }') >> 1 & 1))
lack() {
	case $1 in
	none | mixed | single) echo 'rt_sigreturn' ;;
	*) [ $fsgsbase -eq 1 ] || echo 'arch_prctl, and this machine has no rdfsbase' ;;
	esac
}

for mode in none mixed single sigreturn stacked strict; do
	lack=$(lack $mode)
	kind='a filter'
	[ $mode != strict ] || kind=strict
	start "$VICTIMS/filtered" $mode
	maps_of "$victim" >"$dir/maps"
	text_sum "$victim" >"$dir/text"
	bad=0
	for ((i = 0; i < cycles; i++)); do
		until_hit victim_function stat -q -o "$dir/counts" victim_function asleep &&
			[ "$(hits "$dir/counts" filtered:victim_function)" -gt 0 ] ||
			{ bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
		maps_of "$victim" | cmp -s - "$dir/maps" || bad=$((bad + 1))
	done
	is "$mode: $cycles cycles of attach and detach, with hits" "$bad" 0
	"$DPROBES" stat -o "$dir/counts" --duration 50ms r:victim_function -p "$victim" 2>"$dir/err"
	like "$mode: returns, all by jumps" "$? $(cat "$dir/err")" '^0 .*\(0 trap, [0-9] jump\): [1-9]'
	"$DPROBES" stat --all -o "$dir/counts" --duration 100ms '*' -p "$victim" 2>"$dir/globbed"
	globbed="$? $(tr '\n' ' ' <"$dir/globbed")"
	"$DPROBES" doctor -p "$victim" >"$dir/facts"
	case $lack in
	?*)
		like "$mode: a glob leaves out what would be a breakpoint" "$globbed" \
			'^0 dprobes: [0-9]+ of [0-9]+ matches cannot be probed.*\(0 trap, [0-9]+ jump\): [1-9]'
		refused "$mode: a function without room for a jump" \
			"short_function cannot be probed: .*seccomp filter allows no breakpoint: it does not permit $lack" \
			"$DPROBES" stat short_function -p "$victim"
		like "$mode: the doctor" "$(cat "$dir/facts")" \
			"^note +seccomp: it runs under seccomp: $kind; probes can be jumps only, because it does not permit $lack; for breakpoints let its filter permit rt_sigreturn, "
		;;
	*)
		like "$mode: a glob leaves out nothing" "$globbed" '^0 dprobes: [0-9]+ \(filtered\): [0-9]+ probes, [1-9] by breakpoint, which is some thousand times as slow \(-v says why\) dprobes: [0-9]+ probes at [0-9]+ sites \([1-9] trap, [0-9]+ jump\): [1-9]'
		for arm in interior quiesce trap; do
			DPROBES_ARM=$arm "$DPROBES" stat --json -q -o "$dir/counts" --duration 50ms short_function victim_function r:asleep \
				-p "$victim" 2>"$dir/err"
			like "$mode, $arm: a breakpoint" "$? $(grep -E 'short_function.*"hits":[1-9].*"mode":"trap"' "$dir/counts") $(cat "$dir/err")" '^0 .*short'
		done
		like "$mode: the doctor" "$(cat "$dir/facts")" \
			'^note +seccomp: it runs under seccomp: (a filter|strict), which permits what breakpoints need$'
		;;
	esac
	if [ $mode = strict ]; then
		refused "$mode: no clock" 'strict mode, which forbids it to read the clock; use dprobes stat' \
			"$DPROBES" trace victim_function -p "$victim"
	else
		"$DPROBES" trace -q -o "$dir/lines" --duration 20ms 'takes_text(arg0,arg0:str) if arg0 != 0' -p "$victim" 2>"$dir/err"
		like "$mode: what would need a system call is not read" "$? $(head -n 1 "$dir/lines")" \
			'^0 .*arg0=(0x[0-9a-f]+) arg0=\1$'
	fi
	refused "$mode: without CAP_SYS_ADMIN" 'seccomp filter, .*dprobes has to be run with CAP_SYS_ADMIN' \
		setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$DPROBES" stat victim_function -p "$victim"
	is "$mode: the text is as it was" "$(text_sum "$victim")" "$(cat "$dir/text")"
	stop_it
	is "$mode: it found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
	[ -z "$lack" ] || continue
	start "$VICTIMS/filtered" $mode
	"$DPROBES" stat -q -o "$dir/counts" short_function -p "$victim" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 10 sh -c "'$DPROBES' list -p $victim 2>/dev/null | grep -q short"
	stop_it 2 2>/dev/null
	is "$mode: it dies of a breakpoint of its own" "$?" 133
	wait "$tool"
	like "$mode: which is not taken for ours" "$? $(cat "$dir/err")" '^0 $'
done

# The tool is killed: after each step of its protocols, and at any moment.
lives() { [ -d "/proc/$victim" ] && ! grep -q '^State:.*[ZX]' "/proc/$victim/status"; }
for mode in none sigreturn; do
	start "$VICTIMS/filtered" $mode
	maps_of "$victim" >"$dir/maps"
	text_sum "$victim" >"$dir/text"
	bad=
	for ((n = 1; n < 100; n++)); do
		DPROBES_KILL_POINT=$n build/tests/dprobes-kill-points stat -q -o /dev/null --duration 10ms -p "$victim" victim_function asleep \
			2>"$dir/terr"
		status=$?
		[ $status -eq 137 ] && lives || break
		until_hit victim_function stat --json -q -o "$dir/again" victim_function
		[[ $(cat "$dir/again" "$dir/err") =~ \"hits\":[1-9] ]] && maps_of "$victim" | cmp -s - "$dir/maps" &&
			[ "$(text_sum "$victim")" = "$(cat "$dir/text")" ] || bad+=" $n"
	done 2>/dev/null
	is "$mode: killed after each step, and the next one cleans up" "$status$bad" 0
	like "$mode: there are steps" "$n" '^[2-9][0-9]$'
	bad=0
	for ((n = 0; n < ${KILLS:-40}; n++)); do
		"$DPROBES" stat -q -o /dev/null --duration 5ms -p "$victim" victim_function asleep 2>/dev/null &
		tool=$!
		sleep 0.0$((RANDOM % 3))$((RANDOM % 100))
		{ kill -KILL $tool && wait $tool; } 2>/dev/null
		lives || break
	done
	is "$mode: killed at any moment" "$n" "${KILLS:-40}"
	"$DPROBES" detach -p "$victim" >/dev/null 2>&1
	stop_it
	is "$mode: it found its results right after that" "$? $(tail -n 1 "$dir/out")" "0 right"
done

# The tool is killed in a remote call that a signal has come to: the thread does not go on with all signals blocked.
# Of a traced thread the kernel puts even a signal that is ignored (SIGURG) in the queue.
start "$TOOLS/confine" 15 -- "$VICTIMS/busy" 1
DPROBES_HALT='remote: prepared' DPROBES_KILL_POINT='remote: returned' build/tests/dprobes-kill-points stat -q -o /dev/null \
	libc.so.6:malloc -p "$victim" 2>"$dir/terr" &
tool=$!
pids+=("$tool")
status_of() { awk -v key="$1:" '$1 == key { print $2 }' "/proc/$victim/status"; }
untraced() { [ "$(status_of TracerPid)" = 0 ]; }
poll 10 grep -q '^steps: stopped after remote: prepared' "$dir/terr"
kill -URG "$victim"
kill -CONT "$(status_of TracerPid)"
{ wait "$tool"; } 2>/dev/null
is "killed as a signal is put off: there" "$? $(tail -n 1 "$dir/terr")" "137 steps: killed after remote: returned"
poll 10 untraced
is "killed as a signal is put off: no signal stays blocked" "$(status_of SigBlk)" 0000000000000000
kill -KILL "$victim"
wait "$victim" 2>/dev/null

# Filters of the usual kind, under which some calls fail: here ptrace and kexec_load.
for mode in handler spawn mask pending clearsighand sleep open; do
	for arm in interior trap; do
		start "$TOOLS/confine" 101 246 -- "$VICTIMS/blocked" $mode 0
		bad=0
		for i in 1 2 3; do
			DPROBES_ARM=$arm "$DPROBES" stat -q -o "$dir/counts" --duration 50ms work libc.so.6:malloc -p "$victim" 2>"$dir/terr" ||
				bad=$((bad + 1))
		done
		like "nearly all permitted, $mode, $arm: hits" "$bad $(hits "$dir/counts" blocked:work) $(cat "$dir/terr")" '^0 [0-9]+ $'
		kill -TERM "$victim"
		wait "$victim"
		like "$mode, $arm: it is right after that" "$? $(tail -n 1 "$dir/out")" "^0 right: $mode"
	done
done
# And what hooks need: rt_sigaction, rt_sigprocmask, getpid, process_vm_readv and _writev.
for call in 13:rt_sigaction 14:rt_sigprocmask 39:getpid 310:process_vm_readv 311:process_vm_writev; do
	start "$TOOLS/confine" "${call%:*}" -- "$VICTIMS/busy" 3
	like "without ${call#*:}: no breakpoints" "$("$DPROBES" doctor -p "$victim")" \
		"^note +seccomp: .*; probes can be jumps only, because it does not permit ${call#*:};"
	"$DPROBES" stat -o "$dir/counts" --duration 50ms libc.so.6:malloc -p "$victim" 2>"$dir/terr"
	like "without ${call#*:}: jumps" "$? $(cat "$dir/terr")" '^0 .*\(0 trap, 1 jump\): [1-9]'
	kill -KILL "$victim"
	wait "$victim" 2>/dev/null
done
plan
