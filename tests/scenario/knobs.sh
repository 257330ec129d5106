#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The two knobs over all probes of a process that uses the library, from outside.
. tests/scenario/lib.sh

modules=${MODULES:-build/tests/modules}
library=$PWD/build/libdprobes.so.1

tool() { # ARGS...: sets got, err, status
	got=$("$DPROBES" "$@" 2>"$dir/tool")
	status=$?
	err=$(cat "$dir/tool")
}
hits_of() { "$DPROBES" list -v -p "$victim" | grep -oE '[0-9]+ hits'; }
flags() { "$DPROBES" list -p "$victim" | grep -oE '\[.*' || true; }

LD_PRELOAD=$library start "$VICTIMS/live" work 2
tool enabled -p "$victim"
is "enabled, before there is a probe" "$status $got" "0 1"
tool insmod "$modules/probe.so" kind=kprobe -p "$victim"
is "its probe is a jump" "$status $(flags)" "0 [OPTIMIZED]"

tool sysctl debug.kprobes_optimization -p "$victim"
is "optimising is shown" "$status $got" "0 debug.kprobes_optimization = 1"
tool sysctl debug.kprobes-optimization=n -p "$victim"
is "and switched off, in the other spelling" "$status $got $(flags)" "0 debug.kprobes_optimization = 0 "
tool list -v -p "$victim"
like "the list says why it is a breakpoint" "$got" "  trap  optimising is switched off  "
tool sysctl kprobes_optimization=1 -p "$victim"
is "and on again" "$status $got $(flags)" "0 debug.kprobes_optimization = 1 [OPTIMIZED]"

tool enabled 0 -p "$victim"
is "all probes off" "$status $got $(flags)" "0 0 "
before=$(hits_of)
worked "$victim" 10
is "none is hit" "$(hits_of)" "$before"
tool enabled
like "every process has a line" "$got" "^$victim 0\$"
tool enabled 1
[ -z "$err" ] || printf '%s\n' "$err" | sed 's/^/# /'
like "all of them on" "$status $got" "^(0 )?$victim 1\$"
again() { [ "$(hits_of)" != "$before" ]; }
if poll 5 again; then ok "and hit again"; else not_ok "and hit again"; fi
is "as a jump" "$(flags)" "[OPTIMIZED]"

tool enabled 2
is "only 0 and 1" "$status" 2
tool sysctl debug.kprobes
like "no other knob" "$status $err" '^2 dprobes: there is no knob "debug.kprobes"'
tool enabled 0 -p $$
is "a process without the library" "$status" 1
kill -TERM "$victim"
wait "$victim"
is "the program found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
plan
