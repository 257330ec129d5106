// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobes: what probes in another process cost whose handlers run in this one: a hit,
 * there and back, and to have them come and go. Prints as bench does.
 */
#include <dprobes/uprobes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 9
#define CALLS 2000
#define MANY 1000
#define LOTS 10000
#define FUNCTION 16

extern char bench_many[];

/** struct shared - what the child is asked for, and how long a call took */
struct shared {
	volatile int asked, done;
	volatile double ns;
};

static struct shared *shared;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) int bench_function(int a, int b)
{
	__asm__ volatile("");
	return 3 * a + b;
}

static void child(void)
{
	double start;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		while (shared->asked == shared->done)
			usleep(100);
		start = now();
		for (i = 0; i < CALLS; i++)
			bench_function(i, 2);
		shared->ns = (now() - start) / CALLS;
		shared->done++;
	}
}

static double call_cost(void)
{
	shared->asked++;
	while (shared->asked != shared->done)
		usleep(1000);
	return shared->ns;
}

static void handler(struct uprobe *u, struct pt_regs *regs)
{
}

static unsigned long count;

static void in_thread(struct uprobe *u, struct pt_regs *regs)
{
	count += regs->di;
}

static struct uprobe probes[LOTS + 1], *list[LOTS];

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "uprobes: %s\n", dp_last_diag()->text);
	exit(1);
}

/** struct round - costs; @v in the order of the names in main() */
struct round {
	double task, interrupt, first, more, last, on, off, one;
};

static void measure(pid_t pid, struct round *r)
{
	struct uprobe u = { .pid = pid,
			    .vaddr = (unsigned long)bench_function,
			    .handler = handler };
	struct uprobe v = u;
	double bare = call_cost(), start = now();

	check(register_uprobe(&u));
	r->first = (now() - start) / 1e6;
	call_cost();
	r->task = call_cost() - bare;
	v.vaddr = (unsigned long)bench_many + (MANY + 1) * FUNCTION;
	start = now();
	check(register_uprobe(&v));
	r->more = (now() - start) / 1e6;
	unregister_uprobe(&v);
	start = now();
	unregister_uprobe(&u);
	r->last = (now() - start) / 1e6;
	u.handler = in_thread;
	u.handler_in_interrupt = 1;
	check(register_uprobe(&u));
	call_cost();
	r->interrupt = call_cost() - bare;
	unregister_uprobe(&u);
}

static void prepare(pid_t pid)
{
	int i;

	for (i = 0; i <= LOTS; i++)
		probes[i] = (struct uprobe){
			.pid = pid,
			.vaddr = (unsigned long)bench_many +
				 (unsigned)i * FUNCTION,
			.handler = handler,
		};
	for (i = 0; i < LOTS; i++)
		list[i] = &probes[i];
}

/* Beside all others, at a site that is new. */
static void one_more(struct round *r)
{
	double start;

	check(register_uprobes(list, LOTS));
	start = now();
	check(register_uprobe(&probes[LOTS]));
	r->one = (now() - start) / 1e6;
	unregister_uprobe(&probes[LOTS]);
	unregister_uprobes(list, LOTS);
}

static void many(struct round *r)
{
	double start = now();

	check(register_uprobes(list, MANY));
	r->on = (now() - start) / 1e6;
	start = now();
	unregister_uprobes(list, MANY);
	r->off = (now() - start) / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, const char *unit, const struct round *r,
		  size_t field, const char *note)
{
	double v[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		v[i] = *(const double *)((const char *)&r[i] + field);
	qsort(v, ROUNDS, sizeof(*v), by_value);
	printf("{\"bench\":\"%s\",\"unit\":\"%s\",\"value\":%.2f,\"min\":%.2f,\"max\":%.2f,\"note\":\"%s\"}\n",
	       name, unit, v[ROUNDS / 2], v[0], v[ROUNDS - 1], note);
}

#define PRINT(name, unit, field, note) \
	print(name, unit, r, offsetof(struct round, field), note)

int main(void)
{
	static struct round r[ROUNDS];
	pid_t pid;
	int i;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid)
		child();
	prepare(pid);
	for (i = 0; i < ROUNDS; i++) {
		measure(pid, &r[i]);
		many(&r[i]);
		one_more(&r[i]);
	}
	PRINT("uprobe_task", "ns", task,
	      "a hit whose handler runs in another process: there and back");
	PRINT("uprobe_interrupt", "ns", interrupt,
	      "a hit whose handler runs in the probed thread");
	PRINT("uprobe_first", "ms", first, "the first probe in a process");
	PRINT("uprobe_more", "ms", more, "another one");
	PRINT("uprobe_last", "ms", last, "the last one goes, and all with it");
	PRINT("uprobe_on_1k", "ms", on,
	      "1,000 in one batch, the first among them");
	PRINT("uprobe_off_1k", "ms", off, "and off again");
	PRINT("add_one_10k_pid", "ms", one, "one more beside 10,000");
	kill(pid, SIGKILL);
	return 0;
}
