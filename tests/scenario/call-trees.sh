#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The trees of calls of programs of many shapes, against uftrace's of the same binary; and against what the program
# tells itself, where uftrace is not there, or is known to be wrong.
. tests/scenario/lib.sh
sources=tests/victims/trees
export GMON_OUT_PREFIX=$dir/gmon

# compile NAME WHAT FLAGS...: $dir/prog, of the source NAME, with WHAT of the compiler's instrumentation
compile() {
	local source lang=cc
	source=$(ls $sources/"$1".c*)
	[ "${source##*.}" = c ] || lang=c++
	shift
	$lang -O1 -w -pthread -I$sources "$@" -o "$dir/prog" "$source"
}
# A call is a line of three words: its thread, its depth and its function.
# ours ARGS...: $dir/ours. The specs that it takes are in $specs. A call that has ended by a jump is none any more; uftrace
# shows the one that it jumped to, which is the next one there, as its own.
ours() {
	timeout 100 "$DPROBES" graph --block --mangled --json -f "${specs[@]}" -o "$dir/graph" -- "$dir/prog" "$@" \
		>"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	sed -E 's/.*"tid":([0-9]+),.*"probe":"r:[^"]*:([^":]*)","depth":([0-9]+).*"exit":"([a-z]*)".*/\1 \3 \2 \4/' "$dir/graph" |
		awk '
			$1 != tid { tid = $1; split("", tails); split("", more) }
			{ tails[$2] = more[$2] ? tails[$2] + 1 : 0; more[$2] = $4 == "tail"; more[$2 + 1] = 0
			  depth = $2
			  if ($4 == "tail") any = 1
			  for (i = 0; any && i <= $2; i++) depth += tails[i]
			  print tid, depth, $3 }' >"$dir/ours"
}
# theirs ARGS...: $dir/theirs
theirs() {
	rm -rf "$dir/data"
	(cd "$dir" && uftrace record --no-event --no-libcall -D 8192 --max-stack=8192 -d data ./prog "$@") >"$dir/out" 2>&1
	uftrace replay -d "$dir/data" -D 8192 -f tid --demangle=no --no-comment 2>/dev/null |
		sed -nE 's/^ *\[ *([0-9]+)\] \| ( *)([A-Za-z_0-9.]+)\(.*/\1|\2|\3/p' |
		awk -F'|' '{ print $1, length($2) / 2, $3 }' >"$dir/theirs"
}
# told ARGS...: $dir/theirs, while we look on
told() {
	rm -f "$dir"/told.[0-9]*
	TOLD=$dir/told ours "$@"
	awk '{ sub(/.*\./, "", FILENAME); print FILENAME, $0 }' "$dir"/told.[0-9]* >"$dir/theirs"
}
# trees WHOSE: a line for each thread, in no order. Functions that are the same text have one name.
trees() {
	nm --defined-only "$dir/prog" | awk '
		NR == FNR { if (!($1 in first)) first[$1] = $3; name[$3] = first[$1]; next }
		{ tree[$1] = tree[$1] " " $2 ":" (($3 in name) ? name[$3] : $3) }
		END { for (t in tree) print tree[t] }' - "$dir/$1" | sort >"$dir/$1.trees"
}
# same NAME
same() {
	local calls

	calls=$(wc -l <"$dir/theirs")
	trees ours
	trees theirs
	is "$1: ends well" "$status" 0
	is "$1: the same trees" "$(diff "$dir/theirs.trees" "$dir/ours.trees" | cut -c1-500)" ""
	is "$1: there are calls" $((calls > 9)) 1
	is "$1: all are in the account" "$(grep -oE '[0-9]+ hits' "$dir/err")" "$calls hits"
}

# with_uftrace NAME [FLAGS...] [-- ARGS...]
with_uftrace() {
	local name=$1 flags=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		flags+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	if ! command -v uftrace >/dev/null; then
		skip "$name: the same trees" "there is no uftrace"
		return
	fi
	compile "$name" -pg "${flags[@]}"
	ours "$@"
	theirs "$@"
	same "$name"
}
# by_itself NAME [FLAGS...]
by_itself() {
	cc -O1 -w -I$sources -c -o "$dir/told.o" $sources/told.c
	compile "$@" -finstrument-functions -rdynamic "$dir/told.o"
	told
	same "$1, as it tells itself"
}

plain=-fno-optimize-sibling-calls
specs=('f_*' '_[!Z]*f_*' '_Z[!T]*f_*')
with_uftrace recursion $plain
with_uftrace mutual $plain
with_uftrace threads $plain
with_uftrace callbacks $plain
with_uftrace exceptions $plain
with_uftrace signals $plain
with_uftrace constructs $plain
with_uftrace deep $plain
with_uftrace forks $plain
with_uftrace many $plain
with_uftrace clones -O2 $plain
with_uftrace tables $plain
with_uftrace structs $plain
with_uftrace virtuals $plain
with_uftrace templates $plain
with_uftrace nested $plain -Wl,-z,execstack
with_uftrace crowd $plain
with_uftrace coroutines $plain
with_uftrace generators -std=c++20 $plain
with_uftrace tails -O2
cc -O1 -w -pg -shared -fPIC -I$sources -o "$dir/plugin.so" $sources/plugin.c
specs=('f_*' 'plugin.so:f_*' --pending)
with_uftrace plugs $plain -- "$dir/plugin.so"
specs=('f_*' '_[!Z]*f_*' '_Z[!T]*f_*')
by_itself jumps
# Its mcount loses how many of a call's arguments are in vector registers.
by_itself variadic
plan
