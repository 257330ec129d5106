#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Return probes in another process: every way out of a function, what the kernel's
# own return probes count, and programs that notice nothing.
. tests/scenario/lib.sh

victim_prog="$VICTIMS/returns"
tracer=

# account MODE...: the victim's own lines, and the same from its probes; what was
# left by longjmp and not found out before the end counts as inside, so these two
# are added up
account() {
	"$victim_prog" "$@" >"$dir/bare"
	"$DPROBES" stat --json -o "$dir/json" "$asked" -- "$victim_prog" "$@" \
		>"$dir/probed" 2>"$dir/stderr"
	status=$?
	sed -n 's/.*r:returns:\([a-z_]*\)","hits":\([0-9]*\),.*"returned":\([0-9]*\),"tail":\([0-9]*\),"unwound":\([0-9]*\),"abandoned":\([0-9]*\),"inside":\([0-9]*\)}/\1 \2 \3 \4 \5 \6 \7/p' \
		"$dir/json" | awk '$2 { print $1, $2, $3, $4, $5, $6 + $7 }' | sort >"$dir/seen"
	awk '$2 { print $1, $2, $3, $4, $5, $6 + $7 }' "$dir/bare" | sort >"$dir/own"
}

# A call that is only counted ends with a jump to another function. How many of them do the victim does
# not say.
only_counted() {
	local f
	for f in own seen; do
		awk '{ print $1, $2, $3 + $4, $5, $6 }' "$dir/$f" >"$dir/ends" && mv "$dir/ends" "$dir/$f"
	done
}
jumped() { awk -v f="$1" '$1 == f { print $4 }' "$dir/seen"; }

asked='r:ret_*'
for mode in values deep jumps throws threads coroutines tails mutual chains elsewhere pointers \
	forks signals last "quits 50"; do
	# shellcheck disable=SC2086
	account $mode
	case $mode in
	tails) is "$mode: ends by jumps" "$(jumped ret_tail)" 750 ;;
	mutual) is "$mode: ends by jumps" "$(jumped ret_even) $(jumped ret_odd)" "5000 5000" ;;
	chains) is "$mode: ends by jumps" "$(jumped ret_chain)" 1000 ;;
	esac
	case $mode in tails | mutual | chains) only_counted ;; esac
	is "$mode: the program" "$status $(cat "$dir/probed")" "0 $(cat "$dir/bare")"
	is "$mode: its calls" "$(cat "$dir/seen")" "$(cat "$dir/own")"
	is "$mode: balances" "$(grep -cE 'balance|BUG|cut off' "$dir/stderr")" 0
done
# A call that is looked at ends where its tail target returns.
asked='r:ret_* if latency >= 0'
for mode in tails chains; do
	account $mode
	is "$mode that are looked at: the program" "$status $(cat "$dir/probed")" "0 $(cat "$dir/bare")"
	is "$mode that are looked at: their calls" "$(cat "$dir/seen")" "$(cat "$dir/own")"
	is "$mode that are looked at: balances" "$(grep -cE 'balance|BUG|cut off' "$dir/stderr")" 0
done
LD_BIND_NOW=1 account elsewhere
is "a tail call into a library: its calls" "$(cat "$dir/seen")" "$(cat "$dir/own")"
like "which return" "$(cat "$dir/seen")" '^ret_elsewhere 1000 1000 0 0 0$'
account threads 20000
is "many calls in threads" "$(cat "$dir/seen")" "$(cat "$dir/own")"
for arm in trap quiesce; do
	"$victim_prog" all >"$dir/bare"
	DPROBES_ARM=$arm "$DPROBES" stat -o "$dir/counts" 'r:ret_*' -- "$victim_prog" all \
		>"$dir/probed" 2>"$dir/stderr"
	is "$arm: the program" "$? $(cat "$dir/probed")" "0 $(cat "$dir/bare")"
	is "$arm: balances" "$(grep -cE 'balance|BUG|cut off' "$dir/stderr")" 0
	# Every function is left as the victim says, summed over its modes.
	is "$arm: calls" "$(awk 'NR > 1 { n += $1 } END { print n }' "$dir/counts")" \
		"$(awk '{ n += $2 } END { print n }' "$dir/bare")"
