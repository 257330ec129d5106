#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Hooks in programs: what they are made of, without the library; types; a library that comes late;
# modules by the names of 2003.
. tests/scenario/lib.sh
compilers=${CC:-cc}
command -v clang >/dev/null && compilers="$compilers clang"

cat >"$dir/plain.c" <<'END'
#include <dprobes/hooks.h>
#include <stdio.h>
DECLARE_HOOK(first, int, const char *);
DECLARE_HOOK(second);
static int evaluated;
static int evaluate(void) { return ++evaluated; }
static inline int twice(int n) { HOOK(second); return n + n; }
__attribute__((noinline)) int work(int n) { HOOK_RET(first, evaluate(), "text"); return twice(n); }
int main(void) { printf("%d %d\n", work(21), evaluated); return 0; }
END
cp "$dir/plain.c" "$dir/plain.cc"

# nops PROGRAM: places of hooks by the notes that perf and bpftrace read, and how many hold the nop
nops() {
	local n=0 nop=0 at

	for at in $(readelf -nW "$1" | awk '/Provider: gkh/ { f = 1 } f && /Location/ { print $2; f = 0 }' | tr -d ,); do
		n=$((n + 1))
		objdump -d --start-address="$at" --stop-address=$((at + 5)) "$1" |
			grep -qE '0f 1f 44 00 00[[:space:]]+nopl +0x0\(%rax,%rax,1\)' && nop=$((nop + 1))
	done
	echo "$n $nop"
}
built() { # NAME SOURCE COMPILER FLAG...
	local name=$1 source=$2
	shift 2
	if ! "$@" -Wall -Wextra -Werror -Iinclude -o "$dir/plain" "$dir/$source" 2>"$dir/err"; then
		not_ok "$name" "$(head -5 "$dir/err")"
		return
	fi
	is "$name: it runs without the library, and evaluates nothing" "$("$dir/plain")" "42 0"
	like "$name: each place is a static probe of five bytes" "$(nops "$dir/plain")" '^(2 2|3 3)$'
}
for cc in $compilers; do
	built "$cc -O2" plain.c $cc -O2
	built "$cc -O0" plain.c $cc -O0
	built "$cc -std=c11 -Wpedantic" plain.c $cc -std=c11 -Wpedantic -O2
	built "$cc, sections" plain.c $cc -O2 -ffunction-sections -Wl,--gc-sections
	built "$cc -no-pie" plain.c $cc -O2 -no-pie
done
built "gcc -static" plain.c gcc -O2 -static
built "gcc -flto" plain.c gcc -O2 -flto
built "g++" plain.cc g++ -std=c++11 -Wpedantic -O2
built "g++ -O0" plain.cc g++ -std=c++17 -O0
! command -v clang++ >/dev/null || built "clang++" plain.cc clang++ -std=c++17 -O2

# The hot path of a dormant hook: a nop, no test, no branch, no memory.
cat >"$dir/hot.c" <<'END'
#include <dprobes/hooks.h>
DECLARE_HOOK(here, int);
int hot(int a, int b) { HOOK(here, a * 7); return a + b; }
END
gcc -O2 -Iinclude -c -o "$dir/hot.o" "$dir/hot.c"
hot=$(objdump -d --no-show-raw-insn --disassemble=hot "$dir/hot.o" | sed -n '/<hot>:/,/\<ret\>/p' | sed 1d | awk -F'\t' '{ print $NF }')
is "hot code grows by the nop alone" "$(grep -c '^nopl   0x0(%rax,%rax,1)' <<<"$hot") $(grep -cE '^(push|call|j|cmp|test|mov .*\()' <<<"$hot")" "1 0"

# Types
refused() { # NAME STATEMENT
	local cc said

	for cc in ${3:-$compilers g++}; do
		printf '#include <dprobes/hooks.h>\nDECLARE_HOOK(h, int, const char *);\nvoid f(void) { %s; }\n' "$2" >"$dir/bad.c"
		[ "$cc" != g++ ] || mv "$dir/bad.c" "$dir/bad.cc"
		if "$cc" -Iinclude -c -o "$dir/bad.o" "$dir"/bad.c* 2>"$dir/err"; then said="$cc compiles it"; else said=refused; fi
		rm -f "$dir"/bad.c*
		is "$cc: $1" "$said" refused
	done
}
refused "an argument too few" 'HOOK(h, 1)'
refused "an argument too many" 'HOOK(h, 1, "a", 2)'
refused "a number for a string" 'HOOK(h, 1, 2)'
refused "a string for a number" 'HOOK(h, "a", "b")'
refused "a hook that is not declared" 'HOOK(other)'
refused "a return where there is nothing to return" 'HOOK_RET(h, 1, "a")' g++

