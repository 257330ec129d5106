#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# How much room records have, and programs that wait for it: none is lost, or each is counted. [defects 16, 19]
. tests/scenario/lib.sh

cat >"$dir/calls.c" <<'EOF'
/* calls N THREADS: work(0), work(1), … work(N - 1) in each thread; N = 0: until SIGTERM */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int stop;
static volatile long calls;
static long limit;
__attribute__((noipa)) long work(long n)
{
	return n * 3;
}
static void end(int sig)
{
	stop = 1;
}
static void *run(void *arg)
{
	long n;

	for (n = 0; limit ? n < limit : !stop; n++) {
		if (work(n) != n * 3)
			_exit(1);
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	int i, n = atoi(argv[2]);
	pthread_t t[16];

	limit = atol(argv[1]);
	signal(SIGTERM, end);
	printf("running\n");
	fflush(stdout);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%ld calls\n", calls);
	return 0;
}
EOF
cc -O2 -pthread -o "$dir/calls" "$dir/calls.c"

# said PATTERN: a number of the summary
said() { grep -oE "[0-9]+ $1" "$dir/err" | grep -oE '^[0-9]+'; }
# whole THREADS N: the lines are those of all calls, in the order of time, and of each thread in its own
whole() {
	awk -v threads="$1" -v n="$2" '
		$1 < last { print "out of order: " $0; exit }
		{ last = $1; v = strtonum16($NF); if (v != next_of[$3]++) { print "not the next: " $0; exit } }
		END { for (t in next_of) { k++; if (next_of[t] != n) print t " has " next_of[t] }; if (k != threads) print k " threads" }
		function strtonum16(s,  i, x) {
			sub(/^.*=/, "", s)
			if (s !~ /^0x/) return s + 0
			for (i = 3; i <= length(s); i++) x = x * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return x
		}' "$dir/lines"
}

for how in interior quiesce trap; do
	n=50000
	[ $how != trap ] || n=3000
	DPROBES_ARM=$how "$DPROBES" trace --block --buffer 8k -o "$dir/lines" 'work(arg0)' -- "$dir/calls" $n 3 >"$dir/out" 2>"$dir/err"
	is "$how: who waits loses nothing" "$? $(tail -n 1 "$dir/out") $(said 'records;') $(said 'records? lost')" "0 $((3 * n)) calls $((3 * n)) "
	is "$how: every call, in order" "$(whole 3 $n)" ""
done
"$DPROBES" trace --block --buffer 8k --json -o "$dir/lines" 'r:work(arg0,retval:s64)' -- "$dir/calls" 20000 2 >"$dir/out" 2>"$dir/err"
is "returns: who waits loses nothing" "$? $(tail -n 1 "$dir/out") $(said 'records;') $(grep -c '"exit":"return"' "$dir/lines")" "0 40000 calls 40000 40000"
# The wait for the reader is none of the call's.
like "returns: half of the calls take as long as without" "$(grep -oE '"latency_ns":[0-9]+' "$dir/lines" | cut -d: -f2 | sort -n |
	awk '{ v[NR] = $1 } END { print v[int(NR / 2)] }')" '^[0-9]{1,5}$'

"$DPROBES" trace --buffer 8k -o "$dir/lines" 'work(arg0)' -- "$dir/calls" 200000 2 >"$dir/out" 2>"$dir/err"
small=$(said 'records? lost')
is "a small ring: what is lost is counted" "$? $(tail -n 1 "$dir/out") $(($(wc -l <"$dir/lines") + ${small:-0}))" "0 400000 calls 400000"
like "a small ring loses" "$small" '^[1-9]'
like "and says how fast who is" "$(grep -oE '^dprobes: hits made [0-9]+ records a second, [0-9]+ of them' "$dir/err" | tr -dc '0-9 ' |
	awk '{ print ($1 > $2 && $2 > 0) }')" '^1$'
