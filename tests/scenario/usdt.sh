#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Static tracepoints: what is listed is what readelf and gdb find; arguments of all forms are what the program
# itself says; semaphores are raised and lowered, whatever becomes of the tool, of libraries and of children;
# hits of Debian's python are those that bpftrace counts.
. tests/scenario/lib.sh

victim_bin=$VICTIMS/tracepoints

# The notes, as others list them: PROVIDER:NAME for each place
notes() { readelf -nW "$1" | grep -oE '(Provider|Name): .*' | awk '/^Provider:/ { p = $2 } /^Name:/ { print "usdt:" p ":" $2 }'; }
listed() { "$DPROBES" list "$@" | sed 's/(.*//'; }
is "each tracepoint is listed that readelf lists" "$(listed 'usdt:*' -- "$victim_bin" forms | sort)" \
	"$(notes "$victim_bin" | sort -u)"
is "and each place of it" "$("$DPROBES" list -v 'usdt:*' -- "$victim_bin" forms | grep -c '^usdt:')" "$(notes "$victim_bin" | wc -l)"
is "with the arguments of its note" "$("$DPROBES" list -v 'usdt:*' -- "$victim_bin" forms | sed -n 's/^    arguments: //p' | sort)" \
	"$(readelf -nW "$victim_bin" | sed -n 's/^ *Arguments: \(.\)/\1/p' | sort)"
if command -v gdb >/dev/null; then
	# gdb knows addresses in the file; the program is at one place here.
	start "$victim_bin" rounds
	addresses() { "$DPROBES" list --json 'usdt:*' -p "$victim" | grep -o '"addr":"[^"]*"' | cut -d'"' -f4 | sort; }
	is "at the addresses that gdb has" "$(addresses)" "$(gdb -p "$victim" -batch -ex 'info probes stap' 2>/dev/null |
		awk '$1 == "stap" { print $4 }' | sed 's/^0x0*/0x/' | sort)"
	kill -TERM "$victim"
	wait "$victim"
else
	skip "at the addresses that gdb has" "no gdb"
fi

# Arguments: the program says what they are.
"$DPROBES" trace -v -o "$dir/trace" 'usdt:forms:*' -- "$victim_bin" forms >"$dir/out" 2>"$dir/talk"
is "arguments of all forms are what the program says" "$(cut -d' ' -f5- "$dir/trace")" "$(cat "$dir/out")"
if [ "$(wc -l <"$dir/out")" -ge 24 ]; then ok "of which there are many"; else not_ok "only $(wc -l <"$dir/out") forms"; fi
"$DPROBES" trace --json -q -o "$dir/trace" usdt:forms:s32 -- "$victim_bin" forms >/dev/null
is "JSON has the same" "arg0=$(grep -oE '"arg0":-?[0-9]+' "$dir/trace" | cut -d: -f2)" "$(sed -n 's/^usdt:forms:s32 //p' "$dir/out")"
refused() { # SPEC PATTERN: and the program runs on
	"$DPROBES" trace -q "$1" -- "$victim_bin" forms >"$dir/out" 2>"$dir/err"
	like "$1 is refused" "$? $(tr '\n' ' ' <"$dir/err")" "^2 .*$2.*\\^"
}
refused usdt:forms:strange 'arg1 of usdt:forms:strange is "8@%ymm0" in its note, which is of a form that is not known'
refused 'usdt:forms:strange(arg1)' '"8@%ymm0" in its note'
refused 'usdt:forms:absent(arg1)' '"-4@nowhere\(%rip\)" in its note, which has a symbol'
refused 'usdt:forms:absent(arg2)' '"-4@own@gotpcrel\(%rip\)" in its note'
refused 'usdt:forms:noone(arg0)' '"4@%fs:nobody@tpoff" in its note, which has a symbol'
refused 'usdt:forms:noone(arg1)' '"4@%fs:counter@tpoff" in its note, which has a symbol'
refused 'usdt:forms:s32(arg1)' 'usdt:forms:s32 has 1 argument, from arg0 on'
refused 'usdt:forms:none(arg0)' 'usdt:forms:none has no arguments'
refused 'usdt:forms:reals(farg0)' 'among the others: arg0'
refused 'usdt:forms:s32(what)' 'a value of a tracepoint is arg0'
refused usdt:forms:nowhere 'there is no static tracepoint forms:nowhere'
refused usdt:nowhere:forms:s8 'nowhere'
"$DPROBES" trace -q -o "$dir/trace" 'usdt:forms:strange(arg0)' 'usdt:tracepoints:forms:u8(v=arg0, $arg1:x8, rdi)' -- "$victim_bin" forms >"$dir/out" 2>&1
is "what is known of others is shown" "$(cut -d' ' -f5- "$dir/trace")" \
	"usdt:forms:u8 v=239 \$arg1=0xef rdi=0x0
