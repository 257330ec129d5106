#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What goes beyond one launched glibc program, in programs of every other kind: children and execs that are
# followed, what a killed tool leaves, libraries to come.
. tests/scenario/lib.sh

sum() { sed 's/.*"hits":\([0-9]*\).*/\1/' "$dir/counts" | awk '{ s += $1 } END { print s + 0 }'; }
text_sum() { "$TOOLS/text-sum" "$1"; }
# musl's allocator and Go's give memory back whenever they like.
named_maps() { grep -v ' 00:00 0 *$' "/proc/$1/maps"; }

# left NAME SPEC: by a tool that is killed, in the victim that runs; and taken out
left() {
	named_maps "$victim" >"$dir/maps"
	text_sum "$victim" >"$dir/text"
	"$DPROBES" stat -q -o /dev/null -p "$victim" "$2" 2>"$dir/err" &
	tool=$!
	pids+=("$tool")
	is_armed() { "$DPROBES" list -p "$victim" 2>/dev/null | grep -q .; }
	poll 10 is_armed
	kill -KILL $tool
	wait $tool 2>/dev/null
	out=$("$DPROBES" detach -p "$victim" 2>&1)
	like "$1: what a killed tool has left is taken out" "$? $out" '^0 .*has been taken out$'
	is "$1: and all is as before" "$(named_maps "$victim" | diff "$dir/maps" -) $(text_sum "$victim")" " $(cat "$dir/text")"
}

for kind in static static-pie musl musl-static; do
	[ -x "$VICTIMS/$kind/calls" ] || { skip "$kind" "it is not built"; continue; }
	for arm in interior quiesce trap; do
		out=$(DPROBES_ARM=$arm "$DPROBES" stat --json -q -f -o "$dir/counts" victim_function -- "$VICTIMS/$kind/forker")
		is "$kind, $arm: children of every kind" "$? $out $(sum)" "0 0 failures 4200"
	done
	"$DPROBES" stat --json -q -f -o "$dir/counts" calls:victim_function libc.so.6:malloc -- \
		sh -c "$VICTIMS/$kind/calls 2 100; exec $VICTIMS/$kind/calls 4 1000" >/dev/null
	is "$kind: executed, by a child and in place of the shell" \
		"$? $(grep -o 'calls:.*"hits":[0-9]*' "$dir/counts" | sed 's/.*://' | xargs) $(grep -c libc.so.6 "$dir/counts")" "0 200 4000 1"
	start "$VICTIMS/$kind/busy" 2
	"$DPROBES" stat --json -q -f -o "$dir/counts" --duration 100ms work -p "$victim"
	like "$kind: attached to" "$? $(sum)" '^0 [1-9]'
	left "$kind" work
	kill -TERM "$victim"
	wait "$victim"
	is "$kind: it found its results right" "$? $(tail -n 1 "$dir/out" | cut -d' ' -f1)" "0 right"
done

if command -v musl-gcc >/dev/null; then
	cat >"$dir/loads.c" <<-'C'
		#include <dlfcn.h>
		int main(int argc, char **argv)
		{
			void *lib = dlopen(argv[1], RTLD_NOW);
			long (*probed)(long) = lib ? (long (*)(long))dlsym(lib, "probed") : 0;
			int i, wrong = !probed;
			for (i = 0; i < 5 && !wrong; i++)
				wrong = probed(i) != i * 3;
			return wrong;
		}
	C
	cat >"$dir/loaded.c" <<-'C'
		__attribute__((noipa)) long probed(long n) { return n * 3; }
		__attribute__((constructor)) static void early(void) { probed(1); probed(2); }
	C
	musl-gcc -O1 -o "$dir/loads" "$dir/loads.c" && musl-gcc -O1 -shared -fPIC -o "$dir/loaded.so" "$dir/loaded.c" || exit 1
	for arm in interior quiesce trap; do
		DPROBES_ARM=$arm "$DPROBES" stat --json -q -o "$dir/counts" "$dir/loaded.so:probed" -- "$dir/loads" "$dir/loaded.so"
		is "musl, $arm: a library to come, its constructor's calls among them" "$? $(sum)" "0 7"
	done