# [row 351] The library may come at any time: hooks that were there before are found.
cat >"$dir/late.c" <<'END'
#include <dprobes/hooks.h>
#include <dlfcn.h>
#include <stdio.h>
DECLARE_HOOK(early, int);
static int add(struct gkh_hook *h, struct gkh_args *a) { *a->ret = *(int *)a->p[0] + 1; return GKH_RETURN; }
__attribute__((noinline)) int work(int n) { HOOK_RET(early, n); return n; }
int main(int argc, char **argv) {
	struct gkh_rec rec = { .hook_name = "early", .exit = add };
	void *lib; int (*call)(struct gkh_rec *), err;
	printf("%d", work(1));
	lib = dlopen(argv[1], RTLD_NOW);
	if (!lib) { puts(dlerror()); return 1; }
	call = (int (*)(struct gkh_rec *))dlsym(lib, "gkh_register");
	err = call(&rec);
	call = (int (*)(struct gkh_rec *))dlsym(lib, "gkh_arm");
	if (!err) err = call(&rec);
	printf(" %d", work(1));
	call = (int (*)(struct gkh_rec *))dlsym(lib, "gkh_deregister");
	if (!err) err = call(&rec);
	printf(" %d %d\n", work(1), err);
	return 0; }
END
gcc -O2 -Iinclude -o "$dir/late" "$dir/late.c" -ldl
is "a library that is loaded later finds the hooks" "$("$dir/late" "$PWD/build/libdprobes.so.1" 2>&1)" "1 2 1 0"

# Modules, by the names of 2003
LD_PRELOAD=$PWD/build/libdprobes.so.1 start "$VICTIMS/live" sleep 2
pid=$victim
got=$("$DPROBES" insmod build/examples/modules/khook.so -p "$pid" 2>&1)
is "a module with hooks" "$got" "<6>khook: the kitchen is open"
got=$("$DPROBES" insmod build/examples/modules/kexit.so -p "$pid" 2>&1)
is "exits of a module at the hooks of another" "$got" "<6>kexit: a second bill: -16
<6>kexit: not armed: 13
<6>order_taken: no table 13
<6>kexit: armed: -1
<6>order_taken: fish for table 4
<6>dish_cooked: fish, tasted
<6>bill_written: table 4: fish
<6>kexit: armed: 4
<6>order_taken: tea for table 13
<6>dish_cooked: tea, tasted
<6>bill_written: table 13: tea
<6>kexit: no refusal: 13, 1 is the first"
got=$("$DPROBES" rmmod kexit -p "$pid" 2>&1)
is "the exits go with their module" "$got" "<6>kexit: gone: 13"
got=$("$DPROBES" rmmod khook -p "$pid" 2>&1)
is "and then the hooks with theirs" "$got" "<6>khook: closed"
kill -TERM "$pid"
wait "$pid"
is "the program found its results right" "$? $(tail -n 1 "$dir/out")" "0 right"

# The example: a server with three hooks, and two plug-ins
gcc -O2 -g -Wall -Wextra -Wno-unused-parameter -Iinclude -rdynamic -o "$dir/server" examples/hooks/server.c -ldl 2>"$dir/err"
for p in counting limiting; do
	gcc -O2 -Wall -Wextra -Wno-unused-parameter -fPIC -shared -Iinclude -o "$dir/$p.so" examples/hooks/$p.c \
		-Lbuild -l:libdprobes.so.1 -Wl,-rpath,"$PWD/build" 2>>"$dir/err"
