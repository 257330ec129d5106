// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * landing: exceptions pass functions with return probes, are caught, rethrown, and thrown anew in cleanups. What
 * becomes of each call is as the program itself counts.
 */
#include "tap.h"
#include <cstdlib>
#include <cstring>
#include <unwind.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTIONS 6
#define DEEP __attribute__((noinline, noipa))
#define TIMES 20000

struct counts {
	unsigned long entered, returned, unwound;
};
static __thread struct counts own[FUNCTIONS];
static struct counts all[FUNCTIONS];
static struct kretprobe probes[FUNCTIONS];
static unsigned long handled, heard;

struct thrown {
	int levels; /* further ones until it is caught */
};

/* Counts how its function is left. */
struct leaves {
	int f;
	bool returns = false;
	explicit leaves(int f) : f(f)
	{
		own[f].entered++;
	}
	~leaves()
	{
		returns ? own[f].returned++ : own[f].unwound++;
	}
};

/* Of the unwinder, as it is without probes */
#define CODE 2048
static unsigned char code[CODE];

static bool unwinder_is_probed(void)
{
	return memcmp(code, (void *)&_Unwind_Resume, CODE) != 0;
}

static unsigned next(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16;
}

extern "C" {
int level0(int depth, unsigned *seed);
int level1(int depth, unsigned *seed);
int level2(int depth, unsigned *seed);
int level3(int depth, unsigned *seed);
int level4(int depth, unsigned *seed); /* wants to hear of exceptions */
int in_cleanup(int depth, unsigned *seed);
}

static int down(int depth, unsigned *seed)
{
	static int (*const levels[])(
		int, unsigned *) = { level0, level1, level2, level3, level4 };

	if (depth <= 0)
		return 1;
	return levels[next(seed) % 5](depth - 1, seed);
}

/* A cleanup that calls probed functions, and in which an exception is thrown and caught */
struct busy {
	unsigned *seed;
	~busy()
	{
		try {
			in_cleanup(3, seed);
		} catch (const thrown &) {
		}
	}
};

static int body(int f, int depth, unsigned *seed)
{
	leaves here(f);
	int n;

	switch (next(seed) % 8) {
	case 0:
		throw thrown{ (int)(next(seed) % 4) };
	case 1: {
		busy cleanup{ seed };
		n = down(depth, seed);
		break;
	}
	case 2:
	case 3:
		try {
			n = down(depth, seed);
		} catch (thrown &t) {
			if (t.levels-- > 0)
				throw;
			n = down(depth - 2, seed);
		}
		break;
	case 4:
		try {
			n = down(depth, seed);
		} catch (const thrown &t) {
			if (t.levels > 0)
				throw thrown{ t.levels - 1 };
			n = 2;
		}
		break;
	default:
		n = down(depth, seed) + down(depth / 2, seed);
	}
	here.returns = true;
	return n;
}

#define LEVEL(n)                                     \
	DEEP int level##n(int depth, unsigned *seed) \
	{                                            \
		return body(n, depth, seed) + 1;     \
	}
LEVEL(0)
LEVEL(1)
LEVEL(2)
LEVEL(3)
LEVEL(4)

DEEP int in_cleanup(int depth, unsigned *seed)
{
	return body(5, depth, seed) + 1;
}

static void run(unsigned seed, int times)
{
	int i, f;

	for (i = 0; i < times; i++)
		try {
			down(12, &seed);
		} catch (const thrown &) {
		}
	for (f = 0; f < FUNCTIONS; f++) {
		__atomic_fetch_add(&all[f].entered, own[f].entered, 0);
		__atomic_fetch_add(&all[f].returned, own[f].returned, 0);
		__atomic_fetch_add(&all[f].unwound, own[f].unwound, 0);
	}
}

static void *thread(void *arg)
{
	run((unsigned)(unsigned long)arg, TIMES);
	return nullptr;
}