done

# Lines
run() { # ARGS...: sets $out $err $status
	"$DPROBES" "$@" >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/stdout") err=$(cat "$dir/stderr")
}
run trace -o "$dir/lines" 'r:ret_value(arg0:u64)' -- "$victim_prog" values 500
is "values" "$(sed -n 's/.*r:returns:ret_value arg0=\([0-9]*\) = \([0-9]*\) <[0-9]*\.[0-9]\{9\}>$/\1 \2/p' "$dir/lines" |
	while read -r i v; do echo $((v - 3 * i)); done | sort | uniq -c | tr -s ' ')" " 500 1"
run trace --json -o "$dir/lines" 'ret_tail%return(arg0:u64) if arg0 < 3' -- "$victim_prog" tails 10
is "JSON, a tail, a condition" "$(sed 's/.*"args"/"args"/; s/"latency_ns":[0-9]*/"latency_ns":N/' "$dir/lines")" \
	'"args":{"arg0":0},"ret":7,"latency_ns":N,"exit":"return"}
"args":{"arg0":1},"ret":7,"latency_ns":N,"exit":"return"}
"args":{"arg0":2},"ret":10,"latency_ns":N,"exit":"return"}'
like "the account of a condition" "$err" 'calls: 3 returned, 7 not followed for their condition; '
run trace --json -o "$dir/lines" 'r:ret_pointer(arg0:u64)' -- "$victim_prog" pointers 1
is "JSON, a tail to where nobody can tell" "$(sed 's/.*"args"/"args"/; s/"latency_ns":[0-9]*/"latency_ns":N/' "$dir/lines")" \
	'"args":{"arg0":3},"latency_ns":N,"exit":"tail"}'
run trace -o "$dir/lines" 'r:ret_even(arg0:u64)' 'r:ret_odd(arg0:u64)' -- "$victim_prog" mutual 1
is "tails between followed functions" "$(sed -E 's/.*r:returns://; s/ <[0-9.]+>$//' "$dir/lines" | sort -t= -k2n | tr '\n' ';')" \
	"ret_even arg0=0 = 17;ret_odd arg0=1 = 17;ret_even arg0=2 = tail;ret_odd arg0=3 = tail;ret_even arg0=4 = tail;ret_odd arg0=5 = tail;ret_even arg0=6 = tail;ret_odd arg0=7 = tail;ret_even arg0=8 = tail;ret_odd arg0=9 = tail;ret_even arg0=10 = tail;"
run trace -o "$dir/lines" 'r:ret_between(arg0:u32)' -- "$victim_prog" throws 5
is "what an exception passed" "$(sed -E 's/.*arg0=//; s/ <.*//; s/ = [0-9]+$/ = returned/' "$dir/lines" | tr '\n' ' ')" \
	"0 = unwound 1 = returned 2 = returned 3 = unwound 4 = returned "
run trace --json -o "$dir/lines" 'r:ret_quits(arg0:u32)' -- "$victim_prog" quits 1
is "JSON, pthread_exit" "$(sed 's/.*"args"/"args"/; s/"latency_ns":[0-9]*/"latency_ns":N/' "$dir/lines" | sort)" \
	'"args":{"arg0":0},"latency_ns":N,"exit":"unwound"}
"args":{"arg0":1},"latency_ns":N,"exit":"unwound"}
"args":{"arg0":2},"latency_ns":N,"exit":"unwound"}
"args":{"arg0":3},"latency_ns":N,"exit":"unwound"}'
run stat r:ret_sleeps -- "$victim_prog" cancels 20
like "threads that are cancelled" "$err" 'calls: 0 returned, [1-9][0-9]* unwound; '

