#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What is printed while a run goes on, and runs that end after so many records.
. tests/scenario/lib.sh

"$VICTIMS/conditions" 2 200000000000 >"$dir/out" 2>&1 &
victim=$!
pids+=("$victim")
# sums FILE: hits of all intervals, hits of the total, intervals, and whether time goes on
sums() {
	python3 - "$1" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
parts = [r for r in rows if "time" in r]
total = [r for r in rows if "time" not in r]
times = [r["time"] for r in parts]
print(sum(r["hits"] for r in parts), sum(r["hits"] for r in total), len(parts),
      times == sorted(times) and all(0 < r["interval"] < 5 for r in parts))
END
}
"$DPROBES" stat --json -i 100ms --duration 1s -o "$dir/counts" asked -p "$victim" 2>"$dir/err"
is "intervals: status" $? 0
read -r parts total n right <<<"$(sums "$dir/counts")"
like "as many rows as there was time for" "$n" '^([3-9]|10)$'
is "one behind the other" "$right" True
is "their hits are among those of the total" "$((parts > 0 && parts <= total))" 1
is "and nearly all of it" "$((parts * 2 > total))" 1

"$DPROBES" stat -i 50ms --duration 300ms -o "$dir/counts" asked reads -p "$victim" 2>"$dir/err"
is "the header stands once, and once over the total" "$(grep -c 'PROBE$' "$dir/counts")" 2
like "a row of an interval" "$(sed -n 2p "$dir/counts")" '^[0-2][0-9](:[0-5][0-9]){2} +[1-9][0-9]* +0  jump  conditions:asked$'
is "no row of nothing" "$(grep -cE '^[0-9:]{8} .*reads' "$dir/counts")" 0
is "but in the total" "$(hits "$dir/counts" conditions:reads)" 0
"$DPROBES" stat -i 50ms --duration 300ms -o "$dir/counts" reads -p "$victim" 2>"$dir/err"
like "an interval of nothing" "$(sed -n 2p "$dir/counts")" '^[0-9:]{8} no hits$'
if command -v script >/dev/null; then
	script -qc "$DPROBES stat -q -i 50ms --duration 400ms asked -p $victim" /dev/null >"$dir/screen" </dev/null
	like "on a terminal each replaces the one before" "$(grep -c $'\033\\[H\033\\[J' "$dir/screen")" '^[2-8]$'
	is "but not the total" "$(tail -n 1 "$dir/screen" | grep -c $'\033')" 0
	# shown OPTION...: what a person at a terminal is told
	shown() { script -qc "$* --duration 50ms asked -p $victim" /dev/null </dev/null | tr -d '\r' | grep probing; }
	is "that probes are there" "$(shown "$DPROBES" stat)" "dprobes: probing $victim (conditions): 1 probe; ^C ends"
	is "and that they are slow" "$(shown env DPROBES_ARM=trap "$DPROBES" stat)" \
		"dprobes: probing $victim (conditions): 1 probe, 1 by breakpoint, which is some thousand times as slow (-v says why); ^C ends"
	is "with children, too" "$(shown "$DPROBES" trace -f -n 1)" "dprobes: probing $victim (conditions): 1 probe; ^C ends"
	is "or not" "$(shown "$DPROBES" stat -q)" ""
else
	skip "on a terminal" "there is no script(1)"
fi

# A function whose entry has room for a jump, but not its exit.
cat >"$dir/late.c" <<'END'
int late(int);
__asm__(".type late, @function\nlate: .cfi_startproc; test %edi, %edi; jne 1f; .rept 8; nop; .endr; call 2f; 1: ret; .cfi_endproc\n"
	".size late, . - late; .byte 6, 6, 6, 6, 6, 6, 6, 6\n"
	"2: ret");
int main(void)
{
	for (int i = 0; i < 100; i++)
		late(i & 1);
	return 0;
}
END
cc -O1 -o "$dir/late" "$dir/late.c"
"$DPROBES" stat -v r:late -- "$dir/late" >/dev/null 2>"$dir/err"
like "-v: returns that are slow" "$(cat "$dir/err")" '^dprobes: r:late:late: 1 of 1 exits by breakpoint: the bytes behind it'
# What is slow is said before it is paid, to anybody, once in a run; but not where it was asked for.
costs=': 1 probe, 1 whose returns are by breakpoint, which is some thousand times as slow \(-v says why\)$'
"$DPROBES" stat r:late -- "$dir/late" >/dev/null 2>"$dir/err"
like "a program that reads this is told the number" "$(head -n 1 "$dir/err")" "^dprobes: [0-9]+ \(late\)$costs"
is "in one line" "$(grep -c breakpoint "$dir/err")" 1
"$DPROBES" stat -q r:late -- "$dir/late" >/dev/null 2>"$dir/err"
is "-q: nothing" "$(cat "$dir/err")" ""
DPROBES_ARM=trap "$DPROBES" stat r:late -- "$dir/late" >/dev/null 2>"$dir/err"
is "nor where breakpoints are asked for" "$(grep -c 'breakpoint' "$dir/err")" 0
"$DPROBES" stat -f late:late r:late:late -- sh -c "$dir/late; $dir/late" >/dev/null 2>"$dir/err"
like "of a program that is executed later" "$(grep breakpoint "$dir/err")" \
	'^dprobes: [0-9]+ \(late\): 2 probes, 1 whose returns are by breakpoint, which is some thousand times as slow \(-v says why\)$'
