#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What functions return, by its type: from debug information, as asked for, or unknown.
. tests/scenario/lib.sh

cat >"$dir/typed.c" <<'END'
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#define F(type, name, value) \
	__attribute__((noinline)) type name(void) { __asm__ volatile(""); return value; }
struct pair { double x, y; };
enum sign { MINUS = -1, PLUS = 1 };
typedef const int constant;
typedef constant twice;
static volatile double tenth = 0.1;
static volatile float third = 1.0f / 3;
F(int, t_int, -7)
F(signed char, t_s8, -8)
F(unsigned char, t_u8, 200)
F(short, t_s16, -30000)
F(uint64_t, t_u64, 18446744073709551615ull)
F(int64_t, t_s64, INT64_MIN)
F(unsigned int, t_u32, 4000000000u)
F(bool, t_true, true)
F(_Bool, t_false, false)
F(double, t_double, tenth)
F(double, t_negative_zero, -0.0)
F(double, t_whole, 3)
F(double, t_nan, NAN)
F(double, t_inf, -INFINITY)
F(double, t_least, 4.9406564584124654e-324)
F(float, t_float, third)
F(twice, t_typedef, -5)
F(enum sign, t_enum, MINUS)
F(void *, t_pointer, (void *)0x1234)
F(void *, t_null, NULL)
F(struct pair, t_pair, ((struct pair){ 1, 2 }))
F(long double, t_long_double, 1)
__attribute__((noinline)) void t_void(void) { __asm__ volatile(""); }
__attribute__((noinline)) double t_tail(void) { __asm__ volatile(""); return t_double(); }
/* What is left in the rest of rax, and in xmm0, is not the function's. */
__asm__(".globl t_dirty\n.type t_dirty, @function\nt_dirty: movabs $0x12345678ffffff80, %rax; ret\n.size t_dirty, . - t_dirty\n");
long t_dirty(void);
int main(void)
{
	t_int(); t_s8(); t_u8(); t_s16(); t_u64(); t_s64(); t_u32(); t_true(); t_false();
	t_double(); t_negative_zero(); t_whole(); t_nan(); t_inf(); t_least(); t_float();
	t_typedef(); t_enum(); t_pointer(); t_null(); t_pair(); t_long_double(); t_void();
	t_tail(); t_dirty();
	return 0;
}
END
cc -g -O1 -foptimize-sibling-calls -fno-ipa-cp -fno-ipa-pure-const -fno-ipa-ra -o "$dir/typed" "$dir/typed.c" -lm || exit 1

# values: "NAME = VALUE" a line
values() { sed -E 's/.*:t_([a-z0-9_]*)/\1/; s/ <[0-9.]+>$//' "$1"; }
wanted='int = -7
s8 = -8
u8 = 200
s16 = -30000
u64 = 18446744073709551615
s64 = -9223372036854775808
u32 = 4000000000
true = true
false = false
double = 0.1
negative_zero = -0.0
whole = 3.0
nan = nan
inf = -inf
least = 4.94065645841247e-324
float = 0.33333334
typedef = -5
enum = -1
pointer = 0x1234
null = 0x0
pair = rax
long_double = rax
void
double = 0.1
tail = 0.1
dirty = rax=0x12345678ffffff80'
# Of what is not in rax nobody knows what rax has.
known() { values "$1" | sed -E 's/^((pair|long_double) = rax)=0x[0-9a-f]+$/\1/; s/ = -?nan$/ = nan/'; }
names=$("$DPROBES" list 't_*' -- "$dir/typed" | sed 's/.*://')
specs=()
for name in $names; do specs+=("r:$name()"); done
for arm in interior quiesce trap; do
	DPROBES_ARM=$arm "$DPROBES" trace -q -o "$dir/lines" "${specs[@]}" -- "$dir/typed"
	is "$arm: values by their types" "$? $(known "$dir/lines")" "0 $wanted"
done

# A tail call: the value is that of the function which returns for it.
DPROBES_ARM=interior "$DPROBES" trace -q -o "$dir/lines" 'r:t_tail()' -- "$dir/typed"
is "what a tail call returns, in xmm0" "$(values "$dir/lines")" 'tail = 0.1'

# JSON, as a parser understands it
cat >"$dir/check.py" <<'END'
import json, math, sys
for line in open(sys.argv[1], encoding="utf-8"):
    def once(pairs):
        assert len({k for k, _ in pairs}) == len(pairs), pairs
        return dict(pairs)
    r = json.loads(line, object_pairs_hook=once)
    name = r["probe"].split(":t_")[-1]
    print(name, repr(r["args"]), repr(r.get("ret", "none")), "rax" in r and r["rax"][:2], r.get("exit"), r.get("truncated", False))