done
is "the example compiles without a warning" "$(cat "$dir/err")" ""
is "the server alone" "$("$dir/server" 20 2>&1 | tail -1)" 180
wanted=$(awk 'BEGIN { for (i = 0; i < 20; i++) { s = i % 10; if (s > 7) continue; n++; sum += 2 * s > 6 ? 6 : 2 * s }; print n, sum }')
is "with plug-ins" "$("$dir/server" 20 "$dir/counting.so" "$dir/limiting.so" 2>&1 | sort | tr '\n' ' ')" \
	"${wanted#* } counting: ${wanted% *} requests, ${wanted#* } bytes ready "

# From outside: what the process has
start "$dir/server" 100000 "$dir/counting.so" "$dir/limiting.so"
tool() { # ARGS...: sets got, err, status
	got=$("$DPROBES" "$@" 2>"$dir/tool")
	status=$?
	err=$(cat "$dir/tool")
}
tool hooks -p "$victim"
is "hooks and exits are listed" "$(sed 's/active [0-9]*/active N/' <<<"$got" | sort | tr '\n' '|')" \
	"  1 counting 1 writable|  1 refuse 1|  1 shorten 1|answer_made active N|request_came active N|request_over active N|"
tool hooks --disarm request_over:counting -p "$victim"
is "an exit that its program lets others arm" "$status $err" "0 "
tool hooks -p "$victim"
like "is disarmed" "$(tr '\n' '|' <<<"$got")" 'request_over idle [1-9][0-9]*\|  1 counting 0 writable'
tool hooks --arm request_over:counting -p "$victim"
tool hooks -p "$victim"
like "and armed again" "$(tr '\n' '|' <<<"$got")" 'request_over active [1-9][0-9]*\|  1 counting 1 writable'
tool hooks --disarm request_came:refuse -p "$victim"
like "others are not for others" "$status $err" '^1 dprobes: exit refuse is not for others to arm'
tool hooks --arm request_over:nobody -p "$victim"
is "an exit that is none" "$status $err" "1 dprobes: hook request_over has no exit nobody"
tool hooks --arm nothing:nobody -p "$victim"
is "a hook that is none" "$status $err" "1 dprobes: there is no hook nothing"
tool hooks --arm nothing -p "$victim"
like "no exit named" "$status $err" 'nothing is not HOOK:EXIT, as dprobes hooks -p'
tool stat hook:request_came hook:request_over --duration 0.5 -p "$victim"
like "probes at armed hooks count" "$(awk '/hook:/ && $1 > 0 { print $NF }' <<<"$got" | sort | tr '\n' ' ')" \
	'^hook:server:request_came hook:server:request_over $'
# An exit is armed, and disarmed, while a tool's probe is at the nop; the tool goes first, or last.
tool hooks --disarm request_over:counting -p "$victim"
plain=$("$TOOLS/text-sum" "$victim" | grep '/server$')
exit_hits() { "$DPROBES" hooks -p "$victim" | sed -n 's/^request_over [a-z]* \([0-9]*\).*/\1/p'; }
exits_run() { local before=$(exit_hits); run_on() { [ "$(exit_hits)" -gt "$before" ]; }; poll 10 run_on; }
for first in tool exit; do
	"$DPROBES" stat --json -o "$dir/counts" hook:request_over hook:answer_made -p "$victim" 2>"$dir/talk" &
	stat=$!
	pids+=("$stat")
	probed() { [ "$("$TOOLS/text-sum" "$victim" | grep '/server$')" != "$plain" ]; }
	poll 10 probed
	tool hooks --arm request_over:counting -p "$victim"
	is "$first goes first: an exit is armed where a tool's probe is" "$status $err" "0 "
	if exits_run; then ok "$first goes first: and is called"; else not_ok "$first goes first: no call" "$(exit_hits)"; fi
	[ $first = exit ] || interrupt $stat
	[ $first = exit ] || { if exits_run; then ok "the exit is called when the tool has gone"; else not_ok "no call without the tool" "$(exit_hits)"; fi; }
	tool hooks --disarm request_over:counting -p "$victim"
	is "$first goes first: it is disarmed" "$status $err" "0 "
	[ $first = tool ] || interrupt $stat
	# Each request runs through both hooks; the tool comes and goes between two of them.
	is "$first goes first: the tool has counted each pass" "$(sed -n 's/.*"hits":\([0-9]*\).*/\1/p' "$dir/counts" |
		awk 'NR == 1 { a = $1 } NR == 2 { d = $1 - a; print (a > 0 && d >= -1 && d <= 1) ? "yes" : a " " $1 }')" yes
	restored() { [ "$("$TOOLS/text-sum" "$victim" | grep '/server$')" = "$plain" ]; }
	if poll 10 restored; then ok "$first goes first: the text is as before"; else not_ok "$first goes first: the text is not as before"; fi
