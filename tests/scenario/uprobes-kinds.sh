#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Uprobes in programs of other kinds than dynamically linked ones with glibc.
. tests/scenario/lib.sh

named_maps() { grep -v ' 00:00 0 *$' "/proc/$1/maps"; }
address() { "$DPROBES" list --json "$2" -p "$1" | sed -n 's/.*"addr":"\{0,1\}\([0-9a-fx]*\).*/\1/p' | head -n 1; }

# in_kind NAME FUNCTION COMMAND...: which works until SIGTERM, and checks its results
in_kind() {
	local name=$1 function=$2 addr got
	shift 2
	start "$@"
	named_maps "$victim" >"$dir/maps"
	addr=$(address "$victim" "$function")
	got=$("$TOOLS/upcount" "$victim" "$addr" 0.3 2>&1)
	like "$name: handlers here, there, and of returns" "$got" \
		'^task [1-9][0-9]*, interrupt [1-9][0-9]*, returns [1-9][0-9]*, late 0, missed 0, wrong 0$'
	is "$name: nothing is left" "$(named_maps "$victim" | diff "$dir/maps" -)" ""
	"$TOOLS/upcount" "$victim" "$addr" 60 >/dev/null 2>&1 &
	owner=$!
	pids+=("$owner")
	poll 20 grep -q dprobes "/proc/$victim/maps"
	kill -KILL $owner
	wait $owner 2>/dev/null
	poll 20 "$DPROBES" detach -p "$victim" 2>"$dir/err"
	is "$name: its owner killed, and taken out" "$(named_maps "$victim" | diff "$dir/maps" -)" ""
	kill -TERM "$victim"
	wait "$victim"
	is "$name: it found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"
}

for kind in static static-pie musl musl-static; do
	if [ -x "$VICTIMS/$kind/busy" ]; then in_kind "$kind" work "$VICTIMS/$kind/busy" 4; else
		skip "$kind" "it was not built"; fi
done
in_kind "no libc" victim_function "$VICTIMS/bare/bare"
if command -v go >/dev/null; then
	GOCACHE=$dir/cache CGO_ENABLED=0 GO111MODULE=off go build -o "$dir/victim" tests/victims/go/victim.go || exit 1
	in_kind Go main.victimFunction "$dir/victim"
else
	skip Go "go is not there to build one"
fi
plan
