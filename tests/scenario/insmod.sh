#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Probe modules in a command: what they say, and that the command does not notice.
. tests/scenario/lib.sh

modules=${MODULES:-build/tests/modules}
examples=${EXAMPLES:-build/examples/modules}

# with ARGS...: lines of the module in $dir/lines, the command's in $dir/out
with() {
	"$DPROBES" insmod -o "$dir/lines" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	out=$(cat "$dir/out") err=$(cat "$dir/err") lines=$(cat "$dir/lines" 2>/dev/null)
}
calls=("$VICTIMS/calls" 2 300)

# What it says
got=$("$DPROBES" insmod "$modules/probe.so" -- "$VICTIMS/calls" 2 300)
is "messages, each with its level, and the command's output on stdout" "$(sort <<<"$got")" \
	"$(printf '%s\n' '<4>kprobe: 600 hits, 0 returns, 0 missed, 0 without instance' '<5>kprobe on victim_function' 269700 | sort)"
with "$modules/probe.so" -- "${calls[@]}"
is "with -o the messages are in the file" "$(head -1 "$dir/lines") $(wc -l <"$dir/lines")" "<5>kprobe on victim_function 2"
is "and the command's output is its own" "$out|$err|$status" "269700||0"
with "$modules/probe.so" -- touch "$dir/ran"
like "a function that the command has not" "$err $(tail -1 "$dir/lines")" 'the init of .*/probe.so returned -2.*<3>no kprobe on'
is "and then it has not run" "$status $(ls "$dir/ran" 2>/dev/null)" "1 "
with "$modules/probe.so" symbol=malloc -- bash -c 'echo out; echo err >&2; exit 7'
is "the command's status, and what it writes" "$status $out $err" "7 out err"

with "$modules/lookup.so" -- true
is "kallsyms_lookup_name by a kprobe" "$status $lines" "0 <6>0 hits, 1 same, malloc 1, printk 1, nosuch 0"
with "$modules/lookup.so" counted -- true
is "which is a probe as any other" "$status $lines" "0 <6>1 hits, 1 same, malloc 1, printk 1, nosuch 0"

# What headers bring in
for arm in interior quiesce trap; do
	DPROBES_ARM=$arm with "$modules/kernel.so" -- true
	is "$arm: what kernel.h, module.h and kprobes.h bring in" "$status $lines" "0 <6>0 wrong"
	DPROBES_ARM=$arm with "$modules/instead.so" value=-1 -- "${calls[@]}"
	is "$arm: a function that is not executed" "$status $out" "0 -600"
done
absent() { # FUNCTION CALL PATTERN: what cannot be is refused by the compiler
	printf '#include <linux/module.h>\nstatic int __init f(void) { %s; return 0; }\nmodule_init(f);\n' "$2" |
		${CC:-cc} -O2 -shared -fPIC -Iinclude/compat -Iinclude -fvisibility=hidden -x c - -o "$dir/absent.so" 2>"$dir/err"
	like "$1 is refused by name" "$? $(grep -c 'error:' "$dir/err") $(grep error: "$dir/err")" "^1 1 .*$3"
}
absent for_each_process 'struct task_struct *p; for_each_process(p)' 'for_each_process\(\) for modules: it knows'
absent kfree_rcu 'struct x { struct rcu_head h; } *x = 0; kfree_rcu(x, h)' 'no kfree_rcu\(\) for modules'
absent on_each_cpu 'on_each_cpu(0, 0, 1)' 'no on_each_cpu\(\) for modules'
absent register_die_notifier 'register_die_notifier(0)' 'no register_die_notifier\(\) for modules'
absent timer_setup 'static struct timer_list t; timer_setup(&t, 0, 0)' 'no timer_setup\(\) for modules'
absent schedule_work 'static struct work_struct w; INIT_WORK(&w, 0); schedule_work(&w)' 'no schedule_work\(\) for modules'
absent get_task_struct 'get_task_struct(current)' 'no get_task_struct\(\) for modules'

# What both map cannot be taken from under the tool.
with "$modules/probe.so" symbol=malloc -- bash -c 'for f in /proc/$PPID/fd/*; do
	case $(readlink "$f") in /memfd:insmod*) for size in 0 4096; do truncate -s $size "$f"; done; echo tried;; esac
done 2>/dev/null; exit 7'
is "a command that makes the shared memory shorter" "$status $out $(grep -c 'hits' "$dir/lines")" "7 tried 1"

# Parameters
with "$modules/params.so" number=-0 byte=7 small=-3 big=5000000000 truth not_other=1 word=two text=abc,d \
	list=1,2,3 hex=0x1f hooked=21 -- true
is "parameters of every kind" "$status $(sed -n '1s/^<6>[a-z]*: //p' "$dir/lines")" "0 0 7 -3 5000000000 1 0 two abc,d 1f 42"
is "and how many an array has got" "$(sed -n 2p "$dir/lines")" "<6>params: 3 of 1 2 3"

