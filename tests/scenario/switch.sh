#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# dprobes disable and enable: probes that a running tool has, from outside.
. tests/scenario/lib.sh

list() { "$DPROBES" list "$@" -p "$victim"; }
has() { # LINES: this many probes that are not disabled, or more
	[ "$(list | grep -cv 'DISABLED\|PENDING')" -ge "$1" ]
}
probe() { # LINES VERB SPEC...: a tool at the victim, with so many probes; sets $tool
	local n=$1
	shift
	"$DPROBES" "$@" -p "$victim" >"$dir/counts" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 has "$n"
}
ask() { # VERB SPEC...: sets status, err
	err=$("$DPROBES" "$@" -p "$victim" 2>&1)
	status=$?
}
# An asker on a busy machine may be told that the tool does not answer, and tries again.
answers() { ask "$@"; ! [[ $err == *"does not answer"* ]]; }
order() { poll 10 answers "$@"; }
flags() { list | awk -v f="$1+0x0" -v k="$2" '$3 == f && $2 == k { print $NF ~ /^\[/ ? $NF : "" }'; }
hits_of() { list -v | awk -v f="$1+0x0" -v k="$2" '$3 == f && $2 == k { sub(/ hits.*/, ""); print $NF }'; }
counted() { awk -v n="$1" '$NF ~ ":" n "$" { print $1 }' "$dir/counts"; }
addr_of() { printf '%d' "0x$(list | awk -v f="$1+0x0" '$3 == f { print $1; exit }')"; }
bytes() { # of a function in the victim, a few behind its end too
	dd if="/proc/$victim/mem" bs=16 count=1 iflag=skip_bytes skip="$(address "$1")" 2>/dev/null | od -An -tx1
}
address() { # FUNCTION [VICTIM]
	local name=${2:-switched} base at
	base=$((16#$(awk -F- "/$name\$/ { print \$1; exit }" "/proc/$victim/maps")))
	at=$((16#$(nm "$VICTIMS/$name" | awk -v f="$1" '$3 == f { print $1 }')))
	echo $((at < 0x400000 ? base + at : at))
}
all_bytes() { bytes sw_fast; bytes sw_other; bytes sw_inner; bytes sw_outer; bytes sw_wait; }

for arm in interior quiesce trap; do
	export DPROBES_ARM=$arm
	obey "$VICTIMS/switched"
	virgin=$(all_bytes)
	probe 3 stat sw_fast sw_other sw_inner
	bid c
	order disable sw_fast
	is "$arm: disabled" "$status $err $(flags sw_fast k)" "0  [DISABLED]"
	is "$arm: its text is as it was" "$(bytes sw_fast)" "$(head -n 1 <<<"$virgin")"
	is "$arm: the others are not" "$([ "$(all_bytes)" = "$virgin" ]; echo $?)" 1
	bid c
	is "$arm: it counts nothing, the others do" "$(hits_of sw_fast k) $(hits_of sw_other k)" "100 200"
	order disable 'sw_*'
	bid c
	is "$arm: a glob" "$status $(hits_of sw_fast k) $(hits_of sw_other k) $(hits_of sw_inner k)" "0 100 200 200"
	is "$arm: all text is as it was" "$(all_bytes)" "$virgin"
	order enable sw_other "$(list | grep sw_fast)"
	bid c
	is "$arm: two are enabled, one by its line of the list" \
		"$status $(hits_of sw_fast k) $(hits_of sw_other k) $(hits_of sw_inner k)" "0 200 300 200"
	order enable sw_other
	is "$arm: enabled twice" "$status $err" "0 "
	order disable sw_inner
	is "$arm: disabled twice" "$status $err" "0 "
	interrupt "$tool"
	is "$arm: the tool" "$? $(counted sw_fast) $(counted sw_other) $(counted sw_inner)" "0 200 300 200"
	is "$arm: it says what was done to it" "$(grep -c 'from outside$' "$dir/talk")" 5
	is "$arm: it leaves all text as it was" "$(all_bytes)" "$virgin"

	# Return probes: the entry and all exits. Of sw_wait()'s calls #1 is inside when it is disabled,
	# #2 when it is enabled: at the same place on the stack. #3 is seen, #4 is inside at the end.
	probe 2 stat r:sw_wait r:sw_outer
	bid w c
	is "$arm: a return probe counts" "$(hits_of sw_wait r) $(hits_of sw_outer r)" "1 100"
	order disable sw_wait
	like "$arm: as an entry probe it is not there" "$status $err" "^1 dprobes: process $victim has no probe at sw_wait;"
	order disable r:sw_wait
	is "$arm: a return probe is disabled" "$status $(flags sw_wait r)" "0 [DISABLED]"
	is "$arm: entry and exits are as they were" "$(bytes sw_wait)" "$(tail -n 1 <<<"$virgin")"
	bid w
	order enable sw_wait%return
	is "$arm: a return probe is enabled" "$status $err" "0 "
	bid w w
	interrupt "$tool"
	is "$arm: its account balances" "$? $(grep -c 'does not balance' "$dir/talk")" "0 0"
	is "$arm: its hits" "$(counted sw_wait) $(counted sw_outer)" "3 100"
	like "$arm: and how they ended" "$(cat "$dir/talk")" 'calls: 101 returned, 2 still inside, 2 entered before;'
	is "$arm: the text after all that" "$(all_bytes)" "$virgin"
	dismiss q
	is "$arm: the program found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
done
unset DPROBES_ARM

# trace: a call that was inside has no line.
obey "$VICTIMS/switched"
probe 1 trace 'r:sw_wait(retval)'
bid w
order disable 'r:sw_wait(retval)'
bid w
order enable r:sw_wait
bid w w
interrupt "$tool"
is "trace has lines of calls that were seen from end to end" "$? $(grep -c '= 119 ' "$dir/counts")" "0 1"

# Two probes at an address, and two in one jump.
probe 2 stat sw_fast 'sw_fast if rdi == 3'
order disable sw_fast
bid c
is "both probes at an address" "$status $(hits_of sw_fast k | xargs)" "0 0 0"
interrupt "$tool"

# Two sites in one jump, which stays for the other one.
second=$((16#$(objdump -d --disassemble=sw_outer "$VICTIMS/switched" | awk '/^ .*:\t/ { sub(":", "", $1); print $1 }' | sed -n 2p) -
	16#$(nm "$VICTIMS/switched" | awk '$3 == "sw_outer" { print $1 }')))
if [ $second -lt 5 ]; then
	probe 2 stat sw_outer "sw_outer+$second"
	bid c
	order disable "sw_outer+$second"
	bid c
	is "a site inside the jump of another is disabled" \
		"$status $err $(list -v | grep -c '\[DISABLED\].* 100 hits') $(list -v | grep -c '\[OPTIMIZED\].* 200 hits')" "0  1 1"
	order enable "sw_outer+$second"
	order disable sw_outer
	bid c
	is "the site that began the jump is disabled" \
		"$status $err $(list -v | grep -c '\[DISABLED\].* 200 hits') $(list -v | grep -c '\[OPTIMIZED\].* 200 hits')" "0  1 1"
	order disable sw_outer "sw_outer+$second"
	bid c
	is "both disabled" "$status $(list -v | grep -c '\[DISABLED\].* 200 hits') $(bytes sw_outer)" \
		"0 2 $(sed -n 4p <<<"$virgin")"
	order enable sw_outer "sw_outer+$second"
	bid c
	is "both enabled" "$status $(list -v | grep -c '\[OPTIMIZED\].* 300 hits')" "0 2"
	interrupt "$tool"
else
	skip "a site inside the jump of another" "the compiler's first instruction is too long"
fi

# Programs.
cat >"$dir/fast.dp" <<'P'
name = switched
modtype = user
major = 1
offset = sw_fast
minor = 7
push r,rdi
log 1
P
probe 1 run --json "$dir/fast.dp"
bid c
order disable sw_fast
is "the probe of a program" "$status $(flags sw_fast d)" "0 [DISABLED]"
bid c
order enable sw_fast
bid c
interrupt "$tool"
is "its records" "$? $(grep -c '"minor":7' "$dir/counts")" "0 200"

probe 2 stat r:sw_outer sw_other
list --json >"$dir/before"
order disable r:sw_outer
list --json >"$dir/after"
is "JSON has the flag, too" "$(grep -c '"mode":"off".*"flags":"\[DISABLED\]"' "$dir/after")" 1
is "of one of them" "$(grep -c DISABLED "$dir/before") $(wc -l <"$dir/after")" "0 2"

# What cannot be done.
order disable nothing_like_this
like "an unknown function" "$status $err" '^1 dprobes: no function "nothing_like_this"'
order disable main
like "a function without a probe" "$status $err" "^1 dprobes: process $victim has no probe at main; dprobes list -p $victim shows those it has"
order disable sw_other main
is "one of two has none, so nothing changes" "$status $(flags sw_other k)" "1 [OPTIMIZED]"
order disable 'a:b:c'
is "a bad spec" "$status" 2
err=$("$DPROBES" disable sw_other 2>&1)
is "without -p" "$?" 2
err=$("$DPROBES" disable -p "$victim" 2>&1)
is "without a spec" "$?" 2
err=$("$DPROBES" disable f -p $$ 2>&1)
is "a process without probes" "$? $err" "1 dprobes: process $$ is not probed"

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	install -m 755 "$DPROBES" "$dir/dprobes"
	chmod 755 "$dir"
	err=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/dprobes" disable sw_other -p "$victim" 2>&1)
	like "without the right to trace" "$? $err" "^1 dprobes: no permission to probe process $victim"
	is "nothing has changed" "$(flags sw_other k)" "[OPTIMIZED]"
else
	skip "without the right to trace" "needs root and setpriv"
fi

# The right to trace the process is not enough.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	mine=$victim
	install -m 755 "$VICTIMS/live" "$dir/live"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/live" spin 0 >"$dir/out.live" 2>&1 &
	victim=$!
	pids+=("$victim")
	poll 10 test -s "$dir/out.live"
	"$DPROBES" stat -q victim_function -p "$victim" >/dev/null &
	theirs=$!
	pids+=("$theirs")
	poll 10 has 1
	err=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/dprobes" disable victim_function -p "$victim" 2>&1)
	is "without the right to trace the tool" "$? $err" \
		"1 dprobes: process $victim is probed by process $theirs, which obeys only those who may trace that process, too"
	is "nothing has changed there" "$(flags victim_function k)" "[OPTIMIZED]"
	interrupt "$theirs"
	kill -KILL "$victim"
	victim=$mine
else
	skip "without the right to trace the tool" "needs root and setpriv"
fi

# Askers and tools that die, orders that make no sense.
orders() { "$TOOLS/orders" "$tool" "$@"; }
state_is() { [ "$(orders state)" = "$1" ]; }
at=$(printf '%x' "$(addr_of sw_other)")
orders half "$victim" "$at"
is "an asker that died half-way" "$(orders state) $(flags sw_other k)" "idle [OPTIMIZED]"
orders leave "$victim" "$at"
poll 10 state_is done
is "one that died behind its order" "$(orders answer) $(flags sw_other k)" "0  [DISABLED]"
order enable sw_other
is "the next one" "$status $err $(flags sw_other k)" "0  [OPTIMIZED]"
orders withdrawn "$victim" "$at"
poll 10 state_is done
is "an order that was withdrawn" "$(orders answer) $(flags sw_other k)" "-125  [OPTIMIZED]"
orders huge "$victim" "$at"
poll 10 state_is done
like "more points than there can be" "$(orders answer)" '^-22 the order is damaged'
orders verb "$victim" "$at"
poll 10 state_is done
like "an unknown verb" "$(orders answer)" '^-22 the order is damaged'
orders leave $$ "$at"
poll 10 state_is done
like "another process" "$(orders answer)" "^-3 this dprobes does not probe process $$"
orders leave "$victim" "123456"
poll 10 state_is done
like "another address" "$(orders answer)" '^-11 the probes of process .* have changed meanwhile'

kill -STOP "$tool"
poll 10 stopped "$tool"
ask disable sw_other
like "a tool that does not answer" "$status $err" "^1 dprobes: the dprobes that probes process $victim .*does not answer, and nothing has changed"
ask disable sw_other
like "still not" "$status $err" 'does not answer, and nothing has changed'
kill -CONT "$tool"
poll 10 state_is done
is "and nothing has, when it goes on" "$(flags sw_other k)" "[OPTIMIZED]"

# Two askers at once, again and again.
turn() { # SPEC
	local i verb
	for i in 1 2 3 4 5 6 7 8 9 10; do
		for verb in disable enable; do
			poll 10 answers $verb "$1"
			echo "$status $err"
		done
	done
}
turn r:sw_outer >"$dir/first" &
first=$!
turn sw_other >"$dir/second"
wait $first
is "two askers" "$(sort -u "$dir/first" "$dir/second" | xargs)" "0"
is "both probes are armed" "$(list | grep -c DISABLED)" 0
bid c
interrupt "$tool"
is "the tool" "$?" 0
is "its account balances" "$(grep -c 'does not balance' "$dir/talk")" 0

probe 1 stat sw_fast
kill -STOP "$tool"
poll 10 stopped "$tool"
"$DPROBES" disable sw_fast -p "$victim" 2>"$dir/err" &
asker=$!
poll 10 state_is asked
kill -KILL "$tool"
wait "$tool" 2>/dev/null
wait $asker
like "the tool is killed with an order" "$? $(cat "$dir/err")" "^1 dprobes: the dprobes that probe(d|s) process $victim "
ask disable sw_fast
like "and then it is gone" "$status $err" "^1 dprobes: the dprobes that probed process $victim .* has ended"
"$DPROBES" detach -p "$victim" 2>/dev/null
is "what it left is taken out" "$(all_bytes)" "$virgin"
dismiss q
is "the program found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"

# Libraries come and go: what is disabled stays so.
obey "$VICTIMS/plugin"
probe 1 stat libm.so.6:cbrt libc.so.6:free
order disable libc.so.6:free
bid open call
is "a probe that is disabled when another one's library comes" "$(flags free k) $(flags cbrt k)" "[DISABLED] [OPTIMIZED]"
order disable libm.so.6:cbrt
bid close open call
is "a probe whose library goes and comes" "$(flags cbrt k) $(hits_of cbrt k)" "[DISABLED] 6"
order enable libm.so.6:cbrt
bid call
is "it counts on" "$status $(flags cbrt k) $(hits_of cbrt k)" "0 [OPTIMIZED] 12"
interrupt "$tool"
is "the tool" "$?" 0

# Two sites in one jump of such a library
lib=$(awk '/libm\.so\.6$/ { print $6; exit }' "/proc/$victim/maps")
second=$(objdump -d --no-show-raw-insn --start-address="0x$(nm -D "$lib" | awk '$3 ~ /^cbrt@/ { print $1 }')" "$lib" |
	awk '/^ .*:\t/ { sub(":", "", $1); a[++n] = $1 } n == 2 { print a[1], a[2]; exit }')
second=$((16#${second#* } - 16#${second% *}))
if [ $second -lt 5 ]; then
	probe 2 stat libm.so.6:cbrt "libm.so.6:cbrt+$second"
	bid call
	order disable "libm.so.6:cbrt+$second"
	bid call
	order enable "libm.so.6:cbrt+$second"
	bid call
	is "a site inside a jump of a library that may go" \
		"$status $err $(list -v | grep -c 'GONE') $(list -v | grep -oE '[0-9]+ hits' | xargs)" "0  0 18 hits 12 hits"
	interrupt "$tool"
else
	skip "a site inside a jump of a library that may go" "the compiler's first instruction is too long"
fi
echo quit >&5
exec 5>&-
wait "$victim"
is "the program is right" "$? $(grep -c wrong "$dir/out")" "0 0"

# Where a filter forbids breakpoints, jumps are written while no thread runs.
for mode in none strict; do
	start "$VICTIMS/filtered" $mode
	before=$("$TOOLS/text-sum" "$victim")
	probe 2 stat victim_function r:victim_function
	order disable 'victim_f*' 'r:victim_f*'
	is "filter $mode: disabled" "$status $err $(list | grep -c DISABLED)" "0  2"
	counts=$(list -v | grep -oE '[0-9]+ hits' | xargs)
	is "filter $mode: the text is as it was" "$("$TOOLS/text-sum" "$victim" | grep -F /filtered)" \
		"$(grep -F /filtered <<<"$before")"
	order enable victim_function r:victim_function
	is "filter $mode: enabled" "$status $err $(list | grep -c OPTIMIZED)" "0  2"
	counts_more() { [ "$(list -v | grep -oE '[0-9]+ hits' | xargs)" != "$counts" ]; }
	is "filter $mode: and counted again" "$(poll 10 counts_more; echo $?)" 0
	interrupt "$tool"
	is "filter $mode: its account balances" "$? $(grep -c 'does not balance' "$dir/talk")" "0 0"
	is "filter $mode: the text is as it was at the end" "$("$TOOLS/text-sum" "$victim")" "$before"
	kill -KILL "$victim"
	wait "$victim" 2>/dev/null
done

# Probes that are no command's.
LD_PRELOAD=$PWD/build/libdprobes.so.1 start "$VICTIMS/live" work 2
"$DPROBES" insmod "${MODULES:-build/tests/modules}/probe.so" kind=kprobe -p "$victim"
order disable victim_function
is "a process that probes itself" "$status $err" \
	"1 dprobes: process $victim probes itself; dprobes enabled 0 -p $victim switches all its probes off"
kill -KILL "$victim"
wait "$victim" 2>/dev/null
start "$VICTIMS/live" work 2
"$TOOLS/upcount" "$victim" "$(printf 0x%x "$(address victim_function live)")" 60 >/dev/null 2>&1 &
tool=$!
pids+=("$tool")
poll 10 has 1
order disable victim_function
is "Uprobes" "$status $err" \
	"1 dprobes: what probes process $victim (process $tool) takes no orders: it is no dprobes command, another version, or in another pid namespace"
kill -KILL "$tool" "$victim"
wait "$tool" "$victim" 2>/dev/null

# A process tree: each process by itself, and children are born with what is disabled.
rm -f "$dir/in"
mkfifo "$dir/in"
: >"$dir/out"
"$DPROBES" stat -v -f sw_fast r:sw_fast r:sw_wait sw_other -- "$VICTIMS/switched" <"$dir/in" >"$dir/out" 2>"$dir/talk" &
tool=$!
pids+=("$tool")
exec 5>"$dir/in"
poll 10 grep -q ready "$dir/out"
lines=1
victim=$(pgrep -P "$tool" | head -n 1)
poll 10 has 4
bid f c
child=$(awk '/^child/ { print $2 }' "$dir/out" | tail -n 1)
of_child() { victim=$child "$@"; }
child_hit() { [ "$(of_child hits_of sw_fast k)" -ge 3 ]; }
poll 10 child_hit
of_child order disable sw_fast
is "-f: disabled in the child" "$status $err $(of_child flags sw_fast k) $(flags sw_fast k)" "0  [DISABLED] [OPTIMIZED]"
bid c
is "-f: its parent counts on" "$(hits_of sw_fast k)" 200
kill -KILL "$child"
order disable sw_fast
is "-f: disabled in the parent" "$status $err $(flags sw_fast k)" "0  [DISABLED]"
bid f c
# The table of the child that was killed may be among the lines.
children() { [ "$(grep -c '^child' "$dir/out")" -eq "$1" ]; }
poll 10 children 2
child=$(awk '/^child/ { print $2 }' "$dir/out" | tail -n 1)
child_returns() { [ "$(of_child hits_of sw_fast r)" -ge 3 ]; }
poll 10 child_returns
is "-f: a child is born with it" "$(of_child flags sw_fast k) $(of_child flags sw_fast r)" "[DISABLED] [OPTIMIZED]"
is "-f: and never counts" "$(of_child hits_of sw_fast k)" 0
of_child order enable sw_fast
is "-f: and counts when it is enabled" "$status $err" "0 "
poll 10 child_hit
is "-f: what it counts" "$(of_child child_hit; echo $?) $(hits_of sw_fast k)" "0 200"
kill -KILL "$child"
bid w
order disable r:sw_wait
bid w
order enable r:sw_wait
bid w w
echo q >&5
exec 5>&-
wait "$tool"
status=$?
is "-f: the account balances" "$(grep -c 'does not balance' "$dir/talk") $(grep -o '[0-9]* still inside' "$dir/talk" | tail -n 1)" "0 2 still inside"
is "-f: the command's own status" "$status $(grep -c '^right' "$dir/out")" "0 1"
plan