static int returned(struct kretprobe_instance *, struct pt_regs *)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	return 0;
}

static int told(struct kretprobe_instance *ri, struct pt_regs *)
{
	__atomic_fetch_add(&heard, dp_kretprobe_unwound(ri) != 0,
			   __ATOMIC_RELAXED);
	return 0;
}

static void probe(bool tells)
{
	static const char *const names[] = { "level0", "level1", "level2",
					     "level3", "level4", "in_cleanup" };
	struct kretprobe *list[FUNCTIONS];
	int i;

	for (i = 0; i < FUNCTIONS; i++) {
		probes[i] = {};
		probes[i].kp.symbol_name = names[i];
		probes[i].maxactive = 200;
		probes[i].handler = i == 4 ? told : returned;
		probes[i].kp.flags = i == 4 && tells ? KPROBE_FLAG_UNWIND : 0;
		list[i] = &probes[i];
	}
	is(register_kretprobes(list, FUNCTIONS), 0, "return probes");
	ok(unwinder_is_probed(), "the unwinder tells where it lands");
}

static void expect(const char *what, bool tells)
{
	struct kretprobe *list[FUNCTIONS];
	struct dp_kretprobe_account a;
	unsigned long sum = 0;
	int i;

	for (i = 0; i < FUNCTIONS; i++) {
		dp_kretprobe_account(&probes[i], &a);
		printf("# %s %d: %lu entered, %lu returned, %lu unwound; %lu abandoned, %lu inside, %lu missed, %lu late\n",
		       what, i, (unsigned long)a.entries,
		       (unsigned long)a.returned, (unsigned long)a.unwound,
		       (unsigned long)a.abandoned, (unsigned long)a.inside,
		       (unsigned long)a.missed, (unsigned long)a.late);
		ok(a.entries == all[i].entered &&
			   a.returned == all[i].returned &&
			   a.unwound == all[i].unwound && !a.abandoned &&
			   !a.inside && !a.missed && !a.late,
		   what);
		if (i != 4)
			sum += all[i].returned;
		list[i] = &probes[i];
	}
	ok(handled == sum, "handlers of returns");
	is((long)heard, tells ? (long)all[4].unwound : 0,
	   "the one that wants to hear");
	unregister_kretprobes(list, FUNCTIONS);
	ok(!unwinder_is_probed(), "its code is as it was");
}

static void one_round(const char *what, bool tells, int threads)
{
	pthread_t id[4];
	int i;

	for (i = 0; i < FUNCTIONS; i++)
		all[i] = own[i] = {};
	handled = heard = 0;
	probe(tells);
	run(7, TIMES / 4);
	for (i = 0; i < threads; i++)
		pthread_create(&id[i], nullptr, thread,
			       (void *)(unsigned long)(i + 100));
	for (i = 0; i < threads; i++)
		pthread_join(id[i], nullptr);
	expect(what, tells);
}

/* A child that is forked while an exception passes goes on without probes. */
struct forks {
	pid_t *child;
	~forks()
	{
		*child = fork();
	}
};

static void in_a_child()
{
	unsigned seed = 5;
	int status = -1, i;
	pid_t child = -1;

	probe(false);
	for (i = 0; i < 50 && child < 0; i++)
		try {
			forks here{ &child };
			down(12, &seed);
			throw thrown{ 0 };
		} catch (const thrown &) {
		}
	run(9, 100);
	if (!child)
		_exit(0);
	ok(waitpid(child, &status, 0) == child && !status,
	   "a child from a cleanup");
	for (i = 0; i < FUNCTIONS; i++)
		unregister_kretprobe(&probes[i]);
}

int main()
{
	setvbuf(stdout, nullptr, _IOLBF, 0);
	memcpy(code, (void *)&_Unwind_Resume, CODE);
	one_round("one thread", false, 0);
	one_round("and one that wants to hear", true, 0);
	one_round("four threads", true, 4);
	in_a_child();
	return plan();
}
