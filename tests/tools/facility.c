// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facility: a process whose own facilities take what programs log.
 *
 * 20 is called at commit, 21 at once, 22 faults, 23 calls a probed function itself. Two threads call
 * plain(), and load() with good and bad memory, until SIGTERM. Then it prints, of each facility, how
 * often it was called, the sum of the numbers that were logged, and what was wrong. With an argument,
 * 20 comes and goes meanwhile.
 *
 * The hooks that these calls go through have exits of others, before and behind the functions: the
 * first sees each call, the last one sees what came back.
 *
 * Its external functions: 1 has two arguments, 2 faults, 3 calls a probed function, 6 has six arguments.
 */
#include <dprobes/external.h>
#include <dprobes/facility.h>
#include <dprobes/gkh.h>
#include <dprobes/kprobes.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ITEM_ELEMENTS 7

struct tally {
	unsigned long calls, sum, wrong;
};

static struct tally tallies[4];
static volatile sig_atomic_t stop;
static unsigned long wrong, reports;
static __thread sigjmp_buf out;

long plain(long n);
long load(const long *p);

__attribute__((noipa)) long plain(long n)
{
	return n + 1;
}

__asm__(".text\n.balign 16\n.globl load\n.type load, @function\n"
	"load: mov (%rdi), %rax\n ret\n.size load, . - load\n");

/* Changes what belongs to the interrupted code, too. */
static void take(void *ctx, const void *log, size_t len)
{
	struct tally *t = ctx;
	const unsigned char *p = log;
	unsigned long value;
	volatile double waste = (double)len;

	waste = waste * 1.5;
	errno = ENOTTY;
	__atomic_fetch_add(&t->calls, 1, __ATOMIC_RELAXED);
	if (len != 11 || p[0] != ITEM_ELEMENTS || p[1] != 1 || p[2]) {
		__atomic_fetch_add(&t->wrong, 1, __ATOMIC_RELAXED);
		return;
	}
	memcpy(&value, p + 3, sizeof(value));
	__atomic_fetch_add(&t->sum, value, __ATOMIC_RELAXED);
}

static void fault(void *ctx, const void *log, size_t len)
{
	struct tally *t = ctx;

	__atomic_fetch_add(&t->calls, 1, __ATOMIC_RELAXED);
	*(volatile char *)t->calls = 0;
}

/* A hit in here has no facility. */
static void nest(void *ctx, const void *log, size_t len)
{
	take(ctx, log, len);
	plain(1);
}

static unsigned long mixed;

static unsigned long mix(void *ctx, const unsigned long *args)
{
	volatile double waste = 2.5;

	waste = waste * 3;
	errno = ENOTTY;
	__atomic_fetch_add(&mixed, 1, __ATOMIC_RELAXED);
	return args[0] * 3 + args[1];
}

static unsigned long trip(void *ctx, const unsigned long *args)
{
	return *(volatile char *)args[0];
}

static unsigned long recurse(void *ctx, const unsigned long *args)
{
	return (unsigned long)plain((long)args[0]);
}

static unsigned long six(void *ctx, const unsigned long *args)
{
	unsigned long value = 0;
	int i;

	for (i = 0; i < 6; i++)
		value = value * 10 + args[i];
	return value;
}

static void on_fault(int sig)
{
	siglongjmp(out, 1);
}

static void on_term(int sig)
{
	stop = 1;
}

static void report(const char *line)
{
	reports++;
}

