#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The last lines kept in memory until a spec hits, and files that begin anew at a size: what is there
# is what a plain trace has at that place, and what is not there is counted.
. tests/scenario/lib.sh

cat >"$dir/calls.c" <<'EOF2'
/* calls N AT FORKS [SECONDS]: work(0) … work(N - 1), the trigger behind work(AT), in so many fork children,
   too; then wait */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noipa)) long work(long n) { return n * 3; }
__attribute__((noipa)) void trigger(long n) { __asm__ volatile("" : : "r"(n)); }
int main(int argc, char **argv)
{
	long n = atol(argv[1]), at = atol(argv[2]), i;
	int forks = atoi(argv[3]);

	while (forks-- > 0 && !fork())
		forks = -2;
	for (i = 0; !n || i < n; i++) {
		work(i);
		if (i == at && forks != -3)
			trigger(i);
		if (!n)
			usleep(100);
	}
	while (wait(NULL) > 0)
		;
	if (argc > 4)
		sleep(atoi(argv[4]));
	return 3;
}
EOF2
cc -O1 -g -o "$dir/calls" "$dir/calls.c"
run() {
	timeout 100 "$DPROBES" "$@" >"$dir/stdout" 2>"$dir/err" </dev/null
	status=$?
	err=$(<"$dir/err")
}
# values FILE...: without the times and numbers of processes, which differ from run to run
values() { sed -E 's/^[0-9:.]+ [0-9]+ [0-9]+ //; s/"time":[0-9.]+,"pid":[0-9]+,"tid":[0-9]+/"pid":0/' "$@"; }
said() { grep -oE "[0-9]+ $1" "$dir/err" | grep -oE '^[0-9]+'; }

# As a plain trace has them: its lines up to the trigger's, of which those are kept that fit.
work='work(arg0:u64)' trigger='trigger(arg0:u64)'
for how in "" --json; do
	run trace --block $how "$work" "$trigger" -- "$dir/calls" 2000 1500 0
	values "$dir/stdout" | sed '/trigger/q' >"$dir/all"
	run trace --block $how --keep 5000 --until "$trigger" "$work" -- "$dir/calls" 2000 1500 0
	kept=$(wc -l <"$dir/stdout")
	is "trace $how --keep --until: the status of the command" "$status" 3
	is "$how: the last line is the trigger's" "$(tail -n 1 "$dir/stdout" | grep -c 'trigger')" 1
	is "$how: what is kept is the end of what a plain trace shows" "$(values "$dir/stdout" | cmp - <(tail -n "$kept" "$dir/all") && echo same)" same
	is "$how: it is as much as was asked for" "$(sed '$d' "$dir/stdout" | wc -c | awk -v line="$(tail -n 2 "$dir/stdout" | head -n 1 | wc -c)" '{ print ($1 <= 5000), ($1 + line > 5000) }')" "1 1"
	is "$how: what is not kept is counted" "$(($(said dropped) + kept))" "$(wc -l <"$dir/all")"
	is "$how: and so are records" "$(said records)" "$(wc -l <"$dir/all")"
done
[ -z "$(command -v python3)" ] || is "JSON is whole" "$(python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)
print("good")' <"$dir/stdout" 2>&1)" good

# Conditions, returns, and more of them than one
run trace --block --keep 1M --until 'r:work(arg0:u64) if arg0 == 77' "$work" -- "$dir/calls" 100 -1 0
is "a return, with a condition" "$(values "$dir/stdout" | tail -n 2 | sed 's/ <.*//')" "calls calls:work arg0=77
calls r:calls:work arg0=77 = 231"
like "nothing is dropped, and nothing said of it" "$(wc -l <"$dir/stdout") $err" '^79 dprobes: [^;]* 79 records; calls: .*; (--until has hit|calls exited with status 3)$'
run trace --block --until "$trigger" "$work" -- "$dir/calls" 100 50 0
is "without --keep all are printed up to there" "$(values "$dir/stdout" | tail -n 2) $(wc -l <"$dir/stdout")" "calls calls:work arg0=50
calls calls:trigger arg0=50 52"

