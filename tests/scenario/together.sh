#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Several tools come to one process at one time, or one while another leaves or is killed: one
# of them counts, the others wait or are told, and the program goes on.
. tests/scenario/lib.sh

kill_points=build/tests/dprobes-kill-points
ROUNDS=${ROUNDS:-6}
CALLS=1000
told='another dprobes is about to probe|already probed by dprobes [0-9]+; end'
chmod 755 "$dir"

# begin [AS...]: the victim, with so many $askers, asked through $ask
begin() {
	rm -f "$dir/ask"
	mkfifo "$dir/ask"
	as=("$@")
	: >"$dir/out"
	"${as[@]}" "$VICTIMS/asked" ${askers-} <"$dir/ask" >"$dir/out" 2>"$dir/err" &
	victim=$!
	pids+=("$victim")
	exec {ask}>"$dir/ask"
	poll 10 test -s "$dir/out"
	maps_of "$victim" | grep -v '\[' | grep '/' >"$dir/maps"
	"$TOOLS/text-sum" "$victim" >"$dir/text"
}
over() { ! grep -qs '^State:.[^ZX]' "/proc/$victim/status"; }
lives() { kill -0 "$victim" 2>/dev/null; }
runs() { kill -0 "$1" 2>/dev/null; }
# armed TOOL: has it put its probes in, rather than one that was killed?
armed() {
	grep -q '/memfd:dprobes' "/proc/$1/maps" 2>/dev/null &&
		"${as[@]}" "$DPROBES" list -p "$victim" 2>/dev/null | grep -q victim_function
}
clean() {
	maps_of "$victim" | grep -v '\[' | grep / | diff "$dir/maps" - &&
		"$TOOLS/text-sum" "$victim" | diff "$dir/text" -
}
answered() { [ "$(grep -c "^$CALLS\$" "$dir/out")" -gt "$answers" ]; }
# call: have the victim call its function
call() {
	answers=$(grep -c "^$CALLS\$" "$dir/out")
	echo $CALLS >&"$ask"
	poll 20 answered
}
# finish NAME: its input ends, and it says how it was
finish() {
	local status out
	left=$(clean)
	exec {ask}>&-
	poll 20 over
	wait "$victim"
	status=$?
	is "$1: the program is as it was, and found its results right" "$left$status $(tail -n 1 "$dir/out")" "0 right"
}

# enter N: the Nth tool, in the background
enter() {
	"${as[@]}" "$DPROBES" stat -q --json victim_function 'libc.so.6:mem*' -p "$victim" \
		>"$dir/counts.$1" 2>"$dir/talk.$1" &
	tool[$1]=$!
	pids+=("${tool[$1]}")
}
# settled: is one left that counts, or none?
settled() {
	local t n=0
	last=
	for t in "${tool[@]}"; do runs "$t" && last=$t n=$((n + 1)); done
	[ $n -eq 0 ] || { [ $n -eq 1 ] && armed "$last"; } || ! lives
}
# leave N: what became of it: counts its hits, or is told; adds to $count, $refused, $odd
leave() {
	local status hits
	runs "${tool[$1]}" && kill -INT "${tool[$1]}"
	wait "${tool[$1]}" 2>/dev/null
	status=$?
	hits=$(sed -n 's/.*"hits":\([0-9]*\).*victim_function.*/\1/p; s/.*victim_function.*"hits":\([0-9]*\).*/\1/p' "$dir/counts.$1" | head -n 1)
	if [ $status -eq 0 ] && [ "$hits" = $CALLS ]; then
		count=$((count + 1))
	elif [ $status -eq 1 ] && grep -qE "$told" "$dir/talk.$1"; then
		refused=$((refused + 1))
	elif [ $status -ne 137 ]; then
		odd="$odd status $status, ${hits:-no} hits: $(tail -n 1 "$dir/talk.$1");"
	fi
}

