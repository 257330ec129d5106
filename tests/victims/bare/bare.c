// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bare: a program without any libc: its own entry point, system calls, threads and
 * signal returns. Threads have no thread pointer, and stacks of 8 KB side by side.
 * bare [ROUNDS]; without, until SIGTERM.
 *
 * The first thread makes children; two block all signals, two sleep and work in
 * turn. Every result is checked. Says "running", and at the end "right" or what was
 * wrong.
 */
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/time.h>
#include <linux/wait.h>
#include <asm/unistd.h>

#define THREADS 4
#define STACK 8192
#define SIGSET 8
#define SA_RESTORER 0x04000000
#define AHEAD 64

struct action {
	void (*handler)(int sig);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

long victim_function(long n);
void bare_return(void);
int bare_call_keeps(void);
int bare_main(long argc, char **argv);
long bare_clone(unsigned long flags, void *stack, int *ended,
		void (*function)(long), long n);

static volatile int stop, wrong, usr1s;
static volatile long rounds[THREADS];
static long limit;
static int ended[THREADS];
static char stacks[THREADS][STACK] __attribute__((aligned(64)));

__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n\t"
	"mov (%rsp), %rdi\n\t"
	"lea 8(%rsp), %rsi\n\t"
	"and $-16, %rsp\n\t"
	"call bare_main\n\t"
	"mov %eax, %edi\n\t"
	"mov $231, %eax\n\t"
	"syscall\n"
	".size _start, . - _start\n"
	".globl bare_return\n"
	"bare_return:\n\t"
	"mov $15, %eax\n\t"
	"syscall\n"
	/* The child finds its function and argument in registers. */
	".globl bare_clone\n"
	".type bare_clone, @function\n"
	"bare_clone:\n\t"
	"mov %rdx, %r10\n\t"
	"mov %rcx, %r9\n\t"
	"xor %edx, %edx\n\t"
	"push %rbx\n\t"
	"mov %r8, %rbx\n\t"
	"mov $56, %eax\n\t"
	"syscall\n\t"
	"test %eax, %eax\n\t"
	"jz 1f\n\t"
	"pop %rbx\n\t"
	"ret\n"
	"1:\tmov %rbx, %rdi\n\t"
	"call *%r9\n\t"
	"xor %edi, %edi\n\t"
	"mov $60, %eax\n\t"
	"syscall\n"
	".size bare_clone, . - bare_clone\n"
	/* rt_sigprocmask(0, NULL, NULL, 8); are flags, stack and registers as before? */
	".globl bare_call_keeps\n"
	".type bare_call_keeps, @function\n"
	"bare_call_keeps:\n\t"
	"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
	"xor %edi, %edi\n\txor %esi, %esi\n\txor %edx, %edx\n\t"
	"mov $8, %r10d\n\tmov $18, %r8d\n\tmov $19, %r9d\n\tmov $11, %ebx\n\t"
	"mov $12, %r12d\n\tmov $13, %r13d\n\tmov $14, %r14d\n\tmov $15, %r15d\n\t"
	"mov %rsp, %rbp\n\t"
	"movq $77, -8(%rsp)\n\t"
	"stc\n\t"
	"mov $14, %eax\n\t"
	"syscall\n\t"
	"jnc 1f\n\t"
	"cmpq $77, -8(%rsp)\n\tjne 1f\n\t"
	"cmp %rsp, %rbp\n\tjne 1f\n\t"
	"or %rdi, %rax\n\tor %rsi, %rax\n\tor %rdx, %rax\n\tjnz 1f\n\t"
	"cmp $8, %r10\n\tjne 1f\n\tcmp $18, %r8\n\tjne 1f\n\tcmp $19, %r9\n\tjne 1f\n\t"
	"cmp $11, %rbx\n\tjne 1f\n\tcmp $12, %r12\n\tjne 1f\n\tcmp $13, %r13\n\tjne 1f\n\t"
	"cmp $14, %r14\n\tjne 1f\n\tcmp $15, %r15\n\tjne 1f\n\t"
	"mov $1, %eax\n\t"
	"jmp 2f\n"
	"1:\tmov %rbp, %rsp\n\t"
	"xor %eax, %eax\n"
	"2:\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\t"
	"ret\n"
	".size bare_call_keeps, . - bare_call_keeps\n");

