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
	timeout -k 5 120 "$@" >"$dir/said" 2>&1
	status=$?
	# What a sanitizer has to say is no end by itself.
	! grep -qE 'Sanitizer|runtime error:' "$dir/said" || status=199
	[ $status -lt 124 ] || { bad="$bad $name:$status"; sed 's/^/# /' "$dir/said" | tail -n ${SAID:-5}; }
}

MODULE=${MODULE:-build/tests/modules/probe.so}
printf 'name = hostile\nmodtype = user\nmajor = 1\nvars = 4\noffset = victim_function\nminor = 7\nopcode = *\ninc lv,0\npush r,rdi\nlog 1\n' >"$dir/p.dp"
# As one user against another, where that can be.
as=()
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
chmod 755 "$dir" && cp "$VICTIMS/hostile" "$dir/hostile"
export ASAN_OPTIONS=detect_leaks=0
# The tool has its memory there, or was refused.
settled() { grep -q dprobes "/proc/$victim/maps" 2>/dev/null || [ ! -d "/proc/$tool" ]; }
alive=0
for ((seed = ${FIRST:-1}; seed < ${FIRST:-1} + seeds; seed++)); do
	bad=
	# Words here and there in one run, all that there is in the other.
	[ $((seed % 2)) = 1 ] && how=words || how=flood
	for what in uprobes stat trace run list detach; do
		start "${as[@]}" "$dir/hostile" "$seed" $how 2>/dev/null
		addr=$("$DPROBES" list --json victim_function -p "$victim" | sed -n 's/.*"addr":"\(0x[0-9a-f]*\)".*/\1/p')
		case $what in
		uprobes) survives uprobes "$TOOLS/upcount" "$victim" "$addr" 0.3 ;;
		stat) survives stat "$DPROBES" stat --duration 300ms libc.so.6:clock_nanosleep victim_function -p "$victim" ;;
		run) survives run "$DPROBES" run --duration 300ms "$dir/p.dp" -p "$victim" ;;
		trace) survives trace "$DPROBES" trace --duration 300ms 'r:victim_function(arg0)' -p "$victim" ;;
		*)
			"$DPROBES" stat -q victim_function -p "$victim" >/dev/null 2>&1 &
			tool=$!
			pids+=("$tool")
			poll 5 settled
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
	start "${as[@]}" "$dir/hostile" "$seed" records
	survives "its own records" "$DPROBES" trace --duration 300ms 'victim_function(arg0)' -p "$victim"
	kill -KILL "$victim" 2>/dev/null
	wait "$victim" 2>/dev/null
	# Those are of the future, and not kept for it.
	start "${as[@]}" "$dir/hostile" "$seed" records
	"$DPROBES" trace -q --duration 100s -o "$dir/lines" 'victim_function(arg0)' -p "$victim" 2>/dev/null &
	tool=$!
	pids+=("$tool")
	poll 8 grep -q " 424242 " "$dir/lines" 2>/dev/null || bad="$bad future"
	kill -KILL "$victim" 2>/dev/null
	wait "$victim" 2>/dev/null
	timeout 120 tail -s 0.02 --pid=$tool -f /dev/null || bad="$bad end"
	wait $tool 2>/dev/null
	rm -f "$dir/lines"
	survives insmod "$DPROBES" insmod "$MODULE" -- "$VICTIMS/hostile" "$seed" lines 300
	is "seed $seed, $how: no tool dies of it, or hangs" "$bad" ""
done 2>/dev/null
echo "# $alive of $((6 * seeds)) programs have survived themselves"
plan
