// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * accounts: threads that enter tracked functions and leave them in ways drawn by
 * lot, and count for themselves. The library's account has to be the same.
 *
 * ENTRIES: how many calls each of the eight threads makes.
 */
#include "tests/self/tap.h"
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 8
#define APART __attribute__((noipa))
#define STAY() __asm__ volatile("" ::: "memory")

enum { OUTER, MIDDLE, INNER, JUMPS, LAST, FUNCTIONS };

/* What one way out is to its calls. */
enum way {
	RETURNS,
	CAUGHT_BY_MIDDLE,
	CAUGHT_BY_OUTER,
	CAUGHT_OUTSIDE,
	LONGJMP,
	TAIL,
	THREAD_EXIT,
	THREAD_DEATH,
	WAYS
};

struct sums {
	unsigned long calls, returned, unwound, left;
};

struct worker {
	jmp_buf up;
	unsigned int lot;
	enum way way;
	long rest;
	sums by[FUNCTIONS];
};

static worker workers[THREADS];
static kretprobe probes[FUNCTIONS];
static sums seen[FUNCTIONS];

static APART long inner(worker *w)
{
	switch (w->way) {
	case CAUGHT_BY_MIDDLE:
	case CAUGHT_BY_OUTER:
	case CAUGHT_OUTSIDE:
		throw w->way;
	case LONGJMP:
		longjmp(w->up, 1);
	case THREAD_EXIT:
		pthread_exit(nullptr);
	case THREAD_DEATH:
		syscall(SYS_exit, 0);
		break;
	default:
		break;
	}
	return 1;
}

static APART long middle(worker *w)
{
	if (w->way == CAUGHT_BY_MIDDLE) {
		try {
			return inner(w);
		} catch (enum way) {
			return 1;
		}
	}
	return inner(w) + 1;
}

static APART long outer(worker *w)
{
	if (w->way == CAUGHT_BY_OUTER) {
		try {
			return middle(w);
		} catch (enum way) {
			return 1;
		}
	}
	return middle(w) + 1;
}

static APART long last(worker *w, long a)
{
	return a + (long)w->way;
}

static APART long jumps(worker *w)
{
	return last(w, w->rest);
}

static void expect(worker *w, int first, int end, unsigned long sums::*how)
{
	for (; first < end; first++) {
		w->by[first].calls++;
		w->by[first].*how += 1;
		w->rest--;
	}
}

/* Said before it is done: some do not come back. */
static void expect_way(worker *w)
{
	switch (w->way) {
	case RETURNS:
		expect(w, OUTER, INNER + 1, &sums::returned);
		break;
	case TAIL:
		expect(w, JUMPS, LAST + 1, &sums::returned);
		break;
	case CAUGHT_BY_MIDDLE:
		expect(w, OUTER, INNER, &sums::returned);
		expect(w, INNER, INNER + 1, &sums::unwound);
		break;
	case CAUGHT_BY_OUTER:
		expect(w, OUTER, MIDDLE, &sums::returned);
		expect(w, MIDDLE, INNER + 1, &sums::unwound);
		break;
	case CAUGHT_OUTSIDE:
	case THREAD_EXIT:
		expect(w, OUTER, INNER + 1, &sums::unwound);
		break;
	default:
		expect(w, OUTER, INNER + 1, &sums::left);
	}
}

/* Threads end in one of 500 calls only, exceptions in one of four. */
static enum way draw_way(worker *w)
{
	unsigned int n = draw(&w->lot) % 1000;

	if (n < 2)
		return n ? THREAD_EXIT : THREAD_DEATH;
	if (n < 250)
		return static_cast<enum way>(CAUGHT_BY_MIDDLE + n % 3);
	if (n < 400)
		return LONGJMP;
	return n % 2 ? TAIL : RETURNS;
}

static APART void once(worker *w)
{
	if (setjmp(w->up))
		return;
	if (w->way == TAIL)
		jumps(w);
	else
		outer(w);
}