usdt:forms:strange arg0=1"
conditions() { "$DPROBES" trace -q -o "$dir/trace" "$@" -- "$victim_bin" forms >/dev/null 2>"$dir/err"; wc -l <"$dir/trace"; }
is "conditions compare with signs" "$(conditions 'usdt:forms:s32 if arg0 < 0' 'usdt:forms:u32 if arg0 > 0' 'usdt:forms:reals if arg0 == 1.5 && arg3 > 0' \
	'usdt:forms:s32 if arg0 > 0' 'usdt:forms:s8 if arg0 != -17')" 3

# A program of the language
cat >"$dir/prog.dp" <<'P'
name = tracepoints
modtype = user
major = 7
offset = usdt:forms:s32
	push v,"arg0 < 0"
	log 1
offset = usdt:forms:low
	push v,"arg2"
	log 1
P
"$DPROBES" run --json -q -o "$dir/records" "$dir/prog.dp" -- "$victim_bin" forms >"$dir/out" 2>"$dir/err"
is "a program has the values of a tracepoint, too" "$(grep -oE '"probe":"[^"]*"|[0-9a-f]{16}"' "$dir/records" | tr -d '"' | paste -sd' ')" \
	"probe:usdt:forms:s32 $(printf '0100000000000000') probe:usdt:forms:low $(sed -n 's/^usdt:forms:low.*arg2=\([0-9]*\).*/\1/p' "$dir/out" |
		python3 -c 'print(int(input()).to_bytes(8, "little").hex())')"

# Semaphores
at_of() { "$DPROBES" list -v "usdt:$1" -p "$victim" 2>/dev/null | sed -n 's/^    semaphore: //p' | head -n 1; }
value() { dd if="/proc/${2:-$victim}/mem" bs=1 skip=$(($1)) count=2 status=none 2>/dev/null | od -An -tu2 | tr -d ' '; }
put() { printf "\\x$(printf %02x "$2")\\0" | dd of="/proc/$victim/mem" bs=1 seek=$(($1)) conv=notrunc status=none; }
begin() { # VERB ARGS: at work on the victim, with semaphore $at raised to $1
	local want=$1
	shift
	"$DPROBES" "$@" -o "$dir/counts" -p "$victim" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	raised() { [ "$(value "$at")" = "$want" ]; }
	poll 10 raised
}
start "$victim_bin" rounds
at=$(at_of victim:guarded)
twice=$(at_of victim:twice)
begin 1 stat usdt:victim:guarded usdt:victim:twice 'usdt:victim:plain if arg0 == 1'
is "a semaphore is raised by one, whatever the number of places" "$(value "$at") $(value "$twice")" "1 1"
interrupt $tool
is "and lowered again" "$? $(value "$at") $(value "$twice")" "0 0 0"
# Another tool has it raised all the while, comes and goes.
put "$at" 2
begin 3 stat usdt:victim:guarded
put "$at" 7
interrupt $tool
is "what others hold stays" "$(value "$at")" 6
put "$at" 1
# The tool is killed.
begin 2 stat usdt:victim:guarded
kill -KILL $tool
{ wait $tool; } 2>/dev/null
is "a killed tool leaves it raised" "$(value "$at")" 2
"$DPROBES" detach -p "$victim" 2>"$dir/talk"
is "detach lowers it to what others hold" "$(value "$at")" 1
begin 2 stat usdt:victim:guarded
kill -KILL $tool
{ wait $tool; } 2>/dev/null
put "$at" 1
begin 1 stat usdt:victim:guarded usdt:victim:twice
# The first semaphore had its value before, too; the second says when the tool is ready.
both() { [ "$(value "$at") $(value "$twice")" = "1 1" ]; }
poll 10 both
is "the next tool what a dead one has raised, and raises it again" "$(value "$at")" 1
interrupt $tool
is "then it is what others hold" "$(value "$at")" 0
# dprobes disable and enable
begin 1 stat usdt:victim:guarded usdt:victim:plain
"$DPROBES" disable usdt:victim:guarded -p "$victim" >"$dir/said" 2>&1
is "disabled, it is lowered" "$(value "$at")" 0
"$DPROBES" enable usdt:victim:guarded -p "$victim" >>"$dir/said" 2>&1
is "enabled, raised" "$(value "$at")" 1
interrupt $tool
is "and lowered in the end" "$(value "$at")" 0

