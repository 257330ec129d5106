#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that do things of their own with SIGTRAP.
. tests/scenario/lib.sh
rounds=${ROUNDS:-100}

for mode in ignore handler spawn mask pending clearsighand; do
	wanted=$("$VICTIMS/blocked" $mode "$rounds")
	got=$("$DPROBES" stat -o "$dir/counts" work libc.so.6:malloc libc.so.6:realloc libc.so.6:free \
		'libc.so.6:__strlen_*' -- "$VICTIMS/blocked" $mode "$rounds" 2>"$dir/err")
	is "$mode: what it prints" "$? $got" "0 $wanted"
	like "$mode: hits" "$(hits "$dir/counts" blocked:work)" '^[0-9]{3,}$'
done
# SIGTRAP is blocked when they are attached to, and stays so as far as they know.
for how in trap interior; do
	for mode in mask pending clearsighand ignore; do
		start "$VICTIMS/blocked" $mode 0
		bad=0
		for i in 1 2 3 4 5; do
			DPROBES_ARM=$how "$DPROBES" stat -o "$dir/counts" --duration 20ms work libc.so.6:malloc \
				libc.so.6:pthread_sigmask libc.so.6:sigaction -p "$victim" 2>"$dir/err" || bad=$((bad + 1))
		done
		like "$mode, attached, $how: hits" "$bad $(hits "$dir/counts" blocked:work)" '^0 [0-9]+$'
		kill -TERM "$victim"
		wait "$victim"
		like "$mode: it is right after that" "$? $(tail -n 1 "$dir/out")" "^0 right: $mode"
	done
done
plan
