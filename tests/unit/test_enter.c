// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * enter: what a call of the library finds and leaves behind: errno, signals, cancellation,
 * locks. The library's objects are in the program.
 */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/layout/handler.h"
#include "lib/foreign.h"
#include "lib/frames.h"
#include "lib/self.h"

static long __attribute__((noipa)) victim(long x)
{
	return x * 3 + 1;
}

/* --- forks: these handlers run between the library's --- */

/** at_fork - what was locked: before it, and then in the parent and in the child */
static struct locked {
	bool library, uprobes, quiet;
} at_fork[3];

static bool blocks(int signal)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, signal);
}

static void look(struct locked *l)
{
	l->library = dp_self_busy();
	l->uprobes = !dp_foreign_trylock();
	if (!l->uprobes)
		dp_foreign_unlock();
	l->quiet = blocks(SIGUSR1);
}

static void before_fork(void)
{
	look(&at_fork[0]);
}

static void in_parent(void)
{
	look(&at_fork[1]);
}

static void in_child(void)
{
	look(&at_fork[2]);
}

/* Before the library's own constructors. */
static void __attribute__((constructor(101))) watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

static bool is_locked(const struct locked *l)
{
	return l->library && l->uprobes && l->quiet;
}

static bool is_free(void)
{
	struct locked now;

	look(&now);
	return !now.library && !now.uprobes && !now.quiet;
}

/* Return: of the child. */
static int status_of(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* No thread that the child does not have may be in the library. */
static void forks_wait_for_the_library(void **state)
{
	pid_t child;

	memset(at_fork, 0, sizeof(at_fork));
	assert_true(is_free());
	child = fork();
	if (!child)
		_exit(!is_locked(&at_fork[2]) || !is_free());
	assert_int_equal(status_of(child), 0);
	assert_true(is_locked(&at_fork[0]));
	assert_true(is_locked(&at_fork[1]));
	assert_true(is_free());
}

/* --- entering --- */

static int cancel_state(void)
{
	int was;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
	pthread_setcancelstate(was, NULL);
	return was;
}

static void expect_inside(void)
{
	assert_true(dp_self_busy());
	assert_true(blocks(SIGUSR1));
	assert_true(blocks(SIGUSR2));
	assert_false(blocks(SIGFPE));
	assert_int_equal(cancel_state(), PTHREAD_CANCEL_DISABLE);
	assert_string_equal(dp_last_diag()->text, "");
}

/* The program has SIGUSR2 blocked, before and after. */
static void expect_outside(int error)
{
	assert_int_equal(errno, error);
	assert_false(dp_self_busy());
	assert_false(blocks(SIGUSR1));
	assert_true(blocks(SIGUSR2));
	assert_int_equal(cancel_state(), PTHREAD_CANCEL_ENABLE);
	assert_int_equal(dp_self.text.mem > 0, 0);
}

static void prepare(int error)
{
	sigset_t some;

	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &some, NULL);
	dp_fail(0, "of a call before");
	errno = error;
}

static void a_call_leaves_nothing_behind(void **state)
{
	int (*const enter[])(void) = { dp_self_begin_bare, dp_self_begin_names,
				       dp_self_begin_any };
	u32 i;

	for (i = 0; i < 3; i++) {
		prepare(ENOTTY);
		assert_int_equal(enter[i](), 0);
		expect_inside();
		errno = EIO;
		dp_self_end();
		expect_outside(ENOTTY);
	}
	assert_non_null(dp_self.symbols);
	assert_null(dp_self.engine);
}