# Killed at each step that has to do with semaphores
kill_points=build/tests/dprobes-kill-points
for point in raising raised lowering lowered; do
	for held in 0 3; do
		put "$at" $held
		{ DPROBES_KILL_POINT="semaphores: $point" "$kill_points" stat -q -o /dev/null --duration 10ms -p "$victim" usdt:victim:guarded; } 2>"$dir/err"
		status=$?
		"$DPROBES" detach -p "$victim" 2>"$dir/talk"
		is "killed when $point, with $held held by others: the count is theirs" "$status $(value "$at")" "137 $held"
	done
done
put "$at" 0

# Counts are the program's own. It says them at its end.
kill -TERM "$victim"
wait "$victim"
: >"$dir/out"
"$DPROBES" stat --json -o "$dir/counts" usdt:victim:guarded usdt:victim:twice usdt:victim:plain -- "$victim_bin" rounds >"$dir/out" 2>"$dir/err" &
tool=$!
pids+=("$tool")
poll 10 grep -q begun "$dir/out"
sleep 0.5
kill -TERM "$(pgrep -P "$tool")"
wait "$tool"
sums() { awk -F'[:,}]' '{ for (i = 1; i < NF; i++) if ($i ~ /"hits"/) hits = $(i + 1); n = $0 ~ /guarded/ ? "g" : $0 ~ /twice/ ? "t" : "p"; s[n] += hits } END { print "passed", s["g"], s["t"], s["p"], 0 }' "$1"; }
is "hits are the passes that the program counts" "$(sums "$dir/counts")" "$(tail -n 1 "$dir/out")"
is "a tracepoint with two places has a row for each" "$(grep -c twice "$dir/counts")" 2