static void check(long got, long wanted, double a, double b)
{
	if (got != wanted || errno != EDOM || a != b)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void *work(void *arg)
{
	volatile long n = 0;
	long good = 7;
	double x = 1.25, y;

	while (!stop) {
		errno = EDOM;
		y = x * 3;
		check(plain(n), n + 1, y, x * 3);
		check(load(&good), 7, y, x * 3);
		if (!sigsetjmp(out, 1))
			check(load((void *)24), 0, 0, 1);
		n++;
		usleep(1000);
	}
	return NULL;
}

static unsigned long seen_calls, seen_values, seen_records;

static unsigned int number_of(const struct gkh_args *a)
{
	return *(unsigned int *)a->p[0];
}

static int sees_call(struct gkh_hook *h, struct gkh_args *a)
{
	if (number_of(a) == 1 && !**(unsigned long **)a->p[2])
		__atomic_fetch_add(&seen_calls, 1, __ATOMIC_RELAXED);
	return GKH_CONTINUE;
}

static int sees_value(struct gkh_hook *h, struct gkh_args *a)
{
	const unsigned long *args = *(unsigned long **)a->p[1];

	if (number_of(a) == 1 &&
	    **(unsigned long **)a->p[2] == args[0] * 3 + args[1])
		__atomic_fetch_add(&seen_values, 1, __ATOMIC_RELAXED);
	return GKH_CONTINUE;
}

static int sees_record(struct gkh_hook *h, struct gkh_args *a)
{
	if (number_of(a) == 20 && *(size_t *)a->p[2] == 11 &&
	    **(unsigned char **)a->p[1] == ITEM_ELEMENTS)
		__atomic_fetch_add(&seen_records, 1, __ATOMIC_RELAXED);
	return GKH_CONTINUE;
}

static struct gkh_rec others[] = {
	{ .next = &others[1],
	  .hook_name = "dprobes_call",
	  .exit = sees_call,
	  .exit_name = "sees_call",
	  .flags = GKH_FIRST,
	  .count = 3 },
	{ .next = &others[2],
	  .hook_name = "dprobes_call",
	  .exit = sees_value,
	  .exit_name = "sees_value",
	  .flags = GKH_LAST,
	  .count = 3 },
	{ .hook_name = "dprobes_facility",
	  .exit = sees_record,
	  .exit_name = "sees_record",
	  .proc_writable = 1,
	  .count = 3 },
};

static int refused(void)
{
	printf("%s\n", dp_last_diag()->text);
	return 1;
}

static int add_externals(void)
{
	static dp_external_fn *const fn[] = { mix, trip, recurse, six };
	static const unsigned int numbers[] = { 1, 2, 3, 6 },
				  nr[] = { 2, 1, 1, 6 };
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (dp_external_register(numbers[i], "external", fn[i], NULL,
					 nr[i]))
			return refused();
	printf("%d", dp_external_register(1, "another", mix, NULL, 2));
	printf(" %s;", dp_last_diag()->text);
	printf(" %d %d %d %d\n",
	       dp_external_register(256, "high", mix, NULL, 2),
	       dp_external_register(9, "none", NULL, NULL, 2),
	       dp_external_register(9, "many", mix, NULL, 7),
	       dp_external_unregister(9));
	return 0;
}

static int begin(void)
{
	static dp_facility_fn *const fn[] = { take, take, fault, nest };
	static const char *const names[] = { "commit", "once", "fault",
					     "nest" };
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (dp_facility_register(20 + i, names[i], fn[i], &tallies[i],
					 i == 1 ? DP_FACILITY_AT_ONCE :
						  DP_FACILITY_AT_COMMIT))
			return refused();
	printf("%d", dp_facility_register(20, "another", take, NULL, 0));
	printf(" %s;", dp_last_diag()->text);
	printf(" %d %d %d %d %d %d\n",
	       dp_facility_register(15, "low", take, NULL, 0),
	       dp_facility_register(256, "high", take, NULL, 0),
	       dp_facility_register(30, "none", NULL, NULL, 0),
	       dp_facility_register(30, "a\033[m", take, NULL, 0),
	       dp_facility_register(30, "when", take, NULL, 7),
	       dp_facility_unregister(30));
	if (add_externals())
		return 1;
	if (gkh_register(others) || gkh_arm(others))
		return refused();
	fflush(stdout);
	return 0;
}

static int come_and_go(void)
{
	while (!stop) {
		if (dp_facility_unregister(20))
			return refused();
		usleep(1000);
		if (dp_facility_register(20, "commit", take, &tallies[0],
					 DP_FACILITY_AT_COMMIT))
			return refused();
		usleep(1000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int i;

	signal(SIGSEGV, on_fault);
	signal(SIGTERM, on_term);
	dp_set_report(report);
	if (begin())
		return 1;
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	if (argc > 1 && come_and_go())
		return 1;
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 4; i++)
		if (dp_facility_unregister(20 + (unsigned int)i))
			return refused();
	if (gkh_deregister(others))
		return refused();
	for (i = 0; i < 4; i++)
		printf("%d: %lu calls, sum %lu, %lu wrong\n", 20 + i,
		       tallies[i].calls, tallies[i].sum, tallies[i].wrong);
	printf("mixed: %lu\n", mixed);
	printf("seen: %lu calls, %lu values, %lu records\n", seen_calls,
	       seen_values, seen_records);
	printf("%lu wrong, %lu reports\n", wrong, reports);
	return 0;
}