done
kill "$victim"
wait "$victim" 2>/dev/null

# A probe at a dormant hook, without the program's help
start "$dir/server" 100000
tool stat 'hook:*' --duration 0.5 -p "$victim"
is "probes at dormant hooks count" "$(awk '/hook:/ && $1 > 0' <<<"$got" | grep -c hook:server:)" 3
tool hooks -p "$victim"
is "a process without the library: its hooks are listed" "$status $(sort <<<"$got" | tr '\n' '|')" \
	"0 answer_made idle 0|request_came idle 0|request_over idle 0|"
tool hooks --arm request_came:refuse -p "$victim"
like "and have no exits" "$status $err" '^1 dprobes: process [0-9]+ does not use libdprobes.so, so its hooks have no exits; hook:request_came is a probe there'
kill "$victim"
wait "$victim" 2>/dev/null
tool stat hook:request_came -- "$dir/server" 50
like "and in a program that is started" "$(tail -1 <<<"$got")" '^ +50 +0 +jump +hook:server:request_came$'
tool trace hook:request_came -- "$dir/server" 1
like "a line says the hook, and no arguments" "$(grep hook: <<<"$got")" 'server hook:server:request_came$'
tool trace 'hook:request_came(r->size)' -- "$dir/server" 3
like "but values by debug information" "$(grep hook: <<<"$got" | tail -1)" 'hook:server:request_came r->size=2$'
tool stat hook:request -- "$dir/server" 1
like "a hook that is none" "$status $err" 'server has no hook "request"; "hook:server:\*" has them all'

# Static programs: the counts are those that the program says.
cat >"$dir/static.c" <<'END'
#include <dprobes/hooks.h>
#include <stdio.h>
#include <unistd.h>
DECLARE_HOOK(every, int);
DECLARE_HOOK(odd);
static int odds;
__attribute__((noinline)) void work(int i) { HOOK(every, i); if (i % 2) { HOOK(odd); odds++; } }
int main(int argc, char **argv) {
	int i, n = argc > 1 ? 100000 : 777;
	if (argc > 1) { puts("ready"); fflush(stdout); }
	for (i = 0; i < n; i++) { work(i); if (argc > 1) usleep(1000); }
	printf("%d %d\n", n, odds);
	return 0; }
END
for how in "gcc -static" "gcc -static-pie" "musl-gcc -static"; do
	if ! command -v "${how%% *}" >/dev/null; then
		skip "$how: hooks of a static program" "there is no ${how%% *}"
		continue
	fi
	$how -O2 -g -Iinclude -o "$dir/static" "$dir/static.c" 2>"$dir/err" || not_ok "$how: it is built" "$(cat "$dir/err")"
	tool stat -o "$dir/counts" hook:every hook:odd -- "$dir/static"
	is "$how: probes at its hooks count" "$(awk '/hook:/ { print $1 }' "$dir/counts" | tr '\n' ' ')" "$got "
	printf '%s\n' 'name = static' 'modtype = user' 'vars = 1' 'offset = hook:odd' 'inc lv,0' >"$dir/odd.dp"
	tool run "$dir/odd.dp" -- "$dir/static"
	like "$how: a program is run at one" "$err" "static lv\\[0\\] = 0x[0-9a-f]* \\(${got#* }\\)"
	start "$dir/static" slowly
	tool hooks -p "$victim"
	is "$how: its hooks are listed" "$status $(sort <<<"$got" | tr '\n' '|')" "0 every idle 0|odd idle 0|"
	tool hooks --arm every:any -p "$victim"
	like "$how: there is nothing to be armed" "$status $got$err" '^1 dprobes: '
	tool stat hook:every --duration 0.3 -p "$victim"
	like "$how: and counted while it runs" "$got" '[1-9][0-9]* +0 +jump +hook:static:every'
	kill "$victim"
	wait "$victim" 2>/dev/null
