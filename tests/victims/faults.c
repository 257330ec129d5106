// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * faults: instructions that fault, and a program that lives on it: faults [ROUNDS] [die].
 *
 * Each fault's handler tells which instruction it was, at what address, and whether the next
 * instructions and registers are right. Output is the same in every round, so it is printed
 * once; a difference is printed when it comes. The handler goes on behind the instruction, or
 * leaves by siglongjmp(). With "die" the last fault has no handler.
 *
 * overflow() runs over the end of its stack, with an alternate stack that is just as large as
 * the kernel asks for.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define BAD 0x10
#define BEYOND ((void *)0x10000000000)
#define NONCANONICAL 0x8000000000001000ull

/* Each has its fault at the label, with rdi as the address; eax is what is right. */
long fault_first(const void *at);
long fault_second(const void *at);
long fault_push(const void *at);
long fault_store(const void *at);
long fault_string(const void *at);
long fault_divide(const void *at);
long fault_illegal(const void *at);
long fault_jump(const void *at);
extern char at_first[], at_second[], at_push[], at_store[], at_string[],
	at_divide[], at_illegal[];

__asm__(".text\n"
	".globl fault_first, fault_second, fault_push, fault_store\n"
	".globl fault_string, fault_divide, fault_illegal, fault_jump\n"
	".type fault_first,@function\n.type fault_second,@function\n"
	".type fault_push,@function\n.type fault_store,@function\n"
	".type fault_string,@function\n.type fault_divide,@function\n"
	".type fault_illegal,@function\n.type fault_jump,@function\n"
	"fault_first:\nat_first: mov (%rdi), %rdx\n"
	"mov $1, %eax\nret\n.size fault_first, .-fault_first\n"
	"fault_second: push %rbx\nat_second: mov (%rdi), %bl\npop %rbx\n"
	"mov $2, %eax\nret\n.size fault_second, .-fault_second\n"
	"fault_push: mov %rsp, %rcx\nmov %rdi, %rsp\nat_push: push %rcx\n"
	"1: mov %rcx, %rsp\nmov $3, %eax\nret\n.size fault_push, .-fault_push\n"
	"fault_store: mov $4, %eax\nat_store: lock addl $1, (%rdi)\n"
	"nop\nret\n.size fault_store, .-fault_store\n"
	"fault_string: mov %rdi, %rsi\nmov $7, %ecx\nlea -64(%rsp), %rdi\n"
	"at_string: rep movsb\nmov $5, %eax\nret\n"
	".size fault_string, .-fault_string\n"
	"fault_divide: xor %ecx, %ecx\nmov $6, %eax\nat_divide: idiv %ecx\n"
	"mov $6, %eax\nret\n.size fault_divide, .-fault_divide\n"
	"fault_illegal: mov $7, %eax\nat_illegal: ud2\nret\n"
	".size fault_illegal, .-fault_illegal\n"
	"fault_jump: push %rbp\nmov $8, %eax\njmp *%rdi\n"
	"1: pop %rbp\nret\n.size fault_jump, .-fault_jump\n");

static volatile int leaves, in_overflow;
static sigjmp_buf home;
static char lines[8192], now[8192];
static volatile size_t used;

static void tell(const char *what, long a, long b)
{
	used += (size_t)snprintf(now + used, sizeof(now) - used, "%s %lx %lx\n",
				 what, (unsigned long)a, (unsigned long)b);
}

static const struct {
	const char *at;
	int len;
} known[] = {
	{ at_first, 3 },  { at_second, 2 }, { at_push, 1 },    { at_store, 4 },
	{ at_string, 2 }, { at_divide, 2 }, { at_illegal, 2 },
};