run trace -o "$dir/lines" 'r:ret_inner(arg0:u32)' -- "$victim_prog" jumps 6
is "what was left by longjmp" "$(sed -E 's/.*arg0=//; s/ <.*/ returned/' "$dir/lines" | tr '\n' ' ')" \
	"0 returned 1 = abandoned 2 returned 3 = abandoned 4 returned "
run trace -o "$dir/lines" 'r:ret_raises()' 'r:ret_value()' -- "$victim_prog" signals 3
is "in the order of their ends" "$(grep -o 'ret_[a-z]*' "$dir/lines" | tr '\n' ' ')" \
	"ret_value ret_raises ret_value ret_raises ret_value ret_raises "
run trace -q -o "$dir/lines" 'r:ret_*' -- "$victim_prog" all
"$victim_prog" all >"$dir/bare"
is "a line for every end" "$({ grep -cvE ' = (tail|unwound|abandoned)' "$dir/lines"
	for end in tail unwound; do grep -c " = $end" "$dir/lines"; done; } | tr '\n' ' ')" \
	"$(awk '{ r += $3; t += $4; u += $5 } END { print r, t, u, "" }' "$dir/bare")"
# What was left otherwise is noticed at the next call at its place: the last of a function may never be.
while read -r function left; do
	told=$(grep -c "r:returns:$function .* = abandoned" "$dir/lines")
	like "$function: a line for each that was left" "$((left - told))" '^[01]$'
done < <(awk '$6 { print $1, $6 }' "$dir/bare")

# More calls at once than there is room for: what is missed is counted, and there is
# room when they come again.
mkfifo "$dir/rounds"
: >"$dir/out"
exec 9<>"$dir/rounds"
"$DPROBES" stat -o "$dir/counts" r:ret_deeper -- "$victim_prog" deeper 300000 \
	<"$dir/rounds" >"$dir/out" 2>"$dir/stderr" 9>&- &
tracer=$!
pids+=("$tracer")
rounds() { [ "$(grep -c '^round 1200004$' "$dir/out")" -ge "$1" ]; }
deeper=
missed() { "$DPROBES" list -v -p "$deeper" | sed -n 's/.* \([0-9]*\) missed .*/\1/p'; }
poll 30 rounds 1
deeper=$(pgrep -P "$tracer")
tables() { [ "$(grep -c ' rw-s 00000000 .*memfd:dprobes' "/proc/$deeper/maps")" -ge 2 ]; }
printf x >&9
poll 30 rounds 2
is "tables are added" "$(poll 10 tables && echo yes)" yes
before=$(missed)
printf xx >&9
poll 60 rounds 4
is "then no call is missed" "$(missed)" "$before"
exec 9>&-
wait "$tracer"
is "too deep: the program" "$? $(sort -u "$dir/out")" "0 round 1200004"
is "its calls" "$(awk '/r:returns/ { print $1, $2 }' "$dir/counts")" "$((4 * 1200004)) $before"
if [ "$before" -gt 0 ]; then
	like "what was missed, and why, and nothing else" "$(cat "$dir/stderr")" \
		"$((4 * 1200004)) hits, $before missed, $before missed for want of a free instance \(maxactive\); calls: $((4 * 1200004 - before)) returned; returns exited"
else
	like "nothing was missed" "$(cat "$dir/stderr")" \
		"$((4 * 1200004)) hits, 0 missed; calls: $((4 * 1200004)) returned; returns exited"
fi

# A handler that leaves for good whatever it has interrupted
run stat r:ret_short r:ret_nested -- "$victim_prog" leaves 5000
is "left by siglongjmp: the program" "$status $(head -n 1 "$dir/stdout")" "0 left"
is "left by siglongjmp: balances" "$(grep -cE 'balance|BUG|missed for' "$dir/stderr")" 0
like "and what was cut off is said" "$err" 'returned, [0-9]+ abandoned, .*[0-9]+ cut off; returns exited'
run stat 'r:ret_short if arg0 > 1' 'r:ret_nested if arg0 == 7' -- "$victim_prog" leaves 5000
is "in a program of a probe: balances" "$status $(grep -cE 'balance|BUG|missed for' "$dir/stderr")" "0 0"
# Records that are never finished do not keep others from coming.
exec 9<>"$dir/rounds"
: >"$dir/out"
"$DPROBES" trace -o "$dir/lines" 'r:ret_short(arg0:u64)' 'r:ret_value(arg0:u64)' -- "$victim_prog" leaves 3000 \
	<"$dir/rounds" >"$dir/out" 2>"$dir/stderr" 9>&- &