is "once" "$(grep -c breakpoint "$dir/err")" 1
# late() in a library that is loaded later
sed '/^int main/,$d' "$dir/late.c" | sed 's/late:/late: .globl late;/' >"$dir/liblate.c"
cc -shared -fPIC -o "$dir/liblate.so" "$dir/liblate.c"
/usr/bin/python3 -S -c 'print(1)' >/dev/null &&
	"$DPROBES" stat --pending r:liblate.so:late -- /usr/bin/python3 -S -c "import ctypes; ctypes.CDLL('$dir/liblate.so').late(1)" >/dev/null 2>"$dir/err"
like "of a library that comes later" "$(grep breakpoint "$dir/err")" "^dprobes: [0-9]+ \(python3[.0-9]*\)$costs"
if command -v script >/dev/null; then
	script -qc "$DPROBES stat r:late -- $dir/late" /dev/null </dev/null >"$dir/screen"
	like "also on a terminal" "$(cat "$dir/screen")" \
		': 1 probe, 1 whose returns are by breakpoint, which is some thousand times as slow \(-v says why\); \^C ends'
fi

for n in 1 3 2000; do
	"$DPROBES" trace -n "$n" -o "$dir/lines" 'asked(arg0)' -p "$victim" 2>"$dir/err"
	is "-n $n: status and lines" "$? $(wc -l <"$dir/lines")" "0 $n"
	like "-n $n: what ended it" "$(cat "$dir/err")" " $n records?(, [0-9]+ records lost)?(, [0-9]+ traps? in the middle of a jump)?; -n has been reached"
done
"$DPROBES" trace -n 5 --json -o "$dir/lines" 'r:asked' -p "$victim" 2>"$dir/err"
is "-n with returns" "$? $(wc -l <"$dir/lines")" "0 5"
# With -v everybody is told which probes are slow, and why, before anything else.
DPROBES_ARM=trap "$DPROBES" stat -v --duration 50ms asked r:reads -p "$victim" >/dev/null 2>"$dir/err"
like "-v: which are slow" "$(head -n 1 "$dir/err")" '^dprobes: conditions:asked is a breakpoint: breakpoints were asked for$'
like "a return probe" "$(sed -n 2p "$dir/err")" \
	'^dprobes: r:conditions:reads: its entry and ([1-9]) of \1 exits by breakpoint: breakpoints were asked for$'
DPROBES_ARM=trap "$DPROBES" stat --duration 50ms asked -p "$victim" >/dev/null 2>"$dir/err"
is "without it a program that reads this is not, where they are asked for" "$(grep -c breakpoint "$dir/err")" 0
kill -TERM "$victim"
wait "$victim"
like "the program comes to its end" "$? $(cat "$dir/out")" '^0 calls [0-9]+ '

"$DPROBES" trace -n 2 -o "$dir/lines" 'asked(arg0)' -- "$VICTIMS/conditions" 1 50 >"$dir/out" 2>"$dir/err"
is "a command goes on to its end" "$? $(wc -l <"$dir/lines") $(cut -d' ' -f1,2 "$dir/out")" "0 2 calls 50"
"$DPROBES" trace -f -n 7 -o "$dir/lines" 'asked(arg0)' -- "$VICTIMS/conditions" 1 5 forks >"$dir/out" 2>"$dir/err"
is "of a program and its child together" "$? $(wc -l <"$dir/lines")" "0 7"
"$DPROBES" stat -f --json -i 10ms -o "$dir/counts" asked -- "$VICTIMS/conditions" 1 3000000 forks >"$dir/out" 2>"$dir/err"
read -r parts total n right <<<"$(sums "$dir/counts")"
is "the total of a program and its child" "$? $total" "0 6000000"
is "intervals of both are among it" "$((parts <= total))" 1

for bad in "trace -n 0 x" "trace -n -1 x" "trace -n 3x x" "trace -n 99999999999999999999 x" "stat -n 3 x" "stat -i 0 x" "stat -i 1ms x" "trace -i 1s x"; do
	# shellcheck disable=SC2086
	"$DPROBES" $bad -- true >"$dir/out" 2>"$dir/err"
	is "$bad: a mistake" "$? $(wc -l <"$dir/err")" "2 1"
done
plan
