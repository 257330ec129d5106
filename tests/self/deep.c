// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * deep: more calls followed at the same time than there are stubs. Those for which
 * there is none are missed, and counted; all others return home.
 */
#include "tests/self/tap.h"
#include <pthread.h>
#include <string.h>

#define FUNCTIONS 3
#define DEEP 100000L
#define STACK (256ul << 20)
#define APART __attribute__((noipa))

static struct kretprobe probes[FUNCTIONS];

static APART long one(long left);

static APART long three(long left)
{
	return left ? one(left - 1) + 1 : 0;
}

static APART long two(long left)
{
	return three(left) + 1;
}

static APART long one(long left)
{
	return two(left) + 1;
}

static void *go_down(void *result)
{
	*(long *)result = one(DEEP - 1);
	return NULL;
}

static long go_down_elsewhere(void)
{
	pthread_attr_t attr;
	pthread_t id;
	long sum = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&id, &attr, go_down, &sum))
		return -1;
	pthread_join(id, NULL);
	pthread_attr_destroy(&attr);
	return sum;
}

static int follow(void)
{
	void *const addr[FUNCTIONS] = { (void *)one, (void *)two,
					(void *)three };
	struct kretprobe *list[FUNCTIONS];
	int i;

	memset(probes, 0, sizeof(probes));
	for (i = 0; i < FUNCTIONS; i++) {
		probes[i].kp.addr = addr[i];
		probes[i].maxactive = DEEP;
		list[i] = &probes[i];
	}
	return register_kretprobes(list, FUNCTIONS);
}

/* Return: how many were missed. */
static unsigned long account(int i)
{
	struct dp_kretprobe_account a = { 0 };

	is(dp_kretprobe_account(&probes[i], &a), 0, "the account is given");
	is((long)(a.entries + a.missed), 2 * DEEP,
	   "each call was followed or missed");
	is((long)a.returned, (long)a.entries,
	   "each that was followed has returned");
	return a.missed;
}

int main(void)
{
	const long sum = FUNCTIONS * DEEP - 1;
	unsigned long missed = 0;
	int i;

	is(follow(), 0, "three functions are followed");
	is(go_down_elsewhere(), sum, "down and up again");
	is(go_down_elsewhere(), sum, "and once more");
	for (i = 0; i < FUNCTIONS; i++)
		missed += account(i);
	ok(missed && missed < 2 * FUNCTIONS * DEEP / 3,
	   "some were missed, not all: %lu", missed);
	for (i = 0; i < FUNCTIONS; i++)
		unregister_kretprobe(&probes[i]);
	is(go_down_elsewhere(), sum, "down and up, unprobed");
	return plan();
}
