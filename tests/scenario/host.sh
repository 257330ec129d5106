#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# dprobes stat in a process that probes itself: both use one engine, and neither's probes are the other's.
. tests/scenario/lib.sh

MODULES=${MODULES:-build/tests/modules}
text_of() { "$TOOLS/text-sum" "$victim" | grep -v memfd:dprobes; }
rows() { "$DPROBES" list -v -p "$victim" | grep -F "victim_function+0x0 "; }
hits_of() { grep -oE '[0-9]+ hits' <<<"$1" | cut -d' ' -f1; }
stat_for() { # SECONDS ARGS
	out=$("$DPROBES" stat --duration "$1" "${@:2}" -p "$victim" 2>"$dir/err")
	status=$?
	err=$(cat "$dir/err")
}
begin() { # ARGS: stat that runs, with its probes armed
	"$DPROBES" stat "$@" -p "$victim" >"$dir/counts" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	hosted() { [ "$(rows | wc -l)" = 2 ] && [ "$(hits_of "$(rows | tail -n 1)")" -gt 0 ] && [ "$(hits_of "$(rows | head -n 1)")" -gt 0 ]; }
	poll 20 hosted
}
own() { # a victim that probes itself
	LD_PRELOAD=$PWD/build/libdprobes.so.1 start "$VICTIMS/live" work 2
	"$DPROBES" insmod "$MODULES/probe.so" kind=kprobe -p "$victim" >/dev/null
}
done_right() {
	kill -TERM "$victim"
	wait "$victim"
	is "$1: it found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
}

own
before=$(text_of)
stat_for 0.3 victim_function
like "its own function is counted" "$status $(tail -n 1 <<<"$out")" '^0 +[1-9][0-9]* +0  jump  live:victim_function$'
like "and the summary says so" "$err" '1 probe at 1 site \(0 trap, 1 jump\): [1-9][0-9]* hits, 0 missed; --duration is over$'
is "nothing of it is left" "$(rows | wc -l) $(text_of)" "1 $before"

# At one address, what the two count differs by what the first had counted before.
begin victim_function
apart() { v=$(rows) && echo $(($(hits_of "$(head -n 1 <<<"$v")") - $(hits_of "$(tail -n 1 <<<"$v")"))); }
first=$(apart)
more() { [ "$(hits_of "$(rows | head -n 1)")" -gt $((was + 100000)) ]; }
was=$(hits_of "$(rows | head -n 1)")
poll 20 more
is "both count every call" "$(apart)" "$first"
"$DPROBES" rmmod probe -p "$victim" >/dev/null
is "the process takes its own probe out" "$(rows | wc -l)" 1
was=$(hits_of "$(rows | head -n 1)")
poll 20 more
is "the tool's goes on" "$?" 0
"$DPROBES" insmod "$MODULES/probe.so" kind=kprobe -p "$victim" >/dev/null
is "and the process probes again" "$(rows | wc -l)" 2
out=$("$DPROBES" stat victim_function -p "$victim" 2>&1)
is "another tool is told at once" "$? $out" \
	"1 dprobes: process $victim is already probed by another dprobes (fuser -v /proc/$victim/mem names it); end that first"
out=$("$DPROBES" detach -p "$victim" 2>&1)
like "detach leaves it alone" "$? $out" "^1 .* is already probed by another dprobes"

# Switched off and on again, alone
order() { out=$("$DPROBES" "$@" -p "$victim" 2>&1); status=$?; }
order disable victim_function
is "the tool's is disabled" "$status $out $(rows | grep -c DISABLED)" "0  1"
disabled_hits() { hits_of "$(rows | grep DISABLED)"; }
first=$(disabled_hits)
sleep 0.2
is "it counts no more" "$(disabled_hits)" "$first"
order enable victim_function
is "and is enabled" "$status $out $(rows | grep -c DISABLED)" "0  0"
order disable libc.so.6:malloc
like "it has no other" "$status $out" "^[12] dprobes: process $victim has no probe at libc.so.6:malloc"
interrupt "$tool"
is "^C ends it" "$? $(rows | wc -l)" "0 1"
order disable victim_function
is "the program's own is not switched" "$status $out" \
	"1 dprobes: process $victim probes itself; dprobes enabled 0 -p $victim switches all its probes off"
