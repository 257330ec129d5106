#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Trees of calls: those that the program itself tells of by its compiler's instrumentation, and those of uftrace.
. tests/scenario/lib.sh

sources=tests/victims/trees
cc -O1 -w -I$sources -c -o "$dir/told.o" $sources/told.c
# make_program SEED: functions that call others, farther behind; two threads; longjmp
make_program() {
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		n = 12
		print "#include \"trees.h\"\n#include <pthread.h>\n#include <setjmp.h>\nextern __thread int told_depth;\nstatic __thread jmp_buf env;\nstatic __thread unsigned budget;"
		for (i = 0; i < n; i++)
			printf "long f_%d(long);\n", i
		for (i = n - 1; i >= 0; i--) {
			printf "CALLED long f_%d(long x)\n{\n\tlong s = x + %d;\n\tif (!budget || !--budget) return s;\n", i, i
			for (k = int(rand() * 4); k > 0 && i < n - 1; k--)
				printf "\tif (x & %d) s += f_%d(s * 5 + x / 2);\n", int(rand() * 8) + 1, i + 1 + int(rand() * (n - i - 1))
			if (i == n - 2)
				printf "\tif (x %% 7 == 3) longjmp(env, 1);\n"
			if (i % 4 == 2)
				printf "\treturn f_%d(s);\n}\n", n - 1
			else
				printf "\treturn s;\n}\n"
		}
		print "UNTOLD static void *thread(void *arg)\n{\n\tlong i, s = 0;\n\tfor (i = 0; i < 40; i++) {\n\t\tbudget = 200;\n\t\tif (setjmp(env)) told_depth = 0; else s += f_0(i * 37 + (long)arg);\n\t}\n\treturn (void *)s;\n}"
		print "UNTOLD int main(void)\n{\n\tpthread_t t;\n\tpthread_create(&t, NULL, thread, (void *)3);\n\tthread((void *)5);\n\tpthread_join(t, NULL);\n\treturn 0;\n}"
	}' >"$dir/p.c"
}
# tree FILE TID: the lines of a graph that begin calls, as depth and name
tree() {
	grep -F "[$(printf %7s "$2")] | " "$1" | sed 's/.*\] | //' | grep -v '^ *} ' |
		sed -nE 's/^( *)([A-Za-z_0-9:.]+)\(.*/\1 \2/p' | awk '{ match($0, /^ */); print (RLENGTH - 1) / 2, $1 }'
}
export GMON_OUT_PREFIX=$dir/gmon
graph() {
	rm -f "$dir"/told.txt.*
	TOLD=$dir/told.txt timeout 100 "$DPROBES" graph --block -o "$dir/graph" "$@" 2>"$dir/err" </dev/null
	status=$?
}

exact=0
for seed in 1 2 3 4 5 6; do
	make_program $seed
	cc -O$((seed % 3)) -g -I$sources -finstrument-functions -pthread -w -rdynamic -o "$dir/prog" "$dir/p.c" "$dir/told.o"
	graph 'f_*' -- "$dir/prog"
	is "$seed: the status of the program" "$status" 0
	n=0 gone=0 differ= inside=$(grep -oE '[0-9]+ still inside' "$dir/err" | grep -oE '^[0-9]+')
	for told in "$dir"/told.txt.*; do
		tree "$dir/graph" "${told##*.}" >"$dir/tree"
		cmp -s "$told" "$dir/tree" || differ+=" $told"
		gone=$((gone + $(diff <(sed 's/.* //' "$told") <(sed 's/.* //' "$dir/tree") | grep -c '^[<>]')))
		n=$((n + $(wc -l <"$told")))
	done
	# Calls of which nobody knows yet that longjmp has left them are missing, and nothing else.
	if [ -n "$inside" ]; then
		is "$seed: all calls but those that are still inside" $gone "$inside"
	else
		is "$seed: each call in its place" "$differ" ""
		exact=$((exact + 1))
	fi
	is "$seed: both threads are there" "$(ls "$dir"/told.txt.* | wc -l)" 2
	is "$seed: all calls are in the account" "$(grep -oE '[0-9]+ hits' "$dir/err")" "$n hits"
done
is "most of them have ended all their calls" $((exact > 2)) 1
is "what longjmp leaves is told" "$(grep -c '= abandoned' "$dir/graph" | sed 's/[1-9].*/some/')" some

# The same, in other forms
deepest=$(awk '$1 > most { most = $1 } END { print most }' "$dir"/told.txt.*)
graph --json 'f_*' -- "$dir/prog"
for told in "$dir"/told.txt.*; do
	is "JSON has the same calls" "$(grep "\"tid\":${told##*.}," "$dir/graph" |
		sed -E 's/.*"probe":"r:prog:([^"]*)","depth":([0-9]*).*/\2 \1/' | cmp - "$told" && echo same)" same
