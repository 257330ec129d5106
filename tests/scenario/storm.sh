#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Probes in the middle of libc under a workload that checks every result.
. tests/scenario/lib.sh
rounds=${ROUNDS:-30}
specs=()
for f in snprintf strtod strtol qsort bsearch sscanf malloc realloc free strftime gmtime_r mktime longjmp \
	iconv fopen getline regcomp regexec random_r getenv pthread_mutex_lock pthread_cond_wait \
	pthread_cond_broadcast fork raise '__strlen_*' '__mem*_unaligned_erms'; do
	specs+=("libc.so.6:$f")
done

for options in "" -c -f "-c -f"; do
	# shellcheck disable=SC2086
	got=$("$DPROBES" stat -o "$dir/counts" "${specs[@]}" -- "$VICTIMS/storm" -n "$rounds" $options 2>"$dir/err")
	is "storm $options: it is right" "$? $(tail -n 1 <<<"$got")" "0 ok $((4 * rounds))"
	like "storm $options: hits" "$(tail -n 1 "$dir/err")" ' [0-9]{5,} hits, 0 missed'
done

for options in "" "-c -f"; do
	# shellcheck disable=SC2086
	start "$VICTIMS/storm" $options
	cycles "storm $options" "${CYCLES:-20}" "${specs[@]}"
	like "storm $options: it is right after that" "$? $(tail -n 1 "$dir/out")" '^0 ok [0-9]+$'
done
plan