static inline long call4(long nr, unsigned long a, unsigned long b,
			 unsigned long c, unsigned long d)
{
	register unsigned long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static unsigned long length(const char *text)
{
	unsigned long n = 0;

	while (text[n])
		n++;
	return n;
}

static void say(const char *text)
{
	call4(__NR_write, 1, (unsigned long)text, length(text), 0);
}

static void check(int good, const char *what)
{
	if (good || __atomic_exchange_n(&wrong, 1, __ATOMIC_RELAXED))
		return;
	say("wrong: ");
	say(what);
	say("\n");
}

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void work(long n)
{
	long i;

	for (i = 0; i < 50; i++)
		check(victim_function(n + i) == (n + i) * 3 + 1, "a result");
}

static void on_signal(int sig)
{
	if (sig == SIGTERM)
		stop = 1;
	else
		usr1s++;
	work(sig);
}

static unsigned long blocked(void)
{
	unsigned long mask = 0;

	call4(__NR_rt_sigprocmask, SIG_BLOCK, 0, (unsigned long)&mask, SIGSET);
	return mask;
}

static void set_mask(unsigned long mask)
{
	call4(__NR_rt_sigprocmask, SIG_SETMASK, (unsigned long)&mask, 0,
	      SIGSET);
}

#define ALL (~0ul & ~(1ul << (SIGKILL - 1) | 1ul << (SIGSTOP - 1)))

static void thread(long n)
{
	struct __kernel_old_timespec nap = { 0, 200000 };

	check(blocked() == ALL, "the mask that a thread begins with");
	set_mask(n & 1 ? ALL : 1ul << (SIGTERM - 1));
	while (!stop && (!limit || rounds[n] < limit)) {
		work(rounds[n]);
		check(blocked() == (n & 1 ? ALL : 1ul << (SIGTERM - 1)),
		      "the mask of a thread");
		check(bare_call_keeps(), "registers behind a call");
		if (n & 2)
			call4(__NR_nanosleep, (unsigned long)&nap, 0, 0, 0);
		rounds[n]++;
	}
}

static void start(int n)
{
	unsigned long mask = blocked();
	long tid;

	set_mask(~0ul);
	ended[n] = 1;
	tid = bare_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				 CLONE_THREAD | CLONE_SYSVSEM |
				 CLONE_CHILD_CLEARTID,
			 stacks[n] + STACK - AHEAD, &ended[n], thread, n);
	set_mask(mask);
	check(tid > 0, "a thread");
}

static void child(void)
{
	int status = -1;
	long pid = call4(__NR_fork, 0, 0, 0, 0);

	if (!pid) {
		work(7);
		call4(__NR_exit_group,
		      wrong || blocked() != 1ul << (SIGTRAP - 1) ? 1 : 42, 0, 0,
		      0);
	}
	check(pid > 0 && call4(__NR_wait4, (unsigned long)pid,
			       (unsigned long)&status, 0, 0) == pid,
	      "a child");
	check(status == 42 << 8, "what a child found");
}

static void act(int sig)
{
	struct action action = { on_signal, SA_RESTORER | SA_RESTART,
				 bare_return, ~0ul };

	call4(__NR_rt_sigaction, (unsigned long)sig, (unsigned long)&action, 0,
	      SIGSET);
}

static void wait_for(int n)
{
	int value;

	while ((value = __atomic_load_n(&ended[n], __ATOMIC_ACQUIRE)))
		call4(__NR_futex, (unsigned long)&ended[n], 0,
		      (unsigned long)value, 0);
}

int bare_main(long argc, char **argv)
{
	struct __kernel_old_timespec nap = { 0, 1000000 };
	const char *digits = argc > 1 ? argv[1] : "";
	long i, pid = call4(__NR_getpid, 0, 0, 0, 0);

	while (*digits)
		limit = limit * 10 + *digits++ - '0';
	act(SIGTERM);
	act(SIGUSR1);
	set_mask(1ul << (SIGTRAP - 1));
	for (i = 0; i < THREADS; i++)
		start((int)i);
	say("running\n");
	for (i = 0; !stop && (!limit || i < limit); i++) {
		work(i);
		child();
		call4(__NR_tgkill, (unsigned long)pid, (unsigned long)pid,
		      SIGUSR1, 0);
		check(blocked() == 1ul << (SIGTRAP - 1), "the first mask");
		call4(__NR_nanosleep, (unsigned long)&nap, 0, 0, 0);
	}
	check(usr1s == i, "a signal");
	for (i = 0; i < THREADS; i++)
		wait_for((int)i);
	if (!wrong)
		say("right\n");
	return wrong;
}
