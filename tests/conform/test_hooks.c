// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hooks: what the paper says of the Generalised Kernel Hooks Interface. */
#include "conform.h"
#include <dprobes/hooks.h>
#include <pthread.h>
#include <signal.h>

DECLARE_HOOK(plain, int);
DECLARE_HOOK(beside, int);
DECLARE_HOOK(pair, int, const char *);
DECLARE_HOOK(result);
DECLARE_HOOK(nothing);
DECLARE_WRITABLE_HOOK(changed, int);
DECLARE_EXCLUSIVE_HOOK(single);

static const unsigned char nop[] = { 0x0f, 0x1f, 0x44, 0, 0 };

static int evaluated;
static char trace[64];

static int evaluate(void)
{
	return ++evaluated;
}

static __attribute__((noinline)) int run_plain(void)
{
	HOOK(plain, evaluate());
	return 1;
}

static __attribute__((noinline)) int run_result(void)
{
	HOOK_RET(result);
	return 1;
}

static __attribute__((noinline)) void run_nothing(int *passed)
{
	HOOK_RET_NORC(nothing);
	*passed = 1;
}

static const unsigned char *place_of(const struct gkh_hook *h)
{
	const struct gkh_point *p = __start_gkh_points;

	while (p->hook != h)
		p++;
	return (const unsigned char *)&p->at + p->at;
}

static bool is_dormant(const struct gkh_hook *h)
{
	return !memcmp(place_of(h), nop, sizeof(nop));
}

/* An exit that notes its letter, and one result for all */
static int answer;

static int note(struct gkh_hook *h, struct gkh_args *a)
{
	size_t n = strlen(trace);

	if (n < sizeof(trace) - 1)
		trace[n] = *(const char *)a->rec->data;
	return answer;
}

static struct gkh_rec rec_of(const char *hook, const char *letter,
			     unsigned int flags)
{
	return (struct gkh_rec){ .hook_name = hook,
				 .exit = note,
				 .data = (void *)letter,
				 .flags = flags };
}

static void traces(const char *wanted)
{
	memset(trace, 0, sizeof(trace));
	run_plain();
	check(!strcmp(trace, wanted));
}

TEST(row_326_a_hook_is_one_line)
{
	check_eq(run_plain(), 1);
	check(is_dormant(GKH_HOOK(plain)));
}

extern const unsigned char GKHookpaper[], GKHookpaper_ret[], GKHookpaper_bp[];

static __attribute__((noinline)) int run_paper(int a, int b)
{
	GKHOOK_2VAR_RO("paper", a, b);
	return a + b;
}

static int sum;

static int add_two(struct gkh_hook *h, struct gkh_args *a)
{
	check_eq(a->count, 2);
	check(!a->writable);
	sum = *(int *)a->p[0] + *(int *)a->p[1];
	*(int *)a->p[0] = 99;
	return 0;
}

TEST(row_327_the_papers_macro_and_its_symbols)
{
	struct gkh_rec rec = { .hook_name = "paper", .exit = add_two };

	check(!memcmp(GKHookpaper, nop, sizeof(nop)));
	check(&GKHookpaper_bp[0] == GKHookpaper + sizeof(nop));
	check(&GKHookpaper_ret[0] != &GKHookpaper_bp[0]);
	must(gkh_register(&rec));
	must(gkh_arm(&rec));
	check_eq(run_paper(3, 4), 7);
	check_eq(sum, 7);
	must(gkh_deregister(&rec));
}

TEST(row_328_dormant_it_is_passed_by)
{
	struct gkh_rec rec = rec_of("plain", "a", 0);

	must(gkh_register(&rec));
	run_plain();
	check_eq(evaluated, 0);
	check(is_dormant(GKH_HOOK(plain)));
	must(gkh_deregister(&rec));
}

TEST(row_329_active_its_body_calls_the_dispatcher)
{
	struct gkh_rec rec = rec_of("plain", "a", 0);

	must(gkh_register(&rec));
	must(gkh_arm(&rec));
	check_eq(*place_of(GKH_HOOK(plain)), 0xe9);
	traces("a");
	check_eq(evaluated, 1);
	check_eq(gkh_hits(GKH_HOOK(plain)), 1);
	must(gkh_deregister(&rec));
}

TEST(row_330_only_arming_changes_text)
{
	struct gkh_rec rec = rec_of("plain", "a", 0);

	must(gkh_register(&rec));
	check(is_dormant(GKH_HOOK(plain)));
	must(gkh_arm(&rec));
	check(!is_dormant(GKH_HOOK(plain)));
	check(is_dormant(GKH_HOOK(beside)));
	must(gkh_deregister(&rec));
}