is "its counts are all there" "$(awk '{ print ($1 > 100000) }' <<<"$(grep victim_function "$dir/counts")")" 1

# Killed, its probes count on, until the next tool takes them out.
begin victim_function
kill -KILL "$tool"
wait "$tool" 2>/dev/null
was=$(hits_of "$(rows | tail -n 1)")
poll 20 more
is "the tool killed: what it left counts" "$? $(rows | wc -l)" "0 2"
out=$("$DPROBES" detach -p "$victim" 2>&1)
is "detach takes it out" "$? $out $(rows | wc -l)" "0 dprobes: what was left in process $victim has been taken out 1"
out=$("$DPROBES" detach -p "$victim" 2>&1)
is "once" "$? $out" "0 dprobes: nothing was left in process $victim"
begin victim_function
kill -KILL "$tool"
wait "$tool" 2>/dev/null
stat_for 0.2 victim_function
is "the next tool takes it out" "$status $(rows | wc -l)" "0 1"

# Thousands, by more than one order; some are refused, by the library's own words.
stat_for 0.5 --json 'libc.so.6:*' victim_function
like "all of libc" "$status $(wc -l <<<"$out") $err" '^0 [2-9][0-9]{3} dprobes: [0-9]+ of [0-9]+ matches cannot be probed'
is "none is missed" "$(grep -o '"missed":[0-9]*' <<<"$out" | sort -u)" '"missed":0'
is "and nothing of them is left" "$(text_of)" "$before"
addr=$("$DPROBES" list --json victim_function -p "$victim" | grep -oE '"addr":"?(0x)?[0-9a-f]+' | grep -oE '[0-9a-f]+$')
stat_for 0.1 "0x$(printf %x $((0x$addr + 1)))"
like "inside an instruction" "$status $err" '^[12] dprobes: .*(instruction|boundary)'
stat_for 0.1 victim_function 'libc.so.6:mem*' libdprobes.so.1:register_kprobe 'libc.so.6:str*'
like "what the library refuses" "$status $(tail -n 1 <<<"$err")" \
	'^1 dprobes: libdprobes.so.1:register_kprobe: 0x[0-9a-f]+ may not be probed: it is the library.s own code$'
is "and none of the others is left then" "$("$DPROBES" list -p "$victim" | wc -l)" 1
stat_for 0.1 libc.so.6:no_such_function
like "no such function" "$status $err" '^2 '

# Programs, in its engine
stat_for 0.3 --json 'victim_function if arg0 < 30000' 'victim_function if arg0 >= 30000' victim_function
read -r less more_than all < <(sed 's/.*"hits":\([0-9]*\).*/\1/' <<<"$out" | tr '\n' ' ')
is "conditions" "$status $((less > 0)) $((more_than > 1000))" "0 1 1"
is "one of the two holds at each hit" "$(awk -v d=$((less + more_than - all)) 'BEGIN { print (d < 100 && d > -100) }')" 1
trace_for() { # SECONDS SPEC...
	"$DPROBES" trace --duration "$1" -o "$dir/lines" "${@:2}" -p "$victim" 2>"$dir/err"
	status=$?
	err=$(cat "$dir/err")
}
records() { grep -oE '[0-9]+ records?[,;]' "$dir/err" | cut -d' ' -f1; }
trace_for 0.5 'victim_function(arg0:u64) if arg0 < 30000'
like "records" "$status $err" '^0 .* 0 missed, [1-9][0-9]* records?(, [0-9]+ after the probe.s end)?; --duration is over$'
is "none of the first thread's is missing" "$(awk -F'[ =]' '$3 == '"$victim"' { bad += last && $NF - last != 1; last = $NF; n++ } END { print (n > 10) " " bad + 0 }' "$dir/lines")" "1 0"
trace_for 0.3 'libc.so.6:clock_nanosleep(arg0:s32)'
is "every hit has one" "$status $(hits_of "$err") $(grep -c 'clock_nanosleep arg0=0$' "$dir/lines")" "0 $(records) $(records)"
is "nothing of it is left" "$(rows | wc -l) $(text_of)" "1 $before"
printf '%s\n' 'name = live' 'modtype = user' 'major = 1' 'vars = 2' 'gvars = 1' 'offset = victim_function' \
	'minor = 1' 'inc lv, 0' 'push r, rdi' 'pop lv, 1' 'inc gv, 0' exit >"$dir/vars.dp"
