#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Values of hits that are kept in tables of the target: against what the victim itself has counted, and against
# what awk computes of a trace of the same calls.
. tests/scenario/lib.sh
victim=$VICTIMS/aggregations

# probed PID: is there a tool that disable would find?
probed() { "$DPROBES" list -p "$1" 2>/dev/null | grep -q step; }
# stat ARGS...: into $out and $err
stat() {
	timeout 100 "$DPROBES" stat "$@" >"$dir/stdout" 2>"$dir/err" </dev/null
	status=$?
	out=$(<"$dir/stdout") err=$(<"$dir/err")
}
# rows: keys and counts of `count() by key`, in the order of keys
rows() { awk '/^ *[0-9]+  -?[0-9]+$/ { print $2, $1 }' | sort -n; }
# own: what the victim says
own() { grep -E '^-?[0-9]+ [0-9]+$' | sort -n; }
# sum NAME: of a number in rows of JSON
sum() { grep -o "\"$1\":[0-9]*" | awk -F: '{ n += $2 } END { print n + 0 }'; }
# buckets NAME: "min count" of each of its ranges, of one row
buckets() { perl -ne 'if (/"\Q'"$1"'\E":\[(.*?)\]/) { $_ = $1; print $1 // "-", " $3\n" while /\{(?:"min":(-?\d+),)?(?:"max":(-?\d+),)?"count":(\d+)\}/g }'; }

for native in 1 0; do
	DPROBES_NATIVE=$native stat -q -o "$dir/kept" 'step{count() by (int)arg0}' -- "$victim" 8 $((native ? 1000000 : 20000)) 7
	is "counts by a key are those of eight threads (DPROBES_NATIVE=$native)" "$(rows <"$dir/kept")" "$(own <"$dir/stdout")"
done

# The same calls, in the same order, three times: traced, kept by detours, and by the interpreter.
"$DPROBES" trace -q --json -o "$dir/trace" 'step(k=(int)arg0, v=arg1:s64, s=arg2:str)' -- "$victim" 1 3000 7 >/dev/null 2>"$dir/err"
perl -ne 'print "$1\t$2\t$3\n" if /"args":\{"k":(-?\d+),"v":(-?\d+),"s":"([^"]*)"/' "$dir/trace" >"$dir/values"
awk -F'\t' '{ id = $1 "\t" substr($3, 1, 64); v = $2; n[id]++; s[id] += v; l[id] = v; if (!d[id, v]++) u[id]++
	if (n[id] == 1) f[id] = lo[id] = hi[id] = v
	if (v < lo[id]) lo[id] = v
	if (v > hi[id]) hi[id] = v }
	END { for (id in n) printf "%s\t%d %d %d %d %d %d %d %d\n", id, n[id], s[id], s[id] / n[id], lo[id], hi[id], f[id], l[id], u[id] }' \
	"$dir/values" | LC_ALL=C sort >"$dir/wanted"
is "there are as many keys as there should be" "$(wc -l <"$dir/wanted")" 35
awk -F'\t' '{ v = $2; for (b = 0; v >= 1; b++) v = int(v / 2); n[$2 < 0 ? "-" : b ? 2 ^ (b - 1) : 0]++ }
	END { for (b in n) print b, n[b] }' "$dir/values" | sort -n >"$dir/powers"
awk -F'\t' '{ v = $2; n[v < -5000 ? "-" : v >= 100000 ? 100000 : int((v + 5000) / 25000) * 25000 - 5000]++ }
	END { for (b in n) print b, n[b] }' "$dir/values" | sort -n >"$dir/steps"