static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	char *pc = (char *)regs[REG_RIP], *addr = info->si_addr;
	size_t i;

	if (sig == SIGILL || sig == SIGFPE)
		addr = (char *)(addr - pc);
	/* Where the stack ends, and how far the function has come, differs. */
	if (in_overflow) {
		tell("over the end", sig == SIGSEGV, 0);
		siglongjmp(home, 1);
	}
	tell(strsignal(sig), (long)addr, info->si_code);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (pc == known[i].at)
			break;
	tell("instruction", (long)i, regs[REG_RDI] == (greg_t)info->si_addr);
	if (leaves || i == sizeof(known) / sizeof(known[0]))
		siglongjmp(home, 1);
	regs[REG_RIP] = (greg_t)(pc + known[i].len);
}

static void one(const char *name, long (*fault)(const void *at), void *at)
{
	int left = sigsetjmp(home, 1);
	sigset_t mask;

	if (!left)
		tell(name, fault(at), 0);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	tell(left ? "left" : "went on", sigismember(&mask, SIGSEGV),
	     sigismember(&mask, SIGFPE));
}

int overflow(int n);
static volatile int sink;

__attribute__((noinline)) int overflow(int n)
{
	volatile char room[512];

	memset((char *)room, n, sizeof(room));
	sink = n;
	if (n < 0)
		return 0;
	return overflow(n + 1) + room[n & 511];
}

static void *small_stack(void *arg)
{
	size_t size = getauxval(AT_MINSIGSTKSZ);
	stack_t ss = { .ss_size = size < 2048 ? 2048 : size };

	/* The kernel's minimum is what its frame takes; a handler needs some, too. */
	ss.ss_size += 4096;
	ss.ss_sp = malloc(ss.ss_size);
	sigaltstack(&ss, NULL);
	leaves = in_overflow = 1;
	if (!sigsetjmp(home, 1))
		overflow(0);
	in_overflow = 0;
	tell("overflow", sink > 10, 0);
	ss.ss_flags = SS_DISABLE;
	sigaltstack(&ss, NULL);
	free(ss.ss_sp);
	return arg;
}

static void overflows(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_create(&thread, &attr, small_stack, NULL);
	pthread_join(thread, NULL);
}

static void all(void *beyond)
{
	void *bad[] = { (void *)BAD, (void *)NONCANONICAL, beyond };
	size_t i;

	for (i = 0; i < 6; i++) {
		leaves = i & 1;
		one("first", fault_first, bad[i / 2]);
		one("second", fault_second, bad[i / 2]);
		one("store", fault_store, bad[i / 2]);
		one("string", fault_string, bad[i / 2]);
		one("divide", fault_divide, bad[i / 2]);
		one("illegal", fault_illegal, bad[i / 2]);
	}
	one("push", fault_push, (void *)4096);
	one("jump", fault_jump, (void *)BAD);
}

static void set_actions(int flags)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	struct sigaction act = { .sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | flags };
	size_t i;

	for (i = 0; i < 4; i++)
		sigaction(signals[i], &act, NULL);
}

int main(int argc, char **argv)
{
	static char memory[65536];
	stack_t ss = { .ss_sp = memory, .ss_size = sizeof(memory) };
	long rounds = argc > 1 ? atol(argv[1]) : 1, n;
	int fd = memfd_create("empty", 0);
	void *beyond =
		mmap(BEYOND, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	puts("running");
	fflush(stdout);
	sigaltstack(&ss, NULL);
	for (n = 0; n < rounds || !rounds; n++) {
		used = 0;
		set_actions(n & 1 ? SA_NODEFER : 0);
		all(beyond);
		if (n % 16 == 0)
			overflows();
		/* What overflows() tells comes last. */
		if (n && memcmp(lines, now, n % 16 ? used : strlen(lines)))
			printf("differs in round %ld:\n%s", n, now);
		if (!n)
			memcpy(lines, now, sizeof(lines));
		if (n && (n % 100 == 0))
			fflush(stdout);
	}
	fputs(lines, stdout);
	fflush(stdout);
	if (argc > 2) {
		signal(SIGSEGV, SIG_DFL);
		fault_first((void *)BAD);
	}
	return 0;
}
