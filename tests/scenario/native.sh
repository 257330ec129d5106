#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Conditions and programs that run in the detour: what they count, what they leave, what comes of
# memory that cannot be read, and what changes while they run. The program counts for itself.
. tests/scenario/lib.sh

victim_bin=$VICTIMS/conditions
times=${TIMES:-100000}
said() { sed -n "s/^.*$1 \([0-9]*\).*/\1/p" "$dir/out"; }
# The program five: how often p leads to 5.
cat >"$dir/five.dp" <<END
name = "$(realpath "$victim_bin")"
modtype = user
major = 1
jmpmax = 32
logmax = 64
vars = 1
offset = asked
minor = 1
	push r,rsi
	push mem,u64
	push 5
	sub
	jnz no
	inc lv,0
no:	exit
END
# low WHAT THREADS HOW...: a condition on a register; five: the program
low() {
	local name=$1
	shift
	"$DPROBES" stat --json -o "$dir/counts" 'asked if arg0:u8 < 4 || arg0:u8 >= 16 && arg0:u8 < 20' \
		-- "$victim_bin" "$@" >"$dir/out" 2>"$dir/err"
	is "$name: status" $? 0
	is "$name: as many as the program" "$(sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/counts")" "$(said low)"
	is "$name: as many hits as calls" "$(hits_said)" "$(said calls)"
}
# What the summary says
hits_said() { sed -n 's/.*: \([0-9]*\) hits.*/\1/p' "$dir/err"; }
five() {
	local name=$1
	shift
	"$DPROBES" run --json -o "$dir/records" "$dir/five.dp" -- "$victim_bin" "$@" >"$dir/out" 2>"$dir/err"
	is "$name: status" $? 0
	is "$name: as many as the program" "$(sed -n 's/.*lv\[0\] = .*(\([0-9]*\))$/\1/p' "$dir/err")" "$(said five)"
	is "$name: as many hits as calls" "$(hits_said)" "$(said calls)"
}
# How many records say that an address was bad
wrong() { grep -c EX_INVALID_ADDR "$dir/records"; }

low "one thread" 1 "$times"
low "four threads" 4 "$times"
low "without rseq" 2 20000
DPROBES_NATIVE=0 low "in the interpreter" 2 20000
for n in 1 2 5 9 14; do
	DPROBES_NATIVE=leave:$n low "left at instruction $n" 2 20000
done
GLIBC_TUNABLES=glibc.pthread.rseq=0 low "without rseq" 2 20000

five "memory" 4 "$times"
is "nothing was wrong" "$(wrong)" 0
five "memory, and signals that call" 2 "$times" signals
five "memory that is none" 2 6400 bad
is "each of them is a record" "$(wrong)" 200
five "… and the program's own faults" 2 6400 bad faults
five "… while the signals are blocked" 2 6400 bad blocks
DPROBES_NATIVE=0 five "the same in the interpreter" 2 6400 bad faults
plain=$("$victim_bin" 2 6400 bad faults)
is "the program says what it says without probes" "$(cat "$dir/out")" "$plain"

# A record that waits for its instruction, which accesses memory: one for each that came back, none
# for a fault
for what in reads writes; do
	cat >"$dir/$what.dp" <<END
name = "$(realpath "$victim_bin")"
modtype = user
major = 1
jmpmax = 32
logmax = 64
offset = $what
minor = 1
	push r,rdi
	push 7
	and
	push 7
	sub
	jnz no
	push r,rdi
	log 1
no:	exit
END
	for how in "" "bad faults"; do
		for native in 1 0 leave:4; do
			# shellcheck disable=SC2086
			DPROBES_NATIVE=$native "$DPROBES" run --json -o "$dir/records" "$dir/$what.dp" -- "$victim_bin" 2 6400 $what $how \
				>"$dir/out" 2>"$dir/err"
			is "records of what $what ($native${how:+, $how}): status" $? 0
			is "records of what $what: as many as came back" "$(wc -l <"$dir/records")" "$(said read)"
		done
	done
done

# Children: their own account
"$DPROBES" stat -f --json -o "$dir/counts" 'asked if arg0 < 100' -- "$victim_bin" 2 1000 forks >"$dir/out" 2>"$dir/err"
is "a child counts for itself" "$(sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/counts" | sort -n | tr '\n' ' ')" "100 200 "

# Two probes at one place: neither sees what the other one counts.
"$DPROBES" stat --json -o "$dir/counts" 'asked if arg0 < 100' asked 'asked if arg0 >= 100' -- "$victim_bin" 2 1000 >"$dir/out" 2>"$dir/err"
is "several conditions at one place" "$(sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/counts" | tr '\n' ' ')" "200 2000 1800 "

# What is asked for wrongly
DPROBES_NATIVE=leave:0 "$DPROBES" stat asked -- "$victim_bin" 1 1 >/dev/null 2>"$dir/err"
like "a value that makes no sense" "$? $(cat "$dir/err")" '^[12] dprobes: DPROBES_NATIVE is "leave:0"; it can be 0, 1 or leave:N$'

# At a running program, again and again; and the tool is killed
"$victim_bin" 2 200000000000 signals bad >"$dir/out" 2>"$dir/err" &
victim=$!
pids+=("$victim")
until [ "$(realpath "/proc/$victim/exe")" = "$(realpath "$victim_bin")" ]; do sleep 0.01; done
bad=0 counted=0
for ((i = 0; i < ${CYCLES:-20}; i++)); do
	"$DPROBES" stat --json -o "$dir/counts" --duration 30ms 'asked if arg0:u8 < 4' -p "$victim" 2>"$dir/said" || bad=$((bad + 1))
	counted=$((counted + $(sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/counts")))
	"$DPROBES" run --json -o "$dir/records" --duration 30ms "$dir/five.dp" -p "$victim" 2>"$dir/said" || bad=$((bad + 1))
done
is "attached to while it runs, and detached" "$bad" 0
like "and hit meanwhile" "$counted" '^[1-9]'
for ((i = 0; i < 5; i++)); do
	"$DPROBES" stat -o "$dir/counts" 'asked if arg0:u8 < 4' -p "$victim" 2>"$dir/said" &
	tool=$!
	pids+=("$tool")
	poll 30 been_hit asked
	kill -KILL $tool
	wait $tool 2>/dev/null
done
"$DPROBES" detach -p "$victim" 2>"$dir/said"
is "the tool killed five times, and its remains taken out" "$?" 0
kill -TERM "$victim"
wait "$victim"
like "the program comes to its end, right" "$? $(cat "$dir/out")" '^0 calls [0-9]* low [0-9]* five [0-9]* read 0$'
plan