# round N [KILLED]: that many tools at one time
round() {
	local i n=$1
	tool=()
	for ((i = 0; i < n; i++)); do enter $i; done
	if [ $# -gt 1 ]; then
		sleep 0.0$((RANDOM % 60 + 10))
		kill -KILL "${tool[$((RANDOM % n))]}" 2>/dev/null
	fi
	poll 30 settled
	lives || return
	[ -z "$last" ] || call
	for ((i = 0; i < n; i++)); do leave $i; done
}

# compete NAME N [KILLED]
compete() {
	local name=$1 i rounds
	shift
	count=0 refused=0 odd=
	for ((i = 0; i < ROUNDS; i++)); do
		round "$@"
		lives || { odd="$odd it is dead in round $i"; break; }
		[ $# -eq 1 ] || {
			# Who was killed may have been the one.
			tool=()
			enter 0
			poll 30 settled
			call
			rounds=$count
			leave 0
			[ $count -eq $((rounds + 1)) ] || odd="$odd round $i: nobody can count any more;"
		}
	done
	if [ $# -eq 1 ]; then
		is "$name: one counts every call, the others are told" "$count $refused$odd" \
			"$ROUNDS $((ROUNDS * ($1 - 1)))"
	else
		is "$name: all are told or count every call, and afterwards one can" "$odd" ""
	fi
}

begin
compete "two tools" 2
compete "three tools" 3
compete "three tools of which one is killed" 3 killed
finish "two and three tools"

if [ "$(id -u)" -eq 0 ]; then
	begin setpriv --reuid=65534 --regid=65534 --clear-groups
	compete "two tools without rights" 2
	compete "two tools without rights of which one is killed" 2 killed
	finish "tools without rights"
else
	skip "tools of a user without rights" "these are"
fi

# One tool is stopped after each of its steps, with whatever lock it has then, and another one comes.
looks() { # has it come to where it waits, or has it ended?
	! runs "$second" || [ -n "$(find "/proc/$second/fd" -lname "/proc/$victim/mem" 2>/dev/null)" ]
}
halted() { ! runs "$first" || grep -q '^State:.T' "/proc/$first/status"; }
begin
bad= seen=0
for ((n = 1; n < 100; n++)); do
	DPROBES_HALT=$n "$kill_points" stat -q -o "$dir/counts.0" --duration 50ms victim_function -p "$victim" 2>"$dir/talk.0" &
	first=$!
	pids+=("$first")
	poll 20 halted
	runs "$first" || break
	seen=$((seen + 1))
	"$DPROBES" stat -q -o "$dir/counts.1" --duration 50ms victim_function -p "$victim" 2>"$dir/talk.1" &
	second=$!
	pids+=("$second")
	poll 20 looks
	# What it does then must not be done while the other one has the lock: it has time for it.
	sleep 0.1
	kill -CONT "$first"
	wait "$first"
	status=$?
	wait "$second"
	status="$status $?"
	if ! lives; then
		bad="$bad step $n: dead"
		break
	fi
	[ "$status" = "0 0" ] || { [ "$status" = "0 1" ] && grep -qE "$told" "$dir/talk.1"; } ||
		bad="$bad step $n: $status $(tail -n 1 "$dir/talk.0") $(tail -n 1 "$dir/talk.1");"
done
is "one that is stopped at any step is not disturbed" "$bad" ""
if [ $seen -gt 12 ]; then ok "$seen steps were seen"; else not_ok "only $seen steps were seen"; fi
finish "one that is stopped at any step"

# One tool is stopped in the middle of leaving. Threads that it has left asleep wake up meanwhile, in
# calls with a mask of their own, and make others: they come back from all of them with what is theirs.
askers=4 begin
bad=
for step in "in force no more" masks drained action intercepts out; do
	for ((n = 0; n < 4; n++)); do
		DPROBES_HALT="leave: $step" "$kill_points" stat -q -o "$dir/counts.0" --duration 10ms victim_function \
			-p "$victim" 2>"$dir/talk.0" &
		first=$!
		pids+=("$first")
		poll 20 halted
		runs "$first" || bad="$bad $step: it was not stopped;"
		sleep 0.05
		kill -CONT "$first"
		wait "$first" || bad="$bad $step: $? $(tail -n 1 "$dir/talk.0");"
		lives || { bad="$bad $step: dead"; break 2; }
	done
done
is "one that is stopped while it leaves, and threads that wake up" "$bad" ""
finish "one that is stopped while it leaves"

# A lock that is held for ever: only those have it that may trace the process, and it is said.
begin
hold='import fcntl, os, struct, sys, time
f = os.open("/proc/%s/mem" % sys.argv[1], os.O_RDWR)
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 2, 0))
print("held", flush=True)
time.sleep(60)'
if [ "$(id -u)" -eq 0 ]; then
	out=$(setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "exec 3<>/proc/$victim/mem" 2>&1)
	like "a stranger cannot have it" "$? $out" '^[1-9].*[Pp]ermission denied'
	# The end of the program's input must not wait for it.
	eval "setpriv --reuid=65534 --regid=65534 --clear-groups flock /proc/$victim sleep 60 $ask>&- &"
	pids+=($!)
	out=$("$DPROBES" stat -q -o "$dir/counts" --duration 20ms victim_function -p "$victim" 2>&1)
	is "nor does another lock of his matter" "$? $out" "0 "
fi
python3 -c "$hold" "$victim" >"$dir/held" &
holder=$!
pids+=($holder)
poll 10 test -s "$dir/held"
out=$("$DPROBES" stat -q -o "$dir/counts" --duration 20ms victim_function -p "$victim" 2>&1)
like "one that may is waited for, and it is said" "$? $out" "^1 dprobes: another dprobes is about to probe process $victim, or to leave it"
kill -KILL $holder
wait $holder 2>/dev/null
out=$("$DPROBES" stat -q -o "$dir/counts" --duration 20ms victim_function -p "$victim" 2>&1)
is "its end ends the lock" "$? $out" "0 "
finish "locks"
plan
