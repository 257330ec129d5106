#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs in Go: goroutines, small stacks that move, preemption by signals.
. tests/scenario/lib.sh
cycles=${CYCLES:-12}

if ! command -v go >/dev/null; then
	skip "programs in Go" "go is not there to build one"
	plan
	exit
fi
GOCACHE=$dir/cache CGO_ENABLED=0 GO111MODULE=off go build -o "$dir/victim" tests/victims/go/victim.go || exit 1
# With C in it: two runtimes make system calls, and C's threads have no stack for signals.
if command -v gcc >/dev/null; then
	GOCACHE=$dir/cache CGO_ENABLED=1 GO111MODULE=off go build -o "$dir/mixed" tests/victims/cgo/victim.go || exit 1
	# By C's linker, to run anywhere, and without names: only what Go says of its build is left.
	GOCACHE=$dir/cache CGO_ENABLED=1 GO111MODULE=off go build -buildmode=pie -ldflags='-s -w -linkmode=external' \
		-o "$dir/bare" tests/victims/cgo/victim.go && strip "$dir/bare" || exit 1
	like "a stripped program in Go is told" "$("$DPROBES" list -v libc.so.6:malloc -- "$dir/bare")" "trap.*goroutine's stack"
	cat >"$dir/library.c" <<-'C'
		long probed(long n);
		__attribute__((noipa)) long probed(long n) { return n * 3; }
	C
	gcc -shared -fPIC -O1 -o "$dir/library.so" "$dir/library.c" || exit 1
	for how in interior trap; do
		for ((i = 0; i < 4; i++)); do
			out=$(DPROBES_ARM=$how "$DPROBES" stat --json -q -o "$dir/counts" victim_function r:libc.so.6:realloc -- \
				"$dir/mixed" 100 "$dir/library.so" 2>&1)
			status=$?
			[ "$status $(tail -n 1 <<<"$out")" = "0 right 500 5" ] || break
		done
		for ((i = 0; i < 10; i++)); do
			late=$(DPROBES_ARM=$how "$DPROBES" stat --json -q -o "$dir/late" victim_function "$dir/library.so:probed" -- \
				"$dir/mixed" 100 "$dir/library.so" 2>&1)
			late="$? $(tail -n 1 <<<"$late") $(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$dir/late" | xargs)"
			[ "$late" = "0 right 500 5 500 5" ] || break
		done
		is "cgo, $how: and with a library that comes and goes" "$late" "0 right 500 5 500 5"
		is "cgo, $how: it found its results right" "$status $(tail -n 1 <<<"$out")" "0 right 500 5"
		is "cgo, $how: every call of C's" "$(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$dir/counts" | xargs)" "500 500"
	done
else
	skip "programs in Go with C in them" "there is no gcc"
fi
rm -rf "$dir/cache"

# But of the library that comes and goes.
text_sum() { "$TOOLS/text-sum" "$1" | grep -v library.so; }
of_files() { grep " $dir/victim" "/proc/$1/maps"; }
ours() { grep -c memfd:dprobes "/proc/$1/maps"; }

out=$("$DPROBES" stat -q -o "$dir/counts" main.victimFunction -- "$dir/victim" 20 2>"$dir/err")
is "every hit, and what it prints" "$? $(tail -n 1 <<<"$out") $(hits "$dir/counts" victim:main.victimFunction)" "0 right 16000"
"$DPROBES" list -v main.deep -- "$dir/victim" >"$dir/list" 2>&1
like "why its probes are breakpoints" "$(cat "$dir/list")" "trap.*goroutine's stack"
"$DPROBES" trace -q -o "$dir/lines" 'main.victimFunction(rax) if rax == 5' -- "$dir/victim" 5 >"$dir/out"
is "a condition on a register" "$? $(grep -c 'rax=0x5$' "$dir/lines")" "0 40"
out=$("$DPROBES" stat --json -q -o "$dir/counts" r:main.victimFunction r:main.deep -- "$dir/victim" 20 2>"$dir/err")
is "returns, by exits" "$? $(tail -n 1 <<<"$out") $(sed -n 's/.*victimFunction.*"returned":\([0-9]*\).*/\1/p' "$dir/counts")" \
	"0 right 16000"
# What cannot be followed where a stack moves is said, and no account is wrong.
like "calls whose stack moves are accounted for" "$(grep -c main.deep "$dir/counts") $(cat "$dir/err")" '^1 *$'

# come_and_go HOW NAME SPEC...: cycles on the victim, which is as before after each
come_and_go() {
	local how=$1 name=$2 bad=0 total=0 i
	shift 2
	of_files "$victim" >"$dir/maps"
	text_sum "$victim" >"$dir/text"
	grep -E '^Sig(Ign|Cgt)' "/proc/$victim/status" >"$dir/status"
	for ((i = 0; i < cycles; i++)); do
		DPROBES_ARM=$how "$DPROBES" stat -q -o "$dir/counts" --duration 20ms "$@" \
			-p "$victim" 2>"$dir/err" || { bad=$((bad + 1)); sed 's/^/# /' "$dir/err"; }
		total=$((total + $(hits "$dir/counts" "$name")))
		of_files "$victim" | cmp -s - "$dir/maps" && [ "$(ours "$victim")" -eq 0 ] || bad=$((bad + 1))
	done
	is "$how, $name: $cycles cycles of attach and detach, nothing left" "$bad" 0
	if [ $total -gt 0 ]; then ok "$how, $name: hits were counted: $total"; else not_ok "$how, $name: hits were counted"; fi
}
# as_before NAME SAYS
as_before() {
	is "$1: text and actions as before" \
		"$(text_sum "$victim") $(grep -E '^Sig(Ign|Cgt)' "/proc/$victim/status")" "$(cat "$dir/text") $(cat "$dir/status")"
	kill -TERM "$victim"
	wait "$victim"
	like "$1: it found its results right" "$? $(tail -n 1 "$dir/out")" "^0 $2\$"
}

for how in interior trap; do
	start "$dir/victim"
	sleep 0.2
	come_and_go $how victim:main.victimFunction main.victimFunction main.deep
	"$DPROBES" stat -q --all -o "$dir/counts" --duration 200ms 'main.*' 'runtime.*' 'syscall.*' 'os*.*' -p "$victim" 2>"$dir/err"
	like "$how: its whole runtime, signal handlers and thread starts included" "$? $(wc -l <"$dir/counts")" '^0 [0-9]{4}$'
	as_before $how right
	[ -x "$dir/mixed" ] || continue
	start "$dir/mixed" 0 "$dir/library.so"
	sleep 0.2
	come_and_go $how mixed:victim_function victim_function r:libc.so.6:realloc
	as_before "$how, cgo" 'right [0-9]+ [0-9]+'
done
plan