static void there_is_no_engine_before_a_probe(void **state)
{
	prepare(EDOM);
	assert_int_equal(dp_self_begin(false), -ESRCH);
	expect_outside(EDOM);
	assert_int_equal(dp_self_begin_look(), -ESRCH);
	expect_outside(EDOM);
	assert_int_equal(dp_self_begin(true), 0);
	expect_inside();
	assert_non_null(dp_self.engine);
	assert_true(dp_self.text.mem > 0);
	dp_self_end();
	expect_outside(EDOM);
	assert_int_equal(dp_self_begin(false), 0);
	expect_inside();
	assert_true(dp_self.text.mem > 0);
	dp_self_end();
	assert_int_equal(dp_self_begin_look(), 0);
	expect_inside();
	dp_self_end();
	expect_outside(EDOM);
}

/* What has gone wrong while it was entered is told with everything given back. */
static void errors_leave_nothing_behind(void **state)
{
	struct rlimit had, none = { 0 };
	int fd = open("/dev/null", O_RDONLY);

	getrlimit(RLIMIT_NOFILE, &had);
	none = had;
	none.rlim_cur = (rlim_t)fd;
	close(fd);
	setrlimit(RLIMIT_NOFILE, &none);
	prepare(EDOM);
	assert_int_equal(dp_self_begin(false), -EMFILE);
	assert_string_equal(
		dp_last_diag()->text,
		"/proc/thread-self/mem cannot be opened: Too many open files");
	expect_outside(EDOM);
	assert_int_equal(dp_self_begin_any(), -EMFILE);
	expect_outside(EDOM);
	/* Nothing has to be opened for it. */
	assert_int_equal(dp_self_begin_bare(), 0);
	dp_self_end();
	expect_outside(EDOM);
	setrlimit(RLIMIT_NOFILE, &had);
}

static int in_handler_err[2];
static struct dp_diag in_handler_diag;

static int ask(struct kprobe *p, struct pt_regs *regs)
{
	in_handler_err[0] = dp_self_begin_bare();
	in_handler_diag = *dp_last_diag();
	in_handler_err[1] = dp_self_begin(true);
	return 0;
}

static void handlers_do_not_enter(void **state)
{
	struct kprobe p = { .addr = (void *)victim, .pre_handler = ask };

	assert_int_equal(register_kprobe(&p), 0);
	victim(1);
	unregister_kprobe(&p);
	assert_int_equal(in_handler_err[0], -EAGAIN);
	assert_int_equal(in_handler_err[1], -EAGAIN);
	assert_string_equal(in_handler_diag.text,
			    "probes cannot be changed from a handler");
	assert_false(dp_self_busy());
}

static char vm_stack[65536] __attribute__((aligned(16)));
static int vm_err;
static struct dp_diag vm_diag;

static int in_vm_child(void *arg)
{
	vm_err = dp_self_begin_bare();
	if (!vm_err)
		dp_self_end();
	vm_diag = *dp_last_diag();
	return 0;
}

