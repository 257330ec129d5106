#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Libraries that go while they are probed, and what is in their place then is not touched.
. tests/scenario/lib.sh

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

for arm in interior quiesce trap; do
	obey "$VICTIMS/plugin"
	bid open call
	probe libm.so.6:cbrt libc.so.6:free
	poll 10 armed
	bid call
	is "$arm: the list while the library is there" "$(flags)" 0
	bid close
	is "$arm: and when it has gone" "$(flags)" 1
	bid fill check
	is "$arm: memory in its place is its own, also in a child" "$(wrong)" ""
	finish
	is "$arm: the tool leaves in good order" "$?" 0
	like "$arm: and says what has gone" "$(tail -n 1 "$dir/err")" '1 site gone with its library;|1 site gone with their library;'
	is "$arm: hits until then" "$(awk '/cbrt/ { print $1 }' "$dir/counts")" 6
	bid check
	dismiss quit
	is "$arm: memory in its place has not been written to" "$? $(wrong)" "0 "

	obey "$VICTIMS/plugin"
	bid open
	probe libm.so.6:cbrt
	poll 10 armed
	bid call close open call
	is "$arm: unloaded and loaded again it is armed again" "$(flags) $(list | grep -c cbrt)" "0 1"
	bid close fill check
	kill -KILL $tool
	wait $tool 2>/dev/null
	"$DPROBES" detach -q -p $victim 2>"$dir/err"
	is "$arm: what a killed tool left there is not touched either" "$? $(cat "$dir/err")" "0 "
	bid check
	dismiss quit
	is "$arm: as the program finds" "$? $(wrong)" "0 "
done 2>/dev/null
# What the library leaves behind each time is taken back.
arm=interior
obey "$VICTIMS/plugin"
bid open
probe r:libm.so.6:cbrt
poll 10 armed
for ((i = 0; i < 250; i++)); do printf 'close\nopen\ncall\n'; done >&5
lines=$((lines + 750))
poll 60 answered
maps=$(grep -c memfd:dprobes "/proc/$victim/maps")
finish
is "250 times: the tool leaves in good order, every call was seen" "$? $(awk '/cbrt/ { print $1, $2 }' "$dir/counts")" "0 1500 0"
is "and what was mapped for it is bounded" "$((maps < 100))" 1
dismiss quit
is "and the program finds nothing wrong" "$? $(wrong)" "0 "
plan
