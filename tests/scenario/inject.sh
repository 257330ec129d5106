#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls that return what they are told to, without being executed, and arguments that are changed: the
# victim prints what it gets, and the list at the end says the same.
. tests/scenario/lib.sh

cat >"$dir/calls.c" <<'EOF2'
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#define KEPT __attribute__((noipa))
struct big { long a, b, c; };
static int executed;
static long calls[4];
KEPT long add(long a, int b) { executed++; return a + b; }
KEPT long jumps(long a, int b) { return add(a + 1, b); }
KEPT double half(double x) { return x / 2; }
KEPT void nothing(int i) { __asm__ volatile("" : : "r"(i)); }
KEPT struct big whole(int i) { return (struct big){ i, i, i }; }
KEPT char *pick(const char *s) { return (char *)s + 1; }
KEPT long seven(long a, long b, long c, long d, long e, long f, long g) { return a + b + c + d + e + f + g; }
KEPT long deep(long n) { long (*volatile again)(long) = deep; return n ? again(n - 1) + 1 : 0; }
static void on_alarm(int sig) { nothing(sig); }
static void *work(void *arg)
{
	long i, n = 0, t = (long)arg;

	for (i = 0; i < 2000; i++) {
		n += add(i, 1) != i + 1;
		calls[t] = calls[t] * 3 + (add(i, 1) != i + 1);
	}
	return (void *)n;
}
static void threads(void)
{
	struct itimerval every = { { 0, 200 }, { 0, 200 } };
	pthread_t thread[4];
	void *n;
	long i;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &n);
		printf("%ld %ld\n", (long)n, calls[i]);
	}
}
int main(int argc, char **argv)
{
	long i, r, n = argc > 1 ? atol(argv[1]) : 10;

	if (!n)
		threads();
	for (i = 0; i < n; i++) {
		errno = 0;
		r = argc > 2 ? jumps(i, 1) : add(i, 1);
		printf("%ld %ld %d\n", i, r, errno);
	}
	printf("executed %d half %g whole %ld seven %ld deep %ld pick %s\n", executed, half(3), whole(1).a,
	       seven(1, 2, 3, 4, 5, 6, 7), deep(6), pick("abc") ?: "(null)");
	nothing(1);
	return 5;
}
EOF2
cc -O2 -g -pthread -o "$dir/calls" "$dir/calls.c"
inject() { # ARGS...: $out is what the victim has printed, $dir/list the list
	out=$(timeout 100 "$DPROBES" inject -o "$dir/list" "$@" 2>"$dir/err" </dev/null)
	status=$?
	err=$(<"$dir/err")
}
# listed: without times and numbers of processes
listed() { sed -E 's/^[0-9:.]+ [0-9]+ [0-9]+ calls //' "$dir/list"; }

for how in interior quiesce trap; do
	export DPROBES_ARM=$how
	inject 'add = -7, errno ENOSPC' -- "$dir/calls" 3
	is "$how: a value and errno; the function is not executed" "$status $out" "5 0 -7 28
1 -7 28
2 -7 28
executed 0 half 1.5 whole 1 seven 28 deep 6 pick bc"
	is "$how: the list" "$(listed)" "calls:add call=1 = -7 errno=28
calls:add call=2 = -7 errno=28
calls:add call=3 = -7 errno=28"
	like "$how: the summary" "$err" '^dprobes: injected 3 times$'
	inject 'add = a * 100 + b if a != 1' -- "$dir/calls" 3 tail
	is "$how: a value of arguments, with a condition, of a function that another has jumped to" "$(head -n 3 <<<"$out")" "0 2 0
