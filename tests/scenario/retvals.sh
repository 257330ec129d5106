#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What functions return, in values and conditions: the program's own printf says what it is.
. tests/scenario/lib.sh

cat >"$dir/returns.c" <<'END'
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#define KEPT __attribute__((noipa))
struct pair { int a; const char *name; double d; };
static struct pair two[2] = { { 3, "three", 0.25 }, { -4, "minus", -0.5 } };
static jmp_buf back;
KEPT int sign(int i) { return i % 3 - 1; }
KEPT struct pair *pick(int i) { return i < 0 ? NULL : &two[i & 1]; }
KEPT const char *name_of(int i) { return i < 0 ? NULL : two[i & 1].name; }
KEPT double half(int i) { return i * .5; }
KEPT float third(int i) { return i / 3.f; }
KEPT unsigned char byte(int i) { return (unsigned char)(i * 100); }
KEPT void nothing(int i) { sign(i); }
KEPT struct pair whole(int i) { return two[i & 1]; }
KEPT int tail(int i) { return sign(i + 1); }
KEPT int jumps(int i) { if (i & 1) longjmp(back, 1); return i; }
KEPT long deep(int n) { long (*volatile again)(int) = deep; return n ? again(n - 1) - 1 : 3; }
int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 8;

	for (i = -3; i < n; i++) {
		struct pair *p = pick(i);

		printf("%d %d %s %.17g %.9g %u %d %ld\n", i, sign(i), name_of(i) ?: "-", half(i), (double)third(i), byte(i), tail(i), deep(5));
		if (!setjmp(back))
			jumps(i);
		nothing(i);
		whole(i);
	}
	return 0;
}
END
"${CC:-gcc}" -w -O2 -g -o "$dir/returns" "$dir/returns.c"
"$dir/returns" >"$dir/said"
said() { awk "$1" "$dir/said"; }
# run SPEC...: lines of it, from the probe's name on, without times
run() {
	"$DPROBES" trace -o "$dir/lines" "$@" -- "$dir/returns" >"$dir/out" 2>"$dir/err"
	status=$? err=$(<"$dir/err")
	sed -E 's/^.* returns (r:)?returns:/\1/; s/ <[0-9.]*>$//; s/ = 0x[0-9a-f]*$//' "$dir/lines" >"$dir/got"
}
for how in "" DPROBES_ARM=quiesce DPROBES_ARM=trap; do
	[ -z "$how" ] || export "${how?}"
	run 'r:name_of(retval:str, i)'
	is "${how:-jumps}: strings, and a value of the entry behind" "$status $(grep -v 'i=-' "$dir/got")" \
		"0 $(said '$1 >= 0 { s = $3 == "three" ? "three" : "minus"; printf "r:name_of retval=\"%s\" i=%d\n", s, $1 }')"
	is "${how:-jumps}: … where there is none" "$(grep -c 'retval=0x0 i=-' "$dir/got")" 3
	run 'r:pick(a=retval->a, *retval, i) if retval'
	is "${how:-jumps}: members and structs, of those that a condition leaves" \
		"$(head -n 2 "$dir/got")" \
		'r:pick a=3 *retval={a=3,name="three",d=0.25} i=0