END
"$DPROBES" trace -q --json -o "$dir/lines" "${specs[@]}" -- "$dir/typed"
is "JSON: numbers with their signs, exactly" "$(python3 "$dir/check.py" "$dir/lines" | sed "s/'-nan'/'nan'/")" \
	"int {} -7 False return False
s8 {} -8 False return False
u8 {} 200 False return False
s16 {} -30000 False return False
u64 {} 18446744073709551615 False return False
s64 {} -9223372036854775808 False return False
u32 {} 4000000000 False return False
true {} True False return False
false {} False False return False
double {} 0.1 False return False
negative_zero {} -0.0 False return False
whole {} 3.0 False return False
nan {} 'nan' False return False
inf {} '-inf' False return False
least {} 5e-324 False return False
float {} 0.33333334 False return False
typedef {} -5 False return False
enum {} -1 False return False
pointer {} '0x1234' False return False
null {} '0x0' False return False
pair {} 'none' 0x return False
long_double {} 'none' 0x return False
void {} 'none' False return False
double {} 0.1 False return False
tail {} 0.1 False return False
dirty {} 'none' 0x return False"

# As asked for
asked() { # TYPE WANTED
	"$DPROBES" trace -q -o "$dir/lines" "r:t_dirty(retval$1)" -- "$dir/typed"
	is "retval$1" "$(values "$dir/lines")" "dirty = $2"
}
asked "" rax=0x12345678ffffff80
asked :s8 -128
asked :u8 128
asked :x16 0xff80
asked :s32 -128
asked :u32 4294967168
asked :x32 0xffffff80
asked :s64 1311768469162688384
asked :u64 1311768469162688384
"$DPROBES" trace -q -o "$dir/lines" 'r:t_double(arg0:u8,retval:x64)' 'r:t_int(retval : u32)' -- "$dir/typed"
is "against debug information" "$(values "$dir/lines" | sed -E 's/(double arg0=)[0-9]+ = 0x[0-9a-f]+/\1N = 0xN/')" \
	"int = 4294967289
double arg0=N = 0xN
double arg0=N = 0xN"

# Without debug information, with what is beside the file, and with another's
strip -o "$dir/stripped" "$dir/typed" --strip-debug
"$DPROBES" trace -q -v -o "$dir/lines" 'r:t_int()' 'r:t_double(retval:f64)' 'r:t_float(retval:f32)' 'r:t_void()' -- "$dir/stripped" 2>"$dir/stderr"
is "nobody knows" "$(values "$dir/lines" | sed -E 's/0x[0-9a-f]+$/0xN/')" "int = rax=0xN
double = 0.1
float = 0.33333334
void = rax=0xN
double = 0.1"
is "the low half of which is the int" "$(values "$dir/lines" | sed -n 's/^int.*\(........\)$/\1/p')" fffffff9
like "-v says why" "$(cat "$dir/stderr")" '^dprobes: no debug information says what functions of stripped return'
mkdir "$dir/.debug"
objcopy --only-keep-debug "$dir/typed" "$dir/.debug/typed.debug"
cp "$dir/stripped" "$dir/linked"
(cd "$dir/.debug" && objcopy --add-gnu-debuglink=typed.debug ../linked)
"$DPROBES" trace -q -o "$dir/lines" 'r:t_int()' 'r:t_double()' 'r:t_void()' -- "$dir/linked"
is "a debug file beside it" "$(values "$dir/lines")" "int = -7
double = 0.1
void
double = 0.1"
sed 's/F(int, t_int, -7)/F(unsigned int, t_int, -7)/' "$dir/typed.c" >"$dir/other.c"
cc -g -O1 -o "$dir/other" "$dir/other.c" -lm
objcopy --only-keep-debug "$dir/other" "$dir/.debug/typed.debug"
"$DPROBES" trace -q -o "$dir/lines" 'r:t_int()' -- "$dir/linked"
like "one of another build is not believed" "$(values "$dir/lines")" '^int = rax=0x[0-9a-f]*fffffff9$'
if command -v clang >/dev/null; then
	clang -g -O1 -Wno-everything -o "$dir/clang" "$dir/typed.c" -lm
	"$DPROBES" trace -q -o "$dir/lines" 'r:t_int()' 'r:t_double()' 'r:t_enum()' -- "$dir/clang"
	is "no index from addresses" "$(values "$dir/lines")" "int = -7
double = 0.1
enum = -1
double = 0.1"
else
	skip "no index from addresses" "there is no clang"
fi

