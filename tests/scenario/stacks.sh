#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool leaves while signal frames on several stacks lead back into its agent.
. tests/scenario/lib.sh
for arm in interior quiesce trap; do for how in "" blocked; do
	start "$VICTIMS/two-stacks" $how
	bad=0
	for ((i = 0; i < 10; i++)); do
		DPROBES_ARM=$arm "$DPROBES" trace -q --duration 30ms -o /dev/null 'victim_function(arg0,rbx,rdi) if arg0 < 0' \
			-p "$victim" 2>"$dir/talk" || bad=$((bad + 1))
	done
	is "$arm $how: attached and left" "$bad $(grep -c dprobes "/proc/$victim/maps")" "0 0"
	kill -TERM "$victim"
	wait "$victim"
	like "$arm $how: the program is right" "$? $(tail -n 1 "$dir/out")" '^0 right after [1-9]'
done; done 2>/dev/null
plan