static __attribute__((noinline)) void run_beside(int n)
{
	HOOK(beside, n);
	HOOK(pair, n, "b");
}

TEST(row_331_several_use_one_hook)
{
	struct gkh_rec a = rec_of("plain", "a", 0), b = rec_of("plain", "b", 0);

	run_beside(1);
	must(gkh_register(&a));
	must(gkh_register(&b));
	must(gkh_arm(&a));
	traces("a");
	must(gkh_arm(&b));
	traces("ab");
	must(gkh_deregister(&a));
	traces("b");
	must(gkh_deregister(&b));
}

TEST(row_332_a_record_has_an_exit_and_a_priority)
{
	struct gkh_rec a = rec_of("plain", "a", GKH_LAST),
		       none = { .hook_name = "plain" };

	check_eq(gkh_register(&none), -EINVAL);
	must(gkh_register(&a));
	check_eq(gkh_register(&a), -EEXIST);
	check_eq(a.index, 1);
	check(a.hook == GKH_HOOK(plain));
	must(gkh_deregister(&a));
}

TEST(row_333_first_last_only_unspecified)
{
	struct gkh_rec u = rec_of("plain", "u", 0),
		       l = rec_of("plain", "l", GKH_LAST),
		       f = rec_of("plain", "f", GKH_FIRST),
		       q = rec_of("plain", "q", GKH_LIFO),
		       v = rec_of("plain", "v", 0),
		       f2 = rec_of("plain", "F", GKH_FIRST),
		       l2 = rec_of("plain", "L", GKH_LAST),
		       o = rec_of("plain", "o", GKH_ONLY),
		       s = rec_of("single", "s", 0),
		       s2 = rec_of("single", "S", 0);

	u.next = &l;
	l.next = &f;
	f.next = &q;
	q.next = &v;
	must(gkh_register(&u));
	must(gkh_arm(&u));
	traces("fquvl");
	check_eq(l.index, 5);
	check_eq(gkh_register(&f2), -EBUSY);
	check_eq(gkh_register(&l2), -EBUSY);
	check_eq(gkh_register(&o), -EBUSY);
	must(gkh_deregister(&u));
	must(gkh_register(&o));
	check_eq(gkh_register(&f2), -EBUSY);
	must(gkh_deregister(&o));
	must(gkh_register(&s));
	check_eq(gkh_register(&s2), -EBUSY);
	must(gkh_deregister(&s));
}

TEST(row_334_not_dispatched_until_armed)
{
	struct gkh_rec a = rec_of("plain", "a", 0), b = rec_of("plain", "b", 0);

	a.next = &b;
	must(gkh_register(&a));
	traces("");
	must(gkh_arm(&b));
	traces("b");
	must(gkh_deregister(&a));
	check_eq(gkh_arm(&b), -EINVAL);
}

TEST(row_335_a_list_of_records_all_or_none)
{
	struct gkh_rec a = rec_of("plain", "a", 0),
		       b = rec_of("beside", "b", 0),
		       c = rec_of("nowhere", "c", 0);

	a.next = &b;
	b.next = &c;
	check_eq(gkh_register(&a), -ENOENT);
	check(!(a.flags & GKH_REGISTERED) && !GKH_HOOK(plain)->active);
	b.next = NULL;
	must(gkh_register(&a));
	b.next = &c;
	check_eq(gkh_arm(&a), -EINVAL);
	check(is_dormant(GKH_HOOK(plain)));
	b.next = NULL;
	must(gkh_arm(&a));
	check(!is_dormant(GKH_HOOK(plain)) && !is_dormant(GKH_HOOK(beside)));
	must(gkh_deregister(&a));
}

static int activated, deactivated;

static void note_event(enum gkh_event event, struct gkh_hook *h)
{
	activated += event == GKH_ACTIVATE;
	deactivated += event == GKH_DEACTIVATE;
}

TEST(row_336_340_the_first_exit_activates_and_the_last_restores)
{
	struct gkh_rec a = rec_of("plain", "a", 0), b = rec_of("plain", "b", 0);

	must(gkh_notify(note_event));
	a.next = &b;
	must(gkh_register(&a));
	a.next = NULL;
	must(gkh_arm(&a));
	must(gkh_arm(&b));
	must(gkh_arm(&b));
	check_eq(activated, 1);
	must(gkh_disarm(&a));
	traces("b");
	check(!(a.flags & GKH_ARMED) && b.flags & GKH_ARMED);
	check_eq(deactivated, 0);
	must(gkh_disarm(&b));
	check_eq(deactivated, 1);
	check(is_dormant(GKH_HOOK(plain)));
	traces("");
	must(gkh_deregister(&a));
	must(gkh_deregister(&b));
}

