// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* threads: registering and unregistering while other threads hit the probes. */
#include "conform.h"
#include "victims.h"
#include <pthread.h>

#define CYCLES 100

static bool stop;
static unsigned long calls, passes;

/* Calls everything, and checks each result, until told to stop. */
static void *work(void *arg)
{
	unsigned long i = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		i++;
		check_eq(c_plain(i, 1), 3 * i + 1);
		check_eq(c_recurse(4), 10);
		check_eq(v_chain(i, 0), i + 6);
		check_eq(v_into(1 + i % 5, 0), 1 + i % 5);
		check_eq(v_jcc(i & 1, 0), 1 + (i & 1));
		check_eq(v_call(i, 0), i + 4);
		check_eq(c_stack64(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
			 105);
	}
	count(&calls);
	__atomic_fetch_add(&passes, i, __ATOMIC_RELAXED);
	return NULL;
}

/* Runs @cycle again and again while as many threads work as there are to be, but
 * one at least. */
static void work_while(void (*cycle)(void), int cycles)
{
	pthread_t threads[64];
	int i, n = conform_threads();

	for (i = 0; i < n; i++)
		check(!pthread_create(&threads[i], NULL, work, NULL));
	for (i = 0; i < cycles; i++)
		cycle();
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	check_eq(calls, n);
}

static void while_working(void (*cycle)(void), int cycles)
{
	work_while(cycle, cycles);
	check_eq(list_length(), 0);
}

static unsigned long newer;

static int newer_pre(struct kprobe *p, struct pt_regs *regs)
{
	count(&newer);
	return 0;
}

/* Calls it here, too, so that the newer one is hit however the others are scheduled. */
static void newer_cycle(void)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = newer_pre };

	must(register_kprobe(&kp));
	check_eq(c_plain(2, 1), 7);
	__atomic_fetch_add(&passes, 1, __ATOMIC_RELAXED);
	unregister_kprobe(&kp);
}

TEST(row_142_nothing_is_missed_while_another_comes_before_it)
{
	struct kprobe kp = probe_at(c_plain);

	must(register_kprobe(&kp));
	work_while(newer_cycle, 20 * CYCLES);
	check(newer >= 20 * CYCLES);
	check_eq(kp.nmissed, 0);
	check_eq(counts.pre, passes);
	unregister_kprobe(&kp);
}

/* Here, too, so that the handlers run however the others are scheduled. */
#define HERE 20
static void meanwhile(void)
{
	int i;

	for (i = 0; i < HERE; i++) {
		check_eq(c_plain(i, 1), 3 * i + 1);
		check_eq(c_recurse(2), 3);
		check_eq(v_jcc(i & 1, 0), 1 + (i & 1));
		check_eq(c_stack64(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
			 105);
	}
}

/* What a handler uses is taken away as soon as unregister has returned. */
struct owned {
	struct kprobe kp;
	bool alive;
};
static unsigned long late;

static int owned_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct owned *o = (struct owned *)p;
	int i;

	for (i = 0; i < 20; i++)
		if (!__atomic_load_n(&o->alive, __ATOMIC_ACQUIRE))
			count(&late);
	count(&counts.pre);
	return 0;
}

static void owned_post(struct kprobe *p, struct pt_regs *regs,
		       unsigned long flags)
{
	owned_pre(p, regs);
}

static void own_cycle(void)
{
	static struct owned o;

	o.kp = (struct kprobe){ .addr = (void *)c_plain,
				.pre_handler = owned_pre };
	__atomic_store_n(&o.alive, true, __ATOMIC_RELEASE);
	must(register_kprobe(&o.kp));
	meanwhile();
	unregister_kprobe(&o.kp);
	__atomic_store_n(&o.alive, false, __ATOMIC_RELEASE);
}

TEST(row_132_no_handler_runs_when_unregister_has_returned)
{
	struct conform_text text = text_of(c_plain);

	while_working(own_cycle, CYCLES);
	check_eq(late, 0);
	check(counts.pre >= HERE * CYCLES);
	check(text_same(&text));
}

