#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Source lines and inlined copies. Oracles: gdb's line tables, blocks and breakpoints, readelf's entries,
# and what programs count of themselves.
. tests/scenario/lib.sh

if ! command -v gcc >/dev/null || ! command -v g++ >/dev/null; then
	skip "source lines" "there is no compiler"
	plan
	exit
fi
mkdir "$dir/one" "$dir/two" "$dir/my dir"

# Programs that count. What is behind a count keeps its line from being left without code of its own.
cat >"$dir/common.h" <<'C'
extern volatile long count[8];
static inline __attribute__((always_inline)) long shared(long x)
{
	count[4]++; /* LINE:shared */
	return x + 3 + count[7];
}
C
cat >"$dir/prog.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "common.h"
long other(long n);
volatile long count[8];
static inline __attribute__((always_inline)) long small(long x)
{
	count[0]++; /* LINE:small */
	return x * 3 + count[7];
}
static inline __attribute__((always_inline)) long nested(long x)
{
	count[1]++; /* LINE:nested */
	return small(x + count[7]) + small(x * 2 + count[7]) + count[7];
}
__attribute__((noinline)) static long caller(long n)
{
	long sum = 0, i;

	for (i = 0; i < n; i++) {
		count[2]++; /* LINE:loop */
		sum += nested(i + count[7]); /* LINE:call */
	}
	return sum;
}
__attribute__((noinline)) static long rare(long n)
{
	if (n > 1000) {
		count[3]++; /* LINE:never */
		n = small(n);
	}
	return n + shared(n);
}
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 5, sum = 0; /* LINE:main */

	sum = caller(n);
	sum += rare(n);
	sum += other(n);
	printf("%ld small %ld nested %ld loop %ld never %ld shared %ld twice %ld\n", sum, count[0], count[1],
	       count[2], count[3], count[4], count[5]);
	return 0;
}
C
cat >"$dir/other.c" <<'C'
#include "common.h"
long other(long n);
#define twice(x) (count[5]++, (x) * 2)
long other(long n)
{
	long i, sum = 0;

	for (i = 0; i < n; i++)
		sum += shared(i);
	sum += twice(n) + count[7]; /* LINE:twice */
	return sum;
}
C
cat >"$dir/prog.cc" <<'C'
#include <cstdio>
#include <cstdlib>
static volatile long count[4];
namespace zoo {
struct Animal {
	long legs;
	__attribute__((always_inline)) inline void feed(int n)
	{
		count[0]++; /* LINE:feed-int */
		legs += n;
	}
	__attribute__((always_inline)) inline void feed(double d)
	{
		count[1]++; /* LINE:feed-double */
		legs += (long)d;
	}
};
template <typename T> __attribute__((always_inline)) static inline T twice(T t)
{
	count[2]++; /* LINE:twice */
	return t + t;
}
__attribute__((noinline)) static void all(Animal &a, long n)
{
	for (long i = 0; i < n; i++) {
		a.feed((int)(i + count[3]));
		a.feed(1.0 * i);
		a.legs += twice(i);
	}
	a.legs += (long)twice(0.5 * n);
}
}
int main(int argc, char **argv)
{
	zoo::Animal a = { 4 };

	zoo::all(a, argc > 1 ? atol(argv[1]) : 5);
	printf("%ld int %ld double %ld twice %ld\n", a.legs, count[0], count[1], count[2]);
	return 0;
}
C
line_of() { grep -n "LINE:$2 " "$dir/$1" | cut -d: -f1; }
# The number behind a word of what the program has printed
counted() { grep -o " $1 [0-9]*" "$dir/stdout" | cut -d' ' -f3; }
# hits SPEC...: how often the spec's points were hit, in all, while $prog ran
hits() {
	"$DPROBES" stat -q --json -o "$dir/counts" "$@" -- "$prog" 7 >"$dir/stdout" 2>"$dir/stderr"
	sed -n 's/.*"hits":\([0-9]*\),.*/\1/p' "$dir/counts" | awk '{ n += $1 } END { print n + 0 }'
}
# addresses SPEC...: of its points, as the file has them; of a PIE they are those of a page
addresses() {
	"$DPROBES" list --json "$@" -- "$prog" 2>"$dir/stderr" | sed -n 's/^{"addr":"0x\([0-9a-f]*\)".*/\1/p' | plain | sort
}
plain() {
	while read -r a; do [ -z "${pie:-}" ] && echo "$a" || printf '%x\n' $((0x$a & 0xfff)); done
}
# What gdb says of all lines of a source, as "LINE ADDRESS…", and what list says
gdb_lines() { SOURCE=$1 gdb -batch -nx -iex 'set debuginfod enabled off' -x tests/tools/source-lines.py "$prog" 2>/dev/null; }
our_lines() {
	local specs=()

	while read -r line _; do specs+=("$1:$line"); done
	"$DPROBES" list --json "${specs[@]}" -- "$prog" 2>"$dir/stderr" |
		sed -n 's/^{"addr":"0x\([0-9a-f]*\)".*"place":"[^:]*:\([0-9]*\).*/\2 \1/p' |
		sort -k1n -k2 | awk '$1 != last { printf "%s%s", last ? "\n" : "", $1; last = $1 } { printf " %s", $2 } END { print "" }'
}
same_lines() { # NAME SOURCE
	gdb_lines "$2" | sort -n >"$dir/gdb"
	our_lines "$2" <"$dir/gdb" >"$dir/ours"
	is "$1: $2: $(grep -c . "$dir/gdb") lines where gdb has them" "$(diff "$dir/gdb" "$dir/ours")" ""
	[ -s "$dir/gdb" ] || not_ok "$1: $2: gdb knows no lines"
}
# The entries of inlined copies of a function, as debug information names them
entries() {
	readelf -wi "$prog" 2>/dev/null | awk -v name="$1" '
		/Abbrev Number/ { die = $0; sub(/.*<[0-9a-f]*><|>: Abbrev.*/, "", die); sub(/^[^<]*<[0-9a-f]*></, "", die); sub(/>.*/, "", die)
			copy = /inlined_subroutine/; body = /subprogram/ }
		/DW_AT_name/ && $NF == name { named[die] = 1 }
		/DW_AT_abstract_origin/ && (copy || body) { of[die] = $NF; gsub(/[<>]|0x/, "", of[die]) }
		/DW_AT_entry_pc/ && copy { at[die] = $NF; sure[die] = 1 }
		/DW_AT_low_pc/ && (copy || body) && !sure[die] { at[die] = $NF }
		END { for (d in at) if (named[d] || named[of[d]]) print substr(at[d], 3) }' | sort -u
}
have_gdb=$(command -v gdb)

