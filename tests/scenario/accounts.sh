#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Accounts of return probes are exact to the unit: many calls in many threads, left in every way, in every
# strategy. The program counts for itself.
#   ENTRIES=N: turns of plain calls of a thread; of the other kinds there are fewer in proportion
. tests/scenario/lib.sh

victim_prog="$VICTIMS/accounts"
entries=${ENTRIES:-200000}

# account NAME MODE THREADS TURNS: under DPROBES_ARM. What was left for good is known as abandoned, or
# counts as inside: these are added up.
account() {
	local name=$1 sums
	shift
	"$victim_prog" "$@" >"$dir/own"
	"$DPROBES" stat --json -o "$dir/json" 'r:acc_*' -- "$victim_prog" "$@" >"$dir/probed" 2>"$dir/err"
	is "$name: the program" "$? $(<"$dir/probed")" "0 $(<"$dir/own")"
	sed -n 's/.*r:accounts:\([a-z_]*\)","hits":\([0-9]*\),"missed":\([0-9]*\),.*"returned":\([0-9]*\),"tail":\([0-9]*\),"unwound":\([0-9]*\),"abandoned":\([0-9]*\),"inside":\([0-9]*\)}/\1 \2 \3 \4 \5 \6 \7 \8/p' \
		"$dir/json" | awk '$2 { print $1, $2 - $3, $4, $5, $6, $7 + $8; missed += $3 }
		END { if (missed) print "missed", missed }' | sort >"$dir/seen"
	is "$name: its calls" "$(<"$dir/seen")" "$(sort "$dir/own")"
	sums=$(grep -E 'balance|BUG|cut off|damaged' "$dir/err")
	is "$name: balances" "$sums" ""
}

for arm in interior quiesce trap; do
	# A breakpoint takes microseconds.
	[ $arm = trap ] && n=$((entries / 200)) || n=$entries
	export DPROBES_ARM=$arm
	account "$arm, 8 threads" calls 8 "$n"
	account "$arm, longjmp" jumps 8 $((n / 2))
	account "$arm, throw" throws 8 $((n / 20))
	account "$arm, siglongjmp out of handlers" signals 8 $((n / 20))
	account "$arm, small stacks" stacks 8 $((n / 100))
	account "$arm, many stacks" coroutines 4 $((n / 5000 + 1))
	account "$arm, threads that come and go" brief 8 $((n / 2000 + 3))
	account "$arm, all of it" mixed 8 $((n / 10))
done

# time_of SPEC: CPU time of the tool and the program, in a shell of its own
time_of() {
	"$DPROBES" stat -q -o "$dir/counts" "$1" -- "$victim_prog" abandons 1 100000 >"$dir/probed" 2>"$dir/err"
	times >"$dir/times"
	awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); print u[1] * 60 + u[2] + s[1] * 60 + s[2] }' "$dir/times"
}

# 25 million calls, of which 400,000 are left by longjmp: they are in nobody's way. Times are compared by
# `make stress` alone.
unset DPROBES_ARM
account "25 million calls, some left" abandons 1 100000
if [ "$entries" -ge 10000000 ]; then
	ratios=$(for _ in 1 2 3 4 5; do
		entry=$(time_of 'p:acc_*')
		returned=$(time_of 'r:acc_*')
		echo "$returned $entry"
	done | awk '{ print $1 / $2 }' | sort -n)
	echo "# returns by entries:" $ratios
	is "in three times the time that it takes with probes at entries" "$(sed -n 3p <<<"$ratios" | awk '{ print ($1 <= 3) }')" 1
fi
plan
