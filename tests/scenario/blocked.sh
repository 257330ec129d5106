#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that do things of their own with SIGTRAP.
. tests/scenario/lib.sh
rounds=${ROUNDS:-100}

for mode in ignore handler spawn; do
	wanted=$("$VICTIMS/blocked" $mode "$rounds")
	got=$("$DPROBES" stat -o "$dir/counts" work libc.so.6:malloc libc.so.6:realloc libc.so.6:free \
		'libc.so.6:__strlen_*' -- "$VICTIMS/blocked" $mode "$rounds" 2>"$dir/err")
	is "$mode: what it prints" "$? $got" "0 $wanted"
	like "$mode: hits" "$(hits "$dir/counts" blocked:work)" '^[0-9]{3,}$'
done
# With SIGTRAP blocked a breakpoint cannot be lived with, so there is none.
for mode in mask pending; do
	start "$VICTIMS/blocked" $mode 0
	"$DPROBES" stat -o "$dir/counts" --duration 20ms work -p "$victim" 2>"$dir/err"
	like "$mode: refused" "$? $(cat "$dir/err")" '^1 .*SIGTRAP'
	kill -TERM "$victim"
	wait "$victim"
	is "$mode: it is right after that" "$? $(tail -n 1 "$dir/out")" "0 right: $mode"
done
plan