# A trigger that does not come
run trace --block --keep 200 --until "$trigger" "$work" -- "$dir/calls" 100 -1 0
is "the program ends first: what is kept is printed" "$status $(values "$dir/stdout" | tail -n 1)" "3 calls calls:work arg0=99"
like "and that the trigger has not come" "$err" '^dprobes: --until trigger\(arg0:u64\) has not hit; what has been kept is printed$'
run trace --block --keep 10 "$work" -- "$dir/calls" 100 -1 0
is "a line that does not fit is dropped, too" "$(wc -l <"$dir/stdout") $(said dropped)" "0 100"
"$dir/calls" 0 -1 0 &
victim=$!
pids+=("$victim")
"$DPROBES" trace --keep 1k --until "$trigger" "$work" -p "$victim" >"$dir/stdout" 2>"$dir/err" &
tool=$!
pids+=("$tool")
poll 10 sh -c "'$DPROBES' list -p $victim | grep -q work"
sleep 0.1
kill -INT "$tool"
wait "$tool"
like "^C: what is kept is printed" "$? $(tail -n 1 "$dir/stdout")" '^0 .* calls:work arg0=[0-9]+$'
like "and that the trigger has not come" "$(<"$dir/err")" 'has not hit.*'
timeout 50 "$DPROBES" trace --until "$trigger" "$work" -p "$victim" 2>"$dir/err" | head -n 3 >"$dir/stdout"
is "a reader that goes away" "${PIPESTATUS[0]} $(wc -l <"$dir/stdout") $(<"$dir/err")" "0 3 "
kill -KILL "$victim"
wait "$victim" 2>/dev/null

# Several processes
run trace -f --block --keep 1M --until "$trigger" "$work" -- "$dir/calls" 100 50 3
is "-f: the last line is the trigger's" "$(tail -n 1 "$dir/stdout" | grep -c trigger)" 1
like "-f: that has ended it" "$err" 'records.*; (--until has hit|all have ended|process [0-9]+ exited with status 3)$'

# The tool's memory
peak() { # ARGS...: KiB that the tool has had at most, while its command sleeps at the end
	local tool kib most=0

	"$DPROBES" "$@" >/dev/null 2>"$dir/err" &
	tool=$!
	while kib=$(awk '/^VmHWM/ { print $2 }' "/proc/$tool/status" 2>/dev/null) && [ -n "$kib" ]; do
		most=$kib
		sleep 0.05
	done
	echo "$most"
}
# What waits to be put in order differs from run to run, by some MiB.
least() { for _ in 1 2 3; do peak "$@"; done | sort -n | head -n 1; }
plain=$(least trace -q --block --buffer 256k "$work" -- "$dir/calls" 300000 -1 0 1)
keeps=$(least trace -q --block --buffer 256k --keep 12M --until "$trigger" "$work" -- "$dir/calls" 300000 -1 0 1)
is "memory is what was asked for, and no more ($plain KiB, with 12 MiB $keeps)" "$((keeps > plain + 12288 + 6144)) $((keeps > plain + 6144))" "0 1"

# Files that begin anew
for how in "" --json; do
	run trace --block $how "$work" -- "$dir/calls" 1000 -1 0
	values "$dir/stdout" >"$dir/all"
	echo old >"$dir/log.2"
	rm -f "$dir"/log.*
	run trace --block $how -o "$dir/log" --rotate 2k,4 "$work" -- "$dir/calls" 1000 -1 0
	is "--rotate $how: the files" "$(cd "$dir" && echo log*)" "log log.1 log.2 log.3"
	is "$how: none is larger, and none but the first has room for a line more" \
		"$(wc -c "$dir"/log.[123] "$dir/log" | awk '$2 != "total" { if ($1 > 2048 || (/log\.[123]/ && $1 < 1900)) print }')" ""
	cat "$dir"/log.{3,2,1} "$dir/log" >"$dir/stdout"
	kept=$(wc -l <"$dir/stdout")
	is "$how: whole lines, the last ones of all" "$(values "$dir/stdout" | cmp - <(tail -n "$kept" "$dir/all") && echo same)" same
	is "$how: what has gone with its file is counted" "$(($(said dropped) + kept))" 1000
