#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Watchpoints: exact counts, values and places against a program that goes step by step; threads,
# children, exec; debug registers that are taken. [defect 7]
. tests/scenario/lib.sh
. tests/scenario/lib-registers.sh

if ! "$DPROBES" stat -q -o /dev/null w:watched -- "$VICTIMS/watched" ways 2>"$dir/err"; then
	skip "watchpoints" "$(head -n 1 "$dir/err")"
	plan
	exit
fi

# An emulator may report one of several registers at one place.
at_once=4
"$TOOLS/together" || at_once=1

begin() { # sets $victim, which reads commands
	rm -f "$dir/in"
	mkfifo "$dir/in"
	: >"$dir/out"
	"$VICTIMS/watched" <"$dir/in" >"$dir/out" 2>&1 &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/in"
	poll 10 grep -q ready "$dir/out"
}
answered() { [ "$(wc -l <"$dir/out")" -ge "$1" ]; }
tell() { # COMMAND...: and wait for the answer
	local n word
	for word; do
		n=$(wc -l <"$dir/out")
		echo "$word" >&5
		poll 60 answered $((n + 1))
	done
}
written() { tail -n 1 "$dir/out"; }
end() { exec 5>&-; wait "$victim"; }

# Processes that hold perf events; a dprobes has switched its events on when it begins to wait.
holds() { ls -l "/proc/$1/fd" 2>/dev/null | grep -c 'perf_event'; }
traces() { ! grep TracerPid "/proc/$victim/task/"*/status 2>/dev/null | grep -qv "[^0-9]$1\$"; }
is_watching() {
	if by_registers; then traces "$1"; else [ "$(holds "$1")" -ge "$2" ]; fi && asleep "$1"
}
watch() { # EVENTS VERB ARGS...: a tool at the victim, with so many events or more; sets $tool
	local n=$1
	shift
	"$DPROBES" "$@" -p "$victim" >"$dir/counts" 2>"$dir/talk" 5>&- &
	tool=$!
	pids+=("$tool")
	poll 20 is_watching "$tool" "$n"
	sleep 0.1
}
hits_of() { awk -v p="$1" '$NF == p { print $1 }' "$dir/counts"; }
symbol() { nm "$VICTIMS/watched" | awk -v s="$1" '$3 == s { print $1 }'; }

# The oracle: each instruction that changes the variable, found by single steps.
"$TOOLS/watch-steps" "$(symbol main)" "$(symbol watched)" "$VICTIMS/watched" ways >"$dir/steps"
"$DPROBES" trace -q w:watched -- "$VICTIMS/watched" ways >"$dir/trace" 2>"$dir/err"
python3 -c '
import re, sys
for line in open(sys.argv[1]):
    v = dict(re.findall(r"(\w+)=(\S+)", line))
    at = v.get("by") or v["behind"]
    print(v["old"], v["new"], int(at.split("+")[1], 16))' "$dir/trace" >"$dir/told"
is "values, and the instructions that wrote, are those of single steps" \
	"$(diff "$dir/steps" "$dir/told")" ""
like "the oracle saw every way to write" "$(wc -l <"$dir/steps")" '^18$'
is "each time it is certain which instruction it was" "$(grep -c ' by=' "$dir/trace")" 18

# Conditions: 40 by chance, four in a command where that many registers can be at one place, counted by Python over what the oracle saw.
cat >"$dir/conditions.py" <<'PY'
import random, sys
M = (1 << 64) - 1
values = [tuple(int(x, 16) for x in line.split()[:2]) for line in open(sys.argv[1])]
r = random.Random(int(sys.argv[2]))

def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x

