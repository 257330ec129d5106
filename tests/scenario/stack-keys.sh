#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Values of hits by their stacks: against what python makes of a trace of the same calls.
. tests/scenario/lib.sh

cat >"$dir/prog.cc" <<'END'
#include <unistd.h>
#include <sys/wait.h>
namespace ns {
template <class T> __attribute__((noinline)) void leaf(T n) { __asm__ volatile("" : : "r"(n) : "memory"); }
__attribute__((noinline)) void deeper(int n)
{
	if (n % 7 && n > 0)
		deeper(n - 1);
	leaf<int>(n % 3);
	__asm__ volatile("" : : : "memory");
}
}
__attribute__((noinline)) static void run()
{
	for (int i = 0; i < 600; i++) {
		ns::deeper(i);
		if (i % 3)
			ns::leaf<int>(i);
	}
	__asm__ volatile("" : : : "memory");
}
int main(int argc, char **)
{
	pid_t child = 1;
	for (int i = 1; i < argc && child; i++)
		child = fork();
	run();
	while (wait(0) > 0)
		;
}
END
g++ -O1 -fomit-frame-pointer -o "$dir/prog" "$dir/prog.cc" || exit 1

# "COUNT SUM FRAMES END" a stack
cat >"$dir/fold.py" <<'END'
import json, sys
sums = {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    if "by" in row:
        key, n, value = row["by"], row["count()"], row["sum((int)arg0)"]
        assert row["hits"] == n, row
    elif "args" not in row:
        print(line, end="")
        continue
    else:
        key, n, value = row, 1, row["args"]["n"]
    of = sums.setdefault((" ".join(key["stack"]), key["stack_end"]), [0, 0])
    of[0] += n
    of[1] += value
for key in sorted(sums):
    print(*sums[key], *key)
END
fold() { python3 "$dir/fold.py" "$1"; }

timeout 100 "$DPROBES" trace -q --json --stack -o "$dir/trace" 'ns::leaf<int>(n=(int)arg0)' -- "$dir/prog" 2>"$dir/err"
fold "$dir/trace" >"$dir/wanted"
is "there are some stacks" "$(($(wc -l <"$dir/wanted") > 7))" 1
like "names are those of the source" "$(<"$dir/wanted")" 'prog:ns::leaf<int> prog:ns::deeper\+0x'
for native in 1 0; do
	DPROBES_NATIVE=$native timeout 100 "$DPROBES" stat -q --json -o "$dir/kept" \
		'ns::leaf<int>{count(), sum((int)arg0) by stack}' -- "$dir/prog" 2>"$dir/err"
	is "counts and sums by stack are those of a trace (DPROBES_NATIVE=$native)" "$(fold "$dir/kept")" "$(<"$dir/wanted")"
done
timeout 100 "$DPROBES" stat -q --json -o "$dir/kept" 'r:ns::leaf<int>{count(), sum((int)arg0) by stack}' -- "$dir/prog" 2>"$dir/err"
is "so are those of returns" "$(fold "$dir/kept")" "$(<"$dir/wanted")"
timeout 100 "$DPROBES" stat -q -f --json -o "$dir/kept" 'ns::leaf<int>{count(), sum((int)arg0) by stack}' -- "$dir/prog" 1 2 2>"$dir/err"
# Two children, and the program itself
is "processes with the same stacks are added up" "$(fold "$dir/kept")" \
	"$(awk '{ $1 *= 3; $2 *= 3; print }' "$dir/wanted")"
timeout 100 "$DPROBES" stat -q --json -o "$dir/kept" --mangled \
	'_ZN2ns4leafIiEEvT_{count(), sum((int)arg0) by stack}' -- "$dir/prog" 2>"$dir/err"
is "--mangled has the same, by linkage names" "$(fold "$dir/kept" | sed 's/_ZN2ns4leafIiEEvT_/ns::leaf<int>/; s/_ZN2ns6deeperEi/ns::deeper/g; s/_ZL3runv/run/' | sort)" \
	"$(sort "$dir/wanted")"

# A library that comes later has names, too.
cat >"$dir/main.c" <<'END'
#include <dlfcn.h>
__attribute__((noinline)) void mark(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
	void (*call)(void (*)(void)) = dlsym(dlopen(argv[1], RTLD_NOW), "call");
	call(mark);
	return 0;
}
END
echo 'void call(void (*f)(void)) { f(); __asm__ volatile(""); }' >"$dir/later.c"
gcc -O2 -fPIC -shared -o "$dir/liblater.so" "$dir/later.c"
gcc -O2 -rdynamic -o "$dir/main" "$dir/main.c"
like "a library that comes later has names" "$(timeout 60 "$DPROBES" stat -q --json 'mark{count() by stack}' -- "$dir/main" "$dir/liblater.so")" \
	'"stack":\["main:mark","liblater.so:call\+0x[0-9a-f]+","main:main'

# Text: its numbers above each stack, the most hits first
timeout 100 "$DPROBES" stat -q --top 2 -o "$dir/text" 'ns::leaf<int>{count(), max((int)arg0) by comm, stack}' -- "$dir/prog" 2>"$dir/err"
is "a paragraph a stack" "$(sed -n '2,4p' "$dir/text" | sed 's/+0x[0-9a-f]*//; s/=[0-9]*/=/g')" 'comm="prog"  count()=  max((int)arg0)=
    prog:ns::leaf<int>
    prog:ns::deeper'
like "those with most hits come first" "$(grep '^comm' "$dir/text" | tr '\n' ' ')" 'count\(\)=600 .*count\(\)=514 '
is "--top" "$(grep -c '^comm=' "$dir/text") $(grep -c '^and [0-9]* keys more' "$dir/text")" "2 1"
like "with distinct values of each" "$(timeout 60 "$DPROBES" stat -q --json 'ns::leaf<int>{distinct((int)arg0) by stack}' -- "$dir/prog")" \
	'"by":\{"stack":\["prog:ns::leaf<int>","prog:run\+0x[0-9a-f]+",.*"distinct\(\(int\)arg0\)":400'

# Where it is none of what can be asked
refuse() {
	timeout 20 "$DPROBES" "$2" "$3" -- "$dir/prog" >"$dir/stdout" 2>"$dir/err" </dev/null
	like "refused: $1" "$? $(<"$dir/err")" "^2 dprobes: $4"
}
refuse "the sum of stacks" stat 'ns::leaf<int>{sum(stack)}' 'a stack is no number'
refuse "a condition on a stack" stat 'ns::leaf<int> if stack == 1' 'a stack is a key'
refuse "a stack among values" trace 'ns::leaf<int>(stack)' 'a stack is a key'

# More stacks than the table has room for are counted.
timeout 60 "$DPROBES" stat --json --map-size 3 'ns::leaf<int>{count() by stack}' -- "$dir/prog" >"$dir/kept" 2>"$dir/err"
is "what has no room is counted" "$(python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print(sum("by" in r for r in rows), sum(r["hits"] if "by" in r else r["lost"]["full"] for r in rows))' <"$dir/kept")" \
	"3 $(awk '{ n += $1 } END { print n }' "$dir/wanted")"
plan
