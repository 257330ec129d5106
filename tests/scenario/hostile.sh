#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that spoil the memory they share with whoever probes them: to their own
# harm, and to nobody else's.
. tests/scenario/lib.sh
seeds=${SEEDS:-2}

# survives NAME COMMAND...: whatever it says, it ends by itself
survives() {
	local name=$1 status
	shift
	timeout -k 5 30 "$@" >"$dir/said" 2>&1
	status=$?
	[ $status -lt 124 ] || { bad="$bad $name:$status"; sed 's/^/# /' "$dir/said" | tail -n 5; }
}

export ASAN_OPTIONS=detect_leaks=0
alive=0
for ((seed = ${FIRST:-1}; seed < ${FIRST:-1} + seeds; seed++)); do
	bad=
	for what in uprobes stat trace list detach; do
		start "$VICTIMS/hostile" "$seed" 2>/dev/null
		addr=$("$DPROBES" list --json victim_function -p "$victim" | sed -n 's/.*"addr":"\(0x[0-9a-f]*\)".*/\1/p')
		case $what in
		uprobes) survives uprobes "$TOOLS/upcount" "$victim" "$addr" 0.3 ;;
		stat) survives stat "$DPROBES" stat --duration 300ms libc.so.6:clock_nanosleep victim_function -p "$victim" ;;
		trace) survives trace "$DPROBES" trace --duration 300ms 'r:victim_function(arg0)' -p "$victim" ;;
		*)
			"$DPROBES" stat -q victim_function -p "$victim" >/dev/null 2>&1 &
			tool=$!
			pids+=("$tool")
			poll 5 grep -q dprobes "/proc/$victim/maps" 2>/dev/null
			[ $what != list ] || survives list "$DPROBES" list -v -p "$victim"
			kill -KILL $tool 2>/dev/null
			wait $tool 2>/dev/null
			survives detach "$DPROBES" detach -p "$victim"
			;;
		esac
		kill -0 "$victim" 2>/dev/null && alive=$((alive + 1))
		kill -KILL "$victim" 2>/dev/null
		wait "$victim" 2>/dev/null
	done
	is "seed $seed: no tool dies of it, or hangs" "$bad" ""
done 2>/dev/null
echo "# $alive of $((5 * seeds)) programs have survived themselves"
plan