TEST(row_337_before_that_no_code_path_is_added)
{
	struct gkh_rec a = rec_of("plain", "a", 0);

	must(gkh_register(&a));
	check_eq(gkh_hits(GKH_HOOK(plain)), 0);
	run_plain();
	check_eq(gkh_hits(GKH_HOOK(plain)), 0);
	check(is_dormant(GKH_HOOK(plain)));
	must(gkh_deregister(&a));
}

static int see(struct gkh_hook *h, struct gkh_args *a)
{
	**(unsigned int **)a->p[0] |= (unsigned int)(unsigned long)a->rec->data;
	return 0;
}

DECLARE_HOOK(seen, unsigned int *);
static int rounds_left = 50;
static int torn;

static void toggle_or_run(int index)
{
	static struct gkh_rec b = { .hook_name = "seen",
				    .exit = see,
				    .data = (void *)2 },
			      a = { .next = &b,
				    .hook_name = "seen",
				    .exit = see,
				    .data = (void *)1 };
	unsigned int bits;

	if (index == 0) {
		must(gkh_register(&a));
		for (; __atomic_load_n(&rounds_left, __ATOMIC_RELAXED) > 0;
		     __atomic_fetch_sub(&rounds_left, 1, __ATOMIC_RELAXED)) {
			must(gkh_arm(&a));
			must(gkh_disarm(&a));
		}
		must(gkh_deregister(&a));
		return;
	}
	while (__atomic_load_n(&rounds_left, __ATOMIC_RELAXED) > 0) {
		bits = 0;
		HOOK(seen, &bits);
		if (bits && bits != 3)
			__atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
	}
}

TEST(row_338_341_arming_and_disarming_are_atomic)
{
	in_threads(toggle_or_run);
	check_eq(torn, 0);
}

TEST(row_342_deregister_removes_each)
{
	struct gkh_rec a = rec_of("plain", "a", 0),
		       b = rec_of("beside", "b", 0);

	a.next = &b;
	must(gkh_register(&a));
	must(gkh_arm(&a));
	must(gkh_deregister(&a));
	check(!(a.flags & (GKH_ARMED | GKH_REGISTERED)) &&
	      !(b.flags & (GKH_ARMED | GKH_REGISTERED)));
	check_eq(gkh_deregister(&a), -EINVAL);
	traces("");
	must(gkh_register(&a));
	must(gkh_deregister(&a));
}

TEST(row_343_344_in_priority_order_until_one_says_otherwise)
{
	struct gkh_rec a = rec_of("plain", "a", 0), b = rec_of("plain", "b", 0);
	static const int results[] = { 1, -1, 7 };
	size_t i;

	a.next = &b;
	must(gkh_register(&a));
	must(gkh_arm(&a));
	traces("ab");
	for (i = 0; i < COUNT(results); i++) {
		answer = results[i];
		traces("a");
	}
	must(gkh_deregister(&a));
}

static int say_seven(struct gkh_hook *h, struct gkh_args *a)
{
	check_eq(*a->ret, 0);
	*a->ret = 7;
	return answer;
}

/* [defect 28] Returning is for hooks that return. */
TEST(row_344_only_minus_one_returns)
{
	struct gkh_rec r = { .hook_name = "result", .exit = say_seven },
		       n = rec_of("nothing", "n", 0),
		       p = rec_of("plain", "p", 0);
	int passed = 0;

	r.next = &n;
	n.next = &p;
	must(gkh_register(&r));
	must(gkh_arm(&r));
	answer = 1;
	check_eq(run_result(), 1);
	run_nothing(&passed);
	check_eq(passed, 1);
	answer = -1;
	check_eq(run_result(), 7);
	passed = 0;
	run_nothing(&passed);
	check_eq(passed, 0);
	check_eq(run_plain(), 1);
	must(gkh_deregister(&r));
}

/* --- entry conditions --- */

static volatile long ticks;
static bool is_over;

static void *tick(void *unused)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		ticks = ticks + 1;
	return NULL;
}

static long before, after;

static int watch_ticks(struct gkh_hook *h, struct gkh_args *a)
{
	volatile int i;

	before = ticks;
	for (i = 0; i < 2000000; i++)
		continue;
	after = ticks;
	__atomic_fetch_and(&a->rec->flags, ~(unsigned int)GKH_ARMED,
			   __ATOMIC_RELAXED);
	return 0;
}

