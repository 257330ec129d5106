#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Libraries that go while they are probed, and what is in their place then is not touched.
. tests/scenario/lib.sh

begin() {
	rm -f "$dir/in"
	mkfifo "$dir/in"
	: >"$dir/out"
	"$VICTIMS/plugin" <"$dir/in" >"$dir/out" &
	victim=$!
	pids+=("$victim")
	exec 5>"$dir/in"
	poll 10 grep -q ready "$dir/out"
	lines=1
}
answered() { [ "$(wc -l <"$dir/out")" -ge $lines ]; }
tell() {
	local word
	for word; do
		lines=$((lines + 1))
		echo "$word" >&5
		poll 10 answered
	done
}
wrong() { grep -v -e '^ok ' -e ready "$dir/out"; }
probe() { # SPEC...
	DPROBES_ARM=$arm "$DPROBES" stat -o "$dir/counts" "$@" -p $victim 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
}
list() { "$DPROBES" list -p $victim; }
armed() { list | grep -q cbrt; }
flags() { list | grep -c '\[GONE\]'; }
finish() {
	interrupt $tool
}
end() {
	echo quit >&5
	exec 5>&-
	wait $victim
}

for arm in interior quiesce trap; do
	begin
	tell open call
	probe libm.so.6:cbrt libc.so.6:free
	poll 10 armed
	tell call
	is "$arm: the list while the library is there" "$(flags)" 0
	tell close
	is "$arm: and when it has gone" "$(flags)" 1
	tell fill check
	is "$arm: memory in its place is its own, also in a child" "$(wrong)" ""
	finish
	is "$arm: the tool leaves in good order" "$?" 0
	like "$arm: and says what has gone" "$(tail -n 1 "$dir/err")" '1 site gone with its library;|1 site gone with their library;'
	is "$arm: hits until then" "$(awk '/cbrt/ { print $1 }' "$dir/counts")" 6
	tell check
	end
	is "$arm: memory in its place has not been written to" "$? $(wrong)" "0 "

	begin
	tell open
	probe libm.so.6:cbrt
	poll 10 armed
	tell call close open call
	is "$arm: unloaded and loaded again it is armed again" "$(flags) $(list | grep -c cbrt)" "0 1"
	tell close fill check
	kill -KILL $tool
	wait $tool 2>/dev/null
	"$DPROBES" detach -q -p $victim 2>"$dir/err"
	is "$arm: what a killed tool left there is not touched either" "$? $(cat "$dir/err")" "0 "
	tell check
	end
	is "$arm: as the program finds" "$? $(wrong)" "0 "
done 2>/dev/null
# What the library leaves behind each time is taken back.
arm=interior
begin
tell open
probe r:libm.so.6:cbrt
poll 10 armed
for ((i = 0; i < 250; i++)); do printf 'close\nopen\ncall\n'; done >&5
lines=$((lines + 750))
poll 60 answered
maps=$(grep -c memfd:dprobes "/proc/$victim/maps")
finish
is "250 times: the tool leaves in good order, every call was seen" "$? $(awk '/cbrt/ { print $1, $2 }' "$dir/counts")" "0 1500 0"
is "and what was mapped for it is bounded" "$((maps < 100))" 1
end
is "and the program finds nothing wrong" "$? $(wrong)" "0 "
plan
