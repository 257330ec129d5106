#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs and tools under limits: what cannot be is said in a sentence that is true, and
# the program goes on as it was.
. tests/scenario/lib.sh
rounds=${CYCLES:-12}

# under NAME KIND PATTERN: of the status and the last line
under() {
	local arm name=$1 kind=$2 says=$3
	for arm in interior trap; do
		start "$VICTIMS/limits" "$kind"
		maps_of "$victim" >"$dir/maps"
		DPROBES_ARM=$arm "$DPROBES" stat -o "$dir/counts" --duration 60ms victim_function r:victim_function -p "$victim" 2>"$dir/terr"
		like "$name, $arm" "$? $(tail -n 1 "$dir/terr")" "$says"
		is "$name, $arm: nothing is left" "$(maps_of "$victim" | diff "$dir/maps" - | grep dprobes)" ""
		kill -TERM "$victim"
		wait "$victim"
		is "$name, $arm: it goes on to its end" "$?" 7
	done
}

good='^0 .*: [1-9][0-9]* hits, 0 missed;.*--duration is over$'
under "no limit" none "$good"
under "no descriptors" nofile '^1 dprobes: cannot map the agent .*: it has no file descriptor left for a moment \(RLIMIT_NOFILE is 3\)$'
under "little address space" as '^1 dprobes: cannot map the agent .*: that takes [0-9]+ KB, and its address space is limited to 8192 KB \(RLIMIT_AS\)$'
under "no files" fsize "$good"
under "no new executable memory" mdwe "$good"
under "locked memory" locked "$good"
if [ "$(id -u)" = 0 ]; then
	under "not dumpable" hidden "$good"
	under "all mappings" maps '^1 dprobes: cannot map the agent .*: it has [0-9]+ mappings, as many as the kernel permits \(vm.max_map_count\)$'
fi

# The tool's own. $tool runs it.
start "$VICTIMS/limits" none
own() {
	local name=$1 limit=$2 says=$3
	shift 3
	(ulimit $limit && exec "$DPROBES" "$@" >"$dir/counts" 2>"$dir/terr") 2>/dev/null
	like "$name" "$? $(tail -n 1 "$dir/terr")" "$says"
}
# The limit holds for what it says, too: that goes through a pipe.
said=$( (ulimit -f 0 && exec "$DPROBES" stat --duration 10ms victim_function -p "$victim") 2>&1 | cat)
like "the tool may have no files" "$said" \
	'^dprobes: cannot map the agent .*: dprobes itself may have no file of [0-9]+ KB, not even in memory \(RLIMIT_FSIZE\)$'
said=$( (ulimit -f 0; "$DPROBES" list -p "$victim" '*' >"$dir/counts"; echo "status $?") 2>&1 | cat)
like "what it writes is too much" "$said" '^dprobes: cannot write the output: File too large$'
like "what it writes is too much: its status" "$said" '^status 1$'
said=$( (ulimit -f 0; "$DPROBES" insmod build/tests/modules/probe.so -- true; echo "status $?") 2>&1 | cat)
like "nor a module" "$said" "^dprobes: cannot make memory for the module's lines: File too large$"
kill -TERM "$victim"
wait "$victim"
is "the program goes on" "$?" 7

# A command gets the signal's action as it was, and dies of it as it would.
for how in DFL IGN; do
	want=$(python3 -c "import signal, subprocess; signal.signal(signal.SIGXFSZ, signal.SIG_$how)
print(subprocess.run(['grep', 'SigIgn', '/proc/self/status'], capture_output=True, text=True, restore_signals=False).stdout)")
	got=$(python3 -c "import signal, subprocess; signal.signal(signal.SIGXFSZ, signal.SIG_$how)
print(subprocess.run(['$DPROBES', 'stat', '-q', '-o', '/dev/null', 'libc.so.6:malloc', '--', 'grep', 'SigIgn', '/proc/self/status'], capture_output=True, text=True, restore_signals=False).stdout)")
	is "a command has SIGXFSZ as it was, $how" "$got" "$want"
done

# Programs one after the other: a sentence, in time, and none of them dies or hangs.
start sh -c "echo; exec $VICTIMS/limits storm"
bad=0
for ((i = 0; i < rounds; i++)); do
	f=
	[ $((i % 3)) = 0 ] && f=-f
	timeout -s KILL 60 "$DPROBES" stat $f -q -o /dev/null --duration $((RANDOM % 60 + 1))ms libc.so.6:malloc libc.so.6:free -p "$victim" 2>"$dir/terr"
	said="$? $(tail -n 1 "$dir/terr")"
	printf '%s\n' "$said" | grep -qE '^(0 |1 dprobes: .*process [0-9]+)' ||
		{ bad=$((bad + 1)); echo "# $said"; }
	kill -0 "$victim" 2>/dev/null || break
done
is "exec after exec: $rounds times counted, or told why not" "$bad" 0
if kill -0 "$victim" 2>/dev/null; then ok "exec after exec: it goes on"; else not_ok "exec after exec: it goes on"; fi
kill -KILL "$victim"
wait "$victim" 2>/dev/null

# A C library that ours cannot be beside.
if [ -x "$VICTIMS/musl/calls" ]; then
	said=$("$DPROBES" insmod build/tests/modules/probe.so -- "$VICTIMS/musl/calls" 2>&1)
	like "a module for a musl program" "$? $said" \
		'^1 dprobes: .* cannot have a module: its dynamic linker is .*ld-musl.*, and libdprobes.so.1 needs ld-linux-x86-64.so.2 \(glibc\)'
else
	skip "a module for a musl program" "there is no musl"
fi

# Whatever memory it has: what it cannot plan, it does not list.
start "$VICTIMS/limits" none
"$DPROBES" list --json 'libc.so.6:*' -p "$victim" >"$dir/full" 2>/dev/null
less=0 bad=
for ((kilobytes = 4000; kilobytes < 200000; kilobytes += 500)); do
	(ulimit -v $kilobytes && exec "$DPROBES" list --json 'libc.so.6:*' -p "$victim" >"$dir/some" 2>"$dir/terr")
	status=$?
	if [ $status -eq 0 ]; then
		cmp -s "$dir/some" "$dir/full" || bad="$bad $kilobytes"
		break
	fi
	[ $status -ne 2 ] && [ ! -s "$dir/some" ] || bad="$bad $kilobytes"
	less=$((less + 1))
done
like "too little memory to list: it fails" "$less$bad" '^[1-9][0-9]*$'
kill -KILL "$victim"
wait "$victim" 2>/dev/null
plan
