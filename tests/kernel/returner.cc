// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * returner: functions that are left in all ways, so often each: returner TIMES. Its status is STATUS if each has
 * returned what it should.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS 4
#define THREADS 4
#define DEPTH 5
#define EXPORT extern "C" __attribute__((noinline, noclone))

/* Two returns; a jump to another function where @n is odd, else a return; a jump to another function always; no return;
 * one function that ends in another one; a call of itself by a jump, until @n is 0 */
__asm__(".text\n"
	".macro begin name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".cfi_startproc\n"
	".endm\n"
	".macro finish name\n"
	".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	".p2align 4\n"
	"begin returner_two\n"
	"test $1, %edi\n"
	"jne 1f\n"
	"lea 1(%rdi), %rax\n"
	"ret\n"
	"1: lea 2(%rdi), %rax\n"
	"ret\n"
	"finish returner_two\n"
	"begin returner_land\n"
	"lea 3(%rdi), %rax\n"
	"ret\n"
	"finish returner_land\n"
	"begin returner_hop\n"
	"test $1, %edi\n"
	"jne returner_land\n"
	"lea 4(%rdi), %rax\n"
	"ret\n"
	"finish returner_hop\n"
	"begin returner_skip\n"
	"jmp returner_land\n"
	"finish returner_skip\n"
	"begin returner_never\n"
	"1: pause\n"
	"jmp 1b\n"
	"finish returner_never\n"
	"begin returner_again\n"
	"test %rdi, %rdi\n"
	"je 1f\n"
	"dec %rdi\n"
	"jmp returner_again\n"
	"1: lea 5(%rdi), %rax\n"
	"ret\n"
	"finish returner_again\n"
	"begin returner_into\n"
	"inc %rdi\n"
	"finish returner_into\n"
	"begin returner_shared\n"
	"lea 6(%rdi), %rax\n"
	"ret\n"
	"finish returner_shared\n");

extern "C" {
unsigned long returner_two(unsigned long n), returner_hop(unsigned long n),
	returner_land(unsigned long n), returner_skip(unsigned long n),
	returner_never(unsigned long n), returner_again(unsigned long n),
	returner_into(unsigned long n), returner_shared(unsigned long n);
/* The process */
unsigned long returner_pid;
}

static volatile unsigned long wrong;

static void check(unsigned long is, unsigned long wanted)
{
	if (is != wanted)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

EXPORT unsigned long returner_climb(unsigned long n)
{
	volatile unsigned long sum = n;

	if (n)
		sum += returner_climb(n - 1);
	return sum;
}

/* An exception ends the odd ones, through two frames. */
EXPORT unsigned long returner_throw(unsigned long n)
{
	volatile unsigned long value = n;

	if (n & 1)
		throw(int) n;
	return value + 1;
}

EXPORT unsigned long returner_through(unsigned long n)
{
	volatile unsigned long value = returner_throw(n);

	return value + 1;
}

static void throw_all(unsigned long n)
{
	try {
		check(returner_through(n), n + 2);
		check(n & 1, 0);
	} catch (int got) {
		check((unsigned long)got, n);
		check(n & 1, 1);
	}
}

static jmp_buf back;

EXPORT unsigned long returner_long(unsigned long n)
{
	volatile unsigned long value = n;

	if (n & 1)
		longjmp(back, (int)n);
	return value + 1;
}

static void jump_all(unsigned long n)
{
	int got = setjmp(back);

	if (got)
		check((unsigned long)got, n);
	else
		check(returner_long(n), n + 1);
}

/* It returns in two processes. */
EXPORT long returner_fork(unsigned long n)
{
	volatile long child = fork();

	return child;
}

/* No return at all, where @n is odd */
EXPORT unsigned long returner_leave(unsigned long n)
{
	volatile unsigned long value = n;

	if (n & 1)
		_exit(STATUS);
	return value + 1;
}

EXPORT unsigned long returner_exec(const char *path)
{
	execl(path, path, "land", (char *)NULL);
	return 1;
}

static void await(long child)
{
	int status = 0;

	check(waitpid((pid_t)child, &status, 0) == child && WIFEXITED(status) &&
		      WEXITSTATUS(status) == STATUS,
	      1);
}

static void fork_all(unsigned long n, const char *path)
{
	long child = returner_fork(n);

	if (child) {
		await(child);
		return;
	}
	if (n % 3 == 0)
		returner_exec(path);
	check(returner_leave(n & ~1ul), (n & ~1ul) + 1);
	returner_leave(1);
	_exit(1);
}

static void *climb_all(void *times)
{
	unsigned long i, n = (unsigned long)times;

	for (i = 0; i < n; i++)
		check(returner_climb(DEPTH), DEPTH * (DEPTH + 1) / 2);
	return NULL;
}

static void thread_all(unsigned long times)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, climb_all, (void *)times);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	unsigned long i, times = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;

	returner_pid = (unsigned long)getpid();
	/* Executed within a call */
	if (argc > 1 && !strcmp(argv[1], "land"))
		return returner_land(1) == 4 ? STATUS : 1;
	for (i = 0; i < times; i++) {
		check(returner_two(i), i & 1 ? i + 2 : i + 1);
		check(returner_hop(i), i & 1 ? i + 3 : i + 4);
		check(returner_skip(i), i + 3);
		check(returner_again(3), 5);
		check(returner_into(i), i + 7);
		check(returner_shared(i), i + 6);
		throw_all(i);
		jump_all(i);
		fork_all(i, argv[0]);
	}
	thread_all(times);
	if (argc > 2)
		returner_never(0);
	return wrong ? 1 : STATUS;
}
