// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * logger: hits whose records tell whether anything is lost, doubled or mixed up.
 *
 * threads N TIMES   N threads call logger_tick(thread, 0 … TIMES - 1)
 * forever N         the same until SIGTERM
 * restart TIMES     logger_load() faults; the handler mends it and returns
 * jump TIMES        logger_load() faults; the handler jumps out
 * leave TIMES       threads that fault in logger_load() and end in the handler
 * die               logger_load() faults, and nobody is there
 * nested TIMES      logger_load() faults; the handler calls it, with good memory
 * stack             logger_call() with a known stack
 * ret               logger_ret() TIMES times
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

long logger_load(const long *p);
long logger_call(long n);
void logger_tick(long thread, long n);

__asm__(".text\n.balign 16\n.globl logger_load\n.type logger_load, @function\n"
	"logger_load: mov (%rdi), %rax\n ret\n"
	".size logger_load, . - logger_load\n"
	/* 0x1111… and 0x2222… lie behind the return address */
	".balign 16\n.globl logger_call\n.type logger_call, @function\n"
	"logger_call: movabs $0x2222222222222222, %rax\n push %rax\n"
	" movabs $0x1111111111111111, %rax\n push %rax\n"
	" call logger_deep\n add $16, %rsp\n ret\n"
	".size logger_call, . - logger_call\n"
	".balign 16\n.globl logger_deep\n.type logger_deep, @function\n"
	"logger_deep: lea 1(%rdi), %rax\n ret\n"
	".size logger_deep, . - logger_deep\n");

static volatile sig_atomic_t stop;
static long *page, times;
static sigjmp_buf out;
static const char *mode;

__attribute__((noipa)) void logger_tick(long thread, long n)
{
}

static void on_term(int sig)
{
	stop = 1;
}

static void on_fault(int sig)
{
	static long good = 7;

	if (!strcmp(mode, "jump"))
		siglongjmp(out, 1);
	if (!strcmp(mode, "leave"))
		pthread_exit(NULL);
	if (!strcmp(mode, "nested") && logger_load(&good) != 7)
		_exit(3);
	mprotect(page, 4096, PROT_READ);
}

static void *ticker(void *arg)
{
	long i;

	for (i = 0; !stop && (!times || i < times); i++)
		logger_tick((long)arg, i);
	return NULL;
}

static int threads(int n)
{
	pthread_t ids[64];
	long i;

	puts("running");
	fflush(stdout);
	for (i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, ticker, (void *)i);
	for (i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

static void *leaver(void *arg)
{
	return (void *)logger_load(page);
}

/* More of them than there are places for hits, and then some time. */
static int leave(void)
{
	pthread_t id;
	long i;

	signal(SIGSEGV, on_fault);
	mprotect(page, 4096, PROT_NONE);
	for (i = 0; i < times; i++) {
		pthread_create(&id, NULL, leaver, NULL);
		pthread_join(id, NULL);
		if (i % 100 == 99)
			sleep(2);
	}
	puts("left");
	return 0;
}

static int faults(void)
{
	static long i, sum;

	*page = 5;
	if (strcmp(mode, "die"))
		signal(SIGSEGV, on_fault);
	for (i = 0; i < (times ? times : 1); i++) {
		mprotect(page, 4096, PROT_NONE);
		if (!sigsetjmp(out, 1))
			sum += logger_load(page);
	}
	printf("%ld\n", sum);
	return 0;
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "";
	signal(SIGTERM, on_term);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(mode, "threads")) {
		times = atol(argv[3]);
		return threads(atoi(argv[2]));
	}
	if (!strcmp(mode, "forever"))
		return threads(atoi(argv[2]));
	if (!strcmp(mode, "stack")) {
		printf("%ld\n", logger_call(41));
		return 0;
	}
	times = argc > 2 ? atol(argv[2]) : 0;
	return strcmp(mode, "leave") ? faults() : leave();
}
