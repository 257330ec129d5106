#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What takes over when a program ends with exit, or exit N: DProbes' log, and commands that have registered.
. tests/scenario/lib.sh
ulimit -c 0

# program NAME EXIT [HEADER]: writes $dir/NAME.dp, which logs 29 bytes at logger_deep
program() {
	printf 'name = logger\nmodtype = user\nmajor = 1\nid = 9\n%s\noffset = logger_deep\nminor = 7\n%s\n%s\n' \
		"${3:-}" $'push r,rdi\nlog 1\npush 16\npush 8\npush r,rsp\nadd\nlog mrf' "$2" >"$dir/$1.dp"
}
# run NAME OPTIONS...: sets $out, what the tool prints, $err and $status
run() {
	local file=$dir/$1.dp
	shift
	"$DPROBES" run -o "$dir/records" "$@" "$file" -- "$VICTIMS/logger" stack >"$dir/stdout" 2>"$dir/stderr"
	status=$?
	out=$(cat "$dir/records") err=$(cat "$dir/stderr")
}
log=070100290000000000000000100011111111111111112222222222222222

# Commands. What they get is what --json prints, but for what becomes of them. [rows 249, 260]
program twenty 'exit 20'
run twenty --json --facility "20=cat >$dir/got" --facility "21=cat >$dir/other"
is "a command has registered: the program goes on" "$status $(cat "$dir/stdout")" "0 42"
is "it has the record on stdin" "$(cat "$dir/got")" "${out/,\"outcome\":\"handed over to its command\"/}"
like "with the log" "$(cat "$dir/got")" "\"data\":\"$log\",\"facility\":20,"
is "another has nothing" "$(cat "$dir/other" 2>&1)" "cat: $dir/other: No such file or directory"
like "nothing else is told" "$err" '^dprobes: 1 probe [^;]*; logger exited with status 0$'
run twenty
is "nobody has: the program goes on" "$status $(cat "$dir/stdout")" "0 42"
like "the record says so" "$out" '  exit 20: a facility that nobody has registered'
like "and the end of the run" "$err" '^dprobes: exit 20: 1 record for a facility that is not there$'
run twenty --facility '20=exit 3'
is "a command that fails: the program goes on" "$status $(cat "$dir/stdout")" "0 42"
like "and it is told" "$err" '^dprobes: exit 20: 1 record whose command failed or did not end$'
run twenty --facility '20=/no/such/command'
like "also of one that is not there" "$err" '^dprobes: exit 20: 1 record whose command failed or did not end$'
program four 'exit 4'
run four
like "4 to 15 are no facilities" "$out" '  ended by EX_INVALID_OPERAND \(0x4, 0x4\)'
program only "exit 2"
run only
is "exit 2: the program goes on" "$status $(cat "$dir/stdout")" "0 42"
like "and it is told what is not done" "$err" "^dprobes: exit 2: 1 record for a facility that is not there$"
# One at a time, in order, none lost: more than the socket to the command holds
printf 'name = logger\nmodtype = user\nmajor = 1\nvars = 1\noffset = logger_load\ninc lv,0\npush lv,0\nlog 1\nexit 255\n' >"$dir/many.dp"
"$DPROBES" run -q --json --facility "255=cat >>$dir/all" "$dir/many.dp" -- "$VICTIMS/logger" restart 1000 >"$dir/records" 2>"$dir/stderr"
handed=$(grep -c 'handed over' "$dir/records")
[ "$handed" -gt 100 ] || not_ok "many are handed over" "$handed"
is "each record is handed over, or said not to be" "$((handed + $(grep -c 'too many records wait' "$dir/records")))" \
	"$(grep -c '^{' "$dir/records")"
is "what was handed over has come, in order" "$(sed 's/,"truncated.*//' "$dir/all")" \
	"$(grep 'handed over' "$dir/records" | sed 's/,"outcome.*//')"

# DProbes' log. [rows 260, 324] [defects 17, 19]
program plain exit
run plain --log-target file
text='dprobes(1,7)  
0x00000000 : 07010029 00000000 00000000 10001111 : ...)............
0x00000010 : 11111111 11112222 22222222 2222     : ......""""""""'
is "in a file" "$(sed 's/cpu=[0-9]*/cpu=N/' "$dir/records")" "dprobes(1,7) cpu=N 
$text"
# Another reader of the same bytes
is "its rows are those of od" "$(sed -n 's/^0x[0-9a-f]* : \(.*\) : .*/\1/p' "$dir/records" | tr -d ' \n')" \
	"$(sed 's/../\\x&/g' <<<"$log" | { read -r x; printf "$x"; } | od -An -v -tx1 | tr -d ' \n')"
