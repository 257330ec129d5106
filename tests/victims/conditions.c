// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * conditions: calls whose arguments a condition asks for, and how many of them meet it.
 * conditions THREADS TIMES HOW...
 *
 * asked(n, p): n from 0 on. p is the address of a number, n % 8; in HOW:
 *   bad      every 64th p is no memory: 0, an address that cannot be one, a page without
 *            rights, one behind the end of a file
 *   faults   every 256th call is followed by a fault of the program's own, from whose handler
 *            it jumps away
 *   blocks   the threads have SIGSEGV and SIGBUS blocked
 *   signals  a timer interrupts, and its handler calls, too
 *   reads    reads(n, p) is called, too, which begins with a load from p; a bad one is a fault of the
 *            program's own, with "faults" only
 *   writes   the same of writes(n, p), which begins by adding to what p leads to; a bad one may be
 *            memory that can be read
 *   forks    in the middle, a child calls as often as it is told, and says so: "child …"
 * SIGTERM ends the calls early. Says, of all threads: calls N low N five N: calls; those with n % 256 below 4, or from 16 to 19;
 * those where p leads to 5. And read N: those of reads() and writes() that came back, with n % 8 == 7.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

struct account {
	unsigned long calls, low, five, read;
};

unsigned long asked(unsigned long n, const unsigned long *p);
unsigned long reads(unsigned long n, const unsigned long *p);
unsigned long writes(unsigned long n, const unsigned long *p);
static long times;
static bool bad, faults, blocks, interrupted, forks, reading, writing;
static const unsigned long numbers[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
static const unsigned long *none[4];
static struct account by_signals;
static volatile sig_atomic_t over;
static __thread sigjmp_buf away;

__attribute__((noipa)) unsigned long asked(unsigned long n,
					   const unsigned long *p)
{
	return n ^ (unsigned long)p;
}

__asm__(".text\n.globl reads\n.type reads, @function\n"
	"reads: mov (%rsi), %rax\n xor %rdi, %rax\n ret\n"
	".size reads, . - reads\n"
	".globl writes\n.type writes, @function\n"
	"writes: addq $1, (%rsi)\n xor %rdi, %rax\n ret\n"
	".size writes, . - writes\n");

static void read_it(struct account *a, unsigned long n, const unsigned long *p)
{
	if (faults && sigsetjmp(away, 1))
		return;
	reads(n, p);
	a->read += n % 8 == 7;
}

static void write_it(struct account *a, unsigned long n, const unsigned long *p)
{
	static __thread unsigned long sums[8];
	bool own = p == &numbers[n % 8];

	if (faults && sigsetjmp(away, 1))
		return;
	writes(n, own ? &sums[n % 8] : n & 64 ? p : numbers);
	a->read += n % 8 == 7;
}

static void call(struct account *a, unsigned long n)
{
	bool wrong = bad && n % 64 == 63;
	const unsigned long *p = wrong ? none[n / 64 % 4] : &numbers[n % 8];

	a->calls++;
	a->low += n % 256 < 4 || (n % 256 >= 16 && n % 256 < 20);
	a->five += !wrong && n % 8 == 5;
	asked(n, p);
	if (reading && (!wrong || faults))
		read_it(a, n, p);
	if (writing && (!wrong || faults))
		write_it(a, n, p);
}

static void jump(int sig)
{
	siglongjmp(away, 1);
}

static void tick(int sig)
{
	static unsigned long n;

	call(&by_signals, n++);
}

static void end(int sig)
{
	over = 1;
}

static void fault(void)
{
	if (!sigsetjmp(away, 1))
		asked(*(volatile const unsigned long *)none[2], NULL);
}

static void *work(void *arg)
{
	struct account *a = arg;
	sigset_t set;
	long i;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (interrupted)
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigaddset(&set, SIGBUS);
	if (blocks)
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < times && !over; i++) {
		call(a, (unsigned long)i);
		if (faults && i % 256 == 7)
			fault();
	}
	return NULL;
}

static void add(struct account *to, const struct account *a)
{
	to->calls += a->calls;
	to->low += a->low;
	to->five += a->five;
	to->read += a->read;
}

static void say(const char *who, const struct account *a)
{
	printf("%scalls %lu low %lu five %lu read %lu\n", who, a->calls, a->low,
	       a->five, a->read);
	fflush(stdout);
}

static void child(void)
{
	struct account a = { 0 };
	pid_t pid = fork();

	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	work(&a);
	say("child ", &a);
	_exit(0);
}

static void choose(const char *how)
{
	bad |= !strcmp(how, "bad");
	faults |= !strcmp(how, "faults");
	blocks |= !strcmp(how, "blocks");
	interrupted |= !strcmp(how, "signals");
	forks |= !strcmp(how, "forks");
	reading |= !strcmp(how, "reads");
	writing |= !strcmp(how, "writes");
}

static void prepare(void)
{
	char *page =
		mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *empty = tmpfile();

	none[1] = (const unsigned long *)0xdead000000000000;
	none[2] = (const unsigned long *)page;
	none[3] = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(empty), 0);
	signal(SIGTERM, end);
	if (faults) {
		signal(SIGSEGV, jump);
		signal(SIGBUS, jump);
	}
}

static void begin_ticks(void)
{
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
	static struct account a[64], all;
	int n = atoi(argv[1]), i;
	const struct itimerval never = { 0 };
	pthread_t threads[64];

	times = atol(argv[2]);
	for (i = 3; i < argc; i++)
		choose(argv[i]);
	prepare();
	if (interrupted)
		begin_ticks();
	for (i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, &a[i]);
	if (forks)
		child();
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		add(&all, &a[i]);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	add(&all, &by_signals);
	say("", &all);
	return 0;
}