static void *work(void *arg)
{
	worker *w = static_cast<worker *>(arg);

	while (w->rest > 0) {
		w->way = draw_way(w);
		expect_way(w);
		try {
			once(w);
		} catch (enum way) {
		}
	}
	return nullptr;
}

static void *keep_working(void *arg)
{
	worker *w = static_cast<worker *>(arg);
	pthread_t id;

	while (w->rest > 0) {
		pthread_create(&id, nullptr, work, w);
		pthread_join(id, nullptr);
	}
	return nullptr;
}

static sums *seen_of(struct kretprobe_instance *ri)
{
	return &seen[ri->rp - probes];
}

static int entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	__atomic_fetch_add(&seen_of(ri)->calls, 1, __ATOMIC_RELAXED);
	*reinterpret_cast<struct kretprobe **>(ri->data) = ri->rp;
	return 0;
}

static int left(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	sums *s = seen_of(ri);

	if (*reinterpret_cast<struct kretprobe **>(ri->data) != ri->rp)
		__atomic_fetch_add(&s->left, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(dp_kretprobe_unwound(ri) ? &s->unwound :
						      &s->returned,
			   1, __ATOMIC_RELAXED);
	return 0;
}

/* Those with an odd number are not asked about exceptions. */
static int follow(int active)
{
	void *const addr[FUNCTIONS] = { (void *)outer, (void *)middle,
					(void *)inner, (void *)jumps,
					(void *)last };
	struct kretprobe *list[FUNCTIONS];
	int i;

	memset(probes, 0, sizeof(probes));
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < FUNCTIONS; i++) {
		probes[i].kp.addr = static_cast<kprobe_opcode_t *>(addr[i]);
		probes[i].kp.flags = i & 1 ? 0 : KPROBE_FLAG_UNWIND;
		probes[i].entry_handler = entered;
		probes[i].handler = left;
		probes[i].maxactive = active;
		probes[i].data_size = sizeof(void *);
		list[i] = &probes[i];
	}
	return register_kretprobes(list, FUNCTIONS);
}

static void run_all(long entries)
{
	pthread_t id[THREADS];
	int t;

	memset(workers, 0, sizeof(workers));
	for (t = 0; t < THREADS; t++) {
		workers[t].lot = 17 + (unsigned int)t;
		workers[t].rest = entries;
		pthread_create(&id[t], nullptr, keep_working, &workers[t]);
	}
	for (t = 0; t < THREADS; t++)
		pthread_join(id[t], nullptr);
}

static sums sum_of(int function)
{
	sums all = {};

	for (const worker &w : workers) {
		all.calls += w.by[function].calls;
		all.returned += w.by[function].returned;
		all.unwound += w.by[function].unwound;
		all.left += w.by[function].left;
	}
	return all;
}

static bool adds_up(int i, const struct dp_kretprobe_account &a,
		    const sums &own)
{
	return a.entries == a.returned + a.unwound + a.abandoned + a.inside &&
	       a.entries + a.missed == own.calls && !a.vetoed && !a.late &&
	       a.missed == static_cast<unsigned long>(probes[i].nmissed) &&
	       seen[i].calls == a.entries && seen[i].returned == a.returned &&
	       seen[i].unwound == (i & 1 ? 0 : a.unwound) && !seen[i].left;
}

static bool is_exact(const struct dp_kretprobe_account &a, const sums &own)
{
	return !a.missed && a.returned == own.returned &&
	       a.unwound == own.unwound && a.abandoned + a.inside == own.left;
}