run plain --log-target file --unformatted-output
is "as bytes" "$(sed -n 3p "$dir/records")" "$(sed 's/../& /g; s/ $//' <<<"$log")"
run plain --log-target file --log all
like "with all items" "$out" '^dprobes\(1,7\) cpu=[0-9]+ pid=[0-9]+ (uid='"$(id -u)"' )?cs=33 eip=[0-9a-f]{12} tsc=[0-9]+:[0-9]+ name=logger $'
at=$(sed -n 's/.*tsc=\([0-9]*\):.*/\1/p' "$dir/records") now=$(cut -d. -f1 /proc/uptime)
[ $((now - at)) -ge 0 ] && [ $((now - at)) -lt 30 ] && ok "tsc is of the clock that does not jump" ||
	not_ok "tsc is of the clock that does not jump" "$at $now"
run plain --log-target file --log pid
like "with one of them" "$out" '^dprobes\(1,7\) cpu=[0-9]+ pid=[0-9]+ $'
program nothing $'ros 7\npush 0\npop lp\nexit 20'
run nothing --log-target file
is "a record without a log, and a facility that is missing" "$(sed 's/cpu=[0-9]*/cpu=N/' "$dir/records")" \
	$'dprobes(1,7) cpu=N \ndprobes(1,7)  '
program cut exit 'logmax = 12'
run cut --log-target file
is "one that was cut says so" "$(tail -n +2 "$dir/records")" \
	$'dprobes(1,7)  \n0x00000000 : 07010029 00000000 000000            : ...).......\ndprobes(1,7) truncated'
program traced $'call F\nexit\nF: log st\nret'
run traced --log-target file
offset=$(readelf -sW "$VICTIMS/logger" | awk '$8 == "logger_deep" { print $2 }')
at=$(printf '%016x' "$((16#$offset))" | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\8\7\6\5\4\3\2\1/')
is "stack traces are a record of their own" "$(sed '1,/^dprobes(0,0)  /d' "$dir/records" | sed -n 's/^0x[0-9a-f]* : \(.*\) : .*/\1/p' | tr -d ' \n' | cut -c1-52)" \
	"010600$(printf logger | od -An -tx1 | tr -d ' \n')${at}090001000700020100"
for word in 'com1 no serial line' 'ltt use ring' 'evl use syslog' 'printer "printer"'; do
	"$DPROBES" run --log-target "${word%% *}" "$dir/plain.dp" -- true >"$dir/records" 2>&1
	like "--log-target ${word%% *} is refused" "$? $(cat "$dir/records")" "^2 dprobes: .*${word#* }"
done
"$DPROBES" run --log pid,ssesp "$dir/plain.dp" -- true >"$dir/records" 2>&1
like "--log ssesp is refused" "$? $(cat "$dir/records")" '^2 dprobes: --log ssesp: .*push r,rsp'
for bad in 3=true 256=true x=true 20= 20; do
	"$DPROBES" run --facility "$bad" "$dir/plain.dp" -- true >"$dir/records" 2>&1
	like "--facility $bad is refused" "$? $(cat "$dir/records")" '^2 dprobes: --facility '
done

# Logs of the system
if [ ! -S /dev/log ]; then
	run plain --log-target syslog
	like "nobody listens" "$status $err" '^1 dprobes: --log-target syslog: nobody listens at /dev/log'
fi
cat >"$dir/listen.py" <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("there", flush=True)
while True:
    print(s.recv(65536).decode(), flush=True)
END
mkdir "$dir/dev"
if unshare -m true 2>"$dir/err" && command -v python3 >"$dir/err"; then
	python3 "$dir/listen.py" "$dir/dev/log" >"$dir/syslog" &
	pids+=($!)
	poll 10 test -s "$dir/syslog"
	unshare -m sh -c 'mknod "$1/dev/null" c 1 3; mknod "$1/dev/urandom" c 1 9; chmod 666 "$1"/dev/null; mount --bind "$1/dev" /dev &&
		"$2" run -q --log-target syslog "$1/plain.dp" -- "$3" stack' sh "$dir" "$DPROBES" "$(realpath "$VICTIMS/logger")" >"$dir/stdout" 2>"$dir/stderr"
	is "syslog: the program goes on" "$? $(cat "$dir/stdout" "$dir/stderr")" "0 42"
	is "syslog has the lines" "$(sed '1d; s/^<14>.* dprobes: //; s/cpu=[0-9]*/cpu=N/' "$dir/syslog")" "dprobes(1,7) cpu=N 
$text"
else
	skip "syslog has the lines" "no namespace of mounts, or no python3"
fi
if [ -w /dev/kmsg ] && dmesg >"$dir/had" 2>&1; then
	run plain --log-target klog --log pid
	dmesg | sed 's/^\[[^]]*\] //' | grep -A3 "^dprobes(1,7) cpu=[0-9]* pid=" | tail -n 4 >"$dir/klog"
	is "the kernel's log has the lines" "$(sed '1s/ cpu=.*//' "$dir/klog")" "dprobes(1,7)
$text"
else
	skip "the kernel's log has the lines" "/dev/kmsg cannot be written"
fi
plan
