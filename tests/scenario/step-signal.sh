#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A signal that the agent catches comes at each instruction on the way into a call with a mask of
# its own, and out of it.
. tests/scenario/lib.sh

# The places are reached by a debug register, for the code has to be as it is.
useless=$("$DPROBES" doctor 2>/dev/null | sed -n 's/^note *watchpoints: //p')
if [ -n "$useless" ]; then
	skip "signals at each instruction" "$useless"
	plan
	exit
fi
for mode in open blocked; do
	said=$(timeout 300 "$TOOLS/step-signal" "$DPROBES" $mode 2>&1)
	sed 's/^/# /' <<<"$said"
	places=$(sed -n 's/^\([0-9]*\) of .* places, to the end$/\1/p' <<<"$said")
	is "$mode: at least 500 places, to the end" "$((${places:-0} >= 500))" 1
done
plan
