#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks through code that nothing is known of end with a mark, and never in a wrong frame; so do they
# under signals every 100 us, whose handlers run on another stack.
. tests/scenario/lib.sh

# ends: of rows, "outermost frame: end", each once; what ends before the outermost frame as "cut: END"
ends() {
	python3 -c '
import json, sys
ends = set()
for line in sys.stdin:
    row = json.loads(line)
    if "by" not in row:
        continue
    stack, end = row["by"]["stack"], row["by"]["stack_end"]
    last = stack[-1].rpartition(":")[2].partition("+")[0] if stack else "-"
    ends.add("%s: %s" % (last if end == "complete" else "cut", end))
print("\n".join(sorted(ends)))'
}

# jit NAME CMD...: what writes from code that is made at run time
jit() {
	local name=$1
	shift
	timeout 100 "$DPROBES" stat -q --json -o "$dir/kept" 'libc.so.6:write{count() by stack}' -- "$@" >"$dir/out" 2>"$dir/err"
	is "$name: the program is right" "$? $(sort "$dir/out" | uniq -c | awk '{ print $1, $2 }')" "0 300 x"
	is "$name: what is whole ends where threads begin, all else with a mark" \
		"$(ends <"$dir/kept" | grep -vxE '(_start|clone|clone3|__clone3|__clone): complete|cut: unknown')" ""
	like "$name: its own code ends a stack" "$(ends <"$dir/kept")" 'cut: unknown'
}

if command -v node >/dev/null; then
	jit node node -e 'function f(n) { if (n) return f(n - 1); require("fs").writeSync(1, "x\n"); } for (let i = 0; i < 300; i++) f(i % 20);'
else
	skip "node" "there is no node"
fi
if command -v javac >/dev/null; then
	cat >"$dir/J.java" <<'END'
import java.io.*;
public class J {
	static void f(OutputStream o, int n) throws IOException {
		if (n > 0) { f(o, n - 1); return; }
		o.write("x\n".getBytes());
	}
	public static void main(String[] a) throws IOException {
		OutputStream o = new FileOutputStream(FileDescriptor.out);
		for (int i = 0; i < 300; i++) f(o, i % 20);
	}
}
END
	if javac -d "$dir" "$dir/J.java" 2>"$dir/err"; then
		jit java java -cp "$dir" J
	else
		skip "java" "javac does not work"
	fi
else
	skip "java" "there is no javac"
fi

cat >"$dir/storm.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static _Thread_local unsigned long calls;
static unsigned long total, signals;
__attribute__((noinline)) void mark(void) { calls++; __asm__ volatile(""); }
static void caught(int sig) { (void)sig; signals++; mark(); }
__attribute__((noinline)) static void down(int n) { if (n) down(n - 1); mark(); __asm__ volatile(""); }
static void *run(void *unused)
{
	static char rooms[3][65536];
	static int next;
	stack_t other = { .ss_sp = rooms[__atomic_fetch_add(&next, 1, 0)], .ss_size = sizeof(rooms[0]) };
	int i;

	sigaltstack(&other, NULL);
	for (i = 0; i < 100000; i++)
		down(i % 5);
	__atomic_fetch_add(&total, calls, 0);
	return unused;
}
int main(void)
{
	struct sigaction a = { .sa_handler = caught, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval every = { { 0, 100 }, { 0, 100 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t t;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&t, NULL, run, NULL);
	run(NULL);
	pthread_join(t, NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%lu %d\n", total, signals > 50);
	return 0;
}
END
gcc -O2 -fno-optimize-sibling-calls -pthread -o "$dir/storm" "$dir/storm.c"
for arm in interior trap; do
	DPROBES_ARM=$arm timeout 100 "$DPROBES" stat -q --json -o "$dir/kept" 'mark{count() by stack}' -- "$dir/storm" >"$dir/out" 2>"$dir/err"
	like "$arm, signals: the program is right" "$? $(<"$dir/out")" '^0 [0-9]+ 1$'
	is "$arm, signals: each hit is there, and lost are none" "$(python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert all("by" in r for r in rows), rows
print(sum(r["hits"] for r in rows) >= int(sys.argv[1]))' "$(awk '{ print $1 }' "$dir/out")" <"$dir/kept" 2>&1)" True
	# What a signal interrupts may be code of the engine's own, which has no name; and the lazy linker keeps its
	# frame by a register that is not followed. There a stack ends.
	is "$arm, signals: each stack is whole, or says where it is not" "$(python3 -c '
import json, sys
for line in sys.stdin:
    by = json.loads(line)["by"]
    last = [f.partition("+")[0].rpartition(":")[2] for f in by["stack"][-2:]]
    if by["stack_end"] == "complete":
        assert last[1] in ("_start", "clone", "clone3", "__clone3", "__clone"), by
    else:
        assert by["stack_end"] == "unknown", by
        assert (last[0] == "__restore_rt" and last[1].startswith("0x")) or last[1].startswith("_dl_runtime_resolve"), by' <"$dir/kept" 2>&1)" ""
	like "$arm, signals: through their frames" "$(<"$dir/kept")" '"storm:mark","storm:caught\+0x[0-9a-f]+","libc.so.6:[^"]*'
done
plan