tracer=$!
pids+=("$tracer")
poll 60 grep -q left "$dir/out"
same_size() {
	local before
	before=$(wc -c <"$dir/lines")
	sleep 0.3
	[ "$(wc -c <"$dir/lines")" -eq "$before" ]
}
poll 60 same_size
printf x >&9
exec 9>&-
wait "$tracer"
is "while records are written: balances" "$? $(grep -cE 'balance|BUG|missed for' "$dir/stderr")" "0 0"
is "and those that come later are all there" "$(grep -c 'ret_value arg0=[0-9]* = [0-9]' "$dir/lines")" 1000

# A running process: entered before the probes came, inside when they go
mkfifo "$dir/in"
exec 9<>"$dir/in"
: >"$dir/out"
"$victim_prog" waits <"$dir/in" >"$dir/out" 2>&1 9>&- &
victim=$!
pids+=("$victim")
poll 10 grep -q waiting "$dir/out"
follow() { # starts the tool, which follows ret_waits
	"$DPROBES" trace -o "$dir/lines" 'r:ret_waits()' -p "$victim" 2>"$dir/stderr" &
	tracer=$!
	pids+=("$tracer")
	poll 10 sh -c "'$DPROBES' list -v -p $victim | grep -v 'its tool has ended' | grep -q ' r  ret_waits+0x0 '"
}
follow
like "the list of armed probes" "$("$DPROBES" list -p "$victim")" '^[0-9a-f]{16}  r  ret_waits\+0x0    \[OPTIMIZED\]$'
like "and its exits" "$("$DPROBES" list -v -p "$victim")" ' 0 missed  1 exit: 1 jump, 0 trap$'
like "in JSON, too" "$("$DPROBES" list --json -p "$victim")" '"exits":1,"exits_trap":0,"exits_tail":0,"exits_lost":0,"pid":'
is "which has a line a function" "$("$DPROBES" list -p "$victim" | wc -l)" 1
printf AB >&9
poll 10 sh -c "[ \$(wc -l <'$dir/lines') -eq 1 ]"
interrupt "$tracer"
like "entered before, returned, inside" "$(cat "$dir/stderr")" \
	': 2 hits, 0 missed, 1 record; calls: 1 returned, 1 still inside, 1 entered before; interrupted$'
like "its line" "$(cat "$dir/lines")" ' returns r:returns:ret_waits = 66 <[0-9.]+>$'
follow
printf C >&9
kill -KILL "$tracer"
wait "$tracer" 2>/dev/null
printf D >&9
follow
printf EF >&9
poll 10 sh -c "[ \$(wc -l <'$dir/lines') -ge 1 ]"
interrupt "$tracer"
is "after a tool that was killed" "$(grep -cE 'balance|BUG' "$dir/stderr")" 0

# What is known of a call is damaged meanwhile: a live instance of the first probe gets a state
# that there is not.
cat >"$dir/damage.py" <<'END'
import struct, sys
pid = sys.argv[1]
for line in open(f"/proc/{pid}/maps"):
    f = line.split()
    if "memfd:dprobes" in line and f[1].startswith("rw-s"):
        start, end = (int(x, 16) for x in f[0].split("-"))
with open(f"/proc/{pid}/mem", "r+b", buffering=0) as mem:
    mem.seek(start)
    words = struct.unpack(f"{(end - start) // 8}Q", mem.read(end - start))
    for i, w in enumerate(words):
        if w & (1 << 48) - 1 == 1 << 32 | 1:
            mem.seek(start + 8 * i)
            mem.write(struct.pack("Q", w | 0x40 << 32))
