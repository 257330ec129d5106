#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that live on faults: the program's handler sees its own instruction and address, and
# the mask of a handler is what the program has made it.
. tests/scenario/lib.sh
rounds=${ROUNDS:-60}
set -f
points='fault_* fault_second+1 fault_push+3 fault_store+5 fault_string+0xd fault_divide+7 overflow'
signals='SEGV=11 BUS=7 FPE=8 ILL=4'

for kind in '' musl-static; do
	victim_file=$VICTIMS/$kind/faults
	wanted=$("$victim_file" "$rounds")
	for how in interior trap quiesce; do
		for verb in stat trace; do
			got=$(DPROBES_ARM=$how timeout 300 "$DPROBES" $verb -o "$dir/counts" $points -- "$victim_file" "$rounds" \
				2>"$dir/err")
			is "${kind:-glibc}, $how, $verb: what it sees of its faults" "$? $got" "0 $wanted"
		done
		like "${kind:-glibc}, $how: all are counted" "$(tail -n 1 "$dir/err")" ' 0 missed'
		DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" $points -- "$victim_file" 1 die >/dev/null 2>&1
		is "${kind:-glibc}, $how: without a handler it dies of the fault" $? 139
	done
	# The tool comes and goes.
	start "$victim_file" $((rounds * 40))
	bad=0
	for how in interior trap quiesce interior trap; do
		DPROBES_ARM=$how until_hit fault_first stat -o "$dir/counts" $points || bad=$((bad + 1))
	done
	wait "$victim"
	is "${kind:-glibc}: what it sees while tools come and go" "$? $bad $(cat "$dir/out")" "0 0 $wanted"
done

# Each signal that is caught, as the program knows it: blocked, ignored, sent, in handlers and in calls with masks.
for sig in $signals; do
	for mode in handler mask pending ignore sleep open leave exec clearsighand; do
		wanted=$(BLOCKED_SIGNAL=${sig#*=} "$VICTIMS/blocked" $mode "$rounds")
		for how in interior trap; do
			got=$(BLOCKED_SIGNAL=${sig#*=} DPROBES_ARM=$how timeout 300 "$DPROBES" stat -o "$dir/counts" work libc.so.6:malloc \
				libc.so.6:realloc libc.so.6:free -- "$VICTIMS/blocked" $mode "$rounds" 2>"$dir/err")
			is "SIG${sig%=*}, $mode, $how" "$? $got" "0 $wanted"
		done
	done
	for mode in handler pending sleep open; do
		BLOCKED_SIGNAL=${sig#*=} start "$VICTIMS/blocked" $mode 0
		bad=0
		for how in interior trap quiesce; do
			DPROBES_ARM=$how until_hit work stat -o "$dir/counts" work libc.so.6:malloc libc.so.6:pthread_sigmask \
				libc.so.6:sigaction || bad=$((bad + 1))
		done
		kill -TERM "$victim"
		wait "$victim"
		is "SIG${sig%=*}, $mode, attached" "$bad $? $(tail -n 1 "$dir/out")" "0 0 right: $mode"
	done
done
plan
