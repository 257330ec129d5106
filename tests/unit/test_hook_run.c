// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread runs through a hook, and a signal handler does so at each instruction of that.
 *
 * The program's own code and the dispatcher are stepped. Whatever the handler does to the thread's frames,
 * control has to find the thread in the exit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dprobes/hooks.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>
#include "lib/hook.h"

#define TF 0x100
#define ENOUGH 100

DECLARE_GENERIC_HOOK(stepped, int);

enum in_handler { RETURN, JUMP, LEAVE };

static enum in_handler way;
static bool nested, fired;
static int step, steps, seen, unseen, calls;
static jmp_buf away;

static int in_frames(const struct dp_hook_list *list)
{
	const struct dp_hook_frame *f = dp_hook_self->frame;
	int i, n = 0;

	for (i = 0; i < DP_HOOK_DEPTH; i++, f++)
		n += f->sp && f->list == list &&
		     *(unsigned long *)f->sp == dp_hook_cookie(f);
	return n;
}

static int look(struct gkh_hook *h, struct gkh_args *a)
{
	/* In one instruction: the signal handler counts, too. */
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	if (nested && way == JUMP)
		longjmp(away, 1);
	if (nested)
		return GKH_CONTINUE;
	if (in_frames(h->list) && dp_hook_in_use(h->list, false))
		seen++;
	else
		unseen++;
	return GKH_CONTINUE;
}

static __attribute__((noinline)) void run(int n)
{
	GENERIC_HOOK(stepped, n);
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	if (steps++ < step)
		return;
	fired = true;
	c->uc_mcontext.gregs[REG_EFL] &= ~TF;
	if (way == LEAVE)
		longjmp(away, 1);
	nested = true;
	if (way == RETURN || !setjmp(away))
		run(2);
	nested = false;
}

static __attribute__((noinline)) void run_stepped(void)
{
	fired = false;
	steps = 0;
	__asm__ volatile("pushfq\n"
			 "	orq $0x100, (%%rsp)\n"
			 "	popfq\n" ::
				 : "memory", "cc");
	run(1);
	__asm__ volatile("pushfq\n"
			 "	andq $~0x100, (%%rsp)\n"
			 "	popfq\n" ::
				 : "memory", "cc");
}

static void check_steps(enum in_handler how)
{
	struct gkh_rec rec = { .hook = GKH_HOOK(stepped), .exit = look };
	struct sigaction sa = { .sa_sigaction = on_step,
				.sa_flags = SA_SIGINFO | SA_NODEFER };
	unsigned long hits = gkh_hits(GKH_HOOK(stepped));

	way = how;
	seen = unseen = calls = 0;
	sigaction(SIGTRAP, &sa, NULL);
	assert_int_equal(gkh_register(&rec), 0);
	assert_int_equal(gkh_arm(&rec), 0);
	for (step = 0, fired = true; fired; step++)
		run_stepped();
	assert_true(step > ENOUGH / 2);
	assert_int_equal(unseen, 0);
	assert_int_equal(seen, step);
	assert_int_equal(calls, 2 * step - 1);
	assert_int_equal(gkh_hits(GKH_HOOK(stepped)) - hits, calls);
	assert_false(dp_hook_inside_any());
	assert_int_equal(gkh_deregister(&rec), 0);
	signal(SIGTRAP, SIG_DFL);
}

/* The first hit is the dispatcher's, as the thread has no reader yet. */
static void test_plain(void **state)
{
	check_steps(RETURN);
	assert_ptr_equal(dp_hook_fast, dp_hook_self);
	check_steps(RETURN);
}

static void test_plain_left(void **state)
{
	check_steps(JUMP);
}

static void with_dispatcher(enum in_handler how)
{
	long fast = GKH_HOOK(stepped)->fast;

	GKH_HOOK(stepped)->fast = 0;
	check_steps(how);
	GKH_HOOK(stepped)->fast = fast;
}

static void test_dispatcher(void **state)
{
	with_dispatcher(RETURN);
}

static void test_dispatcher_left(void **state)
{
	with_dispatcher(JUMP);
}

/* Whatever has been left where, a free frame has no list: one that is taken is looking for it. */
static int stale_frames(void)
{
	const struct dp_hook_frame *f = dp_hook_self->frame;
	int i, n = 0;

	for (i = 0; i < DP_HOOK_DEPTH; i++, f++)
		n += !f->sp && f->list;
	return n;
}

static void check_left(struct gkh_rec *rec)
{
	volatile int stale = 0;

	for (step = 0, fired = true; fired; step++) {
		if (!setjmp(away))
			run_stepped();
		stale += stale_frames();
		run(1);
		stale += stale_frames() + dp_hook_inside_any();
	}
	assert_true(step > ENOUGH / 2);
	assert_int_equal(stale, 0);
	assert_int_equal(unseen, 0);
	assert_int_equal(gkh_deregister(rec), 0);
}

static void test_left(void **state)
{
	struct gkh_rec rec = { .hook = GKH_HOOK(stepped), .exit = look };
	struct sigaction sa = { .sa_sigaction = on_step,
				.sa_flags = SA_SIGINFO | SA_NODEFER };

	way = LEAVE;
	seen = unseen = 0;
	sigaction(SIGTRAP, &sa, NULL);
	assert_int_equal(gkh_register(&rec), 0);
	assert_int_equal(gkh_arm(&rec), 0);
	check_left(&rec);
	signal(SIGTRAP, SIG_DFL);
}