for native in 1 0; do
	export DPROBES_NATIVE=$native
	stat -q --json 'step{count(), sum(arg1:s64), avg(arg1:s64), min(arg1:s64), max(arg1:s64), distinct(arg1:s64) by (int)arg0, arg2:str}' \
		-- "$victim" 1 3000 7
	perl -ne 'print "$1\t$2\t$3 $4 $5 $6 $7 $8\n" if /"\(int\)arg0":(-?\d+),"arg2":"([^"]*)"\},"count\(\)":(\d+),"sum\(.*?\)":(-?\d+),"avg\(.*?\)":(-?\d+),"min\(.*?\)":(-?\d+),"max\(.*?\)":(-?\d+),"distinct\(.*?\)":(\d+)\}/' \
		<<<"$out" | LC_ALL=C sort >"$dir/got"
	is "count, sum, avg, min, max and distinct are what awk makes of a trace (DPROBES_NATIVE=$native)" \
		"$(<"$dir/got")" "$(awk -F'[\t ]' -v OFS=' ' '{ sub(/ [^ ]+ [^ ]+ ([^ ]+)$/, " " $NF); print }' "$dir/wanted")"
	stat -q --json 'step{first(arg1:s64), last(arg1:s64) by (int)arg0, arg2:str}' -- "$victim" 1 3000 7
	perl -ne 'print "$1\t$2\t$3 $4\n" if /"\(int\)arg0":(-?\d+),"arg2":"([^"]*)"\},"first\(.*?\)":(-?\d+),"last\(.*?\)":(-?\d+)\}/' \
		<<<"$out" | LC_ALL=C sort >"$dir/got"
	is "so are first and last" "$(<"$dir/got")" "$(perl -pe 's/\t[^\t ]+ (?:\S+ ){4}(\S+ \S+) \S+$/\t$1/' "$dir/wanted")"
	stat -q --json 'step{hist(arg1:s64), lhist(arg1:s64, -5000, 100000, 25000)}' -- "$victim" 1 3000 7
	is "and the ranges of hist" "$(buckets 'hist(arg1:s64)' <<<"$out" | sort -n)" "$(<"$dir/powers")"
	is "and those of lhist" "$(buckets 'lhist(arg1:s64, -5000, 100000, 25000)' <<<"$out" | sort -n)" "$(<"$dir/steps")"
	stat -q --json 'step{hist(arg1:s64)}' -- "$victim" 1 3000 7
	is "also of one alone" "$(buckets 'hist(arg1:s64)' <<<"$out" | sort -n)" "$(<"$dir/powers")"
	stat -q -o "$dir/text$native" 'step{hist(arg1:s64), count() by comm, arg2:str} if arg1:s64 > 7000 && arg0:s32 != 3' -- "$victim" 1 3000 7
done
unset DPROBES_NATIVE
is "a detour keeps what the interpreter keeps" "$(<"$dir/text1")" "$(<"$dir/text0")"
like "a histogram has bars" "$(<"$dir/text1")" '^\[16K, 32K\) +[0-9]+ \|@* *\|$'

# Returns: what an entry had, what is returned, and how long it took
stat -q --json 'r:step{sum(retval:s64), count() by (int)arg0, arg2:str}' -- "$victim" 1 3000 7
perl -ne 'print "$1\t$2\t$3 $4\n" if /"\(int\)arg0":(-?\d+),"arg2":"([^"]*)"\},"sum\(.*?\)":(-?\d+),"count\(\)":(\d+)\}/' <<<"$out" |
	LC_ALL=C sort >"$dir/got"
awk -F'\t' '{ id = $1 "\t" substr($3, 1, 64); n[id]++; s[id] += 3 * $2 - $1 } END { for (id in n) printf "%s\t%d %d\n", id, s[id], n[id] }' \
	"$dir/values" | LC_ALL=C sort >"$dir/wanted"
is "values of returns by keys of entries" "$(<"$dir/got")" "$(<"$dir/wanted")"
stat -q --json 'r:step{hist(latency), sum(latency), count()}' -- "$victim" 1 20000 7
is "each call that returns has a latency" "$(buckets 'hist(latency)' <<<"$out" | awk '{ n += $2 } END { print n }') $(sum 'count()' <<<"$out")" "20000 20000"
is "which lies in its range: so does the sum" "$(buckets 'hist(latency)' <<<"$out" |
	awk -v sum="$(sum 'sum(latency)' <<<"$out")" '{ low += $1 * $2; high += (2 * $1 ? 2 * $1 - 1 : 0) * $2 } END { print low <= sum && sum <= high }')" 1
stat -q 'r:step{hist(latency)}' -- "$victim" 1 2000 7
like "latencies have units" "$out" '^\[[0-9]+(ns|us|ms), [0-9]+(ns|us|ms)\) +[0-9]+ \|'

# What has no room is counted.
stat --json --map-size 100 'step{count() by (int)arg0}' -- "$victim" 4 10000 1000
is "a full table has the keys that came first" "$(grep -c '"by"' <<<"$out")" 100
is "kept and lost are all" "$(($(sum hits <<<"$out") + $(sum full <<<"$out")))" 40000
stat --map-size 100 'step{count() by (int)arg0}' -- "$victim" 1 10000 1000
like "and it is said" "$err" '9000 hits are not kept, because the table has no room for more than 100 keys \(--map-size'
stat --map-size 2000 'step{distinct((int)arg0)}' -- "$victim" 2 10000 1000
like "a set counts exactly" "$out" '^ +1000$'
stat --map-size 10 'step{distinct((int)arg0)}' -- "$victim" 1 10000 1000 fork
like "or says that there are more" "$out" '^ +>=10$'
like "and why" "$err" 'more distinct values than its table has room for'
stat --json 'step{sum(*(u32 *)arg1)}' -- "$victim" 1 1000 7
is "what cannot be read is counted, too" "$(sum hits <<<"$out") $(sum unreadable <<<"$out")" "0 1000"