built() { # COMPILER OPTIONS...: $prog, of the sources in C
	local compiler=$1
	shift
	"$compiler" -g -fno-unroll-loops "$@" -o "$prog" "$dir/prog.c" "$dir/other.c" 2>"$dir/err"
}
check_c() { # NAME
	local line

	if [ -n "$have_gdb" ] && [ -z "${pie:-}" ]; then
		for source in prog.c other.c common.h; do same_lines "$1" $source; done
	fi
	for line in small nested loop never; do
		is "$1: hits of the line in $line()" "$(hits "prog.c:$(line_of prog.c $line)") of $(counted $line)" "$(counted $line) of $(counted $line)"
	done
	is "$1: a line of two units" "$(hits "common.h:$(line_of common.h shared)")" "$(counted shared)"
	is "$1: a line of a macro" "$(hits "other.c:$(line_of other.c twice)")" "$(counted twice)"
	is "$1: copies of small" "$(hits --inlined small)" "$(counted small)"
	is "$1: copies in copies" "$(hits --inlined nested)" "$(counted nested)"
	# Clang moves the beginning of a copy out of a loop.
	[[ $1 == clang*-O2* ]] || is "$1: copies in two units" "$(hits shared)" "$(counted shared)"
	is "$1: where copies begin" "$(addresses small | tr '\n' ' ')" "$(entries small | plain | sort | tr '\n' ' ')"
}
for compiler in gcc clang; do
	if ! command -v $compiler >/dev/null; then
		skip "$compiler" "it is not there"
		continue
	fi
	for options in "-O0 -gdwarf-5 -no-pie" "-O2 -gdwarf-4 -no-pie" "-O2 -gdwarf-5 -no-pie" "-O2 -gdwarf-5 -pie -fPIE"; do
		prog=$dir/$compiler-${options// /}
		[[ $options == *-no-pie ]] && pie="" || pie=1
		# shellcheck disable=SC2086
		built $compiler $options || { not_ok "$compiler $options" "$(cat "$dir/err")"; continue; }
		check_c "$compiler $options"
	done
done

# C++
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || { skip "$compiler" "it is not there"; continue; }
	for options in "-O0 -gdwarf-4" "-O2 -gdwarf-5"; do
		prog=$dir/$compiler-${options// /}
		pie=""
		# shellcheck disable=SC2086
		$compiler -g $options -no-pie -o "$prog" "$dir/prog.cc" 2>"$dir/err" || { not_ok "$compiler $options" "$(cat "$dir/err")"; continue; }
		[ -z "$have_gdb" ] || same_lines "$compiler $options" prog.cc
		is "$compiler $options: one of two" "$(hits '"zoo::Animal::feed(int)"') of $(counted int)" "$(counted int) of $(counted int)"
		is "$compiler $options: both" "$(hits zoo::Animal::feed)" "$(($(counted int) + $(counted double)))"
		is "$compiler $options: all of a template" "$(hits "prog.cc:$(line_of prog.cc twice)")" "$(counted twice)"
		is "$compiler $options: all copies of a template" "$(hits zoo::twice)" "$(counted twice)"
		if nm -C "$prog" | grep -q 'zoo::twice' || ! [ $compiler = g++ ]; then
			is "$compiler $options: with parameters" "$(hits '"zoo::twice<long>(long)"')" 7
		else
			"$DPROBES" list '"zoo::twice<long>(long)"' -- "$prog" 2>"$dir/stderr" >&2
			like "$compiler $options: parameters that are not told" "$(head -1 "$dir/stderr")" 'does not tell parameters of this function; it is all of "zoo::twice<(long int|double)>"'
			is "$compiler $options: by that name" "$(hits '"zoo::twice<long int>"')" 7
		fi
		is "$compiler $options: a linkage name" "$(hits --mangled _ZN3zoo6Animal4feedEd)" "$(counted double)"
	done
done

# What is shown
prog=$dir/shown pie=""
built gcc -O2 -no-pie || exit 1
run() { # ARGS...: sets $out $err $status
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}
# Line $1 of what was said is this text, and under the spec are these carets.
refused() { # NAME PATTERN CARETS ARGS...
	local name=$1 pattern=$2 carets=$3
	shift 3
	run "$@" -- "$prog"
	like "$name" "$status $(head -1 "$dir/stderr")" "^[12] dprobes: $pattern"
	[ "$(tail -1 "$dir/stderr")" = "  $carets" ] || not_ok "$name: caret" "$err" "wanted: $carets"
	[ -z "$out" ] || not_ok "$name: it has run" "$out"
}
small=$(line_of prog.c small) loop=$(line_of prog.c loop) call=$(line_of prog.c call) never=$(line_of prog.c never)
run list "prog.c:$small" small "prog.c:$loop" -- "$prog"
like "list: specs that can be given again" "$status $(tr '\n' ' ' <<<"$out")" \
	'^0 (shown:caller\+0x[0-9a-f]+ ){2}shown:rare\+0x[0-9a-f]+ (shown:caller\+0x[0-9a-f]+ ){2}shown:rare\+0x[0-9a-f]+ shown:caller\+0x[0-9a-f]+ $'
mapfile -t specs <<<"$out"
is "they mean the same" "$(addresses "${specs[@]}" | tr '\n' ' ')" "$(addresses "prog.c:$small" small "prog.c:$loop" | tr '\n' ' ')"
run list -v small "prog.c:$loop" -- "$prog"
like "list -v: a copy in a copy" "$out" "^    small, inlined in nested at $dir/prog.c:$((call - 8))$"
like "list -v: a copy in a function" "$out" "^    small, inlined in rare at $dir/prog.c:$((never + 1))$"
like "list -v: a line" "$out" "^    $dir/prog.c:$loop in caller$"
run list -v "prog.c:$((never + 1))" -- "$prog"
is "list -v: a line that calls a copy is the caller's" "$(sed "1d; / a value here:/d" "$dir/stdout")" "    $dir/prog.c:$((never + 1)) in rare"
run list --json "prog.c:$small" -- "$prog"
like "list --json" "$out" "\"symbol\":\"rare\",\"offset\":[0-9]+,\"module\":\"shown\",.*\"place\":\"$dir/prog.c:$small of small, inlined in rare at $dir/prog.c:$((never + 1))\""
run stat "prog.c:$loop" small --inlined main -- "$prog" 3
like "stat: one place is called what it was asked for as" "$out" "^ *3 .* shown:prog.c:$loop$"
like "stat: several have where they are behind that" "$out" '^ *3 .* shown:small\[caller\+0x[0-9a-f]+\]$'
like "stat: a function with a body" "$out" '^ *1 .* shown:main$'
run trace "prog.c:$never" "prog.c:$(line_of prog.c main)(rdi:u64)" "prog.c:$call" small -- "$prog" 1001
like "trace: a line, and no values there" "$out" " shown shown:prog.c:$never$"
like "trace: but those that are asked for" "$out" " shown:prog.c:$(line_of prog.c main) rdi=2$"
like "trace: copies" "$out" ' shown:small\[rare\+0x[0-9a-f]+\]$'
run trace --json -n 1 "prog.c:$loop" -- "$prog"
like "trace --json" "$out" "\"probe\":\"shown:prog.c:$loop\",\"args\":\{\}"
run stat "./prog.c:$loop if rdi == rdi" "$dir/prog.c:$loop" -- "$prog" 6
is "a path in other words, and all of it" "$(awk 'NR > 2 { print $1 }' "$dir/stdout" | sort | tr '\n' ' ')" "6 6 "

# What needs no debug information does not wait for it.
reads() { LD_DEBUG=files "$DPROBES" "$@" -- "$prog" 2>&1 | grep -c 'file=libdw'; }
is "a function that is there is found without debug information" "$(reads stat main caller) $(reads trace main caller+0) $(reads list 'c*')" "0 0 0"
[ "$(reads stat "prog.c:$loop")" -gt 0 ] || not_ok "a line is not, which shows that this can be seen"

# Every line without code is told, with the next one that has some.
readelf -wL "$prog" 2>/dev/null | awk '$1 == "prog.c" && $2 ~ /^[0-9]+$/ && $3 ~ /^0x/ { print $2 }' | sort -nu >"$dir/lines"
wrong=""
for line in $(seq "$(wc -l <"$dir/prog.c")"); do
	grep -qx "$line" "$dir/lines" && continue
	next=$(awk -v line="$line" '$1 > line { print; exit }' "$dir/lines")
	run list "prog.c:$line" -- "$prog"
	[ "$status $(head -1 "$dir/stderr")" = "1 dprobes: line $line of $dir/prog.c has no code${next:+; the next line that has is $next}" ] ||
		[[ -z $next && $err == *"the last line that has is $(tail -1 "$dir/lines")"* ]] || wrong="$wrong $line: $err"
done
is "lines without code: the next one is told" "$wrong" ""
refused "a line behind the last" "line 4294967297 of $dir/prog.c has no code; the last line that has is $(tail -1 "$dir/lines")$" '       ^~~~~~~~~~' stat prog.c:4294967297
refused "a line of 20 digits" 'this number is too large' '       ^~~~~~~~~~~~~~~~~~~~' stat prog.c:99999999999999999999
refused "a negative line" 'lines are counted from 1' '       ^~' stat prog.c:-3
refused "a file that is not there" 'no source file "rog.c" has code in shown' '^~~~~' stat rog.c:3
refused "a file without a name" 'a source file is missing' ' ^' stat :3
refused "a file that is a module" 'no module "prog.c"' '^~~~~~' stat prog.c:main
refused "arguments of copies" 'an inlined copy has no arguments' '      ^~~~' trace 'small(arg0)'
refused "conditions on them" 'an inlined copy has no arguments' '         ^~~~~' stat 'small if $arg1 == 1'
run trace -q -o "$dir/values" "small(x)" -- "$prog"
is "parameters of copies" "$(sed -n 's/.*small\[[^ ]* x=//p' "$dir/values" | sort -n | tr '\n' ' ')" "0 0 1 2 2 3 4 4 6 8 "
refused "the caller of a copy" 'the stack has the caller at the function.s entry only' '      ^~~~~~' trace 'small(caller)'
refused "returns of copies" 'small was inlined everywhere in shown, and an inlined copy does not return' '  ^~~~~' stat r:small
refused "an offset in copies" 'small has no body of its own in shown' '^~~~~' stat small+4

# A function that was inlined, and left nothing
cat >"$dir/gone.c" <<'C'
static inline __attribute__((always_inline)) int gone(int x) { return x; }
static inline __attribute__((always_inline)) int unused(int x) { return x; }
__attribute__((section(".text.dropped"))) int dropped(int x);
int dropped(int x) { return x + 1; } /* LINE:dropped */
int main(int argc, char **argv) { return gone(argc) - argc; }
C
prog=$dir/gone
gcc -g -O2 -ffunction-sections -Wl,--gc-sections -o "$prog" "$dir/gone.c"
refused "a function that left nothing" 'gone was inlined everywhere in gone, and no copy of it has code' '^~~~' stat gone
refused "one that was never used" 'no function "unused" in gone' '^~~~~~' stat unused
refused "a line that the linker has dropped" "line $(line_of gone.c dropped) of .*gone.c has no code" '       ^' stat "gone.c:$(line_of gone.c dropped)"

# A clone of a function is a body of it. A piece that was cut off is none, nor is it one more copy.
cat >"$dir/clone.c" <<'C'
#include <stdio.h>
volatile long count[2], sink[8];
static __attribute__((noinline)) long doubled(long x, long by)
{
	count[0]++;
	return x * by + sink[0];
}
static long split(long x)
{
	count[1]++;
	if (__builtin_expect(x < 100, 1))
		return x;
	for (int i = 0; i < 8; i++)
		sink[i] += x;
	return sink[3] * doubled(x, 2); /* LINE:cut */
}
long ends(long x);
__attribute__((noinline)) long ends(long x) { return split(x) + split(x + 95); }
__attribute__((cold, noinline)) static void fail(long n) { sink[7] += n; }
long checked(long n);
__attribute__((noinline)) long checked(long n)
{
	if (n > 7 + sink[6]) { fail(n); sink[5]++; } /* LINE:cold */
	return n + sink[0];
}
int main(int argc, char **argv)
{
	long n = 0;

	for (long i = 0; i < 9; i++)
		n += ends(i) + checked(i);
	n += doubled(3, 2);
	printf("%ld doubled %ld split %ld\n", n, count[0], count[1]);
	return 0;
}
C
prog=$dir/clone pie=""
gcc -g -O2 -no-pie -o "$prog" "$dir/clone.c" || exit 1
nm "$prog" >"$dir/names"
readelf -wi "$prog" >"$dir/dies" 2>/dev/null
if grep -q ' doubled$' "$dir/names" || [ "$(grep -c DW_TAG_inlined_subroutine "$dir/dies")" -ne 4 ]; then
	skip "clones and pieces" "this compiler makes others"
else
	is "a clone is the function" "$(hits doubled) $(grep -c 'clone:doubled.constprop.0"' "$dir/counts")" "$(counted doubled) 1"
	is "its pieces are no copies" "$(hits split)" "$(counted split)"
	is "lines of pieces are the copies'" "$(hits "clone.c:$(line_of clone.c cut)")" "$(($(counted doubled) - 1))"
	refused "a clone has other arguments" 'an inlined copy has no arguments' '        ^~~~' trace 'doubled(arg1)'
fi

if ! grep -q ' checked.cold$' "$dir/names" || [ $((16#$(awk '$3 == "checked.cold" { print $1 }' "$dir/names"))) -gt $((16#$(awk '$3 == "checked" { print $1 }' "$dir/names"))) ]; then
	skip "the cold part of a function" "this compiler leaves it where it is, or puts it behind"
else
	is "the cold part of a function is not where its line is" "$(hits "clone.c:$(line_of clone.c cold)")" 9
fi

# Files of one name
for where in one two "my dir"; do
	printf 'int %s(int x);\nint %s(int x)\n{\n\treturn x + 3;\n}\n' "${where// /_}" "${where// /_}" >"$dir/$where/part.c"
done
printf 'int one(int x); int two(int x); int my_dir(int x);\nint main(int argc, char **argv) { return one(two(my_dir(argc))) != 10; }\n' >"$dir/parts.c"
prog=$dir/parts
(cd "$dir" && gcc -g -O1 -o parts parts.c one/part.c two/part.c "my dir/part.c")
run stat part.c:4 -- "$prog"
is "several files: all are told" "$status $(sed -n 2,4p "$dir/stderr" | sort)" "2   \"$dir/my dir/part.c\":4
  $dir/one/part.c:4
  $dir/two/part.c:4"
for spec in one/part.c:4 "$dir/two/part.c:4" '"my dir/part.c":4' "\"$dir/my dir/part.c\":4" "parts:one/../two/part.c:4" 'p:parts:"my dir/part.c":4'; do
	run stat "$spec" -- "$prog"
	like "$spec" "$status $out" '^0 .*
 *1 *0 .*part.c'
done

# Debug information that is somewhere else, or nowhere
prog=$dir/apart
built gcc -O2 -no-pie
before=$(addresses "prog.c:$small" "prog.c:$call" small | tr '\n' ' ')
objcopy --only-keep-debug "$prog" "$prog.debug"
strip "$prog"
refused "no debug information" 'source lines are not known: debug information of apart is not installed \(package NAME-dbgsym' '^~~~~~' stat "prog.c:$small"
refused "nor for copies" 'no function "small" in apart; .*inlined copies are not known: debug information of apart is not installed' '^~~~~' stat --inlined small
objcopy --add-gnu-debuglink="$prog.debug" "$prog"
is "debug information of its own file" "$(addresses "prog.c:$small" "prog.c:$call" small | tr '\n' ' ')" "$before"

for format in 4 5; do
	(cd "$dir" && gcc -g -O2 -gdwarf-$format -gsplit-dwarf -no-pie -o apart prog.c other.c)
	refused "DWARF $format: that is in files of its own" 'debug information of apart is in files of its own \(.dwo' '^~~~~~' stat "prog.c:$small"
	refused "DWARF $format: nor for copies" 'no function "small" in apart; .*in files of its own' '^~~~~' stat small
	refused "DWARF $format: nor for all of them" 'debug information of apart is in files of its own' '^~~~~~' stat --inlined caller
done

# Debug information that lies
prog=$dir/liar
built gcc -O2 -no-pie
objcopy -O binary --only-section=.debug_line --set-section-flags .debug_line=alloc "$prog" "$dir/line"
objcopy -O binary --only-section=.debug_info --set-section-flags .debug_info=alloc "$prog" "$dir/info"
died=""
for seed in $(seq 12); do
	section=line
	[ $((seed % 2)) = 0 ] || section=info
	cp "$prog" "$dir/lies" && cp "$dir/$section" "$dir/section"
	for i in 1 2 3 4 5 6; do
		printf "\\x$(printf %x $(((seed * 37 + i * 101) % 256)))" |
			dd of="$dir/section" bs=1 conv=notrunc seek=$(((seed * 7919 + i * 3571) % $(stat -c %s "$dir/section"))) status=none
	done
	objcopy --update-section ".debug_$section=$dir/section" "$dir/lies" 2>/dev/null
	run list "prog.c:$small" "prog.c:$call" -- "$dir/lies"
	[ $status -le 2 ] || died="$died $seed:$status"
	run list small -- "$dir/lies"
	[ $status -le 2 ] || died="$died $seed:$status"
done
is "damaged debug information harms nothing" "$died" ""
cat >"$dir/middle.s" <<'S'
	.file "middle.s"
	.text
	.globl main
	.type main, @function
main:
	.loc 1 10
	xorl %eax, %eax
	.byte 0xb9
	.loc 1 20
	xorl %eax, %eax
	nop
	nop
	.loc 1 30
	ret
	.size main, .-main
	.section .note.GNU-stack
S
sed -i 's/.file "middle.s"/.file 1 "middle.s"/' "$dir/middle.s"
prog=$dir/middle
if gcc -g0 -Wa,--gdwarf-5 -o "$prog" -x assembler "$dir/middle.s" 2>/dev/null || gcc -o "$prog" "$dir/middle.s" 2>"$dir/err"; then
	run stat middle.s:30 -- "$prog"
	like "a line of assembly" "$status $out" 'middle:middle.s:30$'
	refused "a line within an instruction" 'middle:middle.s:20 cannot be probed: no instruction begins there' '^~~~~~~~~~~' stat middle.s:20
else
	skip "lines of assembly" "the assembler does not take them: $(head -1 "$dir/err")"
fi

# Children, and a running process
prog=$dir/shown
run stat -f --json "prog.c:$loop" -- sh -c "$prog 3; $prog 4; exit"
is "-f: in each program that has the line" "$(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$dir/stdout" | tr '\n' ' ')" "3 4 "
run stat -f --json --inlined small -- sh -c "$prog 3; $prog 4; exit"
is "-f: and the copies, where they are asked for" "$(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$dir/stdout" | awk '{ n += $1 } END { print n }')" 14
run stat -f small -- sh -c "$prog 3; exit"
like "-f: or says so" "$err" 'no process had small; with --inlined, copies of it count that were inlined$'

# A library that comes later; nobody has named its function, all of which is inlined.
cat >"$dir/late.c" <<'C'
volatile long late_count;
static inline __attribute__((always_inline)) long quick(long x)
{
	late_count++; /* LINE:quick */
	return x + late_count;
}
long late(long n);
long late(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += quick(i); /* LINE:late */
	return sum;
}
C
cat >"$dir/loader.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *lib;
	char c;

	puts("ready");
	fflush(stdout);
	while (argc > 2 && read(0, &c, 1) == 1 && c != '\n')
		;
	lib = dlopen(argv[1], RTLD_NOW);
	printf("%ld", ((long (*)(long))dlsym(lib, "late"))(7));
	printf(" quick %ld\n", *(long *)dlsym(lib, "late_count"));
	fflush(stdout);
	while (argc > 2 && read(0, &c, 1) == 1)
		;
	return 0;
}
C
gcc -g -O2 -fno-unroll-loops -shared -fPIC -o "$dir/liblate.so" "$dir/late.c" && gcc -g -o "$dir/loader" "$dir/loader.c" || exit 1
quick=$(line_of late.c quick)
run stat -q --json -o "$dir/counts" "liblate.so:late.c:$quick" liblate.so:quick --pending -- "$dir/loader" "$dir/liblate.so"
is "a library to come: a line, and a function that was inlined" \
	"$(sed -n 's/.*"probe":"\([^[]*\)[^"]*","hits":\([0-9]*\),.*/\1 \2/p' "$dir/counts")" \
	"liblate.so:late.c:$quick $(counted quick)
liblate.so:quick $(counted quick)"
run trace -q --pending liblate.so:quick -- "$dir/loader" "$dir/liblate.so"
like "a library to come: no values in a copy" "$out" ' loader liblate.so:quick$'
run trace --pending 'liblate.so:quick(arg0)' -- "$dir/loader" "$dir/liblate.so"
like "a library to come: nor those that were asked for" "$err" 'liblate.so:quick\(arg0\) cannot be probed: an inlined copy has no arguments'
gcc -g -o "$dir/linked" -x c - -L"$dir" -llate -Wl,-rpath,"$dir" <<<'long late(long n); int main(void) { return late(0); }'
prog=$dir/linked
refused "a file that another module has" "no source file \"late.c\" has code in linked, by its debug information; liblate.so has one: write liblate.so:late.c:$quick$" '^~~~~~' stat "late.c:$quick"
refused "a glob of modules" '[0-9]+ modules match "\*"; name one' '^' stat "*:late.c:$quick"

mkfifo "$dir/in"
"$dir/loader" "$dir/liblate.so" wait <"$dir/in" >"$dir/stdout" 2>"$dir/err" &
victim=$!
pids+=("$victim")
exec 5>"$dir/in"
poll 10 grep -q ready "$dir/stdout"
"$DPROBES" stat -o "$dir/counts" --pending "liblate.so:late.c:$quick" liblate.so:late -p $victim 2>"$dir/talk" 5>&- &
tool=$!
pids+=("$tool")
is_pending() { "$DPROBES" list -p $victim | grep -q PENDING; }
poll 10 is_pending
echo go >&5
poll 10 grep -q quick "$dir/stdout"
is "the probes of a process are listed" "$("$DPROBES" list -p $victim | grep -c ' late+0x[0-9a-f]*  liblate.so ')" 2
"$DPROBES" disable "liblate.so:late.c:$quick" -p $victim 2>"$dir/err"
is "and can be disabled by their line" "$? $("$DPROBES" list -p $victim | grep -c 'DISABLED')" "0 1"
"$DPROBES" enable liblate.so:quick -p $victim 2>"$dir/err"
is "or by what was inlined there" "$? $("$DPROBES" list -p $victim | grep -c 'DISABLED')" "0 0"
exec 5>&-
wait $victim
wait $tool
is "hits of a line in a process that runs" "$(sed -n 's/^ *\([0-9]*\) .*liblate.so:late.c:'"$quick"'$/\1/p' "$dir/counts")" "$(counted quick)"
plan