# What is refused, before the command runs
refuses() { # NAME PATTERN ARGS...
	local name=$1 pattern=$2
	shift 2
	with "$@" -- touch "$dir/ran"
	like "$name" "$status $err" "^1 dprobes: $pattern"
	[ ! -e "$dir/ran" ] || { not_ok "$name: the command has run"; rm "$dir/ran"; }
}
refuses "a module that needs what is not ours" '.*foreign.so needs .*(kthread_stop.*puts|puts.*kthread_stop)' "$modules/foreign.so"
refuses "a parameter that it has not" 'the module has no parameter nosuch: it has .*number' "$modules/params.so" nosuch=1
refuses "a value that is no number" '.*number' "$modules/params.so" number=x
refuses "a value out of range" '.*byte' "$modules/params.so" byte=300
refuses "an init that fails" 'the init of .* returned -5' "$modules/params.so" number=-5
refuses "what is no shared object" '.*README.md is not a shared object' README.md
refuses "a library that is no module" '.*is not a probe module' build/tests/unit/libsymbol_one.so
refuses "a file that is not there" 'cannot read .*/nosuch.so: No such file' "$dir/nosuch.so"
with "$modules/probe.so" -- /nosuch/command
is "a command that is not there" "$status $err" "127 dprobes: /nosuch/command: No such file or directory"

mkdir "$dir/a b"
cp "$DPROBES" "$(dirname "$DPROBES")/libdprobes.so.1" "$dir/a b"
DPROBES="$dir/a b/dprobes" refuses "a library whose path cannot be preloaded" '"/.*/a b/libdprobes.so.1" cannot be preloaded' "$modules/probe.so"
cp build/tests/unit/libsymbol_one.so "$dir/x"$'\n'y.so
LD_PRELOAD=$dir/x$'\n'y.so refuses "an LD_PRELOAD with a newline" 'LD_PRELOAD has a newline' "$modules/probe.so"

# Kinds
for kind in kprobe jprobe kretprobe; do
	[ $kind = kretprobe ] && returns=600 || returns=0
	with "$modules/probe.so" kind=$kind -- "${calls[@]}"
	is "$kind: hits" "$status $out $(tail -1 "$dir/lines")" \
		"0 269700 <4>$kind: 600 hits, $returns returns, 0 missed, 0 without instance"
	with "$modules/probe.so" kind=$kind again=1 -- "${calls[@]}"
	is "$kind: a handler that calls the probed function: missed, exactly" "$status $out $(tail -1 "$dir/lines")" \
		"0 269700 <4>$kind: 600 hits, $returns returns, 600 missed, 0 without instance"
	with "$modules/probe.so" kind=$kind crash=1 -- "$VICTIMS/calls" 1 300
	like "$kind: a handler that faults is given up, and the command goes on" "$status $out $(tail -1 "$dir/lines")" \
		"^0 134850 <4>$kind: 1 hits"
	with "$modules/probe.so" kind=$kind stack=1 -- "$VICTIMS/calls" 1 1
	like "$kind: a stack trace begins with the probed function and its caller" "$(tr '\n' ' ' <"$dir/lines")" \
		'Call Trace: <4> victim_function\+0x1/0x[0-9a-f]+ <4> caller\+0x'
	with "$modules/probe.so" kind=$kind symbol=caller -- "$VICTIMS/calls" 3 1
	like "$kind: a static function" "$lines" "$kind: 3 hits"
	with "$modules/probe.so" kind=$kind symbol=do_something -a do_something=victim_function -- "${calls[@]}"
	like "$kind: an alias" "$status $lines" "$kind: 600 hits"
done
with "$modules/nested.so" -- "$VICTIMS/thrower"
is "return probes of calls in calls, through exceptions: output" "$status $out" "0 $("$VICTIMS/thrower")"
with "$modules/nested.so" outer=caller inner=victim_function -- "$VICTIMS/calls" 2 50
is "return probes of calls in calls" "$lines" "<6>outer 2 of 2, inner 100 of 100, in order 102"

# Where handlers must not wait for anything
cat >"$dir/signals.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile long count;
long victim_function(long n);
__attribute__((noipa)) long victim_function(long n) { return n + 1; }
/* Where a trace takes longer than a tick nobody else gets a turn. */
static void tick(int sig)
{
	static const struct itimerval off;
	count = victim_function(count);
	if (count >= 300)
		setitimer(ITIMER_REAL, &off, NULL);
}
int main(void)
{
	struct itimerval t = { { 0, 500 }, { 0, 500 } };
	long i = 0;
	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &t, NULL);
	while (count < 300)
		free(malloc(16 + i++ % 4000));
	puts("done");
	return 0;
}
END
cc -O1 -o "$dir/signals" "$dir/signals.c" || exit 1
with "$modules/probe.so" lines=2 stack=1 -- "$dir/signals"
is "printk and traces in signal handlers, anywhere in malloc" "$status $out $(grep -c 'Call Trace' "$dir/lines")" \
	"0 done $(sed -n 's/.*kprobe: \([0-9]*\) hits.*/\1/p' "$dir/lines")"