run_for() { "$DPROBES" run --duration "$1" "$dir/vars.dp" -p "$victim" >"$dir/lines" 2>"$dir/err"; }
value() { sed -nE "s/.* $1\[0\] = 0x[0-9a-f]+ \(([0-9]+)\)$/\1/p" "$dir/err"; }
run_for 0.3
first=$(value lv)
is "a program's variables" "$? $((first > 1000)) $(($(value gv) > 1000))" "0 1 1"
run_for 0.01

printf '%s\n' 'name = live' 'modtype = user' 'vars = 2' 'gvars = 1' 'heapmax = 4096' 'offset = victim_function' 'max_hits = 20' \
	'call F' 'push 8' malloc 'dup 1' 'pop lv,0' 'push r, rdi' 'push lv,0' 'push 0' 'poph u64,1' 'push lv,0' 'push 0' 'pushh u64,1' \
	'push r, rdi' sub 'log 1' 'push 1' 'alloc gv' 'log 1' exit 'F: log st' ret 'offset = victim_function' 'retprobe = yes' 'minor = 2' \
	'max_hits = 30' 'push retval' 'log 1' >"$dir/whole.dp"
"$DPROBES" run --json --duration 0.3 "$dir/whole.dp" -p "$victim" >"$dir/lines" 2>"$dir/err"
is "heap, traces and variables that are allocated" "$? $(grep -c '"minor":0,.*"data":"0701000000000000000000070100[0-9a-f]*","traces":"[0-9a-f]*","truncated":false' "$dir/lines")" "0 20"
is "variables that are allocated are different ones" "$(sed -n 's/.*"minor":0,.*"data":"[0-9a-f]\{28\}\([0-9a-f]*\)".*/\1/p' "$dir/lines" | sort -u | wc -l)" 20
is "returns" "$(grep -c '"minor":2,' "$dir/lines")" 30
sed -i 's/^gvars.*/logmax = 4096/' "$dir/vars.dp"
run_for 0.1
like "a log that has no room there" "$? $(cat "$dir/err")" '^1 dprobes: .*there is no room for so many programs, or for such long logs'
sed -i 's/^logmax.*/gvars = 1/' "$dir/vars.dp"
run_for 0.01
is "the next tool's begin at zero" "$(($(value lv) < first))" 1
"$DPROBES" trace 'victim_function(arg0:u64) if arg0 < 30000' -p "$victim" >"$dir/lines" 2>"$dir/err" &
tool=$!
pids+=("$tool")
poll 20 test -s "$dir/lines"
kill -KILL "$tool"
wait "$tool" 2>/dev/null
trace_for 0.3 'victim_function(arg0:u64) if arg0 < 30000'
is "killed, its program goes with it" "$status $(rows | wc -l) $(awk -F= '$NF >= 30000 { bad++ } END { print (NR > 0) " " bad + 0 }' "$dir/lines")" "0 1 1 0"

# Calls that are followed to their exits
stat_for 0.3 r:victim_function
like "returns" "$status $err" ': ([0-9]+) hits, 0 missed; calls: [0-9]+ returned(, [0-9]+ entered before)?; --duration is over$'
is "each call of them" "$(grep -oE '[0-9]+ returned' <<<"$err" | cut -d' ' -f1)" "$(hits_of "$err")"
trace_for 0.3 'r:victim_function(arg0:u64) if arg0 < 30000' r:libc.so.6:clock_nanosleep
is "values" "$status $(awk -F'[ =]+' '/victim_function/ { bad += $(NF - 1) != 3 * $(NF - 2) + 1; n++ } END { print (n > 10) " " bad + 0 }' "$dir/lines")" "0 1 0"
is "a call takes its time" "$(awk -F'[<>]' '/clock_nanosleep/ { n++; bad += $2 < 0.005 } END { print (n > 10) " " bad + 0 }' "$dir/lines")" "1 0"
is "and it balances" "$(grep -cE 'balance|BUG|cut off' <<<"$err")" 0
stat_for 0.2 'r:libc.so.6:str*' 'r:libc.so.6:*alloc*'
is "returns of many" "$status $(grep -cE 'balance|BUG|cut off' <<<"$err") $(text_of)" "0 0 $before"