# A library that comes later, goes, and comes again
if ${CC:-cc} -shared -fPIC -O2 -DLIBRARY -o "$dir/libplugin.so" tests/victims/tracepoints.c 2>"$dir/err"; then
	start "$victim_bin" rounds "$dir/libplugin.so"
	"$DPROBES" stat --json -o "$dir/counts" "usdt:libplugin.so:plugin:called" --pending -p "$victim" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 grep -q 'is pending' "$dir/talk"
	list_has() { "$DPROBES" list -v -p "$victim" | grep -qE "plugin_call.* [1-9][0-9]* hits"; }
	kill -USR1 "$victim"
	poll 10 list_has
	ok "a tracepoint of a library that comes later is hit"
	gone() { ! grep -q libplugin "/proc/$victim/maps"; }
	kill -USR2 "$victim"
	poll 10 gone
	kill -USR1 "$victim"
	there() { grep -q libplugin "/proc/$victim/maps"; }
	poll 10 there
	base=$(grep -m 1 libplugin "/proc/$victim/maps" | cut -d- -f1)
	at=$((0x$base + 0x$(nm "$dir/libplugin.so" | awk '/plugin_called_semaphore/ { print $1 }')))
	up() { [ "$(value "$at")" = 1 ]; }
	if poll 10 up; then ok "its semaphore is raised again"; else not_ok "its semaphore is not raised again" "$(value "$at")" "$(cat "$dir/talk")"; fi
	interrupt $tool
	is "and lowered" "$(value "$at")" 0
	kill -TERM "$victim"
	wait "$victim"
	is "each of its passes was counted" "$(grep -o '"hits":[0-9]*' "$dir/counts" | cut -d: -f2)" "$(tail -n 1 "$dir/out" | cut -d' ' -f5)"
	start "$victim_bin" rounds "$dir/libplugin.so"
	"$DPROBES" stat -q -o "$dir/counts" --pending 'usdt:plugin:called' -p "$victim" 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	pending() { "$DPROBES" list -p "$victim" | grep -q PENDING; }
	poll 10 pending
	kill -USR1 "$victim"
	poll 10 list_has
	like "a provider that comes later, too" "$("$DPROBES" list -v -p "$victim")" 'plugin_call.* [1-9][0-9]* hits'
	interrupt $tool
	kill -TERM "$victim"
	wait "$victim"
else
	skip "a library that comes later" "there is no compiler"
fi

# Fork children have their own semaphores.
start "$victim_bin" fork
at=$(at_of victim:guarded)
begin 1 stat usdt:victim:guarded usdt:victim:plain
kill -USR1 "$victim"
poll 10 grep -q '^child' "$dir/out"
child=$(sed -n 's/^child \([0-9]*\)$/\1/p' "$dir/out")
low() { [ "$(value "$at" "$child")" = 0 ]; }
if poll 10 low; then ok "a fork child lowers its copy"; else not_ok "a fork child's copy stays raised" "$(value "$at" "$child")"; fi
is "its parent's stays raised" "$(value "$at")" 1
interrupt $tool
kill -TERM "$child"
kill -TERM "$victim"
wait "$victim"
# With -f, it is probed as its parent is.
start "$victim_bin" fork
at=$(at_of victim:guarded)
begin 1 stat -f --json usdt:victim:guarded
kill -USR1 "$victim"
poll 10 grep -q '^child' "$dir/out"
child=$(sed -n 's/^child \([0-9]*\)$/\1/p' "$dir/out")
sleep 0.3
is "a followed child's stays raised, by one" "$(value "$at" "$child")" 1
kill -TERM "$child"
poll 10 grep -q '^child passed' "$dir/out"
interrupt $tool
hits=$(grep "\"pid\":$child" "$dir/counts" | grep -o '"hits":[0-9]*' | cut -d: -f2)
is "and its passes are counted" "$hits" "$(sed -n 's/^child passed \([0-9]*\) .*/\1/p' "$dir/out")"
is "both are lowered in the end" "$(value "$at")" 0
kill -TERM "$victim"
wait "$victim"

# An exec has another program's semaphores.
"$DPROBES" stat -f --json -q -o "$dir/counts" usdt:victim:guarded -- sh -c "exec timeout -s TERM 0.5 $victim_bin rounds" >"$dir/out" 2>"$dir/err"
is "what a followed process executes is probed, and its semaphores are raised" \
	"$(grep tracepoints "$dir/counts" | grep -o '"hits":[0-9]*' | cut -d: -f2)" "$(sed -n 's/^passed \([0-9]*\) .*/\1/p' "$dir/out")"

