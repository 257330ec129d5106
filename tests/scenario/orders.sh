#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An order goes to the memory that was looked at, and to nothing that the process has become; and no
# stranger keeps others from giving one.
. tests/scenario/lib.sh

chmod 755 "$dir"
said() { grep -q "$1" "$dir/ordered"; }
executed() { [ "$(cat "/proc/$victim/comm")" = sleep ]; }
sleeps() { grep -q nanosleep "/proc/$victim/wchan" || [ "$(cut -d' ' -f1 "/proc/$victim/syscall")" = 230 ]; }

# order: what becomes of one if the victim executes in between, while a vfork child keeps the
# old memory
order() {
	rm -f "$dir/go" "$dir/in"
	mkfifo "$dir/go" "$dir/in"
	: >"$dir/out"
	"$VICTIMS/sheds" sleep 100 <"$dir/in" >"$dir/out" 2>"$dir/err" &
	victim=$!
	pids+=("$victim")
	exec {in}>"$dir/in"
	poll 10 test -s "$dir/out"
	"$TOOLS/ordered" "$victim" "$(cat "$dir/out")" <"$dir/go" >"$dir/ordered" &
	tool=$!
	pids+=("$tool")
	exec {go}>"$dir/go"
	poll 10 said open
	kill -USR1 "$victim"
	poll 10 executed
	poll 10 sleeps
	echo >&"$go"
	wait "$tool"
	exec {go}>&-
	exec {in}>&-
}
lives() { kill -0 "$victim" && executed && echo "it sleeps on"; }

order
is "memory that another one keeps is not what the process has" \
	"$(sed -n 's/^write //p; s/^call \(-[0-9]*\) process [0-9]* /\1 /p' "$dir/ordered" | tr '\n' ' ')" \
	"0 -3 has executed another program "
is "and what it has become is left alone" "$(lives)" "it sleeps on"
kill "$victim"

library=$PWD/build/libdprobes.so.1
LD_PRELOAD=$library start "$VICTIMS/live" sleep
tool() { # ARGS...: sets got
	got=$("$DPROBES" "$@" -p "$victim" 2>&1)
	got="$? $got"
}
lock='import fcntl, os, struct, sys, time
f = os.open("/proc/%s/mem" % sys.argv[1], os.O_RDWR)
fcntl.fcntl(f, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1, 1, 0))
print("held", flush=True)
time.sleep(60)'
if [ "$(id -u)" -eq 0 ]; then
	setpriv --reuid=65534 --regid=65534 --clear-groups flock --no-fork "/proc/$victim" sh -c "echo held; exec sleep 60" >"$dir/held" &
	pids+=($!)
	poll 10 test -s "$dir/held"
	tool enabled 0
	is "a stranger's lock on the process does not matter" "$got" "0 0"
else
	skip "a stranger's lock on the process does not matter" "needs root and setpriv to be another user"
fi
rm -f "$dir/held"
python3 -c "$lock" "$victim" >"$dir/held" &
holder=$!
pids+=($holder)
poll 10 test -s "$dir/held"
tool enabled
is "what is only shown needs no lock" "${got#0 }" "$([ "$(id -u)" -eq 0 ] && echo 0 || echo 1)"
tool enabled 1
like "that of one who may trace it does, and it is said" "$got" "^1 dprobes: another dprobes is at work in process $victim"
"$DPROBES" enabled 1 -p "$victim" >"$dir/waited" 2>&1 &
tool=$!
waits() { [ -n "$(find "/proc/$tool/fd" -lname "/proc/$victim/mem" 2>/dev/null)" ]; }
poll 10 waits
kill -KILL $holder
wait $holder 2>/dev/null
wait $tool
is "its end ends the lock for one that waits" "$? $(cat "$dir/waited")" "0 1"
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
plan
