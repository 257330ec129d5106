#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Probes in libraries that are not loaded yet: armed before any code of theirs runs.
. tests/scenario/lib.sh

# A library whose constructor calls what is probed: so it has to be armed by then.
cat >"$dir/early.c" <<'C'
double cbrt(double x);
__attribute__((noipa)) double cbrt(double x) { return x / 9; }
__attribute__((constructor)) static void early(void) { cbrt(1); cbrt(2); }
C
if ! ${CC:-cc} -shared -fPIC -O1 -fno-builtin -o "$dir/early.so" "$dir/early.c" 2>"$dir/err"; then
	skip "pending probes" "there is no compiler"
	plan
	exit
fi
wrong() { grep -v -e '^ok ' -e ready "$dir/out"; }
list() { "$DPROBES" list -p "$victim"; }
pending() { list | grep -q PENDING; }
hits() { awk '/cbrt/ { print $1 }' "$dir/counts"; }

for arm in interior quiesce trap; do
	export DPROBES_ARM=$arm
	obey "$VICTIMS/plugin" "$dir/early.so"
	"$DPROBES" stat -o "$dir/counts" "$dir/early.so:cbrt" libc.so.6:free -p $victim 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 pending
	like "$arm: the list while it is not there" "$(list | head -n 1)" '^0000000000000000  k  cbrt\+0x0  .*early.so \[PENDING\]$'
	bid open call
	like "$arm: and when it is" "$(list | grep cbrt)" '^0000[0-9a-f]{12}  k  cbrt\+0x0  early.so (\[OPTIMIZED\])?$'
	interrupt $tool
	is "$arm: the tool" "$?" 0
	is "$arm: hits, those in its constructor among them" "$(hits)" 8
	dismiss quit
	is "$arm: the program is right" "$? $(wrong)" "0 "
	is "$arm: what was said" "$(grep -c 'is pending: .* is not loaded yet$\|is not pending any more$' "$dir/talk")" 2

	obey "$DPROBES" stat -q -o "$dir/counts" "$dir/early.so:cbrt" -- "$VICTIMS/plugin" "$dir/early.so"
	bid open call
	dismiss quit
	is "$arm: a command, and nothing else is probed" "$? $(wrong) $(hits)" "0  8"

	"$DPROBES" stat --json -q -o "$dir/counts" libm.so.6:cbrt matrix:victim_function -- "$VICTIMS/matrix" dlopen 40 >"$dir/out"
	is "$arm: under threads no hit of the others is lost" "$? $(sed -n 's/.*victim_function","hits":\([0-9]*\).*/\1/p' "$dir/counts")" \
		"0 $(sed -n 's/^right: own \([0-9]*\).*/\1/p' "$dir/out")"
	is "$arm: nor of a library that comes and goes" "$(sed -n 's/.*cbrt","hits":\([0-9]*\).*/\1/p' "$dir/counts")" $((40 * 20))

	# Threads that are in intercepted calls, and in handlers which have interrupted those, most of the time.
	for ((i = 0; i < ${CYCLES:-4}; i++)); do
		"$DPROBES" stat --json -o "$dir/counts" "$dir/early.so:cbrt" intercepted:victim_function -- \
			"$VICTIMS/intercepted" "$dir/early.so" 40 >"$dir/out" 2>"$dir/talk"
		got="$? $(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$dir/counts" | sort -n | xargs) $(grep -c moment "$dir/talk")"
		wanted="0 $(sed -n 's/^right: \([0-9]*\) and \([0-9]*\)$/\2 \1/p' "$dir/out") 0"
		[ "$got" = "$wanted" ] || break
	done
	is "$arm: nor of threads in intercepted calls, and they cannot tell" "$got" "$wanted"
done
export -n DPROBES_ARM

obey "$DPROBES" trace -o "$dir/lines" "r:$dir/early.so:cbrt" libc.so.6:fgets -- "$VICTIMS/plugin" "$dir/early.so"
bid open call
dismiss quit
is "records and followed calls" "$? $(grep -c 'cbrt .* = rax=0x' "$dir/lines") $(grep -c 'fgets' "$dir/lines")" "0 8 3"

obey "$DPROBES" trace -v -o "$dir/lines" "r:$dir/early.so:cbrt" -- "$VICTIMS/plugin" "$dir/early.so"
victim=$(pgrep -P "$victim" plugin)
bid open call close
like "unloaded it is gone" "$(list)" 'cbrt|0x.*\[GONE\]'
bid open call
like "and armed when it is there again" "$(list | head -n 1)" 'cbrt\+0x0  early.so (\[OPTIMIZED\])?$'
bid close open close fill check
exec 5>&-
poll 10 test ! -d "/proc/$victim"
is "all its calls were followed" "$(grep -c 'cbrt .* = rax=0x' "$dir/lines")" 18
"$DPROBES" stat -o "$dir/counts" "$dir/early.so:cbrt" -- "$VICTIMS/plugin" </dev/null >/dev/null 2>"$dir/err"
like "one that was never loaded is named" "$? $(tail -n 1 "$dir/err")" '^0 dprobes: .*early.so:cbrt was never armed: .* was not loaded$'
"$DPROBES" stat libnosuch.so.1:f -- true 2>"$dir/err"
like "one that is nowhere is an error" "$? $(head -n 1 "$dir/err")" '^2 .*no module "libnosuch.so.1".*; --pending waits for it to be loaded$'
"$DPROBES" stat --pending libnosuch.so.1:f -- true >"$dir/out" 2>"$dir/err"
is "unless it shall be waited for" "$?" 0

# A signal comes while the tool adds probes, and a thread waits for it at the linker's probe.
is_armed() { list | grep -q 'cbrt+0x0  early.so'; }
left_stopped() { stopped "$victim" && is_armed; }
while_added() { # SIGNAL
	obey "$VICTIMS/plugin" "$dir/early.so"
	DPROBES_HALT="extend: built" build/tests/dprobes-kill-points stat -q -o "$dir/counts" "$dir/early.so:cbrt" -p $victim 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 pending
	lines=$((lines + 1))
	echo open >&5
	poll 10 stopped "$tool"
	kill -"$1" "$victim"
	kill -CONT "$tool"
}
while_added STOP
poll 10 left_stopped
is "a thread that waits for probes gets a SIGSTOP: the process is stopped" "$?" 0
kill -CONT "$victim"
poll 10 answered
bid call
dismiss quit
is "and goes on with SIGCONT, right" "$? $(wrong)" "0 "
wait "$tool"
is "and no hit is lost" "$? $(hits)" "0 8"
while_added TRAP
wait "$victim"
is "it gets a SIGTRAP: the program ends by it" "$?" $((128 + 5))
exec 5>&-
wait "$tool"

# Whoever waits in the linker does not wait for a tool that is gone, or for ever for one that is stopped.
for how in KILL STOP; do
	obey "$VICTIMS/plugin" "$dir/early.so"
	"$DPROBES" stat -q -o "$dir/counts" "$dir/early.so:cbrt" -p $victim 2>"$dir/talk" &
	tool=$!
	pids+=("$tool")
	poll 10 pending
	kill -$how $tool
	bid open call close open call
	is "the tool gets SIG$how: the program goes on" "$(wrong)" ""
	kill -CONT $tool 2>/dev/null
	interrupt $tool
	"$DPROBES" detach -q -p $victim
	is "and is left as it was" "$? $(grep -c dprobes /proc/$victim/maps)" "0 0"
	dismiss quit
done 2>/dev/null
plan
