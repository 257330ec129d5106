# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# lib: what the scenario tests share. Sourced, from the repository's root.
set -u
DPROBES=${DPROBES:-build/dprobes}
VICTIMS=${VICTIMS:-build/tests/victims}
TOOLS=${TOOLS:-build/tests/tools}
dir=$(mktemp -d)
tests=0
pids=()
# A server is asked only where that is what is tested.
unset DEBUGINFOD_URLS

# lineage PID: its parent and its process group
lineage() {
	local stat

	{ stat=$(<"/proc/$1/stat"); } 2>/dev/null
	read -r _ ppid pgrp _ <<<"${stat##*) }"
}
lineage $$
own_pgrp=$pgrp
# The number of a process that has ended may be a stranger's by now.
ours() { [ -d "/proc/$1" ] && lineage "$1" && { [ "$ppid" = $$ ] || [ "$pgrp" = "$own_pgrp" ]; }; }

# Not in a child that a signal ends before it has executed anything.
cleanup() {
	local p ppid pgrp

	[ $BASHPID = $$ ] || return
	for p in "${pids[@]:-}"; do
		[ -z "$p" ] || ! ours "$p" || kill -KILL "$p" 2>/dev/null
	done
	rm -rf "$dir"
}
trap cleanup EXIT

ok() { tests=$((tests + 1)); echo "ok $tests - $*"; }
not_ok() {
	tests=$((tests + 1))
	echo "not ok $tests - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/#   /'
}
skip() { tests=$((tests + 1)); echo "ok $tests - $1 # SKIP $2"; }
plan() { echo "1..$tests"; }

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then ok "$1"; else
		not_ok "$1" "got:    $2" "wanted: $3"; fi
}
# like NAME TEXT PATTERN: an extended regular expression
like() {
	if printf '%s\n' "$2" | grep -qE -- "$3"; then ok "$1"; else
		not_ok "$1" "got: $2" "wanted a match of: $3"; fi
}

# poll SECONDS COMMAND...: until it succeeds. So long on an idle machine; six times as long on a busy one.
poll() {
	local end=$((SECONDS + 6 * $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

# start VICTIM ARGS: in the background, output in $dir/out; sets $victim;
# returns when it has said something
start() {
	: >"$dir/out"
	"$@" >"$dir/out" 2>"$dir/err" &
	victim=$!
	pids+=("$victim")
	poll 10 test -s "$dir/out"
}

# cycles NAME N SPEC...: attach to the victim and detach again, N times; end it
cycles() {
	local name=$1 n=$2 bad=0 i
	shift 2
	for ((i = 0; i < n; i++)); do
		"$DPROBES" stat -q -o "$dir/counts" --duration 20ms "$@" -p "$victim" 2>"$dir/err" ||
			{ bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
	done
	is "$name: attached and detached" "$bad" 0
	kill -TERM "$victim"
	wait "$victim"
}

# asleep PID: its first thread; stopped PID: all of its threads, which a stop reaches one by one; worked PID TICKS: until it has had a CPU for so long
asleep() { grep -q '^State:.S' "/proc/$1/status"; }
stopped() {
	local states

	states=$(grep -hs '^State:' "/proc/$1"/task/*/status) || return
	! grep -qv '^State:.T' <<<"$states"
}
ticks_of() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat" 2>/dev/null; }
worked() {
	local ticks wanted

	ticks=$(ticks_of "$1")
	wanted=$((ticks + $2))
	# A process that has ended works no more.
	has_worked() { ticks=$(ticks_of "$1"); [ "${ticks:-$wanted}" -ge "$wanted" ]; }
	poll 60 has_worked "$1" && [ -n "$ticks" ]
}
# obey COMMAND...: $victim reads words from this shell, says "ready", and then a line to $dir/out for each word
# bid WORD...: give it words, each when the one before has been answered; dismiss WORD: the last; its status
obey() {
	rm -f "$dir/in"
	mkfifo "$dir/in"
	: >"$dir/out"
	"$@" <"$dir/in" >"$dir/out" 2>"$dir/err" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/in"
	poll 10 grep -q ready "$dir/out"
	lines=1
}
answered() { [ "$(wc -l <"$dir/out")" -ge "$lines" ]; }
bid() {
	local word

	for word; do
		lines=$((lines + 1))
		echo "$word" >&5
		poll 10 answered
	done
}
dismiss() {
	echo "$1" >&5
	exec 5>&-
	wait "$victim"
}
# interrupt PID: a child ends by SIGINT; its status. A shell has that ignored in the background, up to
# where the tool takes it.
interrupt() {
	while kill -INT "$1" 2>/dev/null; do sleep 0.02; done
	wait "$1"
}
# been_hit FUNCTION: at least once by now, in the victim, and not by what an ended tool has left there
been_hit() {
	"$DPROBES" list -v -p "$victim" 2>/dev/null | grep -v 'its tool has ended$' |
		grep -qE "  $1\+0x0 .*  [1-9][0-9]* hits"
}
# until_hit FUNCTION ARGS...: the tool at the victim until the function has been hit; its status
until_hit() {
	local tool function=$1
	shift
	"$DPROBES" "$@" -p "$victim" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 60 been_hit "$function"
	interrupt "$tool"
}

hits() { awk -v n="$2" '$NF == n { print $1 }' "$1"; }
maps_of() { cat "/proc/$1/maps"; }
