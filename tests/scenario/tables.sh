#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tables of dprobes stat: which rows, in which order, and how wide.
. tests/scenario/lib.sh

# Functions that are called 1, 20, 300 and 300 times each round, and some that never are.
cat >"$dir/rows.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define F(name) void __attribute__((noinline)) name(void) { __asm__ volatile(".rept 8; nop; .endr"); }
F(row_once) F(row_twenty) F(row_many) F(row_likewise) F(row_never) F(row_neither)
F(row_with_a_name_that_is_much_longer_than_what_a_line_of_a_terminal_has_room_for_beside_its_numbers)
void (*volatile never[])(void) = { row_never, row_neither };
int main(int argc, char **argv)
{
	int i, n = atoi(argv[1]);

	while (n--) {
		row_once();
		row_with_a_name_that_is_much_longer_than_what_a_line_of_a_terminal_has_room_for_beside_its_numbers();
		for (i = 0; i < 300; i++) {
			if (i < 20)
				row_twenty();
			row_many();
			row_likewise();
		}
		if (argc > 2)
			usleep(1000);
	}
	return 0;
}
END
cc -O1 -fno-toplevel-reorder -o "$dir/rows" "$dir/rows.c" || exit 1
rows=$dir/rows
long=row_with_a_name_that_is_much_longer_than_what_a_line_of_a_terminal_has_room_for_beside_its_numbers
# run ARGS...: sets $status $out $err
run() {
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}
# What was counted: hits and names, in the order of rows
counts() { awk 'NR > 1 { sub(/.*:row_/, "", $4); print $1, $4 $5 }' "$dir/stdout" | tr '\n' ';'; }

run stat 'row_[olntm]*' row_twenty row_never -- "$rows" 10
is "the most hits first, as many in the order of addresses; of a glob only what was hit" "$(counts)" \
	"3000 many;3000 likewise;200 twenty;200 twenty;10 once;0 never;"
like "and what is left out is told" "$err" '^dprobes: 2 matches of globs had no hit and are left out; --all shows them$'
run stat -q 'row_[olntm]*' -- "$rows" 10
is "-q tells nothing" "$err" ""
run stat 'ro[w]s:row_never' 'row_o*' -- "$rows" 10
is "one of them, of a glob of modules" "$(counts) $(head -n 1 <<<"$err")" \
	"10 once; dprobes: 1 match of globs had no hit and is left out; --all shows it"
run stat --all 'row_[olntm]*' -- "$rows" 10
is "--all: these, too" "$(counts)" "3000 many;3000 likewise;200 twenty;10 once;0 never;0 neither;"
like "and nothing is left out" "$err" '^dprobes: 6 probes [^\n]*$'
run stat --top 2 'row_[olntm]*' -- "$rows" 10
is "--top: so many, and the sums of the others" "$(counts)" "3000 many;3000 likewise;210 (2others);"
run stat --top 3 'row_[olntm]*' -- "$rows" 10
is "one other" "$(tail -n 1 "$dir/stdout")" "          10        0  -     (1 other)"
run stat --top 4 'row_[olntm]*' -- "$rows" 10
is "none" "$(counts)" "3000 many;3000 likewise;200 twenty;10 once;"
run stat -f --top 1 'row_[olntm]*' -- "$rows" 10
like "with the programs" "$(tail -n 1 "$dir/stdout")" '^ +3210 +0  -         -  -                \(3 others\)$'
like "and what is left out of all" "$err" '^dprobes: 2 matches of globs '

# -f: what processes of the same program have counted is one row. A script makes dozens of them, of two
# programs that have the same name, too; JSON has a row for each process, which add up to the same.
mkdir "$dir/other"
cp "$rows" "$dir/other/rows"
cp "$rows" "$dir/lines"
cat >"$dir/script" <<END
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do "$rows" \$n; "$dir/other/rows" 1; "$dir/lines" 2; done
END
cat >"$dir/groups.py" <<'END'
import json, sys
groups, totals, probes, mode = {}, {}, {}, {}
for line in open(sys.argv[1]):
    row = json.loads(line)
    # A process may have two probes of the same name: the first, the second.
    nth = probes[row["pid"], row["program"], row["probe"]] = probes.get((row["pid"], row["program"], row["probe"]), 0) + 1
    for table, program in (groups, row["program"]), (totals, "(all)"):
        g = table.setdefault((program, row["probe"], nth), [0, 0, 0, set()])
        g[0] += row["hits"]
        g[1] += row["missed"]
        g[2] += 1
        g[3].add(row["program"])