done
run trace --block -o "$dir/log" --rotate 1M,4 "$work" -- "$dir/calls" 10 -1 0
is "files of an earlier run are not taken for this one's" "$(cd "$dir" && echo log*) $(wc -l <"$dir/log")" "log 10"
run trace --block -o "$dir/log" --rotate 300,1 "$work" -- "$dir/calls" 100 -1 0
is "one file" "$(cd "$dir" && echo log*) $(($(said dropped) + $(wc -l <"$dir/log")))" "log 100"
run trace --block -o "$dir/log" --rotate 5,3 "$work" -- "$dir/calls" 100 -1 0
is "a line that is longer has a file to itself" "$(cat "$dir"/log* | wc -l) $(said dropped) $(values "$dir/log")" "3 97 calls calls:work arg0=99"
run trace --block -o "$dir/log" --rotate 1k,3 --keep 10k --until "$trigger" "$work" -- "$dir/calls" 1000 900 0
is "with --keep: the end of it" "$(values "$dir/log" | tail -n 1) $(cat "$dir"/log* | wc -l | awk '{ print ($1 > 20 && $1 < 80) }')" "calls calls:trigger arg0=900 1"
is "and the summary, which is printed before, has what memory had no room for" "$(said dropped | awk '{ print ($1 > 500) }')" 1
rm -rf "$dir"/log*
mkdir "$dir/log.1"
run trace -o "$dir/log" --rotate 1k,3 "$work" -- "$dir/calls" 1 -1 0
like "nothing of anybody else's is renamed" "$status $err" "^2 dprobes: --rotate: $dir/log, or a file beside it, is no regular file"

# wrong NAME WANTED ARGS...: the first line and where the caret is
wrong() {
	local name=$1 wanted=$2
	shift 2
	run trace "$@" "$work" -- "$dir/calls" 1 -1 0
	is "$name" "$status $(sed -n '1s/^dprobes: //p; 3p' "$dir/err")" "$wanted"
}
wrong "no size" "2 --keep: this is not a size, a number and k, M or G
  ^~~" --keep 12x
wrong "none either" "2 --keep: this is not a size, a number and k, M or G
  ^" --keep 0
wrong "too much" "2 --keep: this is more memory than the machine has
  ^~~~~~~~" --keep 9999999G
wrong "more than a number" "2 --keep: this is not a size, a number and k, M or G
  ^~~~~~~~~~~~~~~~~~~~" --keep 99999999999999999999
wrong "no size of a file" "2 --rotate: this is not a size, a number and k, M or G
  ^~" -o "$dir/log" --rotate 1z,3
wrong "no number of files" "2 --rotate: here is to be how many files there are at most, as in 100M,5
    ^" -o "$dir/log" --rotate 1k
wrong "a number that is none" "2 --rotate: this is not a number of files, 1 to 1000
     ^~~~" -o "$dir/log" --rotate 1k,1001
wrong "a spec that is none" "2 this parenthesis is not closed
         ^" --until "trigger("
wrong "a spec without a function" '2 no function "triggr" in calls; near names: trigger
  ^~~~~~' --until triggr
wrong "of another source" "2 watchpoints and other probes take a command each: start a second dprobes for this one
    ^~~~~~" --until w:stdout
run trace --rotate 1k,3 "$work" -- "$dir/calls" 1 -1 0
is "--rotate without a file" "$status $err" "2 dprobes: --rotate needs -o FILE; see dprobes --help"
for option in "--keep 1M" "--until trigger" "--rotate 1k,2"; do
	run stat $option "$work" -- "$dir/calls" 1 -1 0
	is "stat ${option% *}" "$status $err" "2 dprobes: stat does not use ${option% *}; see dprobes --help"
done
plan
