// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jumps: longjmp and siglongjmp out of nested calls, callbacks and handlers. */
#include "torture.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#define TIMES 2000

static jmp_buf here;
static sigjmp_buf signalled;

static APART int descend(int n, jmp_buf to)
{
	int below;

	if (!n)
		longjmp(to, 42);
	below = descend(n - 1, to);
	STAY();
	return below + 1;
}

static APART int leave_and_return(int n)
{
	jmp_buf to;
	int value = setjmp(to);

	if (value)
		return value;
	return descend(n, to);
}

static bool out_of_nested(void)
{
	for (int i = 0; i < TIMES; i++)
		if (leave_and_return(i % 40) != 42)
			return false;
	return true;
}

/* Each level catches the jump of the one below, and jumps on. */
static APART int hop(int n, jmp_buf outer)
{
	jmp_buf mine;

	if (!n)
		longjmp(outer, 1);
	if (!setjmp(mine))
		hop(n - 1, mine);
	longjmp(outer, n + 1);
}

static APART int hops(int n)
{
	jmp_buf top;
	int value = setjmp(top);

	return value ? value : hop(n, top);
}

/* The same frame is left again and again without ever returning. */
static APART int round_and_round(void)
{
	static volatile int rounds;
	jmp_buf again;

	rounds = 0;
	if (setjmp(again) < 0)
		return -1;
	if (++rounds < TIMES)
		descend(rounds % 10, again);
	return rounds;
}

static APART int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	if (*x == 13 || *y == 13)
		longjmp(here, 13);
	return *x - *y;
}

static APART bool out_of_callback(void)
{
	int array[50];

	for (int i = 0; i < 50; i++)
		array[i] = 50 - i;
	if (setjmp(here))
		return true;
	qsort(array, 50, sizeof(*array), compare);
	return false;
}

static APART void on_signal(int sig)
{
	siglongjmp(signalled, sig);
}

static APART int raise_below(int n, int sig)
{
	int result;

	if (!n)
		return raise(sig);
	result = raise_below(n - 1, sig);
	STAY();
	return result;
}

static APART int touch_below(int n, volatile char *nowhere)
{
	int result;

	if (!n)
		return *nowhere;
	result = touch_below(n - 1, nowhere);
	STAY();
	return result;
}

static APART int caught(int n, int sig, volatile char *nowhere)
{
	int value = sigsetjmp(signalled, 1);

	if (value)
		return value;
	return sig == SIGSEGV ? touch_below(n, nowhere) : raise_below(n, sig);
}

static bool out_of_handlers(int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };
	char *nowhere =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool good = true;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < TIMES / 10; i++)
		good &= caught(i % 20, SIGUSR1, nowhere) == SIGUSR1 &&
			caught(i % 20, SIGSEGV, nowhere) == SIGSEGV;
	munmap(nowhere, 4096);
	return good;
}

static void *plain[5];

static APART int jump_plainly(int n)
{
	int below;

	if (!n)
		__builtin_longjmp(plain, 1);
	below = jump_plainly(n - 1);
	STAY();
	return below;
}

static APART bool by_the_compiler(void)
{
	static volatile int rounds;

	rounds = 0;
	if (__builtin_setjmp(plain))
		return rounds == 1;
	rounds++;
	return jump_plainly(5) == 100;
}

int main(void)
{
	static char stack[1 << 16];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };

	check("out of nested calls", out_of_nested());
	check("from level to level", hops(30) == 31);
	check("again into one frame", round_and_round() == TIMES);
	check("out of a callback of qsort", out_of_callback());
	check("out of signal handlers", out_of_handlers(0));
	sigaltstack(&alt, NULL);
	check("out of handlers on another stack", out_of_handlers(SA_ONSTACK));
	check("out of handlers that nest", out_of_handlers(SA_NODEFER));
	check("the compiler's own", by_the_compiler());
	check("and returns go on", out_of_nested());
	return verdict();
}
