#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The probe programs among the examples find what they look for, in programs that have it. [rows 310, 315, 318]
. tests/scenario/lib.sh

examples=$PWD/examples
# compiled NAME [FLAGS]: a program at fixed addresses
compiled() {
	local name=$1
	shift
	cc -O1 -fno-inline -no-pie -fno-builtin -Wno-use-after-free "$@" -o "$dir/$name" "$dir/$name.c"
}
# program NAME ARGS...: runs an example; sets $out, its records, $err and $status
program() {
	local file=$1
	shift
	# What bash has to say of an abort is no matter.
	{ "$DPROBES" run -o "$dir/records" "$examples/$file.dp" "$@" >"$dir/stdout" 2>"$dir/stderr"; } 2>"$dir/err"
	status=$? out=$(cat "$dir/records") err=$(cat "$dir/stderr")
}
elements() { grep -o 'elements .*' <<<"$out" | cut -d ' ' -f 2-; }
# within PROGRAM ADDRESS: in which function of it that is
within() {
	nm "$dir/$1" | awk -v at="$((${2:-0}))" '
		function number(hex,   n, i) { n = 0; for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
		$2 ~ /[tT]/ && number($1) <= at && number($1) >= best { best = number($1); name = $3 } END { print name }'
}

lacking=
for f in examples/*.dp; do
	f=${f##*/}
	{ grep -qF "($f)" examples/README.md && cat tests/scenario/*.sh | grep -qE "${f%.dp}( |\.dp)"; } || lacking+=" $f"
done
is "each is in README.md, and has a test" "$lacking" ""

cat >"$dir/twice.c" <<'EOF2'
#include <stdio.h>
#include <stdlib.h>
void *volatile p;
void first(void) { free(p); }
void second(void) { free(p); }
int main(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		p = malloc(i + 1);
		first();
		p = aligned_alloc(64, 64);
		first();
	}
	p = malloc(5000);
	printf("%p\n", p);
	fflush(stdout);
	first();
	if (malloc(100000) == p)
		return 2;
	second();
	return 0;
}
EOF2
compiled twice
program double-free -- "$dir/twice"
read -r block now before < <(elements)
is "double-free.dp: one record, of that block" "$(elements | wc -l) $block" "1 $(head -n 1 "$dir/stdout")"
is "and of both callers" "$(within twice "$now") $(within twice "$before")" "second first"
program double-free -- sort /etc/services
is "a program that does not do that has none" "$status $out" "0 "

cat >"$dir/locks.c" <<'EOF2'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void *wrong_way(void *arg)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return arg;
}
static void *right_way(void *arg)
{
	int i;

	for (i = 0; i < 100; i++) {
		pthread_mutex_lock(&a);
		pthread_mutex_lock(&b);
		pthread_mutex_unlock(&b);
		pthread_mutex_unlock(&a);
		pthread_mutex_lock(&c);
		pthread_mutex_lock(&c);
		pthread_mutex_lock(&c);
		pthread_mutex_unlock(&c);
		pthread_mutex_unlock(&c);
		pthread_mutex_unlock(&c);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	int i;

	printf("%p %p\n", &a, &b);
	for (i = 0; i < 3; i++) {
		pthread_create(&t[i], NULL, right_way, NULL);
		pthread_join(t[i], NULL);
	}
	if (argc > 1) {
		pthread_create(&t[3], NULL, wrong_way, NULL);
		pthread_join(t[3], NULL);
	}
	return 0;
}
EOF2
compiled locks -D_GNU_SOURCE -pthread
program lock-order -- "$dir/locks" wrong
read -r asked had where < <(elements)
is "lock-order.dp: one record, of those two" "$(elements | wc -l) $asked $had" "1 $(cat "$dir/stdout")"
is "and of who asked" "$(within locks "$where")" wrong_way
program lock-order -- "$dir/locks"
is "in one order there is none" "$status $out" "0 "

cat >"$dir/opens.c" <<'EOF2'
#define _LARGEFILE64_SOURCE
#include <fcntl.h>
#include <unistd.h>
int keeps(void) { return open64("/dev/null", O_RDONLY); }
int gives_back(void) { return close(open64("/dev/zero", O_RDONLY)); }
int fails(void) { return open64("/nonexistent/file", O_RDONLY) + 2; }
int main(void)
{
	int a = keeps(), i;

	for (i = 0; i < 10; i++)
		if (gives_back())
			return 2;
	return keeps() - a - fails();
}
EOF2
compiled opens
program lost-descriptors -- "$dir/opens"
is "lost-descriptors.dp: two of them" "$status $(grep -c 'lv\[[0-9]*\] = 0x[1-9a-f]' <<<"$err")" "0 2"
for at in $(sed -n 's/.*lv\[[0-9]*\] = \(0x[1-9a-f][0-9a-f]*\) .*/\1/p' <<<"$err"); do
	is "and who has opened it" "$(within opens "$at")" keeps
done
program failing-opens -- "$dir/opens"
is "failing-opens.dp: one of thirteen" "$(grep -o 'lv\[[01]\] = 0x[0-9a-f]*' <<<"$err" | xargs)" "lv[0] = 0xd lv[1] = 0x1"
like "and its name" "$out" '^    00000000  2f 6e 6f 6e 65 78 69 73 .*\|/nonexistent/fil\|'
read -r why where < <(elements)
is "and why, and who has tried" "$why $(within opens "$where")" "0x2 fails"
program failing-opens -- cat /nonexistent/1 /etc/hostname /nonexistent/22
is "those of cat" "$(grep -o '|/nonexistent/.*|' <<<"$out" | xargs)" "|/nonexistent/1| |/nonexistent/22|"
program failing-opens -- cat /etc/passwd/1 /nonexistent /
is "and what it says of them" "$(elements | cut -d ' ' -f 1 | xargs)" "0x14 0x2"
like "which is so" "$err" '^cat: /etc/passwd/1: Not a directory$'

cat >"$dir/pipes.c" <<'EOF2'
#include <stdio.h>
#include <unistd.h>
char buffer[10000];
ssize_t asks(int fd) { return read(fd, buffer, sizeof(buffer)) + 1; }
int main(void)
{
	int fd[2];

	if (pipe(fd) || write(fd[1], buffer, 300) != 300 || read(fd[0], buffer, 200) != 200)
		return 2;
	if (asks(fd[0]) != 101)
		return 3;
	close(fd[1]);
	return asks(fd[0]) != 1;
}
EOF2
compiled pipes
program short-reads -- "$dir/pipes"
read -r asked came where < <(elements)
is "short-reads.dp: one, and its sizes" "$status $(elements | wc -l) $asked $came" "0 1 0x2710 0x64"
is "and who has asked" "$(within pipes "$where")" asks

cat >"$dir/slow.c" <<'EOF2'
#include <unistd.h>
char buffer[10];
ssize_t waits(int fd) { return read(fd, buffer, sizeof(buffer)) - 1; }
int main(void)
{
	int fd[2], i;

	if (pipe(fd) || write(fd[1], buffer, 1) != 1 || read(fd[0], buffer, 1) != 1)
		return 2;
	for (i = 0; i < 3; i++) {
		if (!fork()) {
			usleep(60000);
			_exit(write(fd[1], buffer, 1) != 1);
		}
		if (waits(fd[0]))
			return 3;
	}
	return 0;
}
EOF2
compiled slow
program slow-reads -D MS=50 -- "$dir/slow"
is "slow-reads.dp: three of four" "$status $(elements | wc -l) $(grep -o 'lv\[.\] = 0x[0-9]' <<<"$err" | xargs)" "0 3 lv[0] = 0x4 lv[1] = 0x3"
wrong=
while read -r took came where; do
	[ $((took)) -ge 50000000 ] && [ $((took)) -lt 60000000000 ] && [ "$came $(within slow "$where")" = "0x1 waits" ] || wrong+=" $took $came $where"
done < <(elements)
is "what they took, what came, and who has waited" "$wrong" ""

cat >"$dir/sized.c" <<'EOF2'
#include <stdlib.h>
int main(void)
{
	static const int sizes[] = { 1, 2, 3, 4, 7, 8, 1024, 2047, 2048, 1 << 20 };
	unsigned i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		free(malloc(sizes[i]));
	return 0;
}
EOF2
compiled sized
program sizes -- "$dir/sized"
is "sizes.dp" "$(sed -n 's/.*lv\[\([0-9]*\)\] = .*(\([0-9]*\))$/\1:\2/p' <<<"$err" | xargs)" "0:1 1:2 2:2 3:1 10:2 11:1 20:1"

printf '#include <stdlib.h>\nint main(void)\n{\n\treturn !getenv("SET") + !!getenv("UNSET");\n}\n' >"$dir/env.c"
compiled env
SET=1 program unset -- "$dir/env"
is "unset.dp" "$status $(grep -o '|.*|' <<<"$out")" "0 |UNSET|"

printf '#include <stdio.h>\n#include <stdlib.h>\nvoid *gets_none(void) { return malloc(100); }\nint main(void)\n{\n\tint i, none = 0;\n\n\tfor (i = 0; i < 300; i++)\n\t\tnone += !gets_none();\n\tprintf("%%d\\n", none);\n\treturn 0;\n}\n' >"$dir/greedy.c"
compiled greedy
program no-memory --allow reg -D AFTER=200 -- "$dir/greedy"
is "no-memory.dp: one that the program sees" "$status $(cat "$dir/stdout")" "0 1"
is "and who had none" "$(within greedy "$(elements)")" gets_none
program no-memory -D AFTER=200 -- sort /etc/services
is "a program that cannot do without says so, and what it needs" "$([ "$status" -ne 0 ]; echo $?) $(grep -c 'memory exhausted' <<<"$err")" "0 1"
program no-memory --allow none -- true
like "it has to be allowed" "$status $err" '^2 .*--allow'

python=/usr/bin/python3
cat >"$dir/hungry.py" <<'EOF2'
import time
seen = 0
for i in range(5):
    try:
        bytearray(1 << 60)
    except MemoryError:
        seen += 1
        time.sleep(0.2)
print(seen)
EOF2
"$DPROBES" run -o "$dir/records" --core "$dir/core.%n" "$examples/memory-error.dp" -- "$python" -S "$dir/hungry.py" >"$dir/stdout" 2>"$dir/stderr"
is "memory-error.dp: python goes on" "$(cat "$dir/stdout")" 5
is "one dump" "$(cd "$dir" && ls core.* | xargs) $(grep -c 'exit 3: a core dump' "$dir/records")" "core.1 1"
if command -v gdb >"$dir/which"; then
	is "of the moment" "$(gdb -q -batch -ex 'info symbol $pc' "$python" "$dir/core.1" 2>"$dir/err" | grep -o '^PyErr_NoMemory in')" "PyErr_NoMemory in"
else
	skip "of the moment" "there is no gdb"
fi

# The paper's own. The first one is for a kernel (tests/kernel/run_init.c); its probes do in a process what they say.
cp "$examples/fork-kill-paper.dp" "$examples/malloc-paper.dp" "$dir"
if [ -e /dev/dprobes ]; then
	skip "fork and kill, as printed" "the kernel can be probed"
else
	"$DPROBES" run "$dir/fork-kill-paper.dp" -- true >"$dir/stdout" 2>"$dir/stderr"
	like "fork and kill, as printed" "$? $(cat "$dir/stderr")" '^1 dprobes: there is no /dev/dprobes'
fi
cat >"$dir/victim.c" <<'EOF2'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
/* They begin with push %rbp. */
int kill_proc(int pid) { return kill(pid, 0); }
int do_fork(int n) { return n; }
int main(void)
{
	return kill_proc(getpid()) + do_fork(1) + do_fork(2) - 3;
}
EOF2
cc -O0 -fno-stack-protector -no-pie -fcf-protection=none -o "$dir/bzImage" "$dir/victim.c"
sed -i 's/^modtype = kernel$/modtype = user/' "$dir/fork-kill-paper.dp"
"$DPROBES" run -o "$dir/records" "$dir/fork-kill-paper.dp" -- "$dir/bzImage" 2>"$dir/stderr"
is "in a process: forks and kills" "$? $(grep -o 'lv\[.\] = 0x[0-9a-f]*' "$dir/stderr" | xargs)" "0 lv[0] = 0x1 lv[1] = 0x2"
is "and each is a record of sixteen bytes of stack" "$(grep -o 'major=1 minor=[12]' "$dir/records" | xargs) $(grep -c 'memory, 16 bytes' "$dir/records")" \
	"major=1 minor=1 major=1 minor=2 major=1 minor=2 3"

# What the log has of it, where the stack is @ and the letters behind it
cat >"$dir/letters.s" <<'EOF2'
	.globl main, kill_proc, do_fork
main:	movabs $0x4f4e4d4c4b4a4948, %rax
	push %rax
	movabs $0x4746454443424140, %rax
	push %rax
	jmp kill_proc
	.type kill_proc, @function
kill_proc: push %rbp
	pop %rbp
	add $16, %rsp
	xor %eax, %eax
	ret
	.size kill_proc, . - kill_proc
	.type do_fork, @function
do_fork: push %rbp
	pop %rbp
	ret
	.size do_fork, . - do_fork
	.section .note.GNU-stack, "", @progbits
EOF2
cc -no-pie -o "$dir/bzImage" "$dir/letters.s"
"$DPROBES" run -q -o "$dir/records" --log-target file "$dir/fork-kill-paper.dp" -- "$dir/bzImage" 2>"$dir/stderr"
is "its log is as DProbes wrote it" "$? $(sed 's/cpu=[0-9]* //' "$dir/records")" "0 dprobes(1,1) 
dprobes(1,1)  
0x00000000 : 00100040 41424344 45464748 494a4b4c : ...@ABCDEFGHIJKL
0x00000010 : 4d4e4f                              : MNO"

# The second one compares the address of the argument, where the i386 has it, on a stack that is there.
mkdir "$dir/lib"
printf 'void *__malloc(unsigned long n)\n{\n\treturn (void *)n;\n}\n' >"$dir/libc.c"
cc -O0 -shared -fPIC -fcf-protection=none -o "$dir/lib/libc.so.6" "$dir/libc.c"
cat >"$dir/stack.c" <<'EOF2'
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
void *__malloc(unsigned long n);
static long on_stack(void *top)
{
	long result;

	__asm__ volatile("mov %%rsp, %%rbx\n mov %1, %%rsp\n mov $77, %%edi\n call __malloc\n mov %%rbx, %%rsp\n"
			 : "=a"(result)
			 : "r"(top)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	return result;
}
int main(void)
{
	char *low = mmap((void *)0x1fff0000, 0x20000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (low != (void *)0x1fff0000)
		return 77;
	/* The call pushes eight bytes: rsp + 4 is 0x20000000 at the second one. */
	printf("%ld %ld\n", on_stack(low + 0xfff0), on_stack(low + 0x10004));
	/* So that there is a process to be dumped */
	return usleep(500000);
}
EOF2
cc -O1 -o "$dir/stack" "$dir/stack.c" "$dir/lib/libc.so.6"
sed -i "s#^name = .*#name = \"$dir/lib/libc.so.6\"#" "$dir/malloc-paper.dp"
"$DPROBES" run -q -o "$dir/records" --core "$dir/dump" "$dir/malloc-paper.dp" -- "$dir/stack" >"$dir/stdout" 2>"$dir/stderr"
is "malloc, as printed but for the library's path: the program goes on" "$? $(cat "$dir/stdout" "$dir/stderr")" "0 77 77"
is "one dump, of the call whose argument would be at 0x20000000" "$(grep -c 'exit 3: a core dump' "$dir/records") $(grep -c major= "$dir/records")" "1 1"
plan
