#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Records that are made while signals interrupt them, and handlers record, too, leave by siglongjmp() or
# end their thread, and threads are moved to other CPUs: each call has one record, or is one that was left.
. tests/scenario/lib.sh

recorder=$VICTIMS/recorder
calls=${CALLS:-400000}
# agree: the lines in $dir/lines with what the program has said in $dir/out
agree() {
	sed -E 's/^[^ ]+ ([0-9]+) [0-9]+ .* arg0=([0-9]+) arg1=([0-9]+)$/\1 \2 \3/' "$dir/lines" |
		awk -v said="$dir/out" '
			BEGIN { while ((getline line < said) > 0) { split(line, v, " "); if (v[4] != "") { begun[v[1] " " v[2]] = v[3]; left[v[1] " " v[2]] = v[4] } } }
			{
				k = $1 " " $2
				if (!(k in begun)) { print "of whom? " $0; exit }
				if ((k in last) && $3 <= last[k]) { print "again, or out of order: " $0; exit }
				last[k] = $3; n[k]++
			}
			END {
				for (k in begun) {
					sum++
					if (n[k] > begun[k]) print k ": more records than calls"
					if (n[k] + left[k] < begun[k]) print k ": " begun[k] " calls, " left[k] " left, " n[k] " records"
				}
				print sum + 0
			}'
}
for native in 1 0; do
	n=$calls
	[ $native = 1 ] || n=$((calls / 8))
	DPROBES_NATIVE=$native "$DPROBES" trace --buffer 64M -o "$dir/lines" 'record(arg0:u64,arg1:u64)' -- "$recorder" 3 "$n" 20 >"$dir/out" 2>"$dir/err"
	is "native $native: status, nothing lost, nothing torn" "$? $(grep -cE 'lost|torn' "$dir/err")" "0 0"
	is "native $native: each call has its record, in order" "$(agree)" 6
	DPROBES_NATIVE=$native "$DPROBES" trace -f --buffer 16M -o "$dir/lines" 'record(arg0:u64,arg1:u64)' -- "$recorder" 2 $((n / 8)) 1000 forks >"$dir/out" 2>"$dir/err"
	is "native $native, children: status, nothing lost" "$? $(grep -cE 'lost|torn' "$dir/err")" "0 0"
	is "native $native, children: each call has its record, in order" "$(agree)" 16
done
# With a condition, and little room: what is lost is counted, and nothing else is missing.
"$DPROBES" trace --block --buffer 8k -o "$dir/lines" 'record(arg0:u64,arg1:u64) if arg1 >= 1000' -- "$recorder" 3 $((calls / 8)) 20 >"$dir/out" 2>"$dir/err"
is "a condition, and waiting: status, nothing lost" "$? $(grep -cE 'lost|torn' "$dir/err")" "0 0"
is "a condition, and waiting: nothing else" "$(grep -cvE ' arg1=[0-9]{4,}$' "$dir/lines")" 0
like "a condition, and waiting: as many as that" "$(awk '{ n += $3 - 1000 > 0 ? $3 - 1000 : 0; left += $4 } END { print n, left }' "$dir/out" |
	{ read -r n left; lines=$(wc -l <"$dir/lines"); echo $((lines <= n && lines + left >= n)); })" '^1$'
plan