END
if command -v python3 >/dev/null; then
	follow
	printf G >&9
	poll 10 sh -c "'$DPROBES' list -v -p $victim | grep -q ' 1 hits'"
	python3 "$dir/damage.py" "$victim"
	printf H >&9
	poll 10 sh -c "'$DPROBES' list -v -p $victim | grep -q ' 2 hits'"
	interrupt "$tracer"
	is "damage is told once" "$(grep -cE '^kretprobe BUG!: Processing kretprobe r:returns:ret_waits @ 0x[0-9a-f]+$' "$dir/stderr")" 1
	like "and counted" "$(cat "$dir/stderr")" 'calls: 0 returned, 1 still inside, 1 damaged, 1 entered before; '
else
	printf GH >&9
	skip "damage is told once" "there is no python3"
	skip "and counted" "there is no python3"
fi
exec 9>&-
wait "$victim"
is "the process" "$? $(tail -n 1 "$dir/out")" "0 sum $((65 + 66 + 67 + 68 + 69 + 70 + 71 + 72))"

# What nobody notices but the tool
exec 9<>"$dir/in"
: >"$dir/out"
"$DPROBES" trace -o "$dir/lines" 'r:ret_inner(arg0:u32)' 'r:ret_waits()' -- "$victim_prog" stale \
	<"$dir/in" >"$dir/out" 2>"$dir/stderr" 9>&- &
tracer=$!
pids+=("$tracer")
poll 10 grep -q waiting "$dir/out"
interrupt "$tracer"
like "a call that was left long ago" "$(cat "$dir/stderr")" 'calls: 0 returned, 1 abandoned(, 1 still inside)?; interrupted$'
like "and its line" "$(cat "$dir/lines")" ' returns r:returns:ret_inner arg0=1 = abandoned$'
exec 9>&-

# list
run list 'r:ret_*' -- "$victim_prog"
is "what is listed can be pasted" "$(while read -r spec; do
	"$DPROBES" list "$spec" -- "$victim_prog"
done <"$dir/stdout")" "$out"
run list -v 'ret_tail%return' -- "$victim_prog"
is "modes" "$(grep -v '^    values: ' <<<"$out")" "r:returns:ret_tail  jump  2 exits: 2 jump, 0 trap; 1 tail jump"
run list -v 'r:ret_pointer' -- "$victim_prog"
is "a jump to where nobody knows" "$(grep -v '^    values: ' <<<"$out")" "r:returns:ret_pointer  jump  1 exit: 1 jump, 0 trap; 1 tail jump, 1 to where nobody knows"
run list --json 'r:ret_tail' -- "$victim_prog"
like "exits in JSON" "$out" '"exits":2,"exits_trap":0,"exits_tail":1,"exits_lost":0}$'
run list "0000000000000000  r  ret_tail+0x0   [OPTIMIZED]" -- "$victim_prog"
is "a line of the list" "$out" "r:returns:ret_tail"

# What the kernel's return probes count
libc=$(readlink -f /lib/x86_64-linux-gnu/libc.so.6)
oracle() { # NAME FUNCTION CMD...
	local name=$1 function=$2 at
	shift 2
	at=$libc:$("$TOOLS/spec-offset" "libc.so.6:$function" -- "$@" | cut -d: -f2)
	if ! "$TOOLS/uprobe-count" -o "$dir/kernel" "$at" "$at%return" -- "$@" >/dev/null 2>&1; then
		skip "$name" "the kernel's uprobe PMU is not to be had"
		return
	fi
	"$DPROBES" stat --json -o "$dir/json" "r:libc.so.6:$function" -- "$@" >/dev/null 2>&1
	# For the kernel a tail call's return is that of the function before it.
	is "$name" "$(sed 's/.*"hits":\([0-9]*\),.*"returned":\([0-9]*\),"tail":\([0-9]*\),.*/\1 \2 \3/' "$dir/json" |
		awk '{ print $1, $2 + $3 }')" \
		"$(cut -d' ' -f1 "$dir/kernel" | tr '\n' ' ' | sed 's/ $//')"
}
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
script='import json, re; print(len(json.dumps([str(i) * 40 for i in range(3000)])))'
if [ -n "$python" ]; then
	export PYTHONHASHSEED=0
	oracle "malloc in python3, as the kernel sees it" malloc "$python" -S -c "$script"
	oracle "realloc in python3, as the kernel sees it" realloc "$python" -S -c "$script"