else
	skip "musl: a library to come" "there is no musl-gcc"
fi

bare=$VICTIMS/bare/bare
for arm in interior quiesce trap; do
	out=$(DPROBES_ARM=$arm "$DPROBES" stat --json -q -f -o "$dir/counts" work victim_function -- sh -c "$bare 10; exec $bare 10")
	is "no libc, $arm: children, and every hit" "$? $(tail -n 1 <<<"$out") $(grep -c '"bare:work".*"hits":[1-9]' "$dir/counts")" \
		"0 right 22"
done
start "$bare"
left "no libc" work
kill -TERM "$victim"
wait "$victim"
is "no libc: it found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"

if command -v go >/dev/null; then
	GOCACHE=$dir/cache CGO_ENABLED=0 GO111MODULE=off go build -o "$dir/victim" tests/victims/go/victim.go || exit 1
	rm -rf "$dir/cache"
	out=$("$DPROBES" stat --json -q -f -o "$dir/counts" main.victimFunction libc.so.6:malloc -- sh -c "$dir/victim 20; exec $dir/victim 20")
	is "Go: processes that it makes, and executed" \
		"$? $(tail -n 1 <<<"$out") $(grep -c 'main.victimFunction.*"hits":16000' "$dir/counts")" "0 right 2"
	like "Go: what its children execute" "$(grep -c 'libc.so.6:malloc.*"hits":[1-9]' "$dir/counts")" '^4[01]$'
	start "$dir/victim"
	left "Go" main.victimFunction
	kill -TERM "$victim"
	wait "$victim"
	is "Go: it found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"
else
	skip "programs in Go that are followed" "go is not there to build one"
fi

if [ "$(id -u)" -eq 0 ] && unshare true 2>/dev/null; then
	# Its victim_function is called a hundred times in each call of work.
	for spec in confined:victim_function r:confined:work; do
		out=$("$DPROBES" stat --json -q -f -o "$dir/counts" $spec -- "$VICTIMS/confined" 20 2>"$dir/err")
		status=$? times=$([ $spec = r:confined:work ] && echo 100 || echo 1)
		is "seccomp, $spec: followed, with its filter in force" "$status $out" "0 right: $(($(sum) * times))"
		is "seccomp, $spec: all by jumps" "$(grep -c '"mode":"jump"' "$dir/counts") $(grep -c '"mode":"trap"' "$dir/counts")" "32 0"
	done
	is "seccomp: and each call returned" "$(sed 's/.*"returned":\([0-9]*\).*/\1/' "$dir/counts" | awk '{ s += $1 } END { print s }')" "$(sum)"
	start "$VICTIMS/filtered" sigreturn
	"$DPROBES" stat --json -q -f -o "$dir/counts" --duration 100ms victim_function -p "$victim"
	like "seccomp: attached to" "$? $(sum)" '^0 [1-9]'
	left "seccomp" victim_function
	out=$("$DPROBES" stat -q --pending nosuch.so:f -p "$victim" 2>&1)
	like "seccomp: no library is waited for" "$? $out" '^2 .*cannot be waited for.*seccomp filter allows no breakpoint'
	kill -KILL "$victim"
	wait "$victim" 2>/dev/null
else
	skip "programs under seccomp that are followed" "needs CAP_SYS_ADMIN"
fi

start "$VICTIMS/static/busy" 1
out=$("$DPROBES" stat -q --pending nosuch.so:f -p "$victim" 2>&1)
like "static: no library is waited for" "$? $out" '^2 .*cannot be waited for.*no dynamic linker'
kill -TERM "$victim"
wait "$victim"
plan