# A process that probes itself: the tool is a guest of the library's engine.
export LD_PRELOAD=$PWD/build/libdprobes.so.1
start "$victim_bin" rounds
unset LD_PRELOAD
at=$(at_of victim:guarded)
"$DPROBES" insmod "${MODULES:-build/tests/modules}/probe.so" kind=kprobe -p "$victim" >"$dir/said" 2>&1
begin 1 stat usdt:victim:guarded
interrupt $tool
is "in a process that probes itself, it is raised and lowered" "$(value "$at")" 0
like "and hits are counted" "$(cat "$dir/counts")" '[1-9][0-9]* +0  (jump|trap)  usdt:victim:guarded'
begin 1 stat usdt:victim:guarded
kill -KILL $tool
{ wait $tool; } 2>/dev/null
"$DPROBES" detach -p "$victim" 2>"$dir/talk"
is "there, too, detach lowers what a killed tool has raised" "$(value "$at")" 0
kill -TERM "$victim"
wait "$victim"

# Of libraries: libstdc++ has some in Debian.
so=/usr/lib/x86_64-linux-gnu/libstdc++.so.6
if [ -e $so ] && readelf -nW $so | grep -q 'Name: throw'; then
	cat >"$dir/throws.cc" <<'C'
#include <cstdio>
int main()
{
	int caught = 0;
	for (int i = 0; i < 100; i++)
		try { throw i; } catch (int) { caught++; }
	printf("%d\n", caught);
}
C
	${CXX:-c++} -o "$dir/throws" "$dir/throws.cc"
	"$DPROBES" stat --json -q -o "$dir/counts" usdt:libstdcxx:throw usdt:libstdc++.so.6:catch -- "$dir/throws" >"$dir/out" 2>"$dir/err"
	is "libstdc++ throws and catches what the program counts" "$(grep -o '"hits":[0-9]*' "$dir/counts" | cut -d: -f2 | sort -u)" "$(cat "$dir/out")"
else
	skip "libstdc++ throws and catches" "it has no tracepoints here"
fi

# Debian's python: the same program, with the same tracepoints probed, here and by bpftrace
python=/usr/bin/python3.11
cat >"$dir/counts.py" <<'P'
def f(x):
    return x + 1
def g(n):
    t = 0
    for i in range(n):
        t = f(t)
    return t
g(1000)
import gc; gc.collect()
P
if [ -x $python ] && readelf -nW $python | grep -q 'Provider: python'; then
	is "python's are listed as readelf does" "$(listed 'usdt:*' -- $python -I -S -B "$dir/counts.py" | sort)" "$(notes $python | sort -u)"
	"$DPROBES" stat --json -q -o "$dir/counts" usdt:python:line usdt:python:function__entry usdt:python:function__return usdt:python:gc__start \
		-- $python -I -S -B "$dir/counts.py" 2>"$dir/err"
	ours=$(sed 's/.*"usdt:python:\([a-z_]*\)".*"hits":\([0-9]*\).*/\1 \2/' "$dir/counts" | sort)
	"$DPROBES" trace -q -o "$dir/trace" 'usdt:python:line(arg2)' usdt:python:function__entry usdt:python:function__return usdt:python:gc__start \
		-- $python -I -S -B "$dir/counts.py" 2>"$dir/err"
	lines=$(awk '/python:line/ { sub(/.*arg2=/, ""); n += $1 } END { print "lines", n }' "$dir/trace")
	one() { echo "usdt:$python:python:$1 { @$1 = count(); ${2:-} }"; }
	if [ "$(id -u)" = 0 ] && command -v bpftrace >/dev/null &&
		theirs=$(timeout 60 bpftrace -e "$(one line '@lines = sum(arg2);') $(one function__entry) $(one function__return) $(one gc__start)" \
			-c "$python -I -S -B $dir/counts.py" 2>"$dir/err" | sed -n 's/^@\([a-z_]*\): /\1 /p' | sort) && [ -n "$theirs" ]; then
		is "hits and arguments of python are those that bpftrace sees" "$(printf '%s\n' "$ours" "$lines" | sort)" "$theirs"
	else
		skip "hits of python are those that bpftrace counts" "there is no bpftrace that works"
	fi
else
	skip "python's tracepoints" "this python has none"
fi
plan
