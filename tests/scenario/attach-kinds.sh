#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs of other kinds than dynamically linked ones with glibc.
. tests/scenario/lib.sh
cycles=${CYCLES:-12}
rounds=${ROUNDS:-50}

text_sum() { "$TOOLS/text-sum" "$1"; }
status_of() { grep -E '^(SigBlk|SigIgn|SigCgt|Threads)' "/proc/$1/status"; }
# musl's allocator gives memory back whenever it likes.
named_maps() { grep -v ' 00:00 0 *$' "/proc/$1/maps"; }

# launched NAME VICTIM: from its start
launched() {
	out=$("$DPROBES" stat -o "$dir/counts" victim_function -- "$2/calls" 4 5000 2>"$dir/err")
	is "$1: four threads, every hit, and the output" "$? $out $(hits "$dir/counts" calls:victim_function)" \
		"0 $("$2/calls" 4 5000) 20000"
	"$DPROBES" trace -q -o "$dir/lines" 'victim_function(arg0) if arg0 < 2' 'r:victim_function()' -- "$2/calls" 1 3 \
		>"$dir/out"
	is "$1: arguments, a condition, returns" "$? $(sed -E 's/.*victim_function //; s/ <.*//' "$dir/lines" | tr '\n' ' ')" \
		"0 arg0=0x0 = 1 arg0=0x1 = 4 = 7 "
	out=$("$DPROBES" stat -o "$dir/counts" victim_function -- "$2/forker" 2>"$dir/err")
	is "$1: children of every kind run on, and are not counted" "$? $out $(hits "$dir/counts" forker:victim_function)" \
		"0 0 failures 200"
}

# [row 251]
# attached NAME VICTIM SPEC...: again and again, while it checks its results
attached() {
	local name=$1 victim_path=$2 i bad=0
	shift 2
	start "$victim_path/busy" 4
	named_maps "$victim" >"$dir/maps"
	text_sum "$victim" >"$dir/text"
	status_of "$victim" >"$dir/status"
	fds=$(ls "/proc/$victim/fd" | wc -l)
	for ((i = 0; i < cycles; i++)); do
		until_hit work stat -q -o "$dir/counts" "$@" ||
			{ bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
		[ "$(hits "$dir/counts" busy:work)" -gt 0 ] || bad=$((bad + 1))
		named_maps "$victim" | cmp -s - "$dir/maps" || bad=$((bad + 1))
	done
	is "$name: $cycles cycles of attach and detach, hits in each, maps as before" "$bad" 0
	is "$name: text, masks, actions and descriptors as before" \
		"$(text_sum "$victim") $(status_of "$victim") $(ls "/proc/$victim/fd" | wc -l)" \
		"$(cat "$dir/text") $(cat "$dir/status") $fds"
	kill -TERM "$victim"
	wait "$victim"
	is "$name: it found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"
}

# masked NAME VICTIM MODE...: signals blocked, from the start and when attached to
masked() {
	local name=$1 victim_path=$2 mode how wanted got i bad
	shift 2
	for mode in "$@"; do
		for how in interior trap; do
			wanted=$(DPROBES_ARM=$how "$victim_path/blocked" "$mode" "$rounds")
			got=$(DPROBES_ARM=$how timeout 300 "$DPROBES" stat -o "$dir/counts" work -- "$victim_path/blocked" \
				"$mode" "$rounds" 2>"$dir/err")
			is "$name, $mode, $how: what it prints" "$? $got" "0 $wanted"
			like "$name, $mode, $how: hits" "$(hits "$dir/counts" blocked:work)" '^[1-9][0-9]*$'
		done
		case $mode in handler | spawn) continue ;; esac
		start "$victim_path/blocked" "$mode" 0
		bad=0
		for how in trap interior quiesce; do
			for i in 1 2 3; do
				DPROBES_ARM=$how until_hit work stat -o "$dir/counts" work || { bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
			done
		done
		like "$name, $mode, attached: hits" "$bad $(hits "$dir/counts" blocked:work)" '^0 [1-9][0-9]*$'
		kill -TERM "$victim"
		wait "$victim"
		like "$name, $mode: it is right after that" "$? $(tail -n 1 "$dir/out")" "^0 right: $mode"
	done
}

# Frames of handlers that have returned, in handlers that run: none of them counts.
for kind in '' musl-static; do
	start "$VICTIMS/$kind/remains"
	cycles "${kind:-glibc}, remains of frames" "$cycles" work
	like "${kind:-glibc}: none was taken for a frame" "$? $(tail -n 1 "$dir/out")" '^0 right, [34] kinds of remains$'
done

glibc_modes="ignore spawn mask pending clearsighand sleep open leave cancel"
for kind in static static-pie; do
	launched $kind "$VICTIMS/$kind"
	attached $kind "$VICTIMS/$kind" work qsort
	masked $kind "$VICTIMS/$kind" $glibc_modes
done
for kind in musl musl-static; do
	launched $kind "$VICTIMS/$kind"
	attached $kind "$VICTIMS/$kind" work
	masked $kind "$VICTIMS/$kind" ignore spawn mask pending sleep open leave cancel
done
plan
