#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Random conditions and values, each at a function of its own, in another process: the same lines come of them
# whether a detour runs them, the interpreter does, or the one leaves to the other at some instruction.
. tests/scenario/lib.sh

functions=${FUNCTIONS:-60}
rounds=${ROUNDS:-3}
seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
echo "# SEED=$seed"
RANDOM=$((seed % 32768))

# All functions are called with the same arguments: numbers at which something changes, and an address.
{
	echo '#include <stdint.h>'
	for ((i = 0; i < functions; i++)); do
		echo "__attribute__((noipa)) long f$i(long a, long b, long c, long d, long e, long f) { return a + b * $i; }"
	done
	cat <<'END'
static const long edges[] = { 0, 1, 2, -1, 127, 128, 255, 256, -128, 32767, 32768, 65535, 65536, 2147483647, 2147483648,
	4294967295, 4294967296, -2147483648, -2147483649, INT64_MAX, INT64_MIN };
#define N ((int)(sizeof(edges) / sizeof(edges[0])))
int main(void)
{
	int i;

	for (i = 0; i < 4 * N; i++) {
		long a = edges[i % N], b = edges[i * 7 % N], c = i, d = edges[i * 5 % N] + i, e = -i, f = edges[i / 4];
END
	for ((i = 0; i < functions; i++)); do echo "		f$i(a, b, c, d, e, f);"; done
	echo '	}'
	echo '	return 0;'
	echo '}'
} >"$dir/many.c"
cc -O1 -o "$dir/many" "$dir/many.c"

types=(u8 u16 u32 u64 s8 s16 s32 s64 x8 x64)
ops=(== '!=' '<' '<=' '>' '>=')
edges=(0 1 2 127 128 255 256 32767 65535 65536 2147483647 2147483648 4294967295)
value() { printf 'arg%d:%s' $((RANDOM % 6)) "${types[RANDOM % 10]}"; }
compare() {
	local right=${edges[RANDOM % 13]}

	[ $((RANDOM % 3)) != 0 ] || right=$(value)
	printf '%s %s %s' "$(value)" "${ops[RANDOM % 6]}" "$right"
}
condition() {
	local n=$((RANDOM % 4)) i

	compare
	for ((i = 0; i < n; i++)); do printf ' %s ' "$( ((RANDOM % 2)) && echo '&&' || echo '||')"; compare; done
}
# specs: one for each function
specs() {
	local i k

	for ((i = 0; i < functions; i++)); do
		printf 'f%d(' "$i"
		for ((k = RANDOM % 5; k > 0; k--)); do printf '%s,' "$(value)"; done
		printf '%s) if %s\n' "$(value)" "$(condition)"
	done
}
# lines NATIVE: without times and numbers of threads, in the order of each function
lines() {
	DPROBES_NATIVE=$1 "$DPROBES" trace --buffer 4M -o "$dir/lines" "${spec[@]}" -- "$dir/many" 2>"$dir/err" || echo failed
	grep -E 'lost|torn' "$dir/err"
	cut -d' ' -f4- "$dir/lines" | sort -s -k2,2
}
for ((round = 0; round < rounds; round++)); do
	specs >"$dir/specs"
	mapfile -t spec <"$dir/specs"
	lines 0 >"$dir/interpreted"
	for native in 1 leave:2 leave:5 leave:9 leave:20; do
		lines $native >"$dir/native"
		if cmp -s "$dir/native" "$dir/interpreted"; then
			ok "round $round, $native: the same lines"
		else
			not_ok "round $round, $native: the same lines"
			diff "$dir/native" "$dir/interpreted" | head -n 5 | sed 's/^/# /'
			name=$(diff "$dir/native" "$dir/interpreted" | sed -nE 's/^[<>] [^ ]+ many:(f[0-9]+) .*/\1/p' | head -n 1)
			grep "^$name(" "$dir/specs" | sed 's/^/# /'
		fi
	done
	like "round $round: there are some" "$(wc -l <"$dir/interpreted")" '^[0-9]{3,}$'
done
plan