done
sleep 100 &
victim=$!
pids+=("$victim")
poll 10 grep -q sleep "/proc/$victim/comm"
tool hooks -p "$victim"
like "a process with neither" "$status $err" '^1 dprobes: process [0-9]+ has no hooks, and does not use libdprobes'
kill "$victim"
wait "$victim" 2>/dev/null

# Programs of the language, with the server's own sum as the oracle: twice the sizes of the requests
program() { printf '%s\n' 'name = server' 'modtype = user' 'major = 3' 'vars = 2' "$@" >"$dir/prog.dp"; }
program 'offset = hook:request_came' 'inc lv,0' 'push v,"r->size"' 'log 1' \
	'offset = hook:"answer_*"' 'minor = 2' 'push v,"bytes"' 'log 1'
values() { # MINOR FILE: sum of the numbers that probes of this minor code have logged
	sed -n "s/.*\"minor\":$1,.*\"data\":\"070100\(..\).*/0x\1/p" "$2" | while read -r n; do echo $((n)); done | awk '{ s += $1 } END { print s + 0 }'
}
tool run --json -o "$dir/records" "$dir/prog.dp" -- "$dir/server" 20
total=$(tail -n 1 <<<"$got")
is "a program is run at a dormant hook, with values" "$status $((2 * $(values 0 "$dir/records"))) $(values 2 "$dir/records")" "0 $total $total"
is "its records say the hook" "$(grep -o '"probe":"[^"[]*' "$dir/records" | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" \
	'20 "probe":"hook:server:answer_made 20 "probe":"hook:server:request_came '
like "and its variable counts" "$err" 'server lv\[0\] = 0x14 \(20\)'
program 'offset = hook:requests' 'log 0'
tool run "$dir/prog.dp" -- "$dir/server" 1
like "a hook that is none, where the program names it" "$status $(tr '\n' ' ' <<<"$err")" '^[12] .*prog.dp:5:.*server has no hook "requests"'
program 'offset = hook:request_came' 'log 0'
tool --build-ppdf "$dir/prog.dp" --sym "$dir/server" -o "$dir/prog.ppdf"
like "in a file without a process there are no hooks" "$status $(tr '\n' ' ' <<<"$err")" '^2 .*prog.dp:5:.*hooks are looked up in a process'

# A program that stays: at a dormant hook, and at one that is armed before it comes, and idle before it goes
program 'offset = hook:request_over' 'inc lv,0' 'push r,rdi' 'log 1'
counter() { "$DPROBES" -g -a -p "$victim" --json 2>/dev/null | sed -n 's/.*"index":0,"value":\([0-9]*\)}/\1/p'; }
counts() { local before=$(counter); more() { [ "$(counter)" -gt "${before:-0}" ]; }; poll 10 more; }
agrees() { tool "$@"; [ "$status" = 0 ]; }
for plugins in "" "$dir/counting.so"; do
	start "$dir/server" 100000 $plugins
	poll 10 grep -q ready "$dir/out"
	poll 10 agrees -i "$dir/prog.dp" -P "$victim"
	is "${plugins:+armed: }a program is inserted at a hook" "$status" 0
	if counts; then ok "${plugins:+armed: }it counts there"; else not_ok "${plugins:+armed: }no hit" "$(counter)"; fi
	if [ "$plugins" ]; then
		poll 10 agrees hooks --disarm request_over:counting -p "$victim"
		tool hooks -p "$victim"
		like "armed: its exit goes while the program stays" "$(tr '\n' '|' <<<"$got")" 'request_over idle [0-9]*\|  1 counting 0'
		if counts; then ok "armed: which counts on"; else not_ok "no hit" "$(counter)"; fi
		poll 10 agrees hooks --arm request_over:counting -p "$victim"
		tool hooks -p "$victim"
		like "armed: and the exit comes again" "$status $(tr '\n' '|' <<<"$got")" 'request_over active [0-9]*\|  1 counting 1'
	fi
	poll 10 agrees -r -a -P "$victim"
	is "${plugins:+armed: }it is removed" "$status" 0
	kill "$victim"
	wait "$victim" 2>/dev/null
done
plan
