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
		is "$compiler $options: a linkage name" "$(hits --mangled _ZN3zoo6Animal4feedEd)" "$(counted double)"
	done
done
plan