static void own_post_cycle(void)
{
	static struct owned o;

	o.kp = (struct kprobe){ .addr = v_jcc_at, .post_handler = owned_post };
	__atomic_store_n(&o.alive, true, __ATOMIC_RELEASE);
	must(register_kprobe(&o.kp));
	meanwhile();
	unregister_kprobe(&o.kp);
	__atomic_store_n(&o.alive, false, __ATOMIC_RELEASE);
}

TEST(row_132_no_post_handler_either)
{
	while_working(own_post_cycle, CYCLES);
	check_eq(late, 0);
	check(counts.pre >= HERE * CYCLES);
}

static struct kretprobe owned_rp;
static bool rp_alive;

static int owned_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (!__atomic_load_n(&rp_alive, __ATOMIC_ACQUIRE))
		count(&late);
	count(&counts.ret);
	return 0;
}

static void own_ret_cycle(void)
{
	owned_rp = (struct kretprobe){ .kp.addr = (void *)c_recurse,
				       .handler = owned_ret,
				       .entry_handler = owned_ret,
				       .maxactive = 4 };
	__atomic_store_n(&rp_alive, true, __ATOMIC_RELEASE);
	must(register_kretprobe(&owned_rp));
	meanwhile();
	unregister_kretprobe(&owned_rp);
	__atomic_store_n(&rp_alive, false, __ATOMIC_RELEASE);
}

TEST(row_132_nor_that_of_a_return_probe)
{
	while_working(own_ret_cycle, CYCLES);
	check_eq(late, 0);
	check(counts.ret > 0);
}

static long j_stack64(long a, long b, long c, long d, long e, long f, long s0,
		      long s1, long s2, long s3, long s4, long s5, long s6,
		      long s7)
{
	count(&counts.entry);
	jprobe_return();
	return 0;
}

static void jprobe_cycle(void)
{
	static struct jprobe jp;

	jp = (struct jprobe){ .kp.addr = (void *)c_stack64,
			      .entry = (void *)j_stack64 };
	must(register_jprobe(&jp));
	meanwhile();
	unregister_jprobe(&jp);
}

TEST(row_132_jprobes_come_and_go_under_load)
{
	while_working(jprobe_cycle, CYCLES);
	check(counts.entry >= HERE * CYCLES);
}

/* Probes whose jumps and copies overlap, in changing order. */
static void overlap_cycle(void)
{
	static void *const *const at[CHAIN] = {
		&v_chain_0, &v_chain_1, &v_chain_2,  &v_chain_3,
		&v_chain_4, &v_chain_5, &v_chain_6,  &v_chain_7,
		&v_chain_8, &v_chain_9, &v_chain_10, &v_chain_11,
	};
	static struct kprobe kp[CHAIN];
	static int turn;
	int i, k;

	turn++;
	for (i = 0; i < CHAIN; i++) {
		k = (i * 5 + turn) % CHAIN;
		kp[k] = probe_at(*at[k]);
		must(register_kprobe(&kp[k]));
	}
	for (i = 0; i < CHAIN; i++)
		unregister_kprobe(&kp[(i * 7 + turn) % CHAIN]);
}

TEST(row_077_no_thread_goes_on_in_the_middle_of_a_jump)
{
	struct conform_text text = text_of(v_chain);

	while_working(overlap_cycle, CYCLES / 4);
	check(text_same(&text));
}