least = 0 if "all" in sys.argv else 1
text = [" ".join(map(str, [g[0], g[1], "jump", g[2], *key[:2]])) for key, g in
        sorted(groups.items(), key=lambda i: -i[1][0]) + sorted(totals.items(), key=lambda i: -i[1][0])
        if g[0] >= least and (key[0] != "(all)" or len(g[3]) > 1)]
print("\n".join(sorted(text)))
END
table() { tail -n +2 "$dir/stdout" | awk '{ $1 = $1; print }' | LC_ALL=C sort; }
run stat -f --json '*:row_[olntm]*' '*:row_twenty' libc.so.6:_exit -- sh "$dir/script"
python3 "$dir/groups.py" "$dir/stdout" >"$dir/wanted"
python3 "$dir/groups.py" "$dir/stdout" all >"$dir/all"
json_sum=$err
run stat -f '*:row_[olntm]*' '*:row_twenty' libc.so.6:_exit -- sh "$dir/script"
is "-f: rows are sums over processes of the same program, and over all" "$(table)" "$(LC_ALL=C sort "$dir/wanted")"
is "so many processes" "$(grep -c " 37  (all)  .*_exit$" "$dir/stdout") $(grep -c " 24  rows  " "$dir/stdout") $(grep -c " 12  lines  " "$dir/stdout")" "1 6 6"
is "the summary is what it is with JSON" "$(tail -n 1 <<<"$err" | sed 's/process [0-9][0-9]*/process/')" "$(sed 's/process [0-9][0-9]*/process/' <<<"$json_sum")"
is "it has all of the hits" "$(sed -n 's/.* \([0-9]*\) hits, .*/\1/p' <<<"$err")" \
	"$(awk '$5 != "(all)" { n += $1 } END { print n }' "$dir/stdout")"
like "what has none in any process is left out, of each program" "$err" '^dprobes: 4 matches of globs had no hit'
is "the most hits first, totals below" "$(awk 'NR > 1 { if ($5 == "(all)") { all = 1; next } if (all || (last && $1 > last)) print; last = $1 }' "$dir/stdout")" ""
run stat -f --all '*:row_[olntm]*' '*:row_twenty' libc.so.6:_exit -- sh "$dir/script"
is "--all" "$(table)" "$(LC_ALL=C sort "$dir/all")"
run stat -f --top 1 libc.so.6:_exit '*:row_[olntm]*' -- sh "$dir/script"
is "--top: of programs and of all" "$(awk 'NR > 1 { print $4, $5, $6, $7 }' "$dir/stdout" | tr '\n' ';')" \
	"24 rows rows:row_many ;- - (10 others);37 (all) libc.so.6:_exit ;"
run stat -f -v row_once -- sh -c "$rows 1; $rows 2"
is "-v: a row for each process" "$(awk '$5 == "rows:row_once" && $4 ~ /^[0-9]+$/ { print $1 }' "$dir/stdout" | tr '\n' ' ')" "1 2 "
# What a process has counted that has ended is in the table of its interval; the last interval is over before the end.
echo 'sleep 0.5' >>"$dir/script"
run stat -f -i 20ms row_once row_twenty -- sh "$dir/script"
is "-f -i: all of the total" "$(awk '/^[0-9:]+ / && NF == 7 { n += $2 } END { print n }' "$dir/stdout")" \
	"$(awk '/^ / && $5 != "(all)" && $1 ~ /^[0-9]+$/ { n += $1 } END { print n }' "$dir/stdout")"
like "rows of it" "$(grep -m 1 '^[0-9:]* .*row_' "$dir/stdout")" '^[0-9:]{8} +[0-9]+ +0  jump +[0-9]+  (rows|lines) +(rows|lines):row_(once|twenty)$'

# JSON has all, in the order of specs, so that a reader finds each; with --top what the table has.
json() { sed 's/.*row_\([a-z]*\)","hits":\([0-9]*\).*/\2 \1/' "$dir/stdout" | tr '\n' ';'; }
run stat --json row_once row_never 'row_[lmn]*' -- "$rows" 10
is "--json" "$(json)" "10 once;0 never;3000 many;3000 likewise;0 never;0 neither;"
like "nothing is left out" "$err" '^dprobes: 6 probes '
run stat --json --top 1 'row_[olntm]*' -- "$rows" 10
is "--json --top" "$out" '{"probe":"rows:row_many","hits":3000,"missed":0,"mode":"jump"}
{"others":3,"hits":3210,"missed":0}'