1 201 0
2 301 0"
	inject 'add: b = 1000, a = b if a == 2' -- "$dir/calls" 4
	is "$how: arguments, all of them as they were" "$(grep -v '^executed' <<<"$out" | tr '\n' ' ') $(listed)" \
		"0 1 0 1 2 0 2 1001 0 3 4 0  calls:add call=1 b=1000 a=1"
	inject 'deep = 100 if n == 3' 'pick = 0' 'seven: arg5 = 600' 'nothing: i = 2' -- "$dir/calls" 1
	is "$how: in the middle of a recursion; a pointer; several" "$(tail -n 1 <<<"$out")" \
		"executed 1 half 1.5 whole 1 seven 622 deep 103 pick (null)"
done
unset DPROBES_ARM

# Which calls
gets() { awk '/^[0-9]/ && $2 != $1 + 1 { printf "%d ", $1 + 1 }' <<<"$out"; }
says() { listed | sed -nE 's/.* call=([0-9]+) .*/\1/p' | tr '\n' ' '; }
inject --nth 4 'add = 0' -- "$dir/calls" 10
is "--nth" "$(gets)/ $(says)" "4 / 4 "
inject --every 3 'add = -1' -- "$dir/calls" 10
is "--every" "$(gets)/ $(says)" "3 6 9 / 3 6 9 "
inject --every 2 'add = -1 if a >= 4' -- "$dir/calls" 10
is "of those for which the condition holds" "$(gets)/ $(says)" "6 8 10 / 2 4 6 "
inject --prob 1 'add = -1' -- "$dir/calls" 10
is "--prob 1: all" "$(gets)" "1 2 3 4 5 6 7 8 9 10 "
inject --prob 0.2 'add = -1' -- "$dir/calls" 5000
first=$(gets)
is "--prob: the list says which" "$(says)" "$first"
n=$(wc -w <<<"$first")
is "as many as may be expected of 5,000 at 0.2, within six deviations ($n)" "$((n > 1000 - 170 && n < 1000 + 170))" 1
seed=$(sed -n 's/.*--seed \([0-9]*\) repeats it$/\1/p' <<<"$err")
inject --prob 0.2 --seed "$seed" 'add = -1' -- "$dir/calls" 5000
is "the seed repeats it" "$(gets)" "$first"
inject --prob 0.2 --seed "$((seed + 1))" 'add = -1' -- "$dir/calls" 5000
is "another one does not" "$([ "$(gets)" = "$first" ] && echo same)" ""
# The finalizer of splitmix64, written anew
drawn() { perl -e 'use bigint; my ($seed, $n, $p) = @ARGV; my $m = (1 << 64) - 1;
	for my $k (1 .. $n) { my $z = ($seed + $k * 0x9e3779b97f4a7c15) & $m;
		$z = (($z ^ ($z >> 30)) * 0xbf58476d1ce4e5b9) & $m; $z = (($z ^ ($z >> 27)) * 0x94d049bb133111eb) & $m;
		print "$k " if ($z ^ ($z >> 31)) * 4 < (1 << 64) * $p }' "$@"; }
inject --prob 0.25 --seed 42 'add = -1' -- "$dir/calls" 200
is "what is drawn" "$(gets)" "$(drawn 42 200 1)"

# Threads, while signals come, in which another function is changed
inject --block --prob 0.25 --seed 7 'add = -1' 'nothing: arg0 = 3' -- "$dir/calls" 0
one=$(grep -v executed <<<"$out")
is "threads: each draws the same" "$(sort -u <<<"$one" | wc -l)" 1
is "as much as it would alone" "$(awk 'NR == 1 { print $1 > 0 }' <<<"$one")" ""
inject --block --prob 0.25 --seed 7 'add = -1' -- "$dir/calls" 0
is "the seed repeats it, however threads take turns" "$(grep -v executed <<<"$out")" "$one"
injected=$(sed -n 's/^dprobes: injected \([0-9]*\) times.*/\1/p' <<<"$err")
is "as many are executed as were not injected" "$(($(sed -n 's/^executed \([0-9]*\) .*/\1/p' <<<"$out") > 0)) $(wc -l <"$dir/list")" "1 $injected"

# libc's own, and errno of a thread
cat >"$dir/memory.py" <<'EOF2'
import os, sys
try:
    os.open("/etc/hostname", os.O_RDONLY)
    print("opened")
except OSError as e:
    print(e.errno, e.strerror)
EOF2
inject 'libc.so.6:open64 = -1, errno EMFILE if path == "/etc/hostname"' -- /usr/bin/python3 -S "$dir/memory.py"
is "a condition on a string: python's exception" "$out" "24 Too many open files"
echo hello >"$dir/text"
inject 'libc.so.6:read: count = 2 if count > 2 && fd == 3' -- cat "$dir/text"
is "short reads: nothing is lost" "$status $out" "0 hello"
inject --json 'libc.so.6:read: count = 2 if count > 2 && fd == 3' -- cat "$dir/text"
like "JSON" "$(tail -n 1 "$dir/list")" '^\{"time":[0-9.]+,"pid":[0-9]+,"tid":[0-9]+,"comm":"cat","probe":"libc.so.6:read","call":[0-9]+,"args":\{"count":2\}\}$'
start "$VICTIMS/logger" forever 2
"$DPROBES" inject -o "$dir/list" --duration 100ms 'logger_tick: arg1 = 7' -p "$victim" 2>"$dir/err"
is "a running process" "$? $(sed 's/.* //' "$dir/list" | sort -u)" "0 arg1=7"
kill -TERM "$victim"
wait "$victim"
is "goes on" "$?" 0

# What the types, or the place, do not allow
refuses() { # NAME WORDS SPEC
	inject "$3" -- "$dir/calls" 1
	like "$1" "$status $(head -n 1 <<<"$err")" "^[12] dprobes: $2"
	[ ! -s "$dir/list" ] || not_ok "$1: something was injected" "$(<"$dir/list")"
}
refuses "nothing is returned" 'calls:nothing returns nothing \(void\)' 'nothing = 1'
refuses "by a table" 'libc.so.6:free returns nothing' 'libc.so.6:free = 0'
refuses "a floating-point number" 'calls:half returns a floating-point number' 'half = 1'
refuses "a struct" 'calls:whole returns a struct' 'whole = 1'
refuses "such an argument" 'x is a floating-point number' 'half: x = 1'
refuses "one on the stack" 'g is a floating-point number, a struct, or on the stack' 'seven: g = 1'
refuses "by its number" 'only the arguments in registers' 'seven: arg6 = 1'
refuses "no argument" '"z" is no argument that is known' 'seven: z = 1'
refuses "no name" 'which argument is this for' 'add: 5'
refuses "two values" 'a function returns one value' 'add = 1, 2'
refuses "a value that is none" 'floating-point numbers are passed in vector registers' 'add = 1.5'
# wrong NAME CARET SPEC: the line with the spec, and the caret
wrong() { inject "$3" -- "$dir/calls" 1; is "$1" "$status $(sed -n 3p <<<"$err")" "2   $2"; }
wrong "in the middle of a function" "^~~~~" 'add+4 = 1'
wrong "a return" "^" 'r:add = 1'
wrong "nothing to inject" "   ^" 'add'
wrong "no value" "     ^" 'add ='
wrong "no errno" "               ^~~~" 'add = 1, errno EFOO'
wrong "no such name" "    ^~~~~~" 'add = nosuch'
wrong "values in parentheses" "   ^" 'add(a) = 1'
wrong "two conditions" "                  ^~" 'add if a == 1 = 5 if b'
wrong "the second of several" "                 ^~~" 'seven: a = 1, b = 1.5'
for option in "--nth 1 --every 2" "--prob 0.1 --nth 2" "--seed 3" "--prob 0" "--prob 2" "--prob x" "--nth 0" "-f" "--keep 1M"; do
	inject $option 'add = 1' -- "$dir/calls" 1
	is "$option" "$status" 2
done
plan
