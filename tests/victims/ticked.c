// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ticked: threads whose stacks are known, and a signal that comes every 100 us, whatever they do.
 *
 * Its handler tells seen() in which function the thread is, and how deep in again(). Below that
 * function are always work(), third(), second() and first(). TICKS; "away": handlers on a stack of
 * their own; "caught": it is SIGSEGV, which another thread sends.
 */
#include <alloca.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

enum {
	WORK = 1,
	PLAIN,
	LOOPING,
	CROWDED,
	FRAMED,
	AGAIN,
	INDIRECT,
	SORTING,
	MASKING,
	WAITING,
	PARSING
};

void seen(int function, int depth);
uint64_t plain(uint64_t a, uint64_t b);
uint64_t looping(uint64_t n);
uint64_t crowded(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);
uint64_t framed(uint64_t n);
uint64_t again(uint64_t n);
uint64_t indirect(uint64_t n);
uint64_t sorting(uint64_t n);
uint64_t masking(uint64_t n);
uint64_t waiting(uint64_t n);
uint64_t parsing(uint64_t n);
uint64_t work(uint64_t n);
uint64_t third(uint64_t n);
uint64_t second(uint64_t n);
uint64_t first(uint64_t n);
void on_signal(int sig, siginfo_t *info, void *uc);

static __thread volatile int inside, depth;
static volatile int ticks, over;

APART void seen(int function, int deep)
{
	__asm__ volatile("" : : "r"(function), "r"(deep) : "memory");
}

void on_signal(int sig, siginfo_t *info, void *uc)
{
	ticks++;
	if (inside)
		seen(inside, depth);
	__asm__ volatile("" : : : "memory");
}

APART uint64_t plain(uint64_t a, uint64_t b)
{
	a ^= b << 7;
	a += b * 0x9e3779b97f4a7c15ull;
	b = a >> 11 ^ b;
	return a * 3 + b;
}

APART uint64_t looping(uint64_t n)
{
	uint64_t i, sum = n;

	for (i = 0; i < 20; i++)
		sum = plain(sum, i) ^ sum >> 3;
	return sum;
}

/* All registers that are saved are used, the frame register for other things. */
APART uint64_t crowded(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		       uint64_t e)
{
	uint64_t f = a ^ b, g = c + d, h = e * 3, i;

	for (i = 0; i < 3; i++) {
		a += plain(b, c) + f;
		b ^= plain(c, d) * g;
		c += d ^ h;
		d = e + f;
		e ^= g;
		f += h + a;
		g ^= b;
		h += c;
	}
	return a + b + c + d + e + f + g + h;
}

__attribute__((noinline, noclone, optimize("no-omit-frame-pointer"))) uint64_t
framed(uint64_t n)
{
	volatile char *p = alloca(16 + n % 64);

	p[0] = (char)n;
	return plain(n, 5) + (uint64_t)p[0];
}

APART uint64_t again(uint64_t n)
{
	uint64_t sum;

	depth++;
	sum = n ? again(n - 1) : plain(n, 1);
	depth--;
	return sum + n;
}

static uint64_t (*volatile const functions[])(uint64_t) = { looping, framed };

APART uint64_t indirect(uint64_t n)
{
	return functions[n & 1](n) + 1;
}

static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

APART uint64_t sorting(uint64_t n)
{
	int v[16], i;

	for (i = 0; i < 16; i++)
		v[i] = (int)(n * (uint64_t)i * 37 % 64);
	qsort(v, 16, sizeof(*v), order);
	return (uint64_t)v[3];
}

APART uint64_t masking(uint64_t n)
{
	sigset_t set, was;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &was);
	sigprocmask(SIG_SETMASK, &was, NULL);
	return n + (uint64_t)sigismember(&was, SIGUSR1);
}

APART uint64_t waiting(uint64_t n)
{
	struct timespec now = { 0 };
	sigset_t set;

	sigemptyset(&set);
	return n + (uint64_t)ppoll(NULL, 0, &now, &set);
}

APART uint64_t parsing(uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", (unsigned long)n);
	return strtoul(text, NULL, 10) + strlen(text);
}

#define IN(which, call)         \
	do {                    \
		inside = which; \
		sum += call;    \
		inside = WORK;  \
	} while (0)

APART uint64_t work(uint64_t n)
{
	uint64_t sum = 0;

	inside = WORK;
	IN(PLAIN, plain(n, sum));
	IN(LOOPING, looping(n));
	IN(CROWDED, crowded(n, 2, 3, 4, 5));
	IN(FRAMED, framed(n));
	IN(AGAIN, again(n % 6));
	IN(INDIRECT, indirect(n));
	IN(SORTING, sorting(n));
	IN(MASKING, masking(n));
	IN(WAITING, waiting(n));
	IN(PARSING, parsing(n));
	inside = 0;
	return sum;
}

APART uint64_t third(uint64_t n)
{
	return work(n) ^ 3;
}

APART uint64_t second(uint64_t n)
{
	return third(n + 1) + 2;
}

APART uint64_t first(uint64_t n)
{
	return second(n * 2) + 1;
}

static char stacks[2][64 << 10];

static void *run(void *stack)
{
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stacks[0]) };
	uint64_t n, sum = 0;

	if (stack)
		sigaltstack(&other, NULL);
	for (n = 0; !over; n++)
		sum += first(n);
	return (void *)(uintptr_t)(sum | 1);
}

static pthread_t thread[2];

/* The timer sends to any thread that does not block the signal, which main() does. */
static void tick(int sig, int times)
{
	struct itimerval every = { { 0, 100 }, { 0, 100 } };
	struct timespec nap = { 0, 100000 };
	int i;

	if (sig == SIGALRM)
		setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; ticks < times; i++) {
		nanosleep(&nap, NULL);
		if (sig != SIGALRM)
			pthread_kill(thread[i % 2], sig);
	}
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = on_signal,
				 .sa_flags = SA_SIGINFO | SA_RESTART };
	const char *how = argc > 2 ? argv[2] : "";
	int away = !strcmp(how, "away"), i;
	int sig = strcmp(how, "caught") ? SIGALRM : SIGSEGV;
	struct itimerval none = { 0 };
	sigset_t alarm;

	if (away)
		act.sa_flags |= SA_ONSTACK;
	sigaction(sig, &act, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, away ? stacks[i] : NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	tick(sig, argc > 1 ? atoi(argv[1]) : 1000);
	over = 1;
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &none, NULL);
	puts("ticked");
	return 0;
}
