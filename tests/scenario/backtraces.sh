#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks of hits are gdb's, in C++ without frame pointers and with, optimised and not:
# through libc and libstdc++, handlers on another stack, destructors of an exception.
. tests/scenario/lib.sh

command -v gdb >/dev/null || {
	skip "stacks are gdb's" "there is no gdb"
	plan
	exit
}

# A line a hit: the frames, as NAME+OFFSET.
cat >"$dir/frames.py" <<'END'
import gdb, os
out = open(os.environ["FRAMES"], "w")
def named(pc, back):
    said = gdb.execute("info symbol 0x%x" % (pc - back), to_string=True)
    if said.startswith("No symbol"):
        return "?"
    name = said.split(" in section")[0].replace(" ", "")
    name, plus, off = name.partition("+")
    off = int(off or 0) + back
    return name + (off and "+0x%x" % off or "")
class Mark(gdb.Breakpoint):
    def stop(self):
        f, frames, exact = gdb.newest_frame(), [], True
        while f is not None:
            signal = f.type() == gdb.SIGTRAMP_FRAME
            if signal or f.type() == gdb.NORMAL_FRAME:
                frames.append(named(f.pc(), 0 if exact or signal else 1))
                exact = signal
            f = f.older()
        out.write(" ".join(frames) + "\n")
        out.flush()
        return False
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
gdb.execute("set print asm-demangle off")
gdb.execute("set print demangle off")
gdb.execute("handle SIGUSR1 nostop noprint pass")
Mark("*mark")
gdb.execute("run")
END

# The same of our JSON: names without their modules, and what has none as "?"
frames() {
	python3 -c '
import json, sys
for line in sys.stdin:
    hit = json.loads(line)
    assert hit["stack_end"] == "complete", hit["stack_end"]
    names = [f.rpartition(":")[2] if ":" in f else "?" for f in hit["stack"]]
    print(" ".join(names))'
}

# counted: the same of rows of {count() by stack}, with how often each came
counted() {
	python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    assert row["by"]["stack_end"] == "complete" and row["hits"] == row["count()"], row
    names = [f.rpartition(":")[2] if ":" in f else "?" for f in row["by"]["stack"]]
    print(row["hits"], " ".join(names))'
}

# Both names of a destructor may have had rows of their own.
add_up() { awk '{ n = $1; sub(/^[0-9]+ /, ""); all[$0] += n } END { for (s in all) print all[s], s }' | LC_ALL=C sort; }

compare() {
	local name=$1 prog=$2
	FRAMES=$dir/gdb timeout 100 gdb -q -nx -batch -x "$dir/frames.py" "$prog" >"$dir/gdb.out" 2>&1
	timeout 60 "$DPROBES" trace --json --mangled --stack -q -o "$dir/json" mark -- "$prog" >"$dir/out" 2>&1
	frames <"$dir/json" >"$dir/ours" 2>"$dir/err"
	# Two names of one destructor
	sed -i 's/D1Ev/D2Ev/g' "$dir/gdb" "$dir/ours"
	if [ -s "$dir/gdb" ] && cmp -s "$dir/gdb" "$dir/ours"; then
		ok "$name ($(wc -l <"$dir/gdb") hits)"
	else
		not_ok "$name" "$(diff "$dir/gdb" "$dir/ours" | head -6 | cut -c1-600; tail -3 "$dir/err")"
	fi
	timeout 60 "$DPROBES" stat --json --mangled -q -o "$dir/json" 'mark{count() by stack}' -- "$prog" >"$dir/out" 2>&1
	is "$name: count() by stack" "$(counted <"$dir/json" 2>"$dir/err" | sed 's/D1Ev/D2Ev/g' | add_up)" "$(sed 's/^/1 /' "$dir/gdb" | add_up)"
}

for opt in -O2 -O0 '-O3 -flto' -Os; do
	g++ $opt -g -fomit-frame-pointer -o "$dir/prog" tests/victims/backtraces.cc
	compare "C++ $opt" "$dir/prog"
done
g++ -O2 -g -fno-omit-frame-pointer -o "$dir/prog" tests/victims/backtraces.cc
compare "C++ with frame pointers" "$dir/prog"