"$rows" 1000000 slowly &
victim=$!
pids+=("$victim")
run stat -i 50ms --duration 300ms --top 2 'row_*' -p "$victim"
like "intervals: the most hits first, and the others" "$(sed -n 2,4p "$dir/stdout" | tr '\n' ';')" \
	'^[0-9:]{8} +[1-9][0-9]* +0  jump  rows:row_(many|likewise);[0-9:]{8} .*;[0-9:]{8} +[1-9][0-9]* +0  -     \(3 others\);$'
run stat -i 50ms --duration 300ms --top 1 --json 'row_*' -p "$victim"
like "also in JSON" "$(sed -n 2p "$dir/stdout")" \
	'^\{"time":[0-9.]+,"interval":[0-9.]+,"others":4,"hits":[1-9][0-9]*,"missed":0\}$'
run stat -i 50ms --duration 300ms --all row_never -p "$victim"
like "with --all what is not hit" "$(sed -n 2p "$dir/stdout")" '^[0-9:]{8} +0 +0  jump  rows:row_never$'

# as_shown: without the spaces by which a line begins at the beginning of one
as_shown() { sed -E 's/ *\r([^\n])/\1/; s/\r//g'; }
# At a terminal: screen COLUMNS LOCALE ARGS...
screen() {
	local columns=$1 locale=$2
	shift 2
	COLUMNS=$columns LC_ALL=$locale script -qec "$DPROBES $* 2>$dir/talk" /dev/null </dev/null | as_shown >"$dir/screen"
}
widest() { LC_ALL=C.UTF-8 wc -L <"$dir/screen"; }
if command -v script >/dev/null; then
	screen 70 C.UTF-8 stat row_many row_once "$long" -- "$rows" 5000
	is "a terminal: numbers have commas, names lose their middle" "$(head -n 4 "$dir/screen")" \
		"        HITS   MISSED  MODE  PROBE
   1,500,000        0  jump  rows:row_many
       5,000        0  jump  rows:row_once
       5,000        0  jump  rows:row_with_a_name…r_beside_its_numbers"
	is "and lines are as long as it is wide" "$(widest)" 70
	screen 71 C stat "$long" -- "$rows" 5
	is "no UTF-8: three dots" "$(sed -n 2p "$dir/screen")" "           5        0  jump  rows:row_with_a_name..._beside_its_numbers"
	is "lines are as long as it is wide" "$(widest)" 71
	screen 10 C stat "$long" -- "$rows" 5
	is "a terminal that is too narrow" "$(sed -n 2p "$dir/screen")" "           5        0  jump  rows:ro...umbers"
	screen 72 C stat -f "$long" -- "$rows" 5
	is "with processes, too" "$(widest)" 72
	screen 60 C stat -v "$long" -- "$rows" 5
	like "-v shows the whole name" "$(sed -n 2p "$dir/screen")" "rows:$long  0x"
	screen 60 C stat --top 1 row_many row_likewise -- "$rows" 5000
	is "the others" "$(sed -n 3p "$dir/screen")" "   1,500,000        0  -     (1 other)"
	screen 30 C "stat row_many -- $rows 5 | cat"
	is "no terminal at the other end of a pipe" "$(grep -c 'rows:row_many$' "$dir/screen")" 1
	# The terminal itself knows, where COLUMNS does not say it.
	script -qec "stty cols 66; unset COLUMNS; LC_ALL=C $DPROBES stat -q $long -- $rows 5 2>$dir/talk" /dev/null </dev/null | as_shown >"$dir/screen"
	is "the terminal's own width" "$(widest)" 66
	screen 60 C stat -i 50ms --duration 300ms row_many "$long" -p "$victim"
	is "intervals" "$(widest)" 60
else
	skip "at a terminal" "there is no script(1)"
fi
kill -KILL "$victim"
{ wait "$victim"; } 2>/dev/null

for bad in "--top 0" "--top -1" "--top many" "--top"; do
	# shellcheck disable=SC2086
	run stat row_once $bad
	like "$bad: a mistake" "$status|$out|$err" '^2\|\|dprobes: .*(not a number of rows|needs a value)'
done
plan
