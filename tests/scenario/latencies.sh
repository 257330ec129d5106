#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Latencies that are kept in tables of the target: against what awk computes of a trace, and against the
# clock of the victim, which has timed each call from inside and from outside.
. tests/scenario/lib.sh
victim=$VICTIMS/latencies
calls=${TIMES:-2200}

# check PROGRAM FILE...: what awk finds wrong, the first three of it
check() { awk "$@" 2>&1 | head -n 3; }
# rows: of JSON, "KEY…<tab>count sum avg min max<tab>least:count …", the buckets of the histogram by what is least in them
rows() {
	perl -ne 'next unless /"by":\{(.*?)\},"count\(\)":(\d+),"sum\(latency\)":(\d+),"avg\(latency\)":(\d+),"min\(latency\)":(\d+),"max\(latency\)":(\d+),"hist\(latency\)":\[(.*?)\]/;
		my ($by, $v, $h) = ($1, "$2 $3 $4 $5 $6", $7); $by =~ s/"[^"]*"://g; $by =~ tr/,/ /;
		my $b = join " ", map { /"min":(\d+),(?:"max":\d+,)?"count":(\d+)/ ? "$1:$2" : "?" } $h =~ /\{.*?\}/g;
		print "$by\t$v\t$b\n"' "$@" | sort -n
}
# kept: the same of lines "KEY LATENCY", by awk
kept() {
	awk '{ k = $1; v = $2; n[k]++; s[k] += v
		if (n[k] == 1 || v < lo[k]) lo[k] = v
		if (v > hi[k]) hi[k] = v
		for (b = 1; 2 * b <= v; b *= 2) continue
		h[k, v ? b : 0]++ }
		END { for (k in n) {
			printf "%d\t%d %d %d %d %d\t", k, n[k], s[k], int(s[k] / n[k]), lo[k], hi[k]
			for (b = 0; b < 2 ^ 63; b = b ? 2 * b : 1)
				if ((k, b) in h) printf "%s%d:%d", c[k]++ ? " " : "", b, h[k, b]
			print "" } }' "$@" | sort -n
}
values='count(), sum(latency), avg(latency), min(latency), max(latency), hist(latency)'

for native in 1 0; do
	export DPROBES_NATIVE=$native
	how="(DPROBES_NATIVE=$native)"

	# Each record has the latency twice: as a value, which the target has computed, and as that of the call.
	"$DPROBES" trace -q --json -o "$dir/trace" 'r:late(kind=(int)arg0, value=latency)' -- "$victim" 1 "$calls" >"$dir/own" 2>"$dir/err"
	perl -ne 'print "$1 $2 $4 $3\n" if /"kind":(\d+),"value":(\d+)\},"ret":(\d+),"latency_ns":(\d+)/' "$dir/trace" >"$dir/traced"
	is "a record of each call $how" "$(wc -l <"$dir/traced")" "$(wc -l <"$dir/own")"
	is "the value latency is the latency of the call" "$(check '$2 != $3' "$dir/traced")" ""
	# What a call returns says which of the victim's it is; those times may be there twice.
	is "it is between those that the victim has taken" "$(check '
		NR == FNR { id = $1 " " $2; if (!(id in most) || $3 > most[id]) most[id] = $3; next }
		!(($1 " " $4) in most) || $3 < $4 * 0.999 - 50 || $3 > most[$1 " " $4] * 1.001 + 50' "$dir/own" "$dir/traced")" ""

	# Both of the same calls: each latency is a key, so the rows are the trace.
	"$DPROBES" stat -q --json --map-size 20000 -o "$dir/kept" "r:late{$values by latency}" -- "$victim" 2 "$calls" >"$dir/own" 2>"$dir/err"
	rows "$dir/kept" >"$dir/got"
	awk -F'[\t ]' '{ for (i = 0; i < $2; i++) print $1, $1 }' "$dir/got" | kept >"$dir/wanted"
	is "each latency is in its bucket, and is what the sum, the mean, the least and the largest are made of $how" \
		"$(diff "$dir/got" "$dir/wanted" | head -n 4)" ""
	is "all calls are there" "$(awk -F'[\t ]' '{ n += $2 } END { print n }' "$dir/got")" "$(wc -l <"$dir/own")"

	# By a key, bucket by bucket: no fewer calls are below a power of two than were so seen from outside, and no more
	# than were so seen from inside.
	"$DPROBES" stat -q --json -o "$dir/kept" "r:late{$values by (int)arg0}" -- "$victim" 4 "$calls" >"$dir/own" 2>"$dir/err"
	rows "$dir/kept" >"$dir/got"
	is "there is a row of each kind $how" "$(wc -l <"$dir/got")" 10
	is "each has the victim's calls in the victim's buckets" "$(check '
		NR == FNR { n[$1]++; in_sum[$1] += $2; out_sum[$1] += $3
			if (n[$1] == 1 || $2 < in_min[$1]) in_min[$1] = $2
			if (n[$1] == 1 || $3 < out_min[$1]) out_min[$1] = $3
			if ($2 > in_max[$1]) in_max[$1] = $2
			if ($3 > out_max[$1]) out_max[$1] = $3
			for (e = 1; e < 2 ^ 40; e *= 2) {
				if ($2 * 0.999 - 50 < e) inside[$1, e]++
				if ($3 * 1.001 + 50 < e) outside[$1, e]++
				if ($2 < e && $3 >= e && e > 1) apart++
			}
			next }
		function between(what, low, is, high) {
			if (is < low * 0.999 - 50 || is > high * 1.001 + 50) print "kind " k ": " what " " is ", not in " low ".." high }
		{ k = $1
			if ($2 != n[k]) print "kind " k ": " $2 " calls, not " n[k]
			if ($3 < in_sum[k] * 0.999 - 50 * n[k] || $3 > out_sum[k] * 1.001 + 50 * n[k]) print "kind " k ": sum " $3
			if ($4 != int($3 / $2)) print "kind " k ": mean " $4
			between("least", in_min[k], $5, out_min[k]); between("largest", in_max[k], $6, out_max[k])
			split("", h); all = 0
			for (i = 7; i <= NF; i++) { split($i, b, ":"); h[b[1]] = b[2]; all += b[2] }
			if (all != n[k]) print "kind " k ": " all " in the histogram"
			below = h[0] + 0
			for (e = 1; e < 2 ^ 40; e *= 2) {
				if (below < outside[k, e] + 0 || below > inside[k, e] + 0)
					print "kind " k ": " below " below " e ", not " outside[k, e] + 0 ".." inside[k, e] + 0
				below += h[e] } }
		END { for (k in n) total += n[k]
			if (apart * 2 > total) print apart " of " total " calls say little" }' FS=' ' "$dir/own" FS='[\t ]' "$dir/got")" ""
done
plan
