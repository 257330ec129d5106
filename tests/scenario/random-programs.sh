#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Random programs in a real process: a detour, the interpreter, a trap, and a detour that is left half-way make the same
# records of them.
. tests/scenario/lib.sh

logger=$(realpath "$VICTIMS/logger")
seed=${SEED:-5000}
echo "# SEED=$seed"
export PADDING=$(printf 'x%.0s' {1..9000})
# records ARM NATIVE: all that is said of each. The program's environment, and so its stack, is as large in any case.
records() {
	env DPROBES_ARM="$1" DPROBES_NATIVE="$2" FILL="$(printf "%$((40 - ${#1} - ${#2}))s" '')" \
		setarch -R "$DPROBES" run -q --json -o "$dir/records" "$dir/random.dp" -- "$logger" stack 2>&1
	sed 's/.*"minor"/"minor"/; s/"cpu":[0-9]*,//' "$dir/records" | sort
}
said=0 raised=0
for ((round = 0; round < ${ROUNDS:-12}; round++)); do
	setarch -R "$TOOLS/random-programs" $((seed + round)) 120 logger_deep >"$dir/random.dp" 2>"$dir/err"
	is "$round: the listing is assembled to the same code" "$? $(cat "$dir/err")" "0 "
	records interior 0 >"$dir/wanted"
	said=$((said + $(grep -c '"data":"..' "$dir/wanted"))) raised=$((raised + $(grep -c '"exception"' "$dir/wanted")))
	for how in "interior 1" "interior leave:4" "interior leave:9" "trap 1"; do
		# shellcheck disable=SC2086
		records $how >"$dir/got"
		diff "$dir/wanted" "$dir/got" >"$dir/diff" || not_ok "$round: $how" "$(head -n 4 "$dir/diff")"
	done
done
[ "$tests" -gt "$round" ] || ok "all ways are the same"
like "many have logged, and many have ended by an exception" "$said $raised" '^[1-9][0-9]{2,} [1-9][0-9]{2,}$'
plan
