// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_seize: threads are seized in the middle of an exec that waits for their tracer. */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/attach/attach.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"

static volatile sig_atomic_t urgent;

/** struct victim - a process of three threads, one of which executes when it is told to */
struct victim {
	pid_t pid;
	pid_t held, executes;
	int tell;
};

static int told[2], tids[2];

static void *executes(void *arg)
{
	pid_t tid = gettid();
	char c;

	write(tids[1], &tid, sizeof(tid));
	if (read(told[0], &c, 1) == 1)
		execl("/bin/sleep", "sleep", "60", NULL);
	abort();
}

static void *masked_waits(void *arg)
{
	pid_t tid = gettid();
	pthread_t t;

	/* The order of the two is the order of their numbers. */
	write(tids[1], &tid, sizeof(tid));
	pthread_create(&t, NULL, executes, NULL);
	while (tid)
		pause();
	return NULL;
}

static void be_victim(void)
{
	pthread_t t;

	pthread_create(&t, NULL, masked_waits, NULL);
	for (;;)
		pause();
}

static void start(struct victim *v)
{
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(tids), 0);
	v->pid = fork();
	if (!v->pid)
		be_victim();
	assert_int_equal(read(tids[0], &v->held, sizeof(pid_t)), sizeof(pid_t));
	assert_int_equal(read(tids[0], &v->executes, sizeof(pid_t)),
			 sizeof(pid_t));
	v->tell = told[1];
	close(told[0]);
	close(tids[0]);
	close(tids[1]);
}

static void end(struct victim *v)
{
	kill(v->pid, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		continue;
	close(v->tell);
}

static char state_of(pid_t pid, pid_t tid)
{
	struct dp_status st;

	return dp_status_read(pid, tid, &st) ? 0 : st.state;
}

/* The exec is under way, and waits for the end of the thread that is held. */
static void execute(const struct victim *v)
{
	assert_int_equal(write(v->tell, "x", 1), 1);
	while (state_of(v->pid, v->held) != 'Z')
		usleep(100);
}

static void hold(const struct victim *v)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, v->held, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, v->held, 0, 0), 0);
	assert_int_equal(waitpid(v->held, &status, __WALL), v->held);
	assert_true(WIFSTOPPED(status));
}

static void it_comes_back(void **state)
{
	struct dp_process proc = { .mem = -1, .pidfd = -1 };
	struct dp_seizer seizer = { 0 };
	struct victim v;
	int i, got;

	start(&v);
	hold(&v);
	execute(&v);
	proc.pid = v.pid;
	for (i = 0; i < 5; i++)
		assert_int_equal(dp_seize(&seizer, v.pid, 0, true), -EINTR);
	assert_int_equal(state_of(v.pid, v.held), 'Z');
	dp_stop_ends(&proc);
	/* The first thread has been another one; then it is that which has executed. */
	do
		got = dp_seize(&seizer, v.pid, 0, true);
	while (got == -EINTR || got == -EPERM);
	assert_int_equal(got, 0);
	dp_seizer_end(&seizer);
	end(&v);
}

/* Of threads that are stopped, and not waited for yet, nothing is taken. */
static void ends_are_not_stops(void **state)
{
	struct dp_process proc = { .mem = -1, .pidfd = -1 };
	struct victim v;
	int status;

	start(&v);
	proc.pid = v.pid;
	assert_int_equal(ptrace(PTRACE_SEIZE, v.held, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, v.held, 0, 0), 0);
	while (state_of(v.pid, v.held) != 't')
		usleep(100);
	dp_stop_ends(&proc);
	assert_int_equal(waitpid(v.held, &status, __WALL | WNOHANG), v.held);
	assert_true(WIFSTOPPED(status));
	end(&v);
}