def term(): # text, function of (new, old), has it a sign
    k = r.randrange(5)
    name = r.choice(["new", "old"])
    get = (lambda n, o: n) if name == "new" else (lambda n, o: o)
    if k == 0:
        number = r.choice([0, 1, 9, 12, 0x41, 0x4141, 0xff, 1 << 32, r.getrandbits(64)])
        return str(number), lambda n, o: number, None
    if k == 1:
        bits = r.choice([8, 16, 32, 64])
        return f"{name}:s{bits}", lambda n, o: signed(get(n, o), bits), True
    if k == 2:
        bits = r.choice([8, 16, 32, 64])
        return f"{name}:u{bits}", lambda n, o: get(n, o) & ((1 << bits) - 1), False
    if k == 3:
        op, f = r.choice([("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b),
            ("&", lambda a, b: a & b), ("|", lambda a, b: a | b), ("^", lambda a, b: a ^ b)])
        number = r.choice([1, 3, 0xff, 0xf0f0])
        return f"({name} {op} {number})", lambda n, o: f(get(n, o), number) & M, False
    by = r.randrange(64)
    if r.randrange(2):
        return f"({name} >> {by})", lambda n, o: get(n, o) >> by, False
    return f"({name} << {by})", lambda n, o: get(n, o) << by & M, False

def test():
    (a, f, s), (b, g, t) = term(), term()
    op, compare = r.choice([("==", lambda x, y: x == y), ("!=", lambda x, y: x != y), ("<", lambda x, y: x < y),
        ("<=", lambda x, y: x <= y), (">", lambda x, y: x > y), (">=", lambda x, y: x >= y)])
    both = (s is None or s) and (t is None or t) and (s or t)
    fix = (lambda x: signed(x, 64)) if both else (lambda x: x & M)
    return f"{a} {op} {b}", lambda n, o: compare(fix(f(n, o)), fix(g(n, o)))

def condition(depth):
    if not depth or r.randrange(3) == 0:
        return test()
    a, f = condition(depth - 1)
    if r.randrange(4) == 0:
        return f"!({a})", lambda n, o: not f(n, o)
    b, g = condition(depth - 1)
    if r.randrange(2):
        return f"({a}) && ({b})", lambda n, o: f(n, o) and g(n, o)
    return f"({a}) || ({b})", lambda n, o: f(n, o) or g(n, o)

for i in range(40):
    text, f = condition(3)
    print(sum(bool(f(new, old)) for old, new in values), text, sep="\t")
PY
seed=${SEED:-$RANDOM}
python3 "$dir/conditions.py" "$dir/steps" "$seed" >"$dir/conditions"
bad=() specs=() wanted=()
while IFS=$'\t' read -r number condition; do
	specs+=("w:watched if $condition")
	wanted+=("$number")
	[ ${#specs[@]} -eq $at_once ] || continue
	got=$("$DPROBES" stat -q --json "${specs[@]}" -- "$VICTIMS/watched" ways 2>&1 |
		sed 's/.*"hits":\([0-9]*\).*/\1/' | tr '\n' ' ')
	[ "$got" = "${wanted[*]} " ] || bad+=("$(printf '%s; ' "${specs[@]}") got $got wanted ${wanted[*]}")
	specs=() wanted=()
done <"$dir/conditions"
is "conditions hold as often as by what the oracle saw (SEED=$seed)" "${bad[*]:-}" ""
is "there were 40" "$(wc -l <"$dir/conditions")" 40
is "trace shows only hits for which they hold" \
	"$("$DPROBES" trace -q 'w:watched if new == 9 || old == 9' -- "$VICTIMS/watched" ways |
		sed 's/.*new=\([^ ]*\) old=\([^ ]*\) .*/\1 \2/')" $'0x9 0x3\n0x0 0x9'

# Values in types and formats, by what Python makes of the steps
"$DPROBES" trace -q --json 'w:watched(new:s8, low=new:u16, old:d, old, (int)new, new:f64, new:o)' -- \
	"$VICTIMS/watched" ways >"$dir/typed"
is "values are shown in the types that are asked for" "$(python3 -c '
import ctypes, json, struct, sys
def real(x):
    x, = struct.unpack("d", struct.pack("Q", x))
    return x if x == x else "-nan"
for line, step in zip(open(sys.argv[1]), open(sys.argv[2])):
    old, new = (int(x, 16) for x in step.split()[:2])
    want = {"new": ctypes.c_int8(new).value, "low": new & 0xffff, "old": ctypes.c_int64(old).value, "old_2": hex(old),
            "(int)new": ctypes.c_int32(new).value, "new_2": real(new),
            "new_3": "0" + oct(new)[2:] if new else "0"}
    if json.loads(line)["args"] != want:
        print(line, want)' "$dir/typed" "$dir/steps")" ""
is "one of a pointer is shown as what is there" \
	"$("$DPROBES" trace -q 'w:watched_many/8(new:sym)' -- "$VICTIMS/watched" pointer | sed 's/.* new=\([^ ]*\) .*/\1/')" \
	"main+0x0"

# Exact counts: the victim counts what it writes.
begin
both=(w:watched:rw)
[ $at_once -gt 1 ] || both=()
watch $((2 + ${#both[@]})) stat w:watched "${both[@]}" w:watched_write:x
tell 'b 1000' 't 20' 'p 2500' 'f 300' 'k 40'
n=$(written)
interrupt "$tool"
is "the victim has written" "$n" 11200
is "every write by every thread is counted, none of a child's or the kernel's" \
	"$(hits_of w:watched/8)" "$n"
is "the function that writes is entered as often" "$(hits_of w:watched:watched_write:x)" "$n"
if [ $at_once -gt 1 ]; then
	is "accesses are the writes, as long as nothing is read" "$(hits_of w:watched/8:rw)" "$n"
else
	skip "accesses beside writes" "the emulator reports one of several registers at one place"
	watch 1 stat w:watched:rw
	tell 'b 50'
	interrupt "$tool"
	is "accesses are the writes, as long as nothing is read" "$(hits_of w:watched/8:rw)" 50
fi
for spec in w:watched w:watched:rw; do
	watch 1 stat "$spec"
	tell 'r 77'
	interrupt "$tool"
	reads+=("$(hits_of "w:watched/8${spec#w:watched}")")
done
is "reads are no writes, and are accesses" "${reads[*]}" "0 77"

# Threads that are there already, and new ones: a record of each write, and their ids
watch 1 trace -o "$dir/records" w:watched
tell 'p 200'
interrupt "$tool"
is "a record of each write" "$(wc -l <"$dir/records")" 800
is "by four threads" "$(awk '{ print $3 }' "$dir/records" | sort -u | wc -l)" 4
# Two threads at once may be recorded in another order than they swapped.
is "each value is the one before in one other record" "$(python3 -c '
import collections, re, sys
v = [re.search(r"new=(\S+) old=(\S+)", line).groups() for line in open(sys.argv[1])]
new, old = (collections.Counter(x) for x in zip(*v))
print(sum((new - old).values()), sum((old - new).values()))' "$dir/records" | grep -x '0 0\|1 1' | wc -l)" 1
like "the summary says how many" "$(cat "$dir/talk")" \
	'1 watchpoint: 800 hits, 0 missed, 800 records; interrupted'

# Threads, children of all kinds, signals, and a process that is stopped meanwhile
n=$(written)
watch 2 stat w:watched w:watched_write:x
(
	trap - EXIT
	for _ in {1..20}; do
		kill -STOP "$victim"
		sleep 0.01
		kill -CONT "$victim"
		sleep 0.02
	done
) &
stopping=$!
tell 'm 60'
wait "$stopping"
interrupt "$tool"
is "threads come and go, children of all kinds, signals and stops" "$(hits_of w:watched/8) $(hits_of w:watched:watched_write:x)" \
	"$(($(written) - n)) $(($(written) - n))"
is "and as many as were written" "$(($(written) - n))" $((60 * 21))

# JSON
"$DPROBES" trace -q --json w:watched w:watched_write:x -- "$VICTIMS/watched" ways >"$dir/json"
is "JSON is as JSON is" "$(python3 -c '
import json, sys
v = [json.loads(line) for line in open(sys.argv[1])]
print(len(v), v[0]["probe"], v[0]["args"]["new"], v[0]["args"]["old"], v[0]["by"], "behind" in v[9])' "$dir/json")" \
	"18 w:watched/8 0x1 0x0 main+0x$(printf '%x' "$(awk 'NR == 1 { print $3 }' "$dir/steps")") False"

# With a debugger: before, and after. Each keeps what it has.
if command -v gdb >/dev/null; then
	stepping() { # gdb, which has N hardware watchpoints and waits; sets $debugger
		local i args=()
		for ((i = 0; i < $1; i++)); do args+=(-ex "watch watched_many[$i]"); done
		rm -f "$dir/gdb"
		gdb -q -nx -batch -p "$victim" "${args[@]}" -ex 'shell touch '"$dir/gdb" -ex continue \
			>"$dir/gdb.out" 2>&1 5>&- &
		debugger=$!
		pids+=("$debugger")
		poll 60 test -e "$dir/gdb"
		sleep 0.3
	}
	beside() {
		stepping 2
		watch 2 stat w:watched w:watched_small
		tell 'b 100'
		interrupt "$tool"
		is "a debugger that has two registers leaves two" "$(hits_of w:watched/8)" 100
		got=$("$DPROBES" stat w:watched w:watched_small w:watched_many/8 -p "$victim" 2>&1)
		is "the third is refused" "$?" 1
		like "which names the debugger" "$got" "no debug register left.*a debugger has its.*: $debugger \(gdb\)"
		kill -INT "$debugger"
		wait "$debugger"
		watch 2 stat w:watched w:watched_small
		stepping 2
		tell 'b 100'
		interrupt "$tool"
		is "one that comes later takes what is left, and nothing of ours" "$(hits_of w:watched/8)" 100
		kill -INT "$debugger"
		wait "$debugger"
		got=$("$DPROBES" stat w:watched w:watched_small w:watched_many/8 -p "$victim" 2>&1)
		like "what a debugger has had stays taken, which is said" "$got" \
			'no debug register left.*a debugger that has gone.* keeps those of a thread until it ends'
	}
	registers() { "$TOOLS/registers" "$victim" | sed 's/^[0-9]* [0-9] //' | sort | uniq -c | tr -s ' ' | tr '\n' ';'; }
	# One tracer at a time: who comes first keeps the process, and what a debugger has left stays.
	instead() {
		stepping 1
		got=$("$DPROBES" stat w:watched -p "$victim" 2>&1)
		like "where a debugger is, none is set" "$got" "is being traced by process $debugger; end that first"
		kill -INT "$debugger"
		wait "$debugger"
		watch 1 stat w:watched w:watched_small
		is "a debugger that comes later is told that the process is taken" \
			"$(gdb -q -nx -batch -p "$victim" 2>&1 5>&- | grep -c "already traced by process $tool")" 1
		tell 'b 100'
		interrupt "$tool"
		is "and takes nothing of ours" "$(hits_of w:watched/8)" 100
		stepping 1
		kill -KILL "$debugger"
		wait "$debugger" 2>/dev/null
		kept=$(registers)
		like "a debugger that was killed has left its register" "$kept" '^ 1 0x[0-9a-f]* 9;$'
		watch 3 stat w:watched w:watched_many+8/8 w:watched_small
		tell 'b 100' 'p 25'
		interrupt "$tool"
		is "the other three are there for us" "$(hits_of w:watched/8)" "200"
		is "and its own stays as it was" "$(registers)" "$kept"
		got=$("$DPROBES" stat w:watched w:watched:rw w:watched_small w:watched_many+8/8 -p "$victim" 2>&1)
		like "a fourth is refused" "$got" 'no debug register left.*a debugger that has gone.* keeps those of a thread until it ends'
		is "and leaves nothing" "$(registers)" "$kept"
	}
	if by_registers; then instead; else beside; fi
	end
	begin
else
	skip "a debugger beside" "needs gdb"
fi

# All four are taken: by whom, as far as that is known. They are free again when that tool is killed.
four=(w:watched w:watched_small w:watched_many/8 w:watched_many+8/8)
watch 4 stat "${four[@]}"
got=$("$DPROBES" stat w:watched_many+16/8 -p "$victim" 2>&1)
is "a fifth watchpoint is refused" "$?" 1
taken="w:watched_many\+0x10/8: a thread has no debug register left, of the 4.*perf events, which may be it: .*\(dprobes\)"
by_registers && taken="already probed by dprobes $tool"
like "with who may have the four" "$got" "$taken"
kill -KILL "$tool"
wait "$tool" 2>/dev/null
watch 4 stat "${four[@]}"
tell 'b 10'
interrupt "$tool"
is "a killed tool leaves no debug register taken" "$(hits_of w:watched/8)" 10
got=$("$DPROBES" stat "${four[@]}" w:watched_many+16/8 -p "$victim" 2>&1)
like "five in one command are refused" "$got" 'these are 5 watchpoints, and a thread has 4 debug registers'

# A probe beside, by another tool
if ! by_registers; then
	watch 1 stat w:watched
	"$DPROBES" stat -o "$dir/beside" watched_write -p "$victim" 2>/dev/null 5>&- &
	other=$!
	pids+=("$other")
	has_probe() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q watched_write; }
	poll 20 has_probe
	tell 'b 50'
	interrupt "$other"
	interrupt "$tool"
	is "beside a probe of another tool" "$(hits_of w:watched/8) $(awk '$NF == "watched:watched_write" { print $1 }' "$dir/beside")" "50 50"
fi

# What it costs is told.
watch 1 stat w:watched
writes=0
told() {
	tell 'p 30000'
	writes=$((writes + 120000))
	grep -q 'times a second' "$dir/talk"
}
poll 20 told
interrupt "$tool"
is "writes by four threads at once, 120,000 and again" "$(hits_of w:watched/8)" "$writes"
costs='each is a trap into the kernel of [0-9]+ ns here, so they take [0-9]+ % of a CPU'
by_registers && costs='without perf events each stops its thread until dprobes has looked, for which dprobes alone takes [0-9]+ ns'
like "what frequent hits cost is told" "$(cat "$dir/talk")" "watchpoints hit [0-9]+ times a second: $costs"

# list
got=$("$DPROBES" list -v w:watched w:watched_write:x -p "$victim")
like "list -v tells what is not seen" "$got" '^w:watched/8  watch  a debug register of each thread; what the kernel writes or reads there is not seen$'
is "list names what can be pasted" "$("$DPROBES" list w:watched:rw w:watched_write:x -p "$victim" | xargs "$DPROBES" list -p "$victim")" \
	$'w:watched/8:rw\nw:watched:watched_write:x'

# What is armed, in the format of the kernel's list: from the tool, for nothing of it is in the process
watch 3 stat w:watched w:watched_many+8/4:rw w:watched_write:x
listed() { [ "$("$DPROBES" list -p "$victim" | wc -l)" -eq 3 ]; }
tell 'b 40'
poll 10 listed
is "list has watchpoints" "$("$DPROBES" list -p "$victim" | sed 's/^[0-9a-f]*  //')" \
	$'w  watched+0x0    [WATCH/8:w]\nw  watched_many+0x8    [WATCH/4:rw]\nw  watched_write+0x0    [WATCH:x]'
is "at their addresses" "$("$DPROBES" list -p "$victim" | sed -n 's/^0*\([0-9a-f]*\)  w .*/\1/p' | tail -c 4 | head -c 3)" \
	"$(symbol watched_write | tail -c 4)"
"$DPROBES" list -p "$victim" >"$dir/lines"
is "its lines are specs" "$(while read -r line; do "$DPROBES" list "$line" -p "$victim"; done <"$dir/lines")" \
	$'w:watched/8\nw:watched_many+0x8/4:rw\nw:watched:watched_write:x'
has_hits() { "$DPROBES" list -v -p "$victim" | grep -q '\[WATCH:x\]  pid .*  40 hits  0 missed$'; }
poll 10 has_hits
is "with their hits" "$?" 0
like "in JSON" "$("$DPROBES" list --json -p "$victim" | tail -n 1)" \
	'"kind":"w","symbol":"watched_write","offset":0.*"mode":"watch".*"hits":40.*"access":"x","len":0,"pid":'"$victim"',"tool":'"$tool"
like "and among those of all processes" "$("$DPROBES" list | grep -c 'watched_write+0x0    \[WATCH:x\]')" '^[1-9]'
interrupt "$tool"
is "and none when the tool has ended" "$("$DPROBES" list -p "$victim")" ""

# The kernel refuses events, as it does to users without rights, or by a filter: then the registers are set.
for errno in 1 13 38; do
	DPROBES_WATCH='' "$TOOLS/refuse" $errno "$DPROBES" trace -o "$dir/records" 'w:watched if new > 4' -p "$victim" \
		2>"$dir/talk" 5>&- &
	tool=$!
	pids+=("$tool")
	poll 20 traces "$tool" && poll 20 asleep "$tool"
	sleep 0.1
	tell 'b 70' 't 20'
	interrupt "$tool"
	is "events are refused ($errno): hits are taken all the same" "$(wc -l <"$dir/records")" 165
	like "events alone are wanted, and refused ($errno)" \
		"$(DPROBES_WATCH=events "$TOOLS/refuse" $errno "$DPROBES" stat w:watched -p "$victim" 2>&1)" \
		'right to trace it|perf_event_paranoid|no such breakpoint events'
done
# A guest's own setting: users have no events there, and their processes set registers.
setting=/proc/sys/kernel/perf_event_paranoid
if grep -q 'QEMU TCG' /proc/cpuinfo && [ "$(id -u)" -eq 0 ]; then
	had=$(cat "$setting")
	echo 3 >"$setting"
	user() { setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all "$@"; }
	like "without events a process sets its own registers" "$(WATCHES_ROUNDS=5 user build/tests/self/watches 2>&1 | grep -v '^ok' | tr '\n' ' ')" \
		'^# by registers 1\.\.1[0-9][0-9] $'
	like "events alone are wanted, and refused" "$(DPROBES_WATCH=events user build/tests/self/watches 2>&1)" \
		'SKIP .*permits this process no perf events.*perf_event_paranoid is 3.*without DPROBES_WATCH=events it would set the registers'
	echo "$had" >"$setting"
fi
like "another way is none" "$(DPROBES_WATCH=x "$DPROBES" stat w:watched -p "$victim" 2>&1)" \
	'DPROBES_WATCH is "x"; it can be events or registers'

# An exec ends them.
watch 1 stat w:watched
tell 'b 30'
echo e >&5
wait "$tool"
is "counts of before an exec stay" "$(hits_of w:watched/8)" 30
like "which ends them" "$(cat "$dir/talk")" 'exec of .*/cat ended the probes'
end

"$DPROBES" stat -q -o /dev/null w:watched -- "$VICTIMS/watched" <<<q >/dev/null
is "a command's own status" "$?" 5

# What is refused, in which words
refused() { # NAME SPEC WORDS [OPTION...]
	local name=$1 spec=$2 words=$3
	shift 3
	like "refused: $name" "$("$DPROBES" stat "$@" "$spec" -- "$VICTIMS/watched" ways 2>&1)" "$words"
}
refused unknown w:nowhere 'watched has no variable nowhere'
refused large w:watched_many 'watched_many has 32 bytes, and a debug register watches 1, 2, 4 or 8: write watched_many/8'
refused unaligned w:watched_many+4/8 'no multiple of 8'
refused unmapped w:0x10/4 'nothing is mapped at 0x10'
refused code w:watched_write 'how many bytes are watched there is not known'
refused middle w:watched_write+1:x 'not at an instruction'
refused negative 'w:watched if new < -1' 'no sign to be compared with a negative number: write new:s32'
refused name 'w:watched if rax == 1' 'knows new, old, tid and numbers'
refused execution 'w:watched_write:x if new' 'new and old are of variables'
refused shift 'w:watched if new << old' 'a shift is by a number'
refused type 'w:watched if new:f64 > 1' 'u8 to u64 and s8 to s64'
refused deep "w:watched if new == $(printf '(1+%.0s' {1..40})1$(printf ')%.0s' {1..40})" 'too deep'
like "refused: value" "$("$DPROBES" trace 'w:watched(rax)' -- "$VICTIMS/watched" ways 2>&1)" 'what a watchpoint shows is new and old'
like "refused: width" "$("$DPROBES" trace 'w:watched_small(new:s64)' -- "$VICTIMS/watched" ways 2>&1)" 'another size than what is watched'
like "refused: text" "$("$DPROBES" trace 'w:watched(new:s)' -- "$VICTIMS/watched" ways 2>&1)" 'shown as a number'
like "refused: values of an execution" "$("$DPROBES" trace 'w:watched_write:x(rdi)' -- "$VICTIMS/watched" ways 2>&1)" 'values are of variables'
refused shown 'w:watched(new)' 'are for dprobes trace'
refused width 'w:watched_small if new:s64 < 0' 'more bytes than are watched'
refused together w:watched 'take a command each' main
refused children w:watched '-f is not for watchpoints' -f
like "refused: block" "$("$DPROBES" trace --block w:watched -- "$VICTIMS/watched" ways 2>&1)" '--block is not for watchpoints'

got=$("$DPROBES" stat w:0x1000/8 -p 2 2>&1)
[ -e /proc/2/maps ] && [ ! -e /proc/2/exe ] &&
	like "refused: a kernel thread" "$got" 'no memory that could be watched|no process 2'

# Without rights
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null &&
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	cp "$DPROBES" "$dir/dprobes"
	cp "$VICTIMS/watched" "$dir/watched"
	chmod 755 "$dir" "$dir/dprobes" "$dir/watched"
	got=$("${user[@]}" "$dir/dprobes" stat w:watched -- "$dir/watched" ways 2>&1)
	like "an ordinary user counts" "$got" '^ *18 +0  watch  w:watched/8$'
	got=$("${user[@]}" "$dir/dprobes" trace w:watched -- "$dir/watched" ways 2>&1)
	is "and is shown values, without rights to programs of the kernel's" "$(grep -c ' new=.* by=main' <<<"$got")" 18
	got=$(DPROBES_WATCH=events "${user[@]}" "$dir/dprobes" trace w:watched -- "$dir/watched" ways 2>&1)
	like "which events would take" "$got" 'CAP_BPF and CAP_PERFMON .*; dprobes stat without a condition counts without'
else
	skip "an ordinary user" "needs root, setpriv, and kernel.perf_event_paranoid up to 2"
fi
plan
