#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Floating-point arguments and vector registers: the program's own printf says what they are, however a probe is
# armed and its program runs.
. tests/scenario/lib.sh

cat >"$dir/floats.c" <<'END'
#include <stdio.h>
#define KEPT __attribute__((noipa))
KEPT double sum(double a, float b, int n, double c, double d, double e, double f, double g, float h)
{
	return a + (double)b + n + c + d + e + f + g + (double)h;
}
KEPT float small(float a, float b) { return a * b; }
int main(void)
{
	static const double edges[] = { 0, -0.0, 1, -1.5, 0.1, 1e300, -1e-300, 4.9e-324, 1.0 / 0.0, 3.4028234663852886e38, 16777217 };
	int i, k, n = sizeof(edges) / sizeof(edges[0]);

	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++) {
			float b = (float)edges[k], h = (float)edges[(i + k) % n];

			printf("%.17g %.9g %.17g %.17g %.17g %.17g %.17g %.9g\n", edges[i], (double)b, edges[k], edges[n - 1 - i], edges[n - 1 - k],
			       edges[(i + k) % n], edges[(i * 3 + k) % n], (double)h);
			sum(edges[i], b, 7, edges[k], edges[n - 1 - i], edges[n - 1 - k], edges[(i + k) % n], edges[(i * 3 + k) % n], h);
			small(b, h);
		}
	return 0;
}
END
"${CC:-gcc}" -w -O2 -o "$dir/floats" "$dir/floats.c"
"$dir/floats" >"$dir/said"
# as_numbers: each number in one spelling; the second and the last one are floats
as_numbers() {
	perl -ne '@n = split; @n[1, 7] = unpack "f2", pack "f2", @n[1, 7]; print join(" ", map { sprintf "%.17g", $_ } @n), "\n"' "$1"
}
as_numbers "$dir/said" >"$dir/wanted"
lines=$(wc -l <"$dir/wanted")
values='farg0,farg1:f32,farg2,farg3,%xmm4,xmm5,farg6,farg7:f32'
# shown HOW SPEC: eight values of each line are those that the program has said
shown() {
	"$DPROBES" trace -o "$dir/lines" "$2" -- "$dir/floats" >"$dir/out" 2>"$dir/err"
	is "$1: status" $? 0
	grep -F floats:sum "$dir/lines" | sed 's/ = .*//' | perl -ne 'print join(" ", /=(\S+)/g), "\n"' >"$dir/got"
	is "$1: all $lines are those of the program" "$(as_numbers "$dir/got" | diff - "$dir/wanted" | head -n 4)" ""
	is "$1: the program has said the same" "$(cmp "$dir/out" "$dir/said" 2>&1)" ""
}
shown "a jump" "sum($values)"
DPROBES_NATIVE=0 shown "by the interpreter" "sum($values)"
DPROBES_NATIVE=leave:5 shown "left to the interpreter" "sum($values)"
DPROBES_ARM=trap shown "a trap" "sum($values)"
shown "at the entry of a call that is tracked" "r:sum($values)"
# Counts of conditions: what the program's numbers say. Numbers are read as floats where they are.
counted() {
	local name=$1 cond=$2 code=$3 wanted got how

	wanted=$(/usr/bin/python3 -c '
import ctypes, sys
rows = [[float(x) for x in line.split()] for line in open(sys.argv[1])]
for n in rows:
    n[1], n[7] = ctypes.c_float(n[1]).value, ctypes.c_float(n[7]).value
print(sum(bool(eval(sys.argv[2])) for n in rows))' "$dir/said" "$code")
	for how in "" DPROBES_NATIVE=0 DPROBES_NATIVE=leave:9 DPROBES_ARM=trap; do
		# shellcheck disable=SC2086
		env $how "$DPROBES" stat -q -o "$dir/counts" "sum if $cond" "r:small if $cond" -- "$dir/floats" >"$dir/out" 2>"$dir/err"
		got="$? $(grep -E 'floats:sum|:sum' "$dir/counts" | grep -oE '^ *[0-9]+' | tr -d ' ')"
		is "$name, ${how:-a jump}" "$got$(head -n 2 "$dir/err")" "0 $wanted"
	done
}
counted "a double and a constant" 'farg0 > -1.5 && farg0 <= 1' 'n[0] > -1.5 and n[0] <= 1'
counted "a float and a constant" 'farg1:f32 < 0.1 || farg1:f32 == 1e300' 'n[1] < 0.1 or n[1] == 1e300'
counted "two doubles" 'farg2 < farg3' 'n[2] < n[3]'
counted "a float and a double" 'farg1:f32 == farg2' 'n[1] == n[2]'
counted "two floats" 'farg1:f32 >= farg7:f32' 'n[1] >= n[7]'
plan