# In children, in what is executed, and in a library that comes later
cat >"$dir/comes.c" <<'END'
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile double half = 0.5;
__attribute__((noinline)) double t_half(int i) { __asm__ volatile(""); return half + i; }
int main(int argc, char **argv)
{
	double (*late)(double);
	void *lib;

	t_half(0);
	if (!fork()) {
		t_half(1);
		_exit(0);
	}
	wait(NULL);
	lib = dlopen(argv[1], RTLD_NOW);
	late = (double (*)(double))dlsym(lib, "t_late");
	late(1);
	t_half(2);
	dlclose(lib);
	lib = dlopen(argv[1], RTLD_NOW);
	late = (double (*)(double))dlsym(lib, "t_late");
	late(2);
	if (argc == 2)
		execl(argv[0], argv[0], argv[1], "again", NULL);
	return 0;
}
END
cat >"$dir/late.c" <<'END'
static volatile double half = 0.5;
double t_late(double x) { __asm__ volatile(""); return half * x; }
END
cc -g -O1 -o "$dir/comes" "$dir/comes.c" && cc -g -O1 -shared -fPIC -o "$dir/late.so" "$dir/late.c" || exit 1
once='half arg0=0 = 0.5
half arg0=1 = 1.5
half arg0=2 = 2.5
late = 0.5
late = 1.0'
for arm in interior trap; do
	DPROBES_ARM=$arm "$DPROBES" trace -q -o "$dir/lines" 'r:t_half(arg0:u8)' "r:$dir/late.so:t_late()" -- \
		"$dir/comes" "$dir/late.so" once 2>"$dir/stderr"
	is "$arm: a library that comes later" "$? $(values "$dir/lines" | sort)" "0 $(grep -v arg0=1 <<<"$once")"
	DPROBES_ARM=$arm "$DPROBES" trace -q -f -o "$dir/lines" 'r:t_half(arg0:u8)' "r:$dir/late.so:t_late()" -- \
		"$dir/comes" "$dir/late.so" 2>"$dir/stderr"
	is "$arm: children, and what is executed" "$? $(values "$dir/lines" | sort | uniq)" "0 $once"
	is "$arm: each twice" "$(values "$dir/lines" | sort | uniq -c | awk '$1 != 2')" ""
done
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 "$dir" "$dir/typed"
	cp "$DPROBES" "$dir/tool" && chmod 755 "$dir/tool"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/tool" trace -q 'r:t_int()' 'r:t_double()' -- "$dir/typed" >"$dir/lines"
	is "without any right" "$(values "$dir/lines")" "int = -7
double = 0.1
double = 0.1"
else
	skip "without any right" "that is what this is"
fi

# Debug information that was made to harm. The program runs as ever, the tool ends as
# ever, and what it says is a type's or rax.
cat >"$dir/spoil.py" <<'END'
import random, struct, sys
data, seed = bytearray(open(sys.argv[1], "rb").read()), int(sys.argv[3])
random.seed(seed)
shoff, = struct.unpack_from("<Q", data, 0x28)
size, n, names = struct.unpack_from("<HHH", data, 0x3a)
section = [struct.unpack_from("<IIQQQQ", data, shoff + i * size) for i in range(n)]
strings = section[names][4]
for s in section:
    name = bytes(data[strings + s[0]:strings + s[0] + 20]).split(b"\0")[0]
    if not name.startswith(b".debug") or not s[5]:
        continue
    for _ in range(random.choice((1, 3, 30, s[5]))):
        data[s[4] + random.randrange(s[5])] = random.randrange(256)
if seed % 5 == 0:
    # a section of more bytes than there are
    i = next(i for i, s in enumerate(section) if b".debug_info" in data[strings + s[0]:strings + s[0] + 20])
    struct.pack_into("<Q", data, shoff + i * size + 0x20, 1 << (20 + seed % 43))
open(sys.argv[2], "wb").write(data)
END
bad=0
for seed in $(seq 1 60); do
	python3 "$dir/spoil.py" "$dir/typed" "$dir/spoilt" "$seed"
	chmod +x "$dir/spoilt"
	timeout 120 "$DPROBES" trace -q -o "$dir/lines" "${specs[@]}" -- "$dir/spoilt" 2>"$dir/stderr"
	status=$?
	lines=$(wc -l <"$dir/lines")
	if [ "$status $lines" != "0 26" ] || grep -qv 'what functions of spoilt return' "$dir/stderr"; then
		echo "# seed $seed: $status, $lines lines, $(cat "$dir/stderr")"
		bad=$((bad + 1))
	fi
done
is "debug information that was made to harm" "$bad" 0
plan
