#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Probes go and come all the time, because their library does. No thread is told of a mask that is not so, and none
# dies; nor when the tool is killed at any step of adding them.
. tests/scenario/lib.sh
. tests/scenario/lib-beats.sh
seconds=${REPLACING:-6}
kill_points=build/tests/dprobes-kill-points

for arm in interior quiesce trap; do
	begin "$VICTIMS/beats" "$beats" "$library" 8
	DPROBES_ARM=$arm "$DPROBES" stat -q --json -o "$dir/counts" --duration "${seconds}s" "$library:probed" -p "$victim" 2>"$dir/talk"
	status=$?
	goes_on
	is "$arm: it goes on, and its masks are what it believes" "$status $? $(grep wrong "$dir/said")" "0 0 "
	like "$arm: the library was counted" "$(cat "$dir/counts")" '"hits":[1-9]'
	finish
done

# The tool comes and goes, while threads wake up from masked waits and go to sleep in them.
begin "$VICTIMS/beats" "$beats" "$library" 8
bad=
for i in {1..100}; do
	DPROBES_ARM=quiesce "$DPROBES" stat -q -o /dev/null --duration 20ms "$library:probed" -p "$victim" 2>"$dir/talk" || bad="$bad$i: $(cat "$dir/talk"), "
	is_over && break
done
goes_on || bad="${bad}it does not go on, "
is "the tool comes 100 times: it goes on, and its masks are what it believes" "$i $bad$(grep wrong "$dir/said")" "100 "
finish

# killed NAME NTH: at the NTH time of that step; then the next tool cleans up
killed() {
	local bad= again
	begin "$VICTIMS/beats" "$beats" "$library" 2
	DPROBES_KILL_POINT="$1" DPROBES_NTH=$2 "$kill_points" stat -q -o /dev/null --duration 60s "$library:probed" -p "$victim" 2>"$dir/talk"
	grep -q "^steps: killed after $1" "$dir/talk" || bad="not killed, "
	goes_on || bad="${bad}it does not go on, "
	again=$("$DPROBES" detach -p "$victim" 2>&1) || bad="$bad$again, "
	goes_on || bad="${bad}it does not go on later, "
	grep -q memfd:dprobes "/proc/$victim/maps" && bad="${bad}something is left, "
	is "killed at $1, $2: it goes on, the next dprobes leaves nothing" "$bad$(grep wrong "$dir/said")" ""
	finish
} 2>/dev/null
while read -r name nth; do
	killed "${name//_/ }" "$nth"
done <<-'L'
	install:_mapped 2
	install:_mapped 4
	install:_pool 2
	install:_pool 1
	extend:_built 1
	extend:_built 4
	sync:_begun 3
	sync 7
	linker:_held 3
	extend:_armed 1
	extend:_armed 6
L
plan