static void compare(int i, const char *what, bool exact)
{
	static const char *const names[] = { "outer", "middle", "inner",
					     "jumps", "last" };
	struct dp_kretprobe_account a = {};
	sums own = sum_of(i);
	int err = dp_kretprobe_account(&probes[i], &a);

	if (ok(!err && adds_up(i, a, own) && (!exact || is_exact(a, own)),
	       "%s: the account of %s", what, names[i]))
		return;
	printf("# %d: %lu entries, %lu returned, %lu unwound, %lu abandoned, %lu inside, %lu missed, %lu vetoed, %lu late\n",
	       err, a.entries, a.returned, a.unwound, a.abandoned, a.inside,
	       a.missed, a.vetoed, a.late);
	printf("# done: %lu calls, %lu returned, %lu unwound, %lu left\n",
	       own.calls, own.returned, own.unwound, own.left);
	printf("# seen: %lu entries, %lu returned, %lu unwound, %lu damaged\n",
	       seen[i].calls, seen[i].returned, seen[i].unwound, seen[i].left);
}

static void round_of(int active, const char *what, bool exact, long entries)
{
	struct kretprobe *list[FUNCTIONS];
	double began = seconds();
	int i;

	if (!is(follow(active), 0, what))
		return;
	run_all(entries);
	printf("# %s: %.1f s, %d calls of outer missed\n", what,
	       seconds() - began, probes[OUTER].nmissed);
	for (i = 0; i < FUNCTIONS; i++)
		compare(i, what, exact);
	for (i = 0; i < FUNCTIONS; i++)
		list[i] = &probes[i];
	unregister_kretprobes(list, FUNCTIONS);
}

static void *call_once(void *arg)
{
	worker *w = static_cast<worker *>(arg);

	w->way = RETURNS;
	once(w);
	return nullptr;
}

/* What one thread has left must not be what another one is short of. */
static void left_by_others()
{
	struct kretprobe *list[FUNCTIONS];
	worker *w = &workers[0];
	pthread_t id;
	int i;

	is(follow(10), 0, "ten instances");
	for (i = 0; i < 30; i++) {
		w->way = LONGJMP;
		once(w);
		pthread_create(&id, nullptr, call_once, w);
		pthread_join(id, nullptr);
	}
	for (i = 0; i < FUNCTIONS; i++) {
		is(probes[i].nmissed, 0, "calls left by another thread");
		list[i] = &probes[i];
	}
	unregister_kretprobes(list, FUNCTIONS);
}

static APART long may_throw(long n)
{
	STAY();
	if (n < 0)
		throw n;
	return n + 3;
}

static APART long another(long n)
{
	STAY();
	return n + 5;
}

static int no_more(struct kretprobe_instance *, struct pt_regs *)
{
	return 0;
}

/* The stub of a call that an exception has ended is another function's from then on. */
static void stubs_change_hands()
{
	kretprobe first = {}, second = {};
	struct dp_kretprobe_account a;
	unsigned long counted = 0;
	long sum = 0;
	int i;

	first.kp.addr = (kprobe_opcode_t *)may_throw;
	second.kp.addr = (kprobe_opcode_t *)another;
	first.handler = second.handler = no_more;
	first.maxactive = second.maxactive = 1;
	register_kretprobe(&first);
	for (i = 0; i < 100; i++) {
		sum += may_throw(i);
		try {
			may_throw(-1);
		} catch (long) {
		}
		register_kretprobe(&second);
		sum += another(i) + may_throw(i) + another(i);
		dp_kretprobe_account(&second, &a);
		counted += a.returned;
		unregister_kretprobe(&second);
	}
	dp_kretprobe_account(&first, &a);
	is(sum, 4 * 99 * 50 + 100 * 16, "calls that have stubs of others");
	is((long)counted, 200, "as many as were made of the other function");
	ok(a.returned == 200 && a.unwound == 100 && !a.inside,
	   "and how each has ended");
	unregister_kretprobe(&first);
}

int main()
{
	long entries = amount("ENTRIES", 200000);

	setvbuf(stdout, nullptr, _IOLBF, 0);
	round_of(1000, "instances for all", true, entries);
	round_of(3, "too few instances", false, entries / 10);
	round_of(1000, "for all again", true, entries / 10);
	left_by_others();
	stubs_change_hands();
	return plan();
}
