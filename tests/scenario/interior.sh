#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Threads that come to the middle of a jump: each time is a trap, which is counted, for the probe that it
# is due to, and told where it is most of a probe's cost.
. tests/scenario/lib.sh
# A call of a loop makes two passes: the first one comes from above, the second one from below. So no
# more arrive at its head than come to what is before it, and the jump there stays.
calls=2500

# field NAME PROBE: of its line in $dir/counts
# What is not said of a probe is 0.
field() {
	sed -nE "s/^\{\"probe\":\"dense:$2\",/&\"$1\":0,/; s/^\{\"probe\":\"dense:$2\",.*\"$1\":\"?([a-z0-9]+).*/\1/p" "$dir/counts"
}
# count VICTIM SPEC...
count() {
	"$DPROBES" stat --json -o "$dir/counts" "${@:2}" -- "$1" -l 2 -n $calls >/dev/null 2>"$dir/err"
}
total() { sed -nE 's/.*, ([0-9]+) traps in the middle of a jump; .*/\1/p' "$dir/err"; }

for kind in "" low/; do
	dense=$VICTIMS/${kind}dense
	count "$dense" loop1 loop2 loop3 loop4
	is "${kind}loops: hits" "$(field hits loop1) $(field hits loop2) $(field hits loop3) $(field hits loop4)" "$((2 * calls)) $calls $calls $calls"
	is "${kind}loops: jumps" "$(field mode loop1) $(field mode loop2) $(field mode loop3) $(field mode loop4)" \
		"jump jump jump jump"
	for ((i = 1; i < 5; i++)); do
		is "${kind}loop$i: each pass but the first of a call is counted" "$(field interior loop$i)" \
			$((i == 1 ? 2 * calls : calls))
		like "${kind}loop$i: and told" "$(cat "$dir/err")" \
			"^dprobes: dense:loop$i: $(field interior loop$i) traps .* most of its cost: the program branches"
	done
	is "${kind}loops: the summary has the sum" "$(total)" $((5 * calls))

	# The head of a loop has a probe, and so has what is before it.
	count "$dense" loop1 loop1+1 loop2 loop2+2 loop3 loop3+3 loop4 loop4+4
	for ((i = 1; i < 5; i++)); do
		n=$((i == 1 ? 2 : 1))
		is "${kind}loop$i+$i: every pass is a hit" "$(field hits "loop$i\+0x$i")" $((2 * n * calls))
		is "${kind}loop$i+$i: and but for the first a trap" "$(field interior "loop$i\+0x$i")" $((n * calls))
		is "${kind}loop$i: the probe before it has none" "$(field interior loop$i)" 0
	done
	is "${kind}heads: the summary has the sum" "$(total)" $((5 * calls))
	like "${kind}heads: it is told" "$(cat "$dir/err")" \
		"^dprobes: dense:loop4\+0x4: $calls traps .*: it is within five bytes of the probe before it"
	is "${kind}heads: of no other probe" "$(grep -c 'most of its cost' "$dir/err")" 4

	count "$dense" -q loop4
	is "${kind}-q: nothing is told" "$(cat "$dir/err")" ""
	calls=900 count "$dense" loop4
	is "${kind}few: counted" "$(field interior loop4)" 900
	is "${kind}few: nothing to tell" "$(grep -c 'most of its cost' "$dir/err")" 0
	DPROBES_ARM=quiesce count "$dense" loop4 loop4+4
	is "${kind}quiesce: nobody comes to the middle" "$(field interior loop4) $(total)" "0 "
	DPROBES_ARM=trap count "$dense" loop4 loop4+4
	is "${kind}trap: there is no middle" "$(field interior loop4) $(field interior 'loop4\+0x4') $(total)" "0 0 "

	out=$("$DPROBES" stat -v loop4 -- "$dense" -l 2 -n $calls 2>/dev/null)
	like "${kind}stat -v" "$out" "^ +$calls +0  jump  dense:loop4 .*  $calls traps in the middle of a jump$"

	# The kernel's, at the head of the loop
	spec=$(setarch -R "$TOOLS/spec-offset" loop4+4 -- "$dense" -l 1 2>/dev/null)
	timeout 300 "$TOOLS/uprobe-count" -o "$dir/kernel" "$spec" -- "$dense" -l 2 -n $calls >/dev/null 2>"$dir/err"
	if [ $? -eq 77 ]; then
		skip "${kind}the kernel's count" "its uprobes are not to be had: $(cat "$dir/err")"
	else
		count "$dense" loop4
		is "${kind}the kernel counts as many at the head" "$(cut -d' ' -f1 "$dir/kernel")" \
			$(($(field interior loop4) + $(field hits loop4)))
	fi

	# A loop with more passes: the jump before its head steps back, and each hit is counted all the same.
	many=500000
	"$DPROBES" stat --json -o "$dir/counts" loop1 loop2 loop2+2 loop3 loop3+3 loop4 loop4+4 -- "$dense" -l $many >/dev/null 2>"$dir/err"
	for ((i = 2; i < 5; i++)); do
		is "${kind}long loop$i: every pass is a hit" "$(field hits "loop$i") $(field hits "loop$i\+0x$i")" "1 $many"
		is "${kind}long loop$i: a breakpoint before it, and a jump" "$(field mode "loop$i") $(field mode "loop$i\+0x$i")" "trap jump"
		like "${kind}long loop$i: few passes are traps" "$(field interior "loop$i\+0x$i")" '^[1-9][0-9]{3,4}$'
	done
	is "${kind}long loop1: a breakpoint, where the head has no probe" "$(field hits loop1) $(field mode loop1)" "2 trap"
	is "${kind}long loops: nothing to tell" "$(grep -c 'most of its cost' "$dir/err")" 0

	# While it runs
	start "$dense" -t 2 -n 0 -s
	"$DPROBES" stat -q -o "$dir/counts" steps -p "$victim" 2>/dev/null &
	tool=$!
	pids+=("$tool")
	told() { "$DPROBES" list -v -p "$victim" 2>/dev/null | grep -qE ' jump .* [1-9][0-9]* traps in the middle of a jump$'; }
	poll 20 told
	is "${kind}list -v" "$?" 0
	like "${kind}list --json" "$("$DPROBES" list --json -p "$victim")" '"interior":[1-9]'
	kill -INT "$tool"
	wait "$tool"
	kill -TERM "$victim"
	wait "$victim"
	is "${kind}it was right" "$?" 0
done
plan
