#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs and tools under limits: what cannot be is said in a sentence that is true, and
# the program goes on as it was.
. tests/scenario/lib.sh
rounds=${CYCLES:-12}

# under NAME "KIND [AMOUNT [HEAP]]" PATTERN: of the status and the last line
under() {
	local arm sum name=$1 says=$3
	for arm in interior trap quiesce; do
		# shellcheck disable=SC2086
		start $here "$VICTIMS/limits" $2
		grep -q cannot "$dir/out" && { skip "$name" "it cannot be limited so here"; return; }
		maps_of "$victim" >"$dir/maps"
		sum=$("$TOOLS/text-sum" "$victim")
		DPROBES_ARM=$arm "$DPROBES" stat -o "$dir/counts" --duration 60ms victim_function r:victim_function -p "$victim" 2>"$dir/terr"
		like "$name, $arm" "$? $(cat "$dir/terr")" "$says"
		is "$name, $arm: nothing is left" "$(maps_of "$victim" | diff "$dir/maps" - | grep dprobes)" ""
		is "$name, $arm: the text is as before" "$("$TOOLS/text-sum" "$victim")" "$sum"
		kill -TERM "$victim"
		wait "$victim"
		is "$name, $arm: it goes on to its end" "$?" 7
	done
}

here=
good='^0 .*: [1-9][0-9]* hits, 0 missed;.*--duration is over$'
cannot='^1 dprobes: cannot map the agent into process [0-9]+: '
no_room='^1 dprobes: process [0-9]+ has no room within 2 GB of the probed code$'
while IFS='|' read -r name kind says; do
	under "$name" "$kind" "$says"
done <<END
no limit|none|$good
no descriptors|nofile|${cannot}it has no file descriptor left for a moment \(RLIMIT_NOFILE is 3\)$
all descriptors open|open|${cannot}it has no file descriptor left for a moment \(RLIMIT_NOFILE is 64\)$
no address space|as 0|${cannot}that takes [0-9]+ KB, and its address space is limited to [0-9]+ KB \(RLIMIT_AS\)$
little address space|as 6000|${cannot}that takes [0-9]+ KB, and its address space is limited to [0-9]+ KB \(RLIMIT_AS\)$
enough address space|as 16000 4000|$good
no files|fsize|$good
no new executable memory|mdwe|$good
locked memory|locked|$good
no memory to lock|memlock 0|${cannot}that takes [0-9]+ KB, and it locks its memory, at most [0-9]+ KB \(RLIMIT_MEMLOCK\)$
little memory to lock|memlock 1000|${cannot}that takes [0-9]+ KB, and it locks its memory, at most [0-9]+ KB \(RLIMIT_MEMLOCK\)$
no hole near|near|$no_room
nowhere any hole|space|$no_room
a hole for the heap alone|near 65536 65000|$no_room
END
# Its heap begins right behind the program, not anywhere within 1 GB.
setarch -R true 2>/dev/null && here="setarch -R" && under "a large hole for the heap" "near 1500000 1000000" "$good"
here=
if [ "$(id -u)" = 0 ]; then
	under "not dumpable" hidden "$good"
	for left in 0 1 2 3 4 5 6 7 8 9 12 16; do
		start "$VICTIMS/limits" maps $left
		maps_of "$victim" | grep -v '\[heap\]' >"$dir/maps"
		"$DPROBES" stat -o "$dir/counts" --duration 20ms victim_function -p "$victim" 2>"$dir/terr"
		like "$left mappings more" "$? $(tail -n 1 "$dir/terr")" \
			"$good|${cannot}it has [0-9]+ mappings, as many as the kernel permits \\(vm.max_map_count\\)\$"
		is "$left mappings more: nothing is left" "$(maps_of "$victim" | grep -v '\[heap\]' | diff "$dir/maps" -)" ""
		kill -TERM "$victim"
		wait "$victim"
		is "$left mappings more: it goes on to its end" "$?" 7
	done
fi

# What an attach takes of the process's own allowance is less than 1 MB.
under_cgroup() {
	local own file=memory.max usage=memory.current
	own=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	if grep -q :memory: /proc/self/cgroup; then
		own=/sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' /proc/self/cgroup)
		file=memory.limit_in_bytes usage=memory.usage_in_bytes
	fi
	group=$own/dprobes-$$
	mkdir "$group" 2>/dev/null && [ -w "$group/$file" ] || return 1
	start sh -c "echo \$\$ >'$group/cgroup.procs' && exec '$VICTIMS/limits' none"
	echo $(($(<"$group/$usage") + (1 << 20))) >"$group/$file"
}
if under_cgroup 2>/dev/null; then
	for arm in interior trap quiesce; do
		DPROBES_ARM=$arm "$DPROBES" stat -o "$dir/counts" --duration 60ms victim_function r:victim_function -p "$victim" 2>"$dir/terr"
		like "a cgroup with 1 MB more, $arm" "$? $(cat "$dir/terr")" "$good"
	done
	kill -TERM "$victim"
	wait "$victim"
	is "a cgroup with 1 MB more: it goes on to its end" "$?" 7
else
	skip "a cgroup with 1 MB more" "no cgroup with a limit of memory can be made here"
fi
rmdir "$group" 2>/dev/null

# Launched, it has no heap yet, which begins right behind the program.
for arm in interior trap quiesce; do
	setarch -R true 2>/dev/null || { skip "a heap that is to come" "setarch -R is not permitted here"; break; }
	: >"$dir/out"
	DPROBES_ARM=$arm setarch -R "$DPROBES" stat -o "$dir/counts" victim_function -- \
		"$VICTIMS/limits" none 0 500000 >"$dir/out" 2>"$dir/terr" &
	tool=$!
	pids+=("$tool")
	poll 10 test -s "$dir/out"
	pkill -TERM -P "$tool"
	wait "$tool"
	like "a heap that is to come, $arm" "$? $(tail -n 1 "$dir/terr")" '^7 .* [1-9][0-9]* hits, 0 missed; .* exited with status 7$'
done

# The tool's own. $tool runs it.
start "$VICTIMS/limits" none
sum=$("$TOOLS/text-sum" "$victim")
maps_of "$victim" >"$dir/maps"
# own NAME OPTION VALUES...: under any of them counted, or said why not, in a sentence that is true
own() {
	local name=$1 option=$2 wrong="" works=0 value said
	shift 2
	for value in "$@"; do
		said=$( (ulimit "$option" "$value" && exec "$DPROBES" stat -q -o /dev/null --duration 10ms victim_function r:victim_function -p "$victim") 2>&1)
		case "$? $said" in
		"0 ") works=$((works + 1)) ;;
		"1 dprobes: "*"dprobes itself"* | "1 dprobes: "*memory | "127 "*) works=0 ;;
		*) wrong="$wrong $value: $said" ;;
		esac
	done
	like "$name: counted, or said why not" "$works$wrong" '^[1-9][0-9]*$'
	is "$name: nothing is left" "$(maps_of "$victim" | diff "$dir/maps" -)" ""
	is "$name: the text is as before" "$("$TOOLS/text-sum" "$victim")" "$sum"
}
own "descriptors of the tool" -n {3..20}
own "the tool's address space" -v {3000..40000..500}
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
