#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs at a low address, where a jump's fifth byte is not int3 but another breakpoint: every
# instruction, close ones in every pair, and probes that come and go while threads run there.
. tests/scenario/lib.sh
. tests/scenario/lib-torture.sh
low=$VICTIMS/low
toggles=${TOGGLES:-1000}

# all MODULE AT_LEAST HOW CMD...: a probe on each instruction of it; it does what it does alone, and so
# many instructions are executed
all() {
	local module=$1 least=$2 how=$3 name=${*:4} got executed hits
	shift 3
	# shellcheck disable=SC2086
	run "$dir/probed" "$TOOLS/arm-all" $how -m "$module" -- "$@"
	got=$(tail -n 1 "$dir/probed/err")
	sed -i '/ armed, \| records, /d' "$dir/probed/err"
	read -r executed hits < <(awk '{ print $3, $5 }' <<<"$got")
	name="${name#"$VICTIMS/"}, ${how:-trap}"
	if [ -n "$(differs "$dir/probed")" ]; then
		not_ok "$name: it does what it does alone" "$(differs "$dir/probed")" "$got"
	elif [ "${executed:-0}" -lt "$least" ] || [ "${hits:-0}" -lt "$least" ]; then
		not_ok "$name: instructions were executed" "$got"
	else
		ok "$name: $got"
	fi
}

# everything MODULE AT_LEAST CMD...: in every way
everything() {
	run "$dir/bare" "${@:3}"
	for how in "-j interior" "-j quiesce" "" "-l -j interior"; do
		all "$1" "$2" "$how" "${@:3}"
	done
}
everything dense 150 "$low/dense" -t 2 -n 20
everything dense 150 "$low/dense" -b -t 2 -n 20
everything dense 100 "$low/dense" -l 1000
everything busy 400 "$low/busy" 1 5
everything forker 120 "$low/forker" 3
everything busy 10000 "$VICTIMS/static/busy" 1 2
# Long, and none of its instructions is a short way
for victim in thrower returns own-trap transparent; do
	run "$dir/bare" "$low/$victim"
	all $victim 200 "-j interior" "$low/$victim"
	[ $victim = transparent ] || all $victim 200 "-j quiesce" "$low/$victim"
done

# Close instructions that are entered at each of them: the Nth is executed once for each before it, too.
rounds=10
steps=$("$DPROBES" list --json dense:steps -- "$low/dense" -n 1 2>/dev/null |
	sed -n 's/.*"addr":"\(0x[0-9a-f]*\)".*/\1/p')
mapfile -t at < <(objdump -d "$low/dense" --disassemble=steps | sed -nE 's/^ +([0-9a-f]+):.*/0x\1/p')
is "the addresses of instructions" "$((steps)) ${#at[@]}" "$((at[0])) 22"

# counts I...: the Ith, Jth, ... probed
counts() {
	local specs=() wanted=() i got
	for i in "$@"; do
		specs+=("dense:steps+$((at[i] - at[0]))")
		wanted+=($(((i + 1) * rounds)))
	done
	got=$("$DPROBES" stat -q --json "${specs[@]}" -- "$low/dense" -n $rounds 2>"$dir/err"; echo "status $?")
	got=$(sed -nE 's/.*"hits":([0-9]+),.*/\1/p; s/^status //p; /^right/p' <<<"$got" | tr '\n' ' ')
	[ "$(tr ' ' '\n' <<<"$got" | sort)" = "$(printf '%s\n' "right $rounds" "${wanted[@]}" 0 "" | tr ' ' '\n' | sort)" ] ||
		echo "# $how $*: got $got, wanted ${wanted[*]} $(cat "$dir/err")"
}
for how in interior quiesce; do
	export DPROBES_ARM=$how
	bad=$(for ((i = 0; i < ${#at[@]}; i++)); do
		for ((j = i + 1; j < ${#at[@]} && at[j] - at[i] < 8; j++)); do
			counts "$i" "$j"
			[ $how = quiesce ] || counts "$j" "$i"
		done
	done)
	is "$how: every pair of close instructions counts what it should" "$bad" ""
	bad=$(for ((i = 0; i < 40; i++)); do
		# shellcheck disable=SC2046
		counts $(shuf -i 0-$((${#at[@]} - 1)) -n $((RANDOM % 8 + 2)) --random-source=<(yes $i))
	done)
	is "$how: and so do groups, by chance" "$bad" ""
done
unset DPROBES_ARM

# toggled STRATEGY MODULE OPTIONS CMD...: while probes come and go the program finds its results right
toggled() {
	local how=$1 module=$2 options=$3
	shift 3
	# shellcheck disable=SC2086
	timeout 600 "$TOOLS/toggle" -j "$how" -t "$toggles" $options -m "$module" -- "$@" >"$dir/out" 2>"$dir/err"
	like "$how, $toggles toggles under ${*##*/}" "$? $(tail -n 1 "$dir/err")" \
		"^0 [1-9][0-9]* sites, .* $toggles toggles, [1-9][0-9]{3}"
}
for how in interior quiesce trap; do
	toggled $how dense "-i 1 -b 5" "$low/dense" -t 4
	toggled $how dense "-i 1 -b 50" "$low/dense" -b -t 2
	toggled $how storm "-i 1 -b 20" "$low/storm" -t 4 -c -f
done
toggled interior busy "" "$VICTIMS/static/busy" 4

# Attached to, and gone again, at its busiest.
for how in interior quiesce; do
	export DPROBES_ARM=$how
	start "$low/busy" 4
	cycles "$how, busy" 10 'busy:*'
	is "$how, busy: it is right" "$?" 0
done
unset DPROBES_ARM

plan
