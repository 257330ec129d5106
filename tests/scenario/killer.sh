#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool is ended at any moment, KILLS times in programs in C, Python and Go. They go on, right.
. tests/scenario/lib.sh
. tests/scenario/lib-beats.sh
rounds=${KILLS:-40}

# killed NAME HOW COMMAND -- SPEC...: all rounds; a program that has died begins again
killed() {
	local name=$1 how=$2 done=0 bad=0 said command=()
	shift 2
	while [ "$1" != -- ]; do command+=("$1"); shift; done
	shift
	: >"$dir/deaths"
	while [ $done -lt "$rounds" ]; do
		begin "${command[@]}" || { echo "it does not begin" >>"$dir/deaths"; bad=$((bad + 1)); break; }
		said=$("$TOOLS/killer" $((rounds - done)) "$beats" "$victim" "$DPROBES" "$how" "$@" 2>"$dir/talk")
		finish
		done=$((done + ${said%% *}))
		[ "${said#* }" != rounds ] || break
		done=$((done + 1)) bad=$((bad + 1))
		{ echo "$said"; cat "$dir/said"; } >>"$dir/deaths"
	done
	[ $bad -eq 0 ] || sed 's/^/# /' "$dir/deaths"
	is "$name: the tool is ended $rounds times" "$bad bad" "0 bad"
}

# The tool is killed when it has seen a thread's breakpoint and not let it go on.
for nth in 1 2 10 40; do
	begin "$VICTIMS/beats" "$beats" "$library"
	DPROBES_ARM=trap DPROBES_KILL_POINT="tree: signal" DPROBES_NTH=$nth build/tests/dprobes-kill-points stat -f -q -o /dev/null --duration 20s \
		libc.so.6:malloc -p "$victim" 2>"$dir/talk"
	goes_on
	is "killed with a signal in its hands, number $nth: the program goes on" \
		"$? $(grep -c '^steps: killed' "$dir/talk")$(cat "$dir/said")" "0 1"
	finish
done 2>/dev/null

# Or while what a program executes is brought to where all its libraries are in place.
for step in call "at the call" "behind the call" back; do
	for nth in 1 3; do
		begin "$VICTIMS/beats" "$beats" "$library"
		DPROBES_KILL_POINT="launch: $step" DPROBES_NTH=$nth build/tests/dprobes-kill-points stat -f -q -o /dev/null --duration 20s \
			libc.so.6:malloc -p "$victim" 2>"$dir/talk"
		goes_on
		is "killed with a command in its hands, $step, number $nth: it goes on" \
			"$? $(grep -c '^steps: killed' "$dir/talk")$(cat "$dir/said")" "0 1"
		finish
	done
done 2>/dev/null

# Where libraries come and go, most of all; only by SIGKILL.
for arm in interior quiesce trap; do
	DPROBES_ARM=$arm killed "agents that are replaced, $arm" kill "$VICTIMS/beats" "$beats" "$library" -- "$library:probed"
done
killed "C" any "$VICTIMS/beats" "$beats" "$library" -- "$library:probed" libc.so.6:malloc 'libc.so.6:mem*' \
	r:libc.so.6:free 'libc.so.6:str*'
if [ -x /usr/bin/python3 ]; then
	killed "Python" any /usr/bin/python3 tests/victims/soak/beats.py "$beats" -- libc.so.6:malloc libc.so.6:memcpy \
		'libc.so.6:mem*' r:libc.so.6:malloc
else
	skip "Python" "there is no /usr/bin/python3"
fi
if ! command -v go >/dev/null; then
	skip "Go" "go is not there to build one"
elif GOCACHE=$dir/cache CGO_ENABLED=0 GO111MODULE=off go build -o "$dir/gobeats" tests/victims/soak/beats.go; then
	rm -rf "$dir/cache"
	killed "Go" any "$dir/gobeats" "$beats" -- runtime.findRunnable main.work runtime.mallocgc fmt.Sprintf
else
	not_ok "Go: it is built"
fi
plan