r:pick a=-4 *retval={a=-4,name="minus",d=-0.5} i=1'
	is "${how:-jumps}: no others" "$(wc -l <"$dir/got")" 8
	run 'r:sign(i, retval) if retval < 0 && i > 0' 'r:byte(i) if retval >= 200' 'r:tail(i) if retval == 1'
	is "${how:-jumps}: conditions of the entry and of the return" "$(grep -c r:sign "$dir/got") $(grep r:byte "$dir/got" | head -n 1)" \
		"$(said '{ n += 2 * ($1 > 0 && $2 < 0) + ($1 + 1 > 0 && $7 < 0) } END { print n }') $(said '$6 >= 200 { print "r:byte i=" $1 " = " $6; exit }')"
	is "${how:-jumps}: of a tail call, what the other function returns" "$(grep r:tail "$dir/got")" "$(said '$7 == 1 { print "r:tail i=" $1 " = 1" }')"
	run 'r:half(i) if retval > 0.5 && retval <= 1.5' 'r:third(i) if retval < 0.1f'
	is "${how:-jumps}: floating point" "$(grep r:half "$dir/got") $(grep -c r:third "$dir/got")" \
		"$(said '$4 > 0.5 && $4 <= 1.5 { print "r:half i=" $1 " = " ($4 ~ /\./ ? $4 : $4 ".0") }') $(said '$5 < 0.1 { n++ } END { print n }')"
	"$DPROBES" stat -q -o "$dir/counts" 'r:byte if retval >= 200' 'r:deep if (long)retval < 0' 'r:jumps if retval < 4' -- "$dir/returns" >/dev/null
	is "${how:-jumps}: counts" "$(hits "$dir/counts" r:returns:byte) $(hits "$dir/counts" r:returns:deep) $(hits "$dir/counts" r:returns:jumps)" \
		"$(said '$6 >= 200 { n++ } END { print n }') $(said 'END { print NR * 2 }') $(said '$1 % 2 == 0 && $1 < 4 { n++ } END { print n }')"
done
unset DPROBES_ARM
run 'r:jumps(i, a=retval + 1)'
is "calls that do not return have no value of their return" "$(grep abandoned "$dir/got" | head -n 1) $(grep -c 'a=.* = ' "$dir/got")" \
	"r:jumps i=-3 = abandoned $(said '$1 % 2 == 0 { n++ } END { print n }')"
run 'r:jumps(i) if retval == 2'
is "nor do they meet a condition on it" "$(cat "$dir/got")" "r:jumps i=2 = 2"
like "all calls are accounted for" "$err" 'calls: 5 returned, (6 abandoned|5 abandoned, 1 still inside)'
"$DPROBES" trace --json -q -o "$dir/lines" 'r:pick(retval->name, i)' -- "$dir/returns" >/dev/null
like "JSON, in the order of the spec" "$(sed -n 5p "$dir/lines")" '"args":\{"retval->name":"minus","i":1\},"ret":"0x'
strip -o "$dir/bare" "$dir/returns"
"$DPROBES" trace -q -o "$dir/lines" 'r:libc.so.6:strtol(retval) if retval < 0' 'r:libc.so.6:getenv(retval:str)' -- "$dir/returns" -5 2>"$dir/err" >/dev/null
like "by a table" "$(grep strtol "$dir/lines")$(head -n 2 "$dir/err")" 'r:libc.so.6:strtol = -5 <'
# Calls by the time that they take, as the lines have it
cat >"$dir/slow.c" <<'END'
#include <time.h>
__attribute__((noipa)) int slow(long us) { struct timespec t = { 0, us * 1000 }; return us ? nanosleep(&t, 0) : 0; }
int main(void) { int i; for (i = 0; i < 40; i++) { slow(0); slow(i % 4 ? 0 : 20000); slow(i % 8 ? 0 : 300000); } return 0; }
END
"${CC:-gcc}" -O1 -o "$dir/slow" "$dir/slow.c"
"$DPROBES" trace --json -q -o "$dir/all" 'r:slow(latency, arg0:u64)' -- "$dir/slow"
is "a latency is that of the line, but for the clock's measure" "$(/usr/bin/python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(len(rows), all(abs(r["args"]["latency"] - r["latency_ns"]) <= 2 + r["latency_ns"] / 500 for r in rows))' "$dir/all")" "120 True"
for how in DPROBES_ARM=interior DPROBES_ARM=trap; do
	env $how "$DPROBES" stat -q -o "$dir/counts" 'r:slow if latency >= 20ms' 'r:slow if latency > 300000us && arg0 > 0' -- "$dir/slow"
	is "$how: those that take so long" "$(hits "$dir/counts" r:slow:slow | sort -n | tr '\n' ' ')" "5 15 "