done
graph --depth 2 'f_*' -- "$dir/prog"
is "--depth 2: nothing deeper" "$(for t in "$dir"/told.txt.*; do tree "$dir/graph" "${t##*.}" | cmp - <(awk '$1 < 2' "$t") && echo same; done)" "same
same"
is "which there is" "$((deepest > 1))" 1
graph --format chrome 'f_*' -- "$dir/prog"
is "Chrome's events: each call" "$(/usr/bin/python3 - "$dir/graph" <<'EOF'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
for e in events:
    assert e["ph"] in "XI" and e["ts"] > 1e15 and e["pid"] and e["tid"], e
    assert e["ph"] == "I" or e["dur"] >= 0, e
print(len(events))
EOF
)" "$(cat "$dir"/told.txt.* | wc -l)"

# Exceptions, a deep recursion, children, and more calls than are kept
cat >"$dir/throws.cc" <<'EOF'
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
__attribute__((noipa)) long leaf_call(long n) { return n + 1; }
__attribute__((noipa)) long throwing(long n) { leaf_call(n); if (n) throw std::runtime_error("x"); return n; }
__attribute__((noipa)) long passing(long n) { return throwing(n) + 1; }
__attribute__((noipa)) long catching(long n) { try { return passing(n) + 1; } catch (std::exception &) { return leaf_call(n); } }
__attribute__((noipa)) long deep(long n) { return n ? deep(n - 1) + 1 : leaf_call(n); }
}
int main(int argc, char **argv)
{
	long s = 0, i, n = argc > 2 ? atol(argv[2]) : 0;
	switch (*argv[1]) {
	case 't': s = catching(1) + catching(0); break;
	case 'd': s = deep(n); break;
	case 'm': for (i = 0; i < n; i++) s += leaf_call(i); break;
	case 'f': if (!fork()) { catching(1); _exit(0); } wait(nullptr); catching(0); break;
	}
	return s == 77;
}
EOF
c++ -O1 -fno-optimize-sibling-calls -o "$dir/throws" "$dir/throws.cc"
shown() { sed -nE 's/.*\] \| //p' "$dir/graph"; }
graph leaf_call throwing passing catching -- "$dir/throws" t
is "what an exception leaves" "$(shown | head -n 8)" "catching() {
  passing() {
    throwing() {
      leaf_call();
    } /* throwing */ = unwound
  } /* passing */ = unwound
  leaf_call();
} /* catching */"
graph deep leaf_call -- "$dir/throws" d 30000
is "30,000 levels" "$(grep -c ' deep() {' "$dir/graph") $(grep -c '} /\* deep \*/' "$dir/graph") $(grep -c ' leaf_call();' "$dir/graph")" "30001 30001 1"
is "the deepest has its number" "$(grep ' leaf_call();' "$dir/graph" | sed 's/.*| *//')" "30001: leaf_call();"
graph leaf_call -- "$dir/throws" m 900000
is "more calls than are kept: all are printed" "$(grep -c ' leaf_call();' "$dir/graph")" 900000
like "and it is told" "$(cat "$dir/err")" '^dprobes: [0-9]+ trees were printed before the end'
graph -f leaf_call throwing passing catching -- "$dir/throws" f
is "-f: both processes" "$(grep -c '^# throws' "$dir/graph") $(grep -c ' catching() {' "$dir/graph") $(grep -c '= unwound' "$dir/graph")" "2 2 2"

