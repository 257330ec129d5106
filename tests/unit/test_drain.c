// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_drain: whether threads of another process, running and asleep, are out of some code. */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/uregs.h"
#include "proc/attach/attach.h"
#include "proc/attach/drain.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"

/** struct looked - what is asked of the threads, and with what
 *  @inside: is the code of the thread that sleeps the code in question?
 *  @poor: the tool has no descriptor left after it has looked at the stopped threads
 *  @running: pc of the stopped thread */
struct looked {
	bool inside, poor;
	u64 running;
};

static pid_t victim;
static struct dp_process *proc;

static void *run(void *arg)
{
	for (;;)
		__asm__ volatile("pause");
	return arg;
}

/* A stop would end its call: the tool leaves the first thread asleep. */
static void be_victim(void)
{
	struct epoll_event e;
	pthread_t t;
	int fd = epoll_create1(0);

	alarm(60);
	pthread_create(&t, NULL, run, NULL);
	for (;;)
		epoll_wait(fd, &e, 1, -1);
}

static void await_sleep(void)
{
	u64 sp, pc;

	while (!dp_thread_state_asleep(victim, victim, &sp, &pc))
		usleep(100);
}

static int begin(void **state)
{
	struct dp_diag diag = { 0 };

	victim = fork();
	if (!victim)
		be_victim();
	await_sleep();
	assert_int_equal(dp_process_attach(victim, &proc, &diag), 0);
	/* The look at the process may have woken it. */
	await_sleep();
	assert_int_equal(dp_stop_all(proc, &diag), 0);
	assert_int_equal(proc->nr_threads, 1);
	assert_null(dp_stop_held(proc, victim));
	return 0;
}

static int end(void **state)
{
	dp_stop_release(proc);
	dp_process_close(proc);
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	return 0;
}

static void set_files(rlim_t n)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = n ? limit.rlim_max : 0;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool is_inside(const void *arg, u64 pc)
{
	const struct looked *l = arg;

	if (l->poor)
		set_files(0);
	return pc != l->running && l->inside;
}

static bool nowhere(const void *arg, u64 pc, u64 *to)
{
	return false;
}

static bool look(bool inside, bool poor)
{
	const struct looked l = { inside, poor,
				  dp_uregs_pc(&proc->threads[0].regs) };
	const struct dp_moves moves = { .arg = &l,
					.from = is_inside,
					.to = nowhere };
	bool out = dp_threads_move(proc, &moves);

	set_files(1);
	return out;
}

static void asleep_elsewhere(void **state)
{
	assert_true(look(false, false));
}

static void asleep_inside(void **state)
{
	assert_false(look(true, false));
}

/* Where the threads cannot be listed, any may be inside. */
static void asleep_where_nothing_tells(void **state)
{
	assert_false(look(true, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(asleep_elsewhere, begin, end),
		cmocka_unit_test_setup_teardown(asleep_inside, begin, end),
		cmocka_unit_test_setup_teardown(asleep_where_nothing_tells,
						begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