"$DPROBES" trace --buffer 64M -o "$dir/lines" 'work(arg0)' -- "$dir/calls" 200000 2 >"$dir/out" 2>"$dir/err"
is "one that has room for all loses nothing" "$? $(tail -n 1 "$dir/out") $(wc -l <"$dir/lines") $(said 'records? lost')" "0 400000 calls 400000 "
# The time is that of the reading: the order of one CPU's records is that in which they were made.
taskset -c 0 "$DPROBES" trace --coarse-time --buffer 64M -o "$dir/lines" 'work(arg0)' -- "$dir/calls" 200000 1 >"$dir/out" 2>"$dir/err"
is "coarse time: every call, in order" "$? $(tail -n 1 "$dir/out") $(whole 1 200000)" "0 200000 calls "
like "coarse time: few times for many records" "$(cut -d' ' -f1 "$dir/lines" | uniq | wc -l)" '^[0-9]{1,4}$'
like "coarse time: the present" "$(($(date +%s) - $(date -d "$(tail -n 1 "$dir/lines" | cut -d' ' -f1)" +%s)))" '^[0-9]$'
cat >"$dir/log.dp" <<'EOF'
name = calls
modtype = user
major = 1
offset = work
minor = 1
push u, rdi
log 1
exit
EOF
"$DPROBES" run --block --buffer 8k -o "$dir/lines" "$dir/log.dp" -- "$dir/calls" 30000 2 >"$dir/out" 2>"$dir/err"
like "run: who waits loses nothing" "$? $(tail -n 1 "$dir/out") $(cat "$dir/err")" '^0 60000 calls .*60000 hits.* 60000 records; calls exited'

# The reader stops: so do the threads. It goes on, is told to end, or is killed: so they go on.
# A program that calls without an end, and a tool that reads
begin() {
	start "$dir/calls" 0 3
	: >"$dir/lines"
	"$DPROBES" trace --block --buffer 8k -o "$dir/lines" 'work(arg0)' -p "$victim" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	poll 10 grows 0
}
stands() {
	local before after

	before=$(stat -c %s "$dir/lines")
	after=$(awk '{ print $14 + $15 }' "/proc/$victim/stat")
	sleep 0.3
	[ "$before" = "$(stat -c %s "$dir/lines")" ] && [ $(($(awk '{ print $14 + $15 }' "/proc/$victim/stat") - after)) -le 15 ]
}
grows() { [ "$(stat -c %s "$dir/lines")" -gt "$1" ]; }
for how in goes-on interrupted killed; do
	begin
	kill -STOP "$tool"
	if poll 10 stands; then ok "$how: the threads wait for a tool that is stopped"
	else not_ok "$how: the threads wait for a tool that is stopped"; fi
	size=$(stat -c %s "$dir/lines")
	case $how in
	goes-on)
		kill -CONT "$tool"
		if poll 10 grows $((size + 100000)); then ok "$how: there is more"; else not_ok "$how: there is more"; fi
		interrupt "$tool"
		;;
	interrupted)
		kill -INT "$tool"
		kill -CONT "$tool"
		wait "$tool"
		;;
	killed)
		kill -KILL "$tool"
		wait "$tool" 2>/dev/null
		;;
	esac
	[ $how = killed ] || is "$how: what is lost is counted, one of each thread at most" \
		"$(($(said 'hits,') - $(wc -l <"$dir/lines") - $(said 'records? lost' || echo 0)))$(awk -v n="$(said 'records? lost')" 'BEGIN { if (n > 3) print " lost " n }')" 0
	kill -TERM "$victim"
	wait "$victim"
	like "$how: it goes on, and ends" "$? $(tail -n 1 "$dir/out")" '^0 [0-9]+ calls$'
done
# A command that ends while its threads wait
begin
kill -KILL "$victim"
{ wait "$victim"; } 2>/dev/null
wait "$tool"
like "a process that is killed while its threads wait" "$? $(cat "$dir/err")" '^0 .*was killed|^0 .*ended|^0 .*SIGKILL|^0 .*signal 9'

for wrong in 0 -1 1x 65M 1mm '' k 99999999999999999999; do
	"$DPROBES" trace --buffer "$wrong" work -- true >"$dir/out" 2>"$dir/err"
	like "--buffer '$wrong'" "$? $(cat "$dir/err")" '^2 dprobes: .*(is not a size|can have 1 byte to 64 MiB)'
done
"$DPROBES" stat --block work -- true 2>"$dir/err"
like "stat has no records to wait for" "$? $(cat "$dir/err")" '^2 dprobes: stat does not use --block'
plan
