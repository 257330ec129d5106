#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# demo: the main job on real programs.
set -eu
dprobes=${DPROBES:-build/dprobes}
python=/usr/bin/python3

show() {
	printf '\n$ dprobes'
	for word in "$@"; do
		case $word in
		*[\ \'\(\;]*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	echo
	"$dprobes" "$@" 2>&1
}

show stat libc.so.6:malloc libc.so.6:free libc.so.6:memcpy -- \
	$python -S -c 'print(len(str(2 ** 5000)))'
show list 'libc.so.6:*alloc' -- $python

show trace 'libc.so.6:malloc(size) if size > 100000' -- \
	$python -S -c 'print(len(str(2 ** 5000)))'
show run examples/malloc.dp -- \
	$python -S -c 'from ctypes import *; CDLL(None).malloc(0x20000000)'

echo
echo 'A process that is running already, for a tenth of a second:'
$python -S -c 'while True: sorted(range(1000)), str(2 ** 500)' &
busy=$!
trap 'kill $busy' EXIT
until grep -q libc.so.6 /proc/$busy/maps; do
	sleep 0.05
done
show stat --duration 100ms libc.so.6:malloc libc.so.6:free -p $busy
