#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A block that looks at all of a thread's state does with a probe on each of its instructions what it
# does without.
. tests/scenario/lib.sh
rounds=${ROUNDS:-100}
transparent=$VICTIMS/transparent

# offsets: of the block's instructions, as objdump sees them
offsets() {
	objdump -dw --disassemble=transparent_block "$transparent" | awk -F'\t' '
		/^ +[0-9a-f]+:/ { sub(/:/, "", $1); print $1, split($2, bytes, " ") }' |
		while read -r addr len; do
			[ -n "${base:-}" ] || base=$addr
			echo "$((0x$addr - 0x$base)) $len"
		done
}

offsets >"$dir/offsets"
mapfile -t specs < <(sed 's/\([0-9]*\) .*/transparent_block+\1/' "$dir/offsets")
is "instructions of every length" "$(awk '{ print $2 }' "$dir/offsets" | sort -nu | tr '\n' ' ')" \
	"1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
wanted=$("$transparent" "$rounds")
like "an unprobed run" "$wanted" '^right: '

# same NAME PROBES ARGS: with PROBES in the block, the output is that of an unprobed run
same() {
	local name=$1 probes=$2 got
	shift 2
	got=$("$DPROBES" stat -o "$dir/counts" "${specs[@]:0:probes}" -- "$transparent" "$@" "$rounds" 2>"$dir/err")
	is "$name: what it prints" "$got" "$wanted"
	is "$name: passes of its first instruction" "$(awk '$NF == "transparent:transparent_block" { print $1 }' "$dir/counts")" "$rounds"
}
same "${#specs[@]} probes" "${#specs[@]}"
# What is behind a jump that is always taken is there to be seen when it is not.
missed=$(awk '$1 == 0 { print $NF }' "$dir/counts")
if [[ $wanted != *"level 2"* ]]; then skip "nearly all of them are passed" "no AVX-512"
elif [ "$(wc -w <<<"$missed")" -le 12 ]; then ok "nearly all of them are passed"
else not_ok "nearly all of them are passed" "$missed"; fi
same "${#specs[@]} probes and alarms" "${#specs[@]}" -a
for how in trap quiesce; do
	DPROBES_ARM=$how same "${#specs[@]} probes and alarms, $how" "${#specs[@]}" -a
done

# One at a time of a few: each alone between originals
bad=0
for ((i = 0; i < ${#specs[@]}; i += ${STEP:-40})); do
	got=$("$DPROBES" stat -q -o "$dir/counts" "${specs[i]}" -- "$transparent" "$rounds" 2>"$dir/err")
	[ "$got" = "$wanted" ] || { bad=$((bad + 1)); echo "# ${specs[i]}: $got"; }
done
is "single probes" "$bad" 0

# Every instruction is a breakpoint; a few rounds pass them all.
few=$(((rounds + 4) / 5))
got=$(timeout 600 "$TOOLS/arm-all" -m transparent -- "$transparent" "$few" 2>"$dir/err")
is "all of the program: what it prints" "$got" "$("$transparent" "$few")"

# Attached and detached while it runs; every seed's first results hold for all its rounds.
for how in interior trap quiesce; do
	start "$transparent" -a 0
	DPROBES_ARM=$how cycles "$how" "${CYCLES:-10}" "${specs[@]}"
	is "$how: it is right after that" "$? $(tail -n 1 "$dir/out")" "0 right"
done
plan