TEST(row_345_347_all_others_stand_still_and_it_disarms_itself)
{
	struct gkh_rec r = { .hook_name = "plain",
			     .exit = watch_ticks,
			     .flags = GKH_STOP_CPUS };
	pthread_t t;

	pthread_create(&t, NULL, tick, NULL);
	while (!ticks)
		usleep(100);
	must(gkh_register(&r));
	must(gkh_arm(&r));
	run_plain();
	if (!before)
		conform_skip("threads cannot be stopped here");
	check_eq(after, before);
	while (ticks == after)
		usleep(100);
	before = 0;
	run_plain();
	check_eq(before, 0);
	is_over = true;
	pthread_join(t, NULL);
	must(gkh_deregister(&r));
}

static int came;

static void note_signal(int sig)
{
	came = 1;
}

static int raise_one(struct gkh_hook *h, struct gkh_args *a)
{
	raise(SIGUSR1);
	check_eq(came, 0);
	return 0;
}

TEST(row_346_signals_are_blocked)
{
	struct gkh_rec r = { .hook_name = "plain",
			     .exit = raise_one,
			     .flags = GKH_DISABLE_IRQS };

	signal(SIGUSR1, note_signal);
	must(gkh_register(&r));
	must(gkh_arm(&r));
	run_plain();
	check_eq(came, 1);
	must(gkh_deregister(&r));
}

static int disarm_self(struct gkh_hook *h, struct gkh_args *a)
{
	a->rec->flags &= ~(unsigned int)GKH_ARMED;
	return note(h, a);
}

/* [defect 28] And the hook is idle then. */
TEST(row_347_an_exit_disarms_itself)
{
	struct gkh_rec r = rec_of("plain", "x", 0);

	r.exit = disarm_self;
	must(gkh_register(&r));
	must(gkh_arm(&r));
	traces("x");
	check(is_dormant(GKH_HOOK(plain)));
	traces("");
	must(gkh_arm(&r));
	traces("x");
	must(gkh_deregister(&r));
}

static int set_five(struct gkh_hook *h, struct gkh_args *a)
{
	check(a->writable == ((h->flags & GKH_HOOK_WRITABLE) != 0));
	*(int *)a->p[0] = 5;
	return 0;
}

TEST(row_348_parameters_are_modifiable_or_not)
{
	struct gkh_rec w = { .hook_name = "changed", .exit = set_five },
		       r = { .hook_name = "beside", .exit = set_five };
	int n = 1;

	w.next = &r;
	must(gkh_register(&w));
	must(gkh_arm(&w));
	HOOK(beside, n);
	check_eq(n, 1);
	HOOK(changed, &n);
	check_eq(n, 5);
	must(gkh_deregister(&w));
}

static unsigned int nr_passed;

static int note_count(struct gkh_hook *h, struct gkh_args *a)
{
	nr_passed = a->count;
	sum = *(int *)a->p[0];
	return 0;
}

TEST(row_349_350_their_number_is_passed_and_new_ones_go_to_the_end)
{
	struct gkh_rec r = { .hook_name = "pair",
			     .exit = note_count,
			     .count = 1 };

	must(gkh_register(&r));
	must(gkh_arm(&r));
	HOOK(pair, 6, "more");
	check_eq(nr_passed, 2);
	check_eq(sum, 6);
	must(gkh_deregister(&r));
	r.count = 3;
	check_eq(gkh_register(&r), -EINVAL);
}

TEST(row_352_353_354_hooks_identify_themselves_and_are_deleted)
{
	static struct gkh_hook made = { .name = "made" },
			       again = { .name = "made" };
	struct gkh_rec r = rec_of("made", "m", 0);

	check_eq(gkh_register(&r), -ENOENT);
	must(gkh_identify(&made));
	check_eq(gkh_identify(&again), -EEXIST);
	must(gkh_register(&r));
	check_eq(gkh_delete(&made, false), -EBUSY);
	must(gkh_delete(&made, true));
	check(r.flags & GKH_DELETED && !r.hook);
	check_eq(gkh_delete(&made, true), -ENOENT);
	check_eq(gkh_register(&r), -ENOENT);
}

static int typed(struct gkh_hook *h, struct gkh_args *a, int n,
		 const char *text)
{
	sum = n + text[0];
	return 0;
}

GKH_EXIT(typed_exit, pair, typed);

/* [defect 27] */
TEST(row_349_exits_have_the_types_of_the_hook)
{
	struct gkh_rec r = { .hook = GKH_HOOK(pair),
			     .exit = typed_exit,
			     .count = GKH_COUNT(pair) };

	must(gkh_register(&r));
	must(gkh_arm(&r));
	HOOK(pair, 1, "A");
	check_eq(sum, 1 + 'A');
	must(gkh_deregister(&r));
}