# Durations: a call has at least those of its own calls, and what a call slept.
cat >"$dir/sleeps.c" <<'EOF'
#include <unistd.h>
__attribute__((noipa)) long brief(long n) { return n + 1; }
__attribute__((noipa)) long inner(long us) { usleep(us); return brief(us); }
__attribute__((noipa)) long outer(long us) { return inner(us) + inner(2 * us) + brief(1); }
__attribute__((noipa)) void ends(void) { _exit(4); }
int main(void) { outer(20000); ends(); }
EOF
cc -O1 -o "$dir/sleeps" "$dir/sleeps.c"
graph --json outer inner brief ends -- "$dir/sleeps"
is "the status of a program that ends in a call" "$status" 4
is "durations" "$(sed -E 's/.*"probe":"r:sleeps:([^"]*)".*"latency_ns":([0-9]*).*/\1 \2/' "$dir/graph" | awk '
	$1 == "outer" { outer = $2 } $1 == "inner" { n++; sum += $2; if ($2 < n * 20e6) bad = 1 } END { print n, (outer >= sum), !bad }')" "2 1 1"
is "a call that has not ended is none" "$(grep -c ends "$dir/graph")" 0
like "and is in the account" "$(cat "$dir/err")" '1 (still )?inside'
graph -t 10ms outer inner brief -- "$dir/sleeps"
is "-t: without what is brief" "$(sed -nE 's/.*\| ( *)([a-z]*)\(.*/\1\2/p' "$dir/graph")" "outer
  inner
  inner"
graph 'inner(arg0:u64, retval:u64)' outer -- "$dir/sleeps"
like "values" "$(cat "$dir/graph")" 'inner\(arg0=20000\) = 20001;'

for wrong in "-t 5x outer" "--depth 0 outer" "--format xml outer" "--json --format chrome outer" "p:outer" "w:outer" "outter" "outer(arg9x)"; do
	graph $wrong -- "$dir/sleeps"
	is "$wrong: the status" "$((status == 1 || status == 2))" 1
	is "$wrong: a sentence" "$(head -n 1 "$dir/err" | grep -cE '^dprobes: .{15,}')" 1
done
graph 'outer(arg9x)' -- "$dir/sleeps"
is "the caret is in what was written" "$(sed -n 2p "$dir/err")" "  outer(arg9x)"
is "at its place" "$(sed -n 3p "$dir/err" | sed 's/^  //' | awk '{ match($0, /\^/); print RSTART }')" 7

# On a terminal, records that only wait to be printed leave the program's lines alone; the trees begin a line.
cat >"$dir/halves.c" <<'EOF'
#include <stdio.h>
#include <unistd.h>
__attribute__((noipa)) void half(void) { __asm__ volatile(".rept 8; nop; .endr"); }
int main(void)
{
	for (int i = 0; i < 4; i++) {
		printf("<%d>", i);
		fflush(stdout);
		half();
		usleep(300000);
	}
	return 0;
}
EOF
cc -O1 -o "$dir/halves" "$dir/halves.c"
if command -v script >/dev/null; then
	TERM=xterm script -qc "stty cols 60; $DPROBES graph -q half -- $dir/halves" /dev/null >"$dir/screen" </dev/null
	is "on a terminal, the program's line stays whole" "$(grep -c '<0><1><2><3>' "$dir/screen")" 1
	is "and the trees begin behind it" "$(grep -cE '<3> {60}' "$dir/screen")" 1
	is "with all calls" "$(grep -c ' half();' "$dir/screen")" 4
else
	skip "on a terminal" "there is no script(1)"
fi

# uftrace sees the same trees.
if command -v uftrace >/dev/null; then
	for seed in 11 12 13 14; do
		make_program $seed
		sed -i 's/longjmp(env, 1)/s++/' "$dir/p.c"
		cc -O1 -fno-optimize-sibling-calls -g -I$sources -pg -pthread -w -o "$dir/uprog" "$dir/p.c" "$dir/told.o"
		(cd "$dir" && rm -rf u.data && uftrace record -d u.data ./uprog >/dev/null 2>&1)
		graph 'f_*' -- "$dir/uprog"
		for what in uftrace ours; do
			if [ $what = uftrace ]; then
				(cd "$dir" && uftrace replay -d u.data -F '^f_' 2>/dev/null) | grep '|'
			else
				grep '|' "$dir/graph"
			fi | sed -E 's/^[^[]*\[ *([0-9]+)\] \| /\1 /' | grep -v '} /\*' | grep -E '^[0-9]+ *f_' |
				sed -E 's/^([0-9]+)( *)(f_[0-9]+).*/\1|\2|\3/' |
awk -F'|' -v to="$dir/$what" '{ print length($2), $3 >(to "." $1) }'
			for thread in "$dir/$what".[0-9]*; do md5sum <"$thread"; done | sort >"$dir/$what"
			rm -f "$dir/$what".[0-9]*
		done
		is "$seed: uftrace has the same trees" "$(cmp "$dir/uftrace" "$dir/ours" && echo same)" same
	done
else
	skip "uftrace's trees" "there is no uftrace"
fi

# A function of which the compiler has only kept a clone is known by its own name, as by the other verbs
cat >"$dir/clone.c" <<'EOF'
#include <stdio.h>
static volatile int sum;
/* Nobody wants what it returns. */
__attribute__((noinline)) static int half(int n) { sum += n; return n > 3 ? sum : -1; }
int main(int argc, char **argv) { int i; for (i = 0; i < 10; i++) half(i + argc); return 0; }
EOF
cc -g -O2 -o "$dir/clone" "$dir/clone.c"
if nm "$dir/clone" | grep -q ' half\.'; then
	"$DPROBES" graph -o "$dir/tree" half -- "$dir/clone" >"$dir/out" 2>"$dir/err"
	is "a function of which there is a clone alone" "$? $(grep -c 'half\.' "$dir/tree")" "0 10"
else
	skip "a function of which there is a clone alone" "this compiler makes none"
fi
"$DPROBES" graph absent -- "$dir/clone" >"$dir/out" 2>"$dir/err"
like "one that is not there" "$? $(cat "$dir/err")" '^2 dprobes: no function "absent" in clone'
plan