done
# errno of each call that fails, in each thread, is what the program has of it
cat >"$dir/fails.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void say(const char *f, int failed)
{
	int err = errno;

	if (failed)
		printf("%s %s (%s)\n", f, strerrorname_np(err), strerror(err));
	errno = 0;
}
static void *calls(void *arg)
{
	char byte, *line = NULL;
	size_t n = 0;

	say("close", close(99) < 0);
	say("open", open("/none/here", O_RDONLY) < 0);
	say("open", open("/etc/hostname/x", O_RDONLY) < 0);
	say("open", close(open("/etc/hostname", O_RDONLY)) < 0);
	say("lseek", lseek(0, 0, 77) < 0);
	say("read", read(98, &byte, 1) < 0);
	say("fopen", !fopen("/none/either", "r"));
	say("realpath", !realpath("/none", NULL));
	errno = EPERM;
	getline(&line, &n, fopen("/dev/null", "r"));
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	int i;

	calls(NULL);
	for (i = 0; i < 2; i++) {
		pthread_create(&t[i], NULL, calls, NULL);
		pthread_join(t[i], NULL);
	}
	return 0;
}
END
"${CC:-gcc}" -w -O1 -D_GNU_SOURCE -pthread -o "$dir/fails" "$dir/fails.c"
"$dir/fails" | grep -vE '^(fopen|realpath)' >"$dir/said"
fails=(r:libc.so.6:{close,open,lseek,read,fopen,realpath})
for how in DPROBES_ARM=interior DPROBES_ARM=trap; do
	env $how "$DPROBES" trace -q -o "$dir/lines" "${fails[@]}" -- "$dir/fails" >/dev/null 2>"$dir/err"
	# Each fopen() has called open(), which has failed the same way.
	sed -nE 's/.* r:libc\.so\.6:(\w+) .* = (-1|NULL) ([A-Z].*\)) <.*/\1 \3/p' "$dir/lines" >"$dir/got"
	is "$how: errno is the program's" "$(grep -vE '^(fopen|realpath)' "$dir/got" | awk '!(/ENOENT/ && n++ % 2)' | sort | uniq -c)" \
		"$(sort "$dir/said" | uniq -c)"
	is "$how: of pointers, too" "$(grep -E '^(fopen|realpath)' "$dir/got" | sort | uniq -c | tr -s ' ')" \
		" 3 fopen ENOENT (No such file or directory)
 3 realpath ENOENT (No such file or directory)"
done
"$DPROBES" trace -q -o "$dir/lines" r:libc.so.6:getdelim -- "$dir/fails" >/dev/null
like "not where a file ends" "$(head -n 1 "$dir/lines")" ' = -1 <'
"$DPROBES" trace -q --json -o "$dir/lines" r:libc.so.6:lseek -- "$dir/fails" >/dev/null
like "JSON has the number" "$(head -n 1 "$dir/lines")" '"ret":-1,"errno":22,"latency_ns"'
refused() {
	"$DPROBES" trace "$2" -- "${3:-$dir/returns}" >/dev/null 2>"$dir/err"
	like "$1" "$? $(<"$dir/err")" "^2 .*$4"
}
refused "a value of both" 'r:sign(i + retval)' "" 'read at the entry, retval at the return'
refused "a condition of either" 'r:sign if retval < 0 || i > 2' "" 'read at the entry, retval at the return'
refused "nothing is returned" 'r:nothing(*retval)' "" 'returns nothing'
refused "a struct" 'r:whole(retval.a)' "" 'a struct that is returned, not its address'
refused "not at an entry" 'sign if retval < 0' "" 'retval is of return probes'
refused "a latency, of no call" 'sign if latency > 5' "" 'a latency is that of a call that returns'
strip --strip-debug -o "$dir/bare" "$dir/returns"
like "not where nothing is known of it" "$("$DPROBES" trace 'r:sign if retval < 0' -- "$dir/bare" 2>&1 >/dev/null)" \
	'not known what this function returns: write \(int\)retval'
plan