/* All that is held is let go, and the exec comes to its end. */
static void what_is_held_is_let_go(void **state)
{
	struct dp_process *proc = dp_process_new();
	struct dp_diag diag = { 0 };
	struct dp_status st;
	struct victim v;

	start(&v);
	proc->pid = v.pid;
	assert_int_equal(dp_process_open_mem(proc, &diag), 0);
	assert_int_equal(dp_stop_this(proc, v.held, &diag), 0);
	execute(&v);
	assert_false(dp_process_replaced(proc));
	dp_stop_release(proc);
	while (!dp_process_executes(proc))
		usleep(100);
	assert_int_equal(dp_status_read(v.pid, v.pid, &st), 0);
	assert_int_equal(st.tracer, 0);
	dp_process_abandon(proc);
	end(&v);
}

/* A tool that has no descriptor left cannot list threads. */
static void an_error_holds_nothing(void **state)
{
	struct dp_process proc = { .mem = -1, .pidfd = -1 };
	struct rlimit most, none;
	struct victim v;

	start(&v);
	proc.pid = v.pid;
	assert_int_equal(dp_stop_this(&proc, v.held, NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &most), 0);
	none = (struct rlimit){ 0, most.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_true(dp_stop_more(&proc, NULL) < 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
	assert_int_equal(proc.nr_threads, 0);
	while (state_of(v.pid, v.held) == 't')
		usleep(100);
	free(proc.threads);
	end(&v);
}

static bool starved;

bool dp_kill_point_fails(const char *name)
{
	return starved && !strcmp(name, "stop: room");
}

static void without_memory_none_is_seized(void **state)
{
	struct dp_process proc = { .mem = -1, .pidfd = -1 };
	struct dp_status st;
	struct victim v;

	start(&v);
	proc.pid = v.pid;
	starved = true;
	assert_true(dp_stop_this(&proc, v.held, NULL) < 0);
	starved = false;
	assert_int_equal(dp_status_read(v.pid, v.held, &st), 0);
	assert_int_equal(st.tracer, 0);
	free(proc.threads);
	end(&v);
}

static void take_note(int sig)
{
	urgent++;
}

/* In a library's process the signal is the program's. */
static void the_signal_is_the_programs(void **state)
{
	struct sigaction mine = { .sa_handler = take_note }, now;
	struct dp_seizer seizer = { 0 };
	sigset_t mask, after;
	struct victim v;

	sigaddset(&mine.sa_mask, SIGUSR1);
	sigaction(SIGURG, &mine, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	start(&v);
	hold(&v);
	execute(&v);
	assert_int_equal(dp_seize(&seizer, v.pid, 0, true), -EINTR);
	assert_int_equal(urgent, 0);
	raise(SIGURG);
	assert_int_equal(urgent, 1);
	dp_seizer_end(&seizer);
	raise(SIGURG);
	assert_int_equal(urgent, 2);
	sigaction(SIGURG, NULL, &now);
	assert_ptr_equal(now.sa_handler, take_note);
	assert_true(sigismember(&now.sa_mask, SIGUSR1));
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_memory_equal(&mask, &after, 8);
	signal(SIGURG, SIG_DFL);
	end(&v);
}

/* Who blocks all signals, as a tracer child does, comes back, too; and blocks them afterwards. */
static void it_may_be_blocked(void **state)
{
	struct dp_seizer seizer = { 0 };
	sigset_t all, before, after;
	struct victim v;

	start(&v);
	hold(&v);
	execute(&v);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	assert_int_equal(dp_seize(&seizer, v.pid, 0, true), -EINTR);
	dp_seizer_end(&seizer);
	pthread_sigmask(SIG_SETMASK, &before, &after);
	assert_true(sigismember(&after, SIGURG));
	end(&v);
}

/* It would hang. */
static int limit(void **state)
{
	alarm(300);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_comes_back, limit),
		cmocka_unit_test_setup(ends_are_not_stops, limit),
		cmocka_unit_test_setup(what_is_held_is_let_go, limit),
		cmocka_unit_test_setup(an_error_holds_nothing, limit),
		cmocka_unit_test_setup(without_memory_none_is_seized, limit),
		cmocka_unit_test_setup(the_signal_is_the_programs, limit),
		cmocka_unit_test_setup(it_may_be_blocked, limit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("seize", tests, NULL, NULL);
}