/* Its changes would be its parent's. */
static void vm_children_do_not_enter(void **state)
{
	pid_t child = clone(in_vm_child, vm_stack + sizeof(vm_stack),
			    CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	assert_int_equal(status_of(child), 0);
	assert_int_equal(vm_err, -EAGAIN);
	assert_string_equal(
		vm_diag.text,
		"a vfork child cannot change the probes of its parent");
	assert_false(dp_self_busy());
}

static int hits;

static int count(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Return: 0; the number of what is wrong. */
static int begins_anew(void)
{
	struct kprobe p = { .addr = (void *)victim, .pre_handler = count };

	hits = 0;
	victim(1);
	if (hits)
		return 1;
	if (dp_self_begin(false) != -ESRCH || dp_self.engine || dp_self.arena ||
	    dp_self.users || dp_self.nr_users || dp_self.disarmed)
		return 2;
	if (dp_self.owner != getpid() || !dp_self.symbols)
		return 3;
	if (get_kprobe((void *)victim) || register_kprobe(&p))
		return 4;
	victim(1);
	unregister_kprobe(&p);
	return hits != 1 ? 5 : 0;
}

static void fork_children_begin_anew(void **state)
{
	struct kprobe p = { .addr = (void *)victim, .pre_handler = count };
	pid_t child;

	assert_int_equal(register_kprobe(&p), 0);
	assert_int_equal(dp_kprobes_enabled(0), 0);
	child = fork();
	if (!child)
		_exit(begins_anew());
	assert_int_equal(status_of(child), 0);
	assert_int_equal(dp_kprobes_enabled(1), 1);
	hits = 0;
	victim(1);
	assert_int_equal(hits, 1);
	unregister_kprobe(&p);
}

/* --- calls that are tracked when the process forks --- */

static int leaves;

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	leaves++;
	return 0;
}

/* Return: as fork(). */
static pid_t __attribute__((noipa)) forks(void)
{
	const struct dp_frame *f = (void *)dp_self_stack()->frames;
	u64 home = f->ret_addr;
	volatile u64 *slot = (void *)f->slot;
	pid_t pid;

	assert_ptr_equal(dp_frame_of(*slot), f);
	pid = fork();
	if (!pid && *slot != home)
		_exit(1);
	if (!pid && dp_self_stack()->frames)
		_exit(2);
	return pid;
}

/* The child returns to the program, and not by way of a handler. */
static void tracked_calls_go_home_in_a_fork_child(void **state)
{
	struct kretprobe rp = { .kp.addr = (void *)forks, .handler = leave };
	pid_t child;

	assert_int_equal(register_kretprobe(&rp), 0);
	leaves = 0;
	child = forks();
	if (!child)
		_exit(leaves ? 3 : begins_anew());
	assert_true(child > 0);
	assert_int_equal(status_of(child), 0);
	assert_int_equal(leaves, 1);
	unregister_kretprobe(&rp);
}

/* --- what is done before anything else --- */

static int leave_oneself(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	unregister_kprobe(p);
	return 0;
}

static void probes_that_left_in_a_handler_go(void **state)
{
	struct kprobe p = { .addr = (void *)victim,
			    .pre_handler = leave_oneself };
	u8 was[16];
	u32 i;

	memcpy(was, (void *)victim, sizeof(was));
	assert_int_equal(register_kprobe(&p), 0);
	hits = 0;
	victim(1);
	victim(2);
	assert_int_equal(hits, 1);
	assert_memory_not_equal((void *)victim, was, sizeof(was));
	assert_int_equal(dp_self_begin(false), 0);
	for (i = 0; i < dp_self.nr_users; i++)
		assert_ptr_not_equal(dp_self.users[i].p, &p);
	dp_self_end();
	assert_memory_equal((void *)victim, was, sizeof(was));
}

/* Code that comes and goes is noticed: the mark is for one call. */
static void new_libraries_are_noticed(void **state)
{
	void *handle;

	assert_int_equal(dp_self_begin_names(), 0);
	dp_self_end();
	dp_self.changed = false;
	assert_int_equal(dp_self_begin_names(), 0);
	assert_false(dp_self.changed);
	dp_self_end();
	handle = dlopen("libutil.so.1", RTLD_NOW);
	assert_non_null(handle);
	assert_int_equal(dp_self_begin_names(), 0);
	assert_true(dp_self.changed);
	dp_self_end();
	assert_int_equal(dp_self_begin(true), 0);
	assert_false(dp_self.changed);
	dp_self_end();
	dlclose(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forks_wait_for_the_library),
		cmocka_unit_test(a_call_leaves_nothing_behind),
		cmocka_unit_test(there_is_no_engine_before_a_probe),
		cmocka_unit_test(errors_leave_nothing_behind),
		cmocka_unit_test(handlers_do_not_enter),
		cmocka_unit_test(vm_children_do_not_enter),
		cmocka_unit_test(fork_children_begin_anew),
		cmocka_unit_test(tracked_calls_go_home_in_a_fork_child),
		cmocka_unit_test(probes_that_left_in_a_handler_go),
		cmocka_unit_test(new_libraries_are_noticed),
		cmocka_unit_test(forks_wait_for_the_library),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("enter", tests, NULL, NULL);
}
