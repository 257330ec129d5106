#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What DProbes 5 did wrong is not so here: the defects that no other test is about.
. tests/scenario/lib.sh

logger=$VICTIMS/logger

# Threads on all processors, each hit, in each way to arm; and variables that all of them count in, by the detour and
# by the interpreter. [defects 1, 13]
printf 'name = logger\nmodtype = user\nvars = 2\noffset = logger_tick\ninc lv,0\n' >"$dir/inc.dp"
printf 'name = logger\nmodtype = user\nvars = 2\ngvars = 1\noffset = logger_tick\npush 1\ninc lv\npush 0\ndec gv\n' >"$dir/by.dp"
for arm in interior quiesce trap; do
	for how in inc by; do
		DPROBES_ARM=$arm "$DPROBES" run "$dir/$how.dp" -- "$logger" threads 4 5000 >"$dir/stdout" 2>"$dir/stderr"
		like "$how, $arm: no hit is missed" "$(cat "$dir/stderr")" ': 20000 hits, 0 missed'
		like "$how, $arm: no count is lost" "$(cat "$dir/stderr")" 'lv\[[01]\] = 0x4e20 \(20000\)'
	done
	like "by, $arm: nor one that goes down" "$(cat "$dir/stderr")" 'gv\[0\] = 0xffffffffffffb1e0 '
done

# Blocks of variables that threads allocate are their own, and zero. [defect 13]
cat >"$dir/blocks.dp" <<'EOF2'
name = logger
modtype = user
vars = 2
offset = logger_tick
	push 2
	alloc gv
	dup 1; inc gv
	dup 1; push 1; add; inc gv
	dup 1; push gv; push 1; sub; jnz bad
	ros 1
	dup 1; push 1; add; push gv; push 1; sub; jnz bad
	ros 1
	free gv
	inc lv,0
	exit
bad:	inc lv,1
EOF2
for arm in interior trap; do
	DPROBES_ARM=$arm "$DPROBES" run "$dir/blocks.dp" -- "$logger" threads 4 10000 >"$dir/stdout" 2>"$dir/stderr"
	is "blocks of global variables, $arm" "$(grep -o 'lv\[.\] = 0x[0-9a-f]*' "$dir/stderr" | xargs)" "lv[0] = 0x9c40 lv[1] = 0x0"
done

# Instructions that see or change all flags: all of them probed. An interrupt is refused by its name. [defect 2]
cat >"$dir/flags.c" <<'EOF2'
#include <stdio.h>
long flags_of(long which);
long interrupts(void);
__asm__(".text\n.globl flags_of\n.type flags_of, @function\n"
	"flags_of: test %rdi, %rdi\n std\n pushf\n cld\n pop %rax\n push %rax\n orl $0x40000, (%rsp)\n popf\n"
	" pushf\n pop %rdx\n push %rax\n popf\n cld\n shl $20, %rdx\n xor %rdx, %rax\n ret\n"
	".size flags_of, . - flags_of\n"
	".globl interrupts\n.type interrupts, @function\n"
	"interrupts: int $0x80\n ret\n.size interrupts, . - interrupts\n");
int main(void)
{
	int i;

	for (i = 0; i < 3; i++)
		printf("%lx\n", flags_of(i - 1));
	return 0;
}
EOF2
cc -O1 -Wl,-z,noexecstack -o "$dir/flags" "$dir/flags.c"
at=$(objdump -d --disassemble=flags_of "$dir/flags" | awk '/^ +[0-9a-f]+:/ { sub(/:/, "", $1); print $1 }')
places=()
for a in $at; do places+=("flags_of+$((0x$a - 0x${at%%$'\n'*}))"); done
plain=$("$dir/flags")
for arm in interior trap; do
	got=$(DPROBES_ARM=$arm "$DPROBES" stat --json -o "$dir/counts" "${places[@]}" -- "$dir/flags" 2>"$dir/stderr")
	is "$arm: ${#places[@]} instructions, pushf, popf and std among them, do what they do" "$got" "$plain"
	is "$arm: each three times" "$(grep -o '"hits":[0-9]*' "$dir/counts" | sort | uniq -c | tr -s ' ')" " ${#places[@]} \"hits\":3"
done
like "int" "$("$DPROBES" stat interrupts -- "$dir/flags" 2>&1)" 'interrupts cannot be probed: int '

# A file whose code is probed: what others read of it, copies of it, and that it can be written. [defect 5]
printf '__attribute__((noipa)) int work(int n) { return n * 3; }\n' >"$dir/lib.c"
cat >"$dir/uses.c" <<'EOF2'
#include <stdio.h>
#include <unistd.h>
int work(int n);
int main(void)
{
	puts("there");
	fflush(stdout);
	for (;;) {
		if (work(7) != 21)
			return 1;
		usleep(1000);
	}
}
EOF2
cc -O1 -shared -fPIC -o "$dir/libwork.so" "$dir/lib.c"
cc -O1 -o "$dir/uses" "$dir/uses.c" "$dir/libwork.so"
cp "$dir/libwork.so" "$dir/as-it-was"
start "$dir/uses"
"$DPROBES" stat -q -o "$dir/counts" libwork.so:work -p "$victim" 2>"$dir/stderr" &
tool=$!
pids+=("$tool")
poll 30 been_hit work
is "a probed file is what it was" "$(cmp "$dir/libwork.so" "$dir/as-it-was" && cp "$dir/libwork.so" "$dir/copy" && cmp "$dir/copy" "$dir/as-it-was"; echo $?)" 0
dd if="$dir/as-it-was" of="$dir/libwork.so" conv=notrunc status=none
is "it can be written" "$?" 0
# Another process with that file runs without a trap.
timeout 0.3 "$dir/uses" >"$dir/said"
is "another process of it is not probed" "$? $(cat "$dir/said")" "124 there"
interrupt "$tool"
is "nor is the process hurt" "$(kill -0 "$victim"; echo $?)" 0

# A process that runs already, and its library, which was loaded long ago; and one that comes later. [defect 6]
like "what is loaded already is probed" "$(cat "$dir/counts")" '[1-9][0-9]* +.*work'
disown "$victim"
kill -KILL "$victim"
plan
