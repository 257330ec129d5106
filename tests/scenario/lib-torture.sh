# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# lib-torture: programs that leave their functions in every way there is. Sourced, after lib.sh.
torture=$VICTIMS/torture
limit=${TORTURE_LIMIT:-300}
ulimit -c 0

# Status, whether it comes to its exit handlers, program, arguments
cases() {
	local name
	for name in backtraces children coroutines frames jumps library passing recursion returns signals \
		stays tails threads throws unwinds; do
		echo "0 exits $name"
	done
	printf '%s\n' "3 exits exits exit" "3 exits exits thread" "4 exits exits quick" "5 ends exits at-once" \
		"134 ends exits abort" "134 ends exits uncaught" "134 ends exits noexcept" "134 ends exits terminate"
}

# run DIR CMD...: its output into DIR, its status
run() {
	mkdir -p "$1"
	# The shell's own words about signals
	{ timeout -k 5 "$limit" "${@:2}" >"$1/out" 2>"$1/err" </dev/null; } 2>/dev/null
	echo $? >"$1/status"
}

differs() {
	local f
	for f in status out err; do
		diff "$dir/bare/$f" "$1/$f" >"$dir/diff" || { echo "$f:"; head -n 8 "$dir/diff"; }
	done
}
