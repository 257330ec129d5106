#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tool leaves while a thread is stopped at each instruction of a detour, of several kinds, in
# another process: the program goes on as ever, and nothing stays.
. tests/scenario/lib.sh

# out NAME LEAST VERB STRIDE SPEC...
out() {
	local name=$1 least=$2 places
	shift 2
	timeout 500 "$TOOLS/step-out" "$DPROBES" "$@" >"$dir/said" 2>&1
	sed 's/^/# /' "$dir/said"
	places=$(sed -n 's/^\([0-9]*\) places, to the end$/\1/p' "$dir/said")
	is "$name: at least $least places, to the end" "$((${places:-0} >= least))" 1
}

out "a count" 15 stat 1 stepped
out "a predicate" 20 stat 1 'stepped if arg0 > 1'
out "counts of inner instructions" 40 stat 1 stepped stepped+1 stepped+4 stepped+5
out "a record" 20 trace 1 'stepped(arg0)'
out "a call that is counted to its exits" 3 stat 1 r:stepped
out "a site in the middle" 15 stat 1 stepped+13
plan