else
	skip "malloc in python3, as the kernel sees it" "there is no python3"
fi
oracle "malloc in sort, as the kernel sees it" malloc /usr/bin/sort /etc/services

# same NAME SPEC... -- CMD...: a program's output with all its functions followed
same() {
	local name=$1 specs=()
	shift
	while [ "$1" != -- ]; do specs+=("$1"); shift; done
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "there is no $1"
		return
	fi
	"$@" <"$dir/input" >"$dir/bare" 2>"$dir/bare-err"
	local wanted=$?
	"$DPROBES" stat -o "$dir/counts" "${specs[@]}" -- "$@" <"$dir/input" >"$dir/probed" 2>"$dir/stderr"
	is "$name: output and status" "$? $(md5sum <"$dir/probed")" "$wanted $(md5sum <"$dir/bare")"
	is "$name: balances" "$(grep -cE 'balance|BUG' "$dir/stderr")" 0
	is "$name: all was probed" "$(awk 'NR > 1 { n += $1 } END { print (n > 1000) }' "$dir/counts")" 1
}
: >"$dir/input"
same "exceptions through a C++ program and its libraries" 'r:*' 'r:libstdc++.so.6:*' 'r:libgcc_s.so.1:*' 'r:libc.so.6:*' \
	-- "$VICTIMS/thrower"
same "every way out, libc followed too" 'r:*' 'r:libc.so.6:*' -- "$victim_prog" all 100
cat >"$dir/input" <<'END'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
	insert into t select i, hex(i * 7919), i / 3.0 from n;
create index tb on t(b);
select count(*), sum(a), max(b), avg(c) from t where b > '3131';
select b, count(*) from t group by substr(b, 1, 3) order by 2 desc, 1 limit 5;
delete from t where a % 3 = 0;
vacuum;
pragma integrity_check;
END
same "sqlite3" 'r:libsqlite3.so.0:*' 'r:libreadline.so.8:*' -- sqlite3
printf 'a\nb\n%.0s' {1..500} >"$dir/input"
same "git" 'r:libc.so.6:*' 'r:libpcre2-8.so.0:*' 'r:libz.so.1:*' -- git --no-pager -C "$PWD" grep -nP 'dp_[a-z]+_open' HEAD -- '*.h'
if command -v go >/dev/null; then
	cat >"$dir/main.go" <<'END'
package main

import "C" // so that the program is linked dynamically
import (
	"fmt"
	"sort"
	"sync"
)

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func grow(n int) [64]int {
	var a [64]int
	if n > 0 {
		a = grow(n - 1)
	}
	a[n%64]++
	return a
}

//go:noinline
func failing(i int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered %v", r)
		}
	}()
	if i%3 == 0 {
		panic(i)
	}
	return nil
}

func main() {
	var wg sync.WaitGroup
	results := make([]string, 50)
	for g := 0; g < 50; g++ {
		wg.Add(1)
		go func(g int) {
			defer wg.Done()
			results[g] = fmt.Sprint(g, fib(15), grow(200)[7], failing(g))
		}(g)
	}
	wg.Wait()
	sort.Strings(results)
	for _, r := range results {
		fmt.Println(r)
	}
}
END
	(cd "$dir" && GOCACHE="$dir/gocache" GOFLAGS=-mod=mod CGO_ENABLED=1 go build -o go-victim main.go) 2>"$dir/go-err"
	: >"$dir/input"
	same "a Go program" 'r:main.*' 'r:fmt.*' 'r:strconv.*' -- "$dir/go-victim"
else
	skip "a Go program" "there is no go"
fi
plan