static int look_once(struct gkh_hook *h, struct gkh_args *a)
{
	calls++;
	a->rec->flags &= ~(unsigned int)GKH_ARMED;
	return GKH_CONTINUE;
}

static void test_self_disarm(void **state)
{
	struct gkh_rec rec = { .hook = GKH_HOOK(stepped), .exit = look_once };

	calls = 0;
	assert_int_equal(gkh_register(&rec), 0);
	assert_int_equal(gkh_arm(&rec), 0);
	assert_int_equal(GKH_HOOK(stepped)->active, 1);
	assert_ptr_equal(dp_hook_fast, dp_hook_self);
	run(1);
	assert_int_equal(GKH_HOOK(stepped)->active, 0);
	run(1);
	assert_int_equal(calls, 1);
	assert_int_equal(gkh_deregister(&rec), 0);
}

/* Its list is not plain: the program's own code gives up, having taken its frame. */
static int calls_blocked;

static int see_blocked(struct gkh_hook *h, struct gkh_args *a)
{
	sigset_t now;

	pthread_sigmask(SIG_SETMASK, NULL, &now);
	calls_blocked += sigismember(&now, SIGUSR1) && in_frames(h->list) == 1;
	return GKH_CONTINUE;
}

static void test_conditions(void **state)
{
	struct gkh_rec rec = { .hook = GKH_HOOK(stepped),
			       .exit = see_blocked,
			       .flags = GKH_DISABLE_IRQS };

	assert_int_equal(gkh_register(&rec), 0);
	assert_int_equal(gkh_arm(&rec), 0);
	run(1);
	run(1);
	assert_int_equal(calls_blocked, 2);
	assert_int_equal(gkh_deregister(&rec), 0);
}

/* Without the library's word a hook is not run by the program's own code. */
static int dispatched;

static int note_dispatch(struct gkh_hook *h, struct gkh_args *a)
{
	dispatched++;
	return GKH_CONTINUE;
}

static void test_unknown(void **state)
{
	struct gkh_hook h = { .name = "unknown", .dispatch = note_dispatch };
	struct gkh_args a = { .count = 0 };

	assert_int_equal(dp_hook_run(&h, &a), GKH_CONTINUE);
	assert_int_equal(dispatched, 1);
}

/* A module of another version of the headers is left out, and said to be. */
static void test_version(void **state)
{
	struct gkh_hook h = { .name = "of_old" };
	struct gkh_hook *heads[] = { &h };
	struct dp_hook_module m = { .abi = DP_HOOK_MODULE_ABI - 1,
				    .size = sizeof(m),
				    .hooks = heads,
				    .hooks_end = heads + 1 };
	struct gkh_rec rec = { .hook_name = "of_old", .exit = look };

	assert_int_equal(gkh_register(&rec), -ENOENT);
	assert_null(strstr(dp_last_diag()->text, "version"));
	dp_hook_module_note(&m);
	assert_null(m.gone);
	assert_int_equal(h.fast, 0);
	assert_int_equal(gkh_register(&rec), -ENOENT);
	assert_non_null(strstr(dp_last_diag()->text, "version"));
}

/* --- a thread without a reader has a place in a table, or is counted --- */

#define LONE_DEPTH (DP_HOOK_LONES + 6)

static struct dp_hook_reader *no_reader(void)
{
	return NULL;
}

static int lone_depth, lone_deepest;
static u32 lone_others[LONE_DEPTH + 1];

/* Goes on until it is in so many dispatches. */
static int look_deeper(struct gkh_hook *h, struct gkh_args *a)
{
	u64 here = (u64)__builtin_frame_address(0);

	lone_depth++;
	lone_others[lone_depth] = dp_hook_others;
	seen += dp_hook_inside_lone(here) && dp_hook_is_running() &&
		dp_hook_in_use(h->list, false);
	if (lone_depth < lone_deepest)
		dp_hook_dispatch(h, a);
	lone_depth--;
	return GKH_CONTINUE;
}

static void run_deep(int depth)
{
	struct gkh_args a = { .count = 0 };
	int i;

	seen = lone_depth = 0;
	lone_deepest = depth;
	dp_hook_dispatch(GKH_HOOK(stepped), &a);
	assert_int_equal(seen, depth);
	for (i = 1; i <= depth; i++)
		assert_int_equal(lone_others[i],
				 i > DP_HOOK_LONES ? i - DP_HOOK_LONES : 0);
	assert_int_equal(dp_hook_others, 0);
	assert_false(dp_hook_inside_lone(~0ull));
	assert_false(dp_hook_is_running());
	assert_false(dp_hook_in_use(GKH_HOOK(stepped)->list, false));
}

static void test_lone(void **state)
{
	struct gkh_rec rec = { .hook = GKH_HOOK(stepped), .exit = look_deeper };
	const struct dp_hook_world *real = dp_hook_world;
	struct dp_hook_reader *mine = dp_hook_self;
	struct dp_hook_world lone = *real;

	assert_int_equal(gkh_register(&rec), 0);
	assert_int_equal(gkh_arm(&rec), 0);
	lone.reader = no_reader;
	dp_hook_world = &lone;
	dp_hook_self = NULL;
	run_deep(1);
	run_deep(DP_HOOK_LONES);
	run_deep(LONE_DEPTH);
	run_deep(LONE_DEPTH);
	dp_hook_world = real;
	dp_hook_self = mine;
	assert_int_equal(gkh_deregister(&rec), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_plain_left),
		cmocka_unit_test(test_dispatcher),
		cmocka_unit_test(test_dispatcher_left),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_self_disarm),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_lone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
