#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Debug registers that were set by ptrace(2) outlive a killed tool: it is killed at each kill point by its name, while
# four threads hit all the time. The threads go on, and the next dprobes counts and leaves no register.
. tests/scenario/lib.sh

export DPROBES_WATCH=registers
kill_points=build/tests/dprobes-kill-points stored=$VICTIMS/stored
cat >"$dir/count.dp" <<'DP'
name = stored
modtype = user
vars = 1
logmax = 0
watch = w
address = stored
	inc lv,0
	exit
DP
start "$stored" run
rounds() { tail -n 1 "$dir/out"; }
goes_on() { [ "$(rounds)" -gt "$before" ] 2>/dev/null; }
# As many runs of the program as hits, and nothing of ours left
counts() {
	"$DPROBES" run --duration 0.1 "$dir/count.dp" -p "$victim" >/dev/null 2>"$dir/talk"
	[ "$(sed -n 's/.* lv\[0\] = .*(\([0-9]*\)).*/\1/p' "$dir/talk")" = \
		"$(sed -n 's/.*: \([1-9][0-9]*\) hits*, 0 missed.*/\1/p' "$dir/talk")" ] &&
		! maps_of "$victim" | grep -q dprobes && [ -z "$("$TOOLS/registers" "$victim")" ]
}
survives() { # NAME
	before=$(rounds)
	if kill -0 "$victim" && poll 10 goes_on && counts; then ok "$1"; else
		not_ok "$1" "$(cat "$dir/err" "$dir/talk")" "$("$TOOLS/registers" "$victim")"
		kill -0 "$victim" || { plan; exit; }
	fi
}
seen=0
kill_at() { # POINT NTH VERB ARGS...
	DPROBES_KILL_POINT=$1 DPROBES_NTH=$2 "$kill_points" "${@:3}" -p "$victim" >/dev/null 2>"$dir/err"
	[ $? -eq 137 ] || return
	seen=$((seen + 1))
	survives "$3 killed after $1 ($2)"
}
# One that is passed by this run only.
points=$(grep -rhoP 'dp_kill_point\("\K(attach|install|live|arm|registers|tree: signal|leave|remote|text)[^"]*' proc | sort -u)
while read -r point; do
	for nth in 1 2; do kill_at "$point" $nth run --duration 50ms "$dir/count.dp"; done
done <<<"$points"
for point in "registers: noted" "registers: set" "registers: hit" "registers: cleared" "registers: let go" "leave: action"; do
	for nth in 1 3; do kill_at "$point" $nth stat --duration 50ms w:stored; done
done
if [ $seen -gt 40 ]; then ok "$seen kills were seen"; else not_ok "only $seen kills were seen"; fi

# The registers are there, the tool is not, and nothing clears them: the agent has the traps.
left() { [ "$("$TOOLS/registers" "$victim" | wc -l)" -ge "$1" ]; }
"$DPROBES" stat -o /dev/null w:stored -p "$victim" 2>"$dir/err" &
tool=$!
pids+=("$tool")
traced() { grep -q "TracerPid:[^0-9]*$tool\$" "/proc/$victim/status" && asleep "$tool"; }
poll 20 traced
sleep 0.2
kill -KILL "$tool"
wait "$tool" 2>/dev/null
survives "a tool killed at work"
for i in {1..20}; do
	"$DPROBES" stat -o /dev/null w:stored w:stored:rw -p "$victim" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
	kill -KILL "$tool"
	wait "$tool" 2>/dev/null
	kill -0 "$victim" || break
done
survives "20 tools killed, each after the other"
kill "$victim"
wait "$victim" 2>/dev/null
plan