with "$modules/probe.so" symbol=malloc lines=3 -- git --version
is "printk in malloc" "$status $out $(grep -c 'of git' "$dir/lines")" \
	"0 $(git --version) $((3 * $(sed -n 's/.*kprobe: \([0-9]*\) hits.*/\1/p' "$dir/lines")))"
with "$modules/probe.so" lines=20 -- "$VICTIMS/calls" 4 5000
lost=$(sed -n 's/^dprobes: \([0-9]*\) lines of the module were lost.*/\1/p' "$dir/err")
is "very many lines: what is not shown is counted" "$status $out $(($(wc -l <"$dir/lines") + ${lost:-0}))" "0 149990000 400002"
with "$modules/probe.so" lines=1 -- "$dir/signals"
like "lines are whole" "$(grep -vcE '^<6>line 0 of signals$' "$dir/lines")" '^2$'

# Victims
python=/usr/bin/python3
victims=("git log -1 --format=%H" "sqlite3 :memory: 'select 6*7; select hex(zeroblob(8));'"
	"$python -c 'import json, threading; t = threading.Thread(target=print, args=[1]); t.start(); t.join(); print(json.dumps([2]))'"
	"perl -e 'print join(q(,), map { \$_ ** 2 } 1 .. 9), qq(\n)'" "bash -c '(echo a); echo b | cat; wait'"
	"$VICTIMS/thrower" "$VICTIMS/forker" "$VICTIMS/calls 8 100")
for victim in "${victims[@]}"; do
	want=$(eval "$victim" 2>&1; echo "status $?")
	for kind in kprobe jprobe kretprobe; do
		got=$(eval "'$DPROBES'" insmod -o "'$dir/lines'" "'$modules/probe.so'" kind=$kind symbol=malloc -- "$victim" 2>&1; echo "status $?")
		is "$kind on malloc: ${victim%% *}" "$got $(grep -cE "$kind: [1-9][0-9]* hits" "$dir/lines")" "$want 1"
	done
done
for module in malloc_sizes open_paths slow_calls; do
	with "$examples/$module.so" -- "$python" -c 'print(open("/etc/hostname").read() != "")'
	like "our example $module" "$status $out $(grep -c . "$dir/lines")" '^0 True [1-9]'
done

# Life
with "$modules/probe.so" symbol=fork -- bash -c '(exit 3); (exit 4); echo $?'
is "exit runs once, at the command's end, and not in its children" "$out $(grep -c hits "$dir/lines")" "4 1"
like "and children were not probed" "$lines" 'kprobe: 2 hits'
(ulimit -c 0; with "$modules/probe.so" symbol=malloc -- bash -c 'echo on; kill -SEGV $$'; echo "$status $out" >"$dir/status") 2>/dev/null
is "a command that a signal kills" "$(cat "$dir/status")" "139 on"
with "$modules/probe.so" symbol=malloc -- bash -c 'exec sleep 2'
is "an exec ends the module, and that is said" "$status $err" \
	"0 dprobes: exec of $(readlink -f "$(command -v sleep)") ended the module, and its exit was not called"
with "$modules/probe.so" symbol=malloc -- bash -c 'exec true'
like "also where it is quick" "$status $err" "^0 dprobes: (exec of|the module's exit was not called)"
like "and the other program has no module" "$(grep -c 'on malloc' "$dir/lines")" '^1$'
with "$modules/probe.so" symbol=malloc -- "$python" -c 'import os; os._exit(5)'
like "a command that leaves by _exit" "$status $err" "^5 dprobes: the module's exit was not called"
cat >"$dir/static.c" <<'END'
#include <stdio.h>
int main(void) { puts("static"); return 0; }
END
cc -static -o "$dir/static" "$dir/static.c" || exit 1
with "$modules/probe.so" symbol=malloc -- "$dir/static"
like "a static program: it runs, and we say that it did so alone" "$status $out $err" '^1 static dprobes: .*does not load libraries'
printf 'int nobody;\n' >"$dir/empty.c"
cc -shared -fPIC -o "$dir/empty.so" "$dir/empty.c" || exit 1
for shell in sh bash; do
	LD_PRELOAD=$dir/empty.so with "$modules/probe.so" symbol=malloc -- \
		$shell -c 'env | grep -E "^(LD_PRELOAD|DPROBES_INSMOD)="; grep -c /empty.so /proc/$$/maps >/dev/null && echo loaded'
	is "the user's LD_PRELOAD ($shell)" "$out" "LD_PRELOAD=$dir/empty.so
loaded"
	with "$modules/probe.so" symbol=malloc -- $shell -c 'env | grep -E "^(LD_PRELOAD|DPROBES_INSMOD)="'
	is "no trace of us in the environment ($shell)" "$out" ""
done
plan