is "the modes of probes before" "$("$DPROBES" list -v victim_function -p "$victim" | grep -v '^    values: ')" \
	"live:victim_function  unknown  the engine of the process decides it"
out=$("$DPROBES" stat -f victim_function -p "$victim" 2>&1)
is "children" "$? $out" "1 dprobes: children cannot be followed by way of the engine of a process that probes itself"
like "the doctor says so" "$("$DPROBES" doctor -p "$victim" | tail -n 2)" \
	'^note +probes: it probes itself, with libdprobes \(probes: 1\); dprobes stat, trace and run have theirs beside them, without -f
process [0-9]+ can be probed'
is "names can be listed" "$("$DPROBES" list victim_function -p "$victim")" "live:victim_function"
is "and all is as it was" "$(rows | wc -l) $(text_of)" "1 $before"

# Its end
begin victim_function
done_right "probed by both"
wait "$tool"
like "the tool is told of its end" "$? $(cat "$dir/talk")" \
	'^0 dprobes: the counts are those of [0-9]+ ms before the end: they were in memory of process [0-9]+ alone
dprobes: 1 probe at 1 site \(0 trap, 1 jump\): [1-9][0-9]* hits, 0 missed; live exited with status 0$'

# Records are there when the process is not any more.
own
rm "$dir/lines"
"$DPROBES" trace -o "$dir/lines" 'r:victim_function(arg0:u64) if arg0 < 30000' -p "$victim" 2>"$dir/talk" &
tool=$!
pids+=("$tool")
poll 20 test -s "$dir/lines"
kill -KILL "$victim"
wait "$victim" 2>/dev/null
wait "$tool"
like "killed while it is traced" "$? $(cat "$dir/talk")" ', [1-9][0-9]* records?; calls: .*; live was killed by SIGKILL$'
is "none of the first thread's is missing" "$(awk -F'[ =]+' '$3 == '"$victim"' { bad += last && $(NF - 2) - last != 1; last = $(NF - 2); n++ } END { print (n > 0) " " bad + 0 }' "$dir/lines")" "1 0"

# While guests come and go, the program's own probe sees every call, and every return.
"$DPROBES" insmod "$MODULES/probe.so" kind=kretprobe -- "$VICTIMS/live" count 2 >"$dir/out" 2>"$dir/talk" &
pids+=($!)
living() { victim=$(pgrep -P "$1" -x live) && grep -q ready "$dir/out"; }
poll 10 living $!
for arm in interior trap quiesce; do
	DPROBES_ARM=$arm stat_for 0.05 victim_function 'victim_function if arg0 > 3' r:victim_function
	trace_for 0.05 'victim_function(arg0:u64)' 'r:victim_function if arg0 > 3'
	is "$arm: each goes" "$status $(rows | wc -l)" "0 1"
done
kill -USR2 "$victim"
rested() { [ "$(ls "/proc/$victim/task" | wc -l)" = 1 ]; }
poll 20 rested
seen=$("$DPROBES" rmmod probe -p "$victim" 2>&1)
kill -TERM "$victim"
wait $!
calls=$(sed -n 's/ calls$//p' "$dir/out")
like "every call and every return" "$? $seen $(grep -c right "$dir/out")" "^0 .*kretprobe: $calls hits, $calls returns, 0 missed, 0 without instance 1\$"

# No thread that could be asked: all are at work.
"$DPROBES" insmod "$MODULES/probe.so" kind=kprobe symbol=work -- "$VICTIMS/busy" 3 >"$dir/out" 2>&1 &
pids+=($!)
found() { victim=$(pgrep -P "$1" -x busy) && grep -qs memfd:dprobes "/proc/$victim/maps"; }
poll 10 found $!
begun=$EPOCHREALTIME
out=$("$DPROBES" stat libc.so.6:malloc -p "$victim" 2>&1)
like "no thread can be asked" "$? $out" '^1 dprobes: .*(sleeps|asleep|busy)'
is "which is said soon" "$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a < 3) }')" 1
kill -TERM "$victim"
plan