# C, where any of 200 stacks may come next
cat >"$dir/prog.c" <<'END'
#include <stdlib.h>
__attribute__((noinline)) void mark(long n) { __asm__ volatile("" : : "r"(n)); }
static unsigned long drawn = 12345;
static unsigned int draw(void) { drawn = drawn * 6364136223846793005ul + 1442695040888963407ul; return drawn >> 33; }
static void walk(int depth);
__attribute__((noinline)) static void left(int depth) { char room[16 + depth]; __asm__ volatile("" : : "r"(room) : "memory"); walk(depth); __asm__ volatile("" : : "r"(room)); }
__attribute__((noinline)) static void right(int depth) { walk(depth); __asm__ volatile("" : : : "rbx", "rbp", "r12"); }
__attribute__((noinline)) static int order(const void *a, const void *b) { walk(*(const int *)a); return *(const int *)b - *(const int *)a; }
__attribute__((noinline)) static void sorted(int depth) { int v[2] = { depth, depth }; qsort(v, 2, sizeof(*v), order); __asm__ volatile("" : : "r"(v) : "memory"); }
__attribute__((noinline)) static void walk(int depth)
{
	static void (*const ways[])(int) = { left, right, sorted };

	if (depth > 0)
		ways[draw() % 3](depth - 1);
	else
		mark(depth);
	__asm__ volatile("" : : : "memory");
}
int main(void)
{
	int i;

	for (i = 0; i < 200; i++)
		walk(draw() % 9);
	return 0;
}
END
for opt in -O2 -O1 -Os; do
	gcc $opt -g -fomit-frame-pointer -o "$dir/prog" "$dir/prog.c"
	compare "C $opt" "$dir/prog"
done

if command -v rustc >/dev/null; then
	cat >"$dir/prog.rs" <<'END'
use std::collections::BTreeMap;
#[no_mangle]
#[inline(never)]
pub extern "C" fn mark(n: u64) -> u64 {
    std::hint::black_box(n)
}
fn main() {
    let mut v: Vec<u64> = (0..60).map(|i| i * 37 % 61).collect();
    v.sort_by(|a, b| (mark(*a), a).cmp(&(0, b)));
    let m: BTreeMap<u64, String> = v.iter().map(|i| (mark(*i), format!("{}", i))).collect();
    let f: Box<dyn Fn(u64) -> u64 + Send> = Box::new(move |n| m.values().map(|s| s.len() as u64 + mark(n)).sum());
    std::thread::spawn(move || f(3)).join().unwrap();
    let _ = std::panic::catch_unwind(|| {
        struct D;
        impl Drop for D {
            fn drop(&mut self) {
                mark(9);
            }
        }
        let _d = D;
        std::panic::resume_unwind(Box::new(1));
    });
}
END
	if rustc -O -o "$dir/prog" "$dir/prog.rs" 2>"$dir/err"; then
		compare "Rust" "$dir/prog"
	else
		skip "Rust" "there is no rustc that works"
	fi
else
	skip "Rust" "there is no rustc"
fi

# Libraries come and go, at one address: each stack is that of the library that is there.
cat >"$dir/main.c" <<'END'
#include <dlfcn.h>
__attribute__((noinline)) void mark(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
	void (*call)(void (*)(void)), *lib;
	int i;

	for (i = 0; i < 20; i++) {
		lib = dlopen(argv[1 + i % 2], RTLD_NOW);
		call = dlsym(lib, "call");
		call(mark);
		dlclose(lib);
	}
	return 0;
}
END
for n in one two; do
	cat >"$dir/$n.c" <<END
static void __attribute__((noinline)) in_$n(void (*f)(void))
{
	char room[$([ $n = one ] && echo 40 || echo 1000)];

	__asm__ volatile("" : : "r"(room) : "memory", "rbx");
	f();
	__asm__ volatile("" : : "r"(room) : "memory");
}
void call(void (*f)(void)) { in_$n(f); __asm__ volatile(""); }
END
	gcc -O2 -fPIC -shared -o "$dir/lib$n.so" "$dir/$n.c"
done
gcc -O2 -rdynamic -o "$dir/prog" "$dir/main.c"
timeout 60 "$DPROBES" trace --json --stack -q -o "$dir/json" mark -- \
	"$dir/prog" "$dir/libone.so" "$dir/libtwo.so" >"$dir/out" 2>&1
is "libraries that come and go" "$(python3 -c '
import json, sys
print(sorted({(h["stack_end"], len(h["stack"])) for h in map(json.loads, sys.stdin)}))' <"$dir/json")" \
	"[('complete', 7)]"

# Frames of code that nothing is known of end the stack, and say so.
cat >"$dir/jit.c" <<'END'
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) void mark(void) { __asm__ volatile(""); }
int main(void)
{
	/* push rbp; call *%rdi; pop rbp; ret */
	static const unsigned char code[] = { 0x55, 0xff, 0xd7, 0x5d, 0xc3 };
	void (*made)(void (*)(void)) = mmap(0, 4096, 7, 34, -1, 0);

	memcpy((void *)made, code, sizeof(code));
	made(mark);
	return 0;
}
END
gcc -O2 -o "$dir/prog" "$dir/jit.c"
timeout 60 "$DPROBES" trace --stack -q mark -- "$dir/prog" >"$dir/out" 2>&1
is "code without unwind information" "$(sed '1d; s/0x[0-9a-f]*/ADDRESS/' "$dir/out")" \
	"    prog:mark
    ADDRESS
    [no unwind information of that code]"

# The stack of a return probe is that of its call.
timeout 60 "$DPROBES" trace --json --stack -q -o "$dir/json" 'r:mark(retval:u32)' -- "$dir/prog" >"$dir/out" 2>&1
like "of a return" "$(cat "$dir/json")" '"exit":"return","stack":\["prog:mark",'

plan