static void shapes_cycle(void)
{
	void *at[] = { (void *)v_into, v_into_loop,	  v_jcc_at,
		       v_call_at,      (void *)c_recurse, (void *)c_stack64 };
	struct kprobe kp[COUNT(at)], *kps[COUNT(at)];
	unsigned int i;

	for (i = 0; i < COUNT(at); i++) {
		kp[i] = probe_at(at[i]);
		kps[i] = &kp[i];
	}
	must(register_kprobes(kps, COUNT(at)));
	for (i = 0; i < COUNT(at); i += 2)
		must(disable_kprobe(kps[i]));
	for (i = 0; i < COUNT(at); i += 2)
		must(enable_kprobe(kps[i]));
	meanwhile();
	/* v_into_loop and the call are for the others alone. */
	for (i = 0; i < COUNT(at); i++)
		check(i == 0 || i == 1 || i == 3 ||
		      dp_kprobe_hits(kps[i]) >= HERE);
	unregister_kprobes(kps, COUNT(at));
}

TEST(row_071_whoever_is_inside_a_region_is_not_harmed)
{
	while_working(shapes_cycle, CYCLES / 2);
}

/* A probe at the same place that comes and goes makes no other miss a hit. */
static void neighbour_cycle(void)
{
	struct kprobe kp = probe_at(c_plain);

	kp.pre_handler = NULL;
	kp.post_handler = count_post;
	must(register_kprobe(&kp));
	must(disable_kprobe(&kp));
	unregister_kprobe(&kp);
}

static bool counting;

static void *neighbour(void *arg)
{
	while (__atomic_load_n(&counting, __ATOMIC_ACQUIRE))
		neighbour_cycle();
	return NULL;
}

static void count_plain(int index)
{
	long i;

	for (i = 0; i < 5000; i++)
		check_eq(c_plain(i, 1), 3 * i + 1);
}

TEST(row_055_no_hit_is_missed_while_a_probe_is_rebuilt)
{
	unsigned long wanted = 5000ul * conform_threads();
	struct kprobe kp = probe_at(c_plain);
	pthread_t thread;

	must(register_kprobe(&kp));
	counting = true;
	check(!pthread_create(&thread, NULL, neighbour, NULL));
	in_threads(count_plain);
	__atomic_store_n(&counting, false, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	check_eq(counts.pre, wanted);
	check_eq(dp_kprobe_hits(&kp), wanted);
	check_eq(kp.nmissed, 0);
	unregister_kprobe(&kp);
}

/* Registering itself is thread-safe. */
static void register_own(int index)
{
	void *at[] = { (void *)c_plain, (void *)c_other, (void *)c_third,
		       v_chain_3 };
	int i;

	for (i = 0; i < 50; i++) {
		struct kprobe kp = { .addr = at[(index + i) % 4] };

		must(register_kprobe(&kp));
		c_plain(1, 1);
		c_other(1, 1);
		c_third(1, 1);
		v_chain(1, 0);
		check(dp_kprobe_hits(&kp) >= 1);
		unregister_kprobe(&kp);
	}
}

TEST(row_154_several_threads_register_at_once)
{
	struct conform_text text = text_of(c_plain);

	in_threads(register_own);
	check_eq(list_length(), 0);
	check(text_same(&text));
}

/* Both are in the handler at the same time. */
static unsigned int inside;
static bool together;

static int wait_for_company(struct kprobe *p, struct pt_regs *regs)
{
	long i;

	__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
	for (i = 0;
	     i < 200000000 && !__atomic_load_n(&together, __ATOMIC_SEQ_CST);
	     i++)
		if (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) >= 2)
			__atomic_store_n(&together, true, __ATOMIC_SEQ_CST);
	return 0;
}

static void *meet(void *arg)
{
	c_plain(1, 1);
	return NULL;
}

TEST(row_154_handlers_run_at_the_same_time_on_several_threads)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = wait_for_company };
	pthread_t threads[2];
	int i;

	must(register_kprobe(&kp));
	for (i = 0; i < 2; i++)
		check(!pthread_create(&threads[i], NULL, meet, NULL));
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check(together);
	unregister_kprobe(&kp);
}

/* A handler that takes its time is waited for. */
static unsigned int sleeping;

static int slow_pre(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_store_n(&sleeping, 1, __ATOMIC_SEQ_CST);
	usleep(50000);
	__atomic_store_n(&sleeping, 2, __ATOMIC_SEQ_CST);
	return 0;
}

