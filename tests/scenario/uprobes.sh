#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Uprobes in probe modules, and the example. [rows 201, 216, 240]
. tests/scenario/lib.sh

module=${EXAMPLES:-build/examples/modules}/callers.so

# A program that does what it is told.
mkfifo "$dir/to" "$dir/from" "$dir/go"
"$VICTIMS/uprobed" <"$dir/to" >"$dir/from" &
victim=$!
pids+=("$victim")
exec 8>"$dir/to" 9<"$dir/from"
read -r twice _ <&9
tell() { echo "$1" >&8; read -r answer <&9; }

lines() { cat "$dir/lines" 2>/dev/null; }

"$DPROBES" insmod -o "$dir/lines" "$module" pid=$victim vaddr="$twice" show=2 -- cat "$dir/go" &
insmod=$!
poll 20 grep -qs waiting "$dir/lines"
tell call
is "a module probes another process, which does not notice" "$answer" 42
tell call
tell call
: >"$dir/go"
wait $insmod
is "the command's status" $? 0
is "its handler sees the thread and its arguments" "$(lines | grep -Ec "<6>uprobed/$victim: $twice\(0x15\), from 0x[0-9a-f]{9,12}$")" 2
is "and all hits are counted" "$(lines | tail -1)" "<6>3 hits"
is "the module's exit has taken the probe away" "$(grep -c dprobes /proc/$victim/maps)" 0
tell call
is "and the program goes on" "$answer" 42

"$DPROBES" insmod -o "$dir/lines" "$module" pid=$victim vaddr=0x10 -- touch "$dir/ran" 2>"$dir/err"
is "a probe that is refused is the module's to say" "$? $(lines)" "1 <3>no probe at 0x10 of process $victim: -14"
is "and the command has not run" "$(ls "$dir/ran" 2>/dev/null)" ""

# In its own process: the kernel's way of a module that probes by pid
cat >"$dir/itself.c" <<'END'
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uprobes.h>
static atomic_t hits, wrong;
static void handler(struct uprobe *u, struct pt_regs *regs)
{
	atomic_inc(&hits);
	if (regs->ip != u->vaddr || current->tgid != u->pid)
		atomic_inc(&wrong);
}
static struct uprobe u = { .handler = handler };
static int __init begin(void)
{
	u.pid = current->tgid;
	u.vaddr = kallsyms_lookup_name("victim_function");
	return register_uprobe(&u);
}
static void __exit end(void)
{
	unregister_uprobe(&u);
	pr_info("%d hits, %d wrong\n", atomic_read(&hits), atomic_read(&wrong));
}
module_init(begin);
module_exit(end);
MODULE_LICENSE("Dual BSD/GPL");
END
${CC:-cc} -shared -fPIC -O2 -Wall -Iinclude/compat -Iinclude -fvisibility=hidden -o "$dir/itself.so" "$dir/itself.c"
"$DPROBES" insmod -o "$dir/lines" "$dir/itself.so" -- "$VICTIMS/calls" 2 300 >"$dir/out"
is "a module that probes its own process" "$(cat "$dir/out") $(lines)" "269700 <6>600 hits, 0 wrong"

# The example, as it says
${CC:-cc} -O2 -Wall -Iinclude -o "$dir/slow_motion" examples/slow_motion.c -Lbuild -l:libdprobes.so.1 \
	"-Wl,-rpath,$PWD/build" 2>"$dir/err"
is "the example is compiled without a word" "$?$(cat "$dir/err")" 0
: >"$dir/out"
"$dir/slow_motion" $victim "$twice" 5 500 >"$dir/out" 2>&1 &
example=$!
poll 20 grep -q 'is probed' "$dir/out"
tell call
is "and changes an argument of another process" "$answer" 1000
wait $example
is "counts, and shows" "$(cut -d, -f1 "$dir/out" | xargs)" "process $victim is probed uprobed/$victim: (0x15 1 hits"

# Who has Uprobes is followed itself; those are no child's, whatever is followed
: >"$dir/out"
"$DPROBES" stat -q -f -o "$dir/counts" libc.so.6:malloc -- "$dir/slow_motion" $victim "$twice" 2 500 >"$dir/out" 2>&1 &
example=$!
poll 20 grep -q 'is probed' "$dir/out"
tell call
is "who is followed with -f probes another process" "$answer" 1000
tell fork
is "whose child is not probed" "$answer" 42
"$DPROBES" stat -q -f libc.so.6:malloc -p $victim >/dev/null 2>"$dir/err"
like "nor is it followed meanwhile" "$? $(cat "$dir/err")" '^1 dprobes: process [0-9]+ is already probed by dprobes [0-9]+; end that first$'
"$DPROBES" detach -p $victim 2>"$dir/err"
like "and nothing is taken out while he lives" "$? $(cat "$dir/err")" '^1 .*is already probed by'
wait $example
like "both have counted" "$? $(tail -n 1 "$dir/out") $(hits "$dir/counts" libc.so.6:malloc)" '^0 1 hits [1-9][0-9]*$'
: >"$dir/out"
"$dir/slow_motion" $victim "$twice" 60 500 >"$dir/out" 2>&1 &
example=$!
poll 20 grep -q 'is probed' "$dir/out"
kill -KILL $example
wait $example 2>/dev/null
tell call
is "he is killed: the program goes on" "$answer" 42
"$DPROBES" detach -p $victim 2>"$dir/err"
like "dprobes detach takes out what he left" "$? $(cat "$dir/err") $(grep -c dprobes /proc/$victim/maps)" '^0 .*has been taken out 0$'

"$dir/slow_motion" 999999999 0x1000 >"$dir/out" 2>&1
like "says what is wrong" "$? $(cat "$dir/out")" '^1 slow_motion: no process 999999999'

tell call
is "the program has seen none of it" "$answer" 42
exec 8>&-
wait $victim
is "and ends as ever" $? 7
plan