# Whatever interrupts a hit, it is there once, or it is told that it is not.
for native in 1 0; do
	DPROBES_NATIVE=$native stat --json 'step{count(), sum(arg0), max(arg1)}' -- "$victim" 1 200000 7 jump
	all=$(grep -oE '[0-9]+ hits' <<<"$err" | tail -n 1)
	is "handlers that leave for good (DPROBES_NATIVE=$native)" "$(($(sum hits <<<"$out") + $(sum cut <<<"$out"))) hits" "$all"
done
stat -q 'step{count() by pid}' -- "$victim" 1 5000 3 fork
is "a child does not count into its parent's table" "$(awk '$1 == 5000' <<<"$out" | wc -l)" 1
stat -q -f 'step{count()}' -- "$victim" 1 5000 3 fork
like "with -f both are summed up" "$out" '^ *10000$'

# Every interval has what has come; all of them are the total.
mkfifo "$dir/in"
"$victim" 2 400000 7 wait <"$dir/in" >"$dir/out" &
target=$!
pids+=($target)
exec 3>"$dir/in"
timeout 60 "$DPROBES" stat -i 50ms --json -o "$dir/kept" 'step{count() by (int)arg0}' -p $target 2>"$dir/err" &
tool=$!
poll 20 probed $target
echo >&3
poll 30 test -s "$dir/out"
sleep 0.2
kill -INT $tool
wait $tool
is "intervals add up to the total" "$(grep '"interval"' "$dir/kept" | sum hits)" "$(grep -v '"interval"' "$dir/kept" | sum hits)"
is "which is what the victim has counted" "$(grep -v '"interval"' "$dir/kept" | sum hits)" "$(own <"$dir/out" | awk '{ n += $2 } END { print n }')"
echo >&3
exec 3>&-

# A tool that is killed leaves nothing that the next one minds.
"$victim" 2 300000000 7 >"$dir/out" 2>&1 &
target=$!
pids+=($target)
for i in 1 2 3; do
	"$DPROBES" stat 'step{hist(arg1), count() by arg0, arg2:str}' -p $target >"$dir/stdout" 2>"$dir/err" &
	tool=$!
	poll 20 probed $target
	sleep 0.1
	kill -KILL $tool
	wait $tool 2>/dev/null
done
stat -q --duration 300ms 'step{count() by (int)arg0}' -p $target
is "tools that were killed, and the next one" "$status $(rows <<<"$out" | wc -l)" "0 7"
kill -KILL $target

# What cannot be is refused where it stands.
stat 'step{summ(arg0)}' -- "$victim"
like "a word that is none" "$err" 'one of count\(\) sum\(v\)'
# refused SPEC SENTENCE: with a caret
refused() {
	stat "$1" -- "$victim"
	like "refused: $1" "$status $(head -n 1 "$dir/err") $(tail -n 1 "$dir/err")" "^[12] dprobes: $2.*  +\\^~*\$"
}
refused 'step{sum(stack)}' 'a stack is no number'
refused 'step{sum()}' "it is a value's: sum\(arg1\), hist\(latency\)"
refused 'step{sum}' 'parentheses follow: count\(\), sum\(arg1\)'
refused 'step{sum(arg0}' "a '\)' ends the value"
refused 'step{count(arg0)}' 'count\(\) has no value: it counts hits'
refused 'step{lhist(arg0)}' 'lhist has four: the value, where it begins, where it ends, and the step: lhist\(arg1, 0, 1000, 10\)'
refused 'step{lhist(arg0, 5, 1, 1)}' 'of lhist\(v, LO, HI, STEP\), HI is above LO, by less than 2\^63, and STEP above 0'
refused 'step{lhist(arg0, 0, 1001, 1)}' 'this lhist has more than 1000 steps: take a larger STEP'
refused 'step{lhist(arg0, 0, arg1, 1)}' 'the bounds and the step of lhist are numbers'
refused "step{$(printf 'count(), %.0s' 1 2 3 4 5 6 7 8)count()}" 'a spec keeps eight of them at most'
refused 'step{count() arg0}' 'behind what is kept, keys may follow: by KEY, …'
refused 'step{count() by arg0 arg1}' 'keys are separated by commas'
refused 'step{sum(comm)}' 'a string is no number'
refused 'step{sum(farg0)}' 'floating-point numbers are shown and compared'
refused 'step{count()' 'this brace is not closed'
# Also where a condition on what is returned comes behind it
refused 'r:step{count() by nosuch} if retval:s64 < 0' 'this function has key, value, name;'
refused 'r:step{max(nosuch)} if arg0 > 0 && (int)retval < 0' 'this function has key, value, name;'
refused 'r:step{count() by arg0:str, arg1:str, arg2:str} if (int)retval < 0' 'keys have 160 bytes at most'
refused 'step{count() by arg0:str, arg1:str, arg2:str}' 'keys have 160 bytes at most'
"$DPROBES" trace 'step{count()}' -- "$victim" >"$dir/stdout" 2>"$dir/err"
like "trace keeps nothing" "$(<"$dir/err")" 'is for dprobes stat'
plan
