#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Processes in other namespaces and directory trees, in all states, and of others.
. tests/scenario/lib.sh

armed() { "$DPROBES" list -p "$1" 2>/dev/null | grep -q ' k '; }
# probe NAME PID SPEC: counts, and leaves
probe() {
	maps_of "$2" >"$dir/maps"
	"$DPROBES" stat -q -o "$dir/counts" --duration 50ms -p "$2" "$3" 2>"$dir/err"
	like "$1: hits" "$? $(awk 'NR == 2 { print $1 }' "$dir/counts") $(cat "$dir/err")" '^0 [1-9][0-9]* $'
	is "$1: nothing is left" "$(maps_of "$2" | diff "$dir/maps" -)" ""
}
# finish NAME PID PATTERN: by SIGTERM
ended() { ! kill -0 "$1" 2>/dev/null; }
finish() {
	kill -TERM "$2"
	poll 10 ended "$2"
	like "$1: it found its results right" "$(tail -n 1 "$dir/out")" '^right'
}

# A tree of its own, with what the programs need.
tree=$dir/tree
mkdir -p "$tree/bin" "$tree/proc"
cp "$VICTIMS/bare/bare" "$tree/bin/inside-bare"
cp "$VICTIMS/blocked" "$tree/bin/inside"
for lib in $(ldd "$VICTIMS/blocked" | grep -o '/[^ ]*'); do
	mkdir -p "$tree/$(dirname "$lib")"
	cp "$lib" "$tree/$lib"
done
inside() { # NAME ARGS: in namespaces and a tree of its own; sets $victim
	local name=$1
	shift
	: >"$dir/out"
	unshare -U -r -m -p -n -f chroot "$tree" "/bin/$name" "$@" >"$dir/out" 2>"$dir/err" &
	pids+=($!)
	poll 10 test -s "$dir/out"
	victim=$(pgrep -x "$name")
	pids+=("$victim")
}
if unshare -U -r -m -p -n -f chroot "$tree" /bin/inside-bare 1 >/dev/null 2>&1; then
	inside inside mask 0
	probe "other namespaces and root" "$victim" work
	probe "a library of another root" "$victim" libc.so.6:malloc
	"$DPROBES" stat -q -o /dev/null work -p "$victim" 2>/dev/null &
	tool=$!
	pids+=($tool)
	poll 10 armed "$victim"
	kill -KILL $tool
	wait $tool 2>/dev/null
	"$DPROBES" stat -q -o "$dir/counts" --duration 20ms work -p "$victim" 2>"$dir/err"
	like "other namespaces: a killed tool is cleaned up after" "$? $(hits "$dir/counts" inside:work)" '^0 [1-9]'
	finish "other namespaces and root" "$victim"

	inside inside-bare
	probe "other namespaces, no libc" "$victim" work
	"$DPROBES" trace -q -o "$dir/lines" --duration 50ms -p "$victim" 'work()' 2>"$dir/err"
	unknown=$(awk '{ print $2, $3 }' "$dir/lines" | sort -u | while read -r p t; do
		[ -d "/proc/$p/task/$t" ] || echo "$p $t"
	done)
	is "threads are known by our numbers" "$(wc -l <"$dir/lines" | grep -c '^[1-9]') $unknown" "1 "
	finish "other namespaces, no libc" "$victim"

	# The tool in there with them, as the root of a namespace of its own.
	out=$(unshare -U -r -m -p -f --mount-proc bash -c "'$VICTIMS/static/blocked' mask 0 & p=\$!
		sleep 0.2
		'$DPROBES' stat -q -o '$dir/counts' --duration 50ms work -p \$p
		kill -TERM \$p
		wait \$p" 2>"$dir/err")
	like "the tool in the same namespaces" "$? $(tail -n 1 <<<"$out") $(hits "$dir/counts" blocked:work)" \
		'^0 right: mask.* [1-9][0-9]*$'
else
	skip "other namespaces" "unshare -U is not permitted here"
fi
plan