static void wait_until(unsigned int *what, unsigned int value)
{
	while (__atomic_load_n(what, __ATOMIC_SEQ_CST) < value)
		usleep(100);
}

TEST(row_132_unregister_waits_for_a_handler_that_runs)
{
	struct kprobe kp = { .addr = (void *)c_plain, .pre_handler = slow_pre };
	pthread_t thread;

	must(register_kprobe(&kp));
	check(!pthread_create(&thread, NULL, meet, NULL));
	wait_until(&sleeping, 1);
	unregister_kprobe(&kp);
	check_eq(__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST), 2);
	pthread_join(thread, NULL);
}

TEST(row_139_disable_waits_for_a_handler_that_runs)
{
	struct kprobe kp = { .addr = (void *)c_plain, .pre_handler = slow_pre };
	pthread_t thread;

	sleeping = 0;
	must(register_kprobe(&kp));
	check(!pthread_create(&thread, NULL, meet, NULL));
	wait_until(&sleeping, 1);
	must(disable_kprobe(&kp));
	check_eq(__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST), 2);
	pthread_join(thread, NULL);
	unregister_kprobe(&kp);
}

/* But not for a call that is tracked, which may take for ever. */
static unsigned int released;

static void wait_inside(long arg)
{
	__atomic_store_n(&sleeping, 1, __ATOMIC_SEQ_CST);
	wait_until(&released, 1);
}

static void *call_and_wait(void *arg)
{
	check_eq(c_call_back(wait_inside, 5), 6);
	return NULL;
}

TEST(row_132_unregister_does_not_wait_for_calls_that_are_followed)
{
	static struct kretprobe rp;
	pthread_t thread;

	rp = retprobe_at(c_call_back);
	must(register_kretprobe(&rp));
	check(!pthread_create(&thread, NULL, call_and_wait, NULL));
	wait_until(&sleeping, 1);
	unregister_kretprobe(&rp);
	__atomic_store_n(&released, 1, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	check_eq(counts.ret, 0);
}

/* More threads at once than the library may have room for: what is not handled
 * is counted. */
#define MANY 700

static pthread_barrier_t all;

static void *one_of_many(void *arg)
{
	pthread_barrier_wait(&all);
	check_eq(c_plain(1, 1), 4);
	check_eq(c_recurse(2), 3);
	pthread_barrier_wait(&all);
	return NULL;
}

TEST(row_154_more_threads_than_there_is_room_for)
{
	struct kprobe kp = probe_at(c_plain);
	struct kretprobe rp = retprobe_at(c_recurse);
	static pthread_t threads[MANY];
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&all, NULL, MANY);
	kp.post_handler = count_post;
	rp.maxactive = 3 * MANY;
	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	for (i = 0; i < MANY; i++)
		check(!pthread_create(&threads[i], &attr, one_of_many, NULL));
	for (i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	check_eq(counts.pre + kp.nmissed, MANY);
	check(counts.pre > 0);
	check_eq(counts.post, counts.pre);
	check_eq(counts.ret + rp.nmissed + rp.kp.nmissed, 3 * MANY);
	check(counts.ret > 0);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
}

/* More threads than most things are sized for, one after the other and at once. */
static void *short_lived(void *arg)
{
	c_plain(1, 1);
	c_recurse(2);
	return NULL;
}

TEST(row_154_threads_that_come_and_go)
{
	struct kprobe kp = probe_at(c_plain);
	struct kretprobe rp = retprobe_at(c_recurse);
	pthread_t threads[100];
	int i, round;

	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 100; i++)
			check(!pthread_create(&threads[i], NULL, short_lived,
					      NULL));
		for (i = 0; i < 100; i++)
			pthread_join(threads[i], NULL);
	}
	check_eq(counts.pre, 1000);
	check_eq(kp.nmissed, 0);
	check_eq(counts.ret + rp.nmissed, 3000);
	check(counts.ret > 0);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
}
