// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Work done by a child in our memory: whose it is, and what is said when it is killed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/call.h"
#include "port_hit.h"

/** struct seen - what the work has found out of the child that does it */
struct seen {
	pid_t pid, parent;
	char name[16];
	int dies_of, fd;
	sigset_t mask;
	bool alone;
};

static void look(void *arg)
{
	struct seen *seen = arg;

	seen->pid = getpid();
	seen->parent = getppid();
	prctl(PR_GET_NAME, seen->name);
	prctl(PR_GET_PDEATHSIG, &seen->dies_of);
	seen->alone = dp_port_alone();
	seen->fd = open("/dev/null", O_RDONLY);
	sigprocmask(SIG_SETMASK, NULL, &seen->mask);
}

static void kill_child(void *arg)
{
	kill(getpid(), SIGKILL);
}

static int signals;

static void count(int sig)
{
	signals++;
}

/* Of a child the program hears nothing, and has nothing to wait for. */
static void shares_memory_and_files(void **state)
{
	struct seen seen = { .alone = true };
	const struct dp_child child = { .work = look, .arg = &seen };
	sigset_t now;

	signal(SIGCHLD, count);
	assert_int_equal(dp_child_run(&child), 0);
	signal(SIGCHLD, SIG_DFL);
	assert_int_not_equal(seen.pid, getpid());
	assert_int_equal(seen.parent, getpid());
	assert_false(seen.alone);
	assert_true(dp_port_alone());
	assert_true(sigismember(&seen.mask, SIGUSR1));
	assert_int_equal(close(seen.fd), 0);
	assert_int_equal(signals, 0);
	assert_int_equal(waitpid(-1, NULL, __WALL), -1);
	sigprocmask(SIG_SETMASK, NULL, &now);
	assert_false(sigismember(&now, SIGUSR1));
}

static void ends_with_us_or_not(void **state)
{
	struct seen seen = { 0 };
	struct dp_child child = { .work = look, .arg = &seen };
	char own[16];

	prctl(PR_GET_NAME, own);
	assert_int_equal(dp_child_run(&child), 0);
	assert_int_equal(seen.dies_of, SIGKILL);
	assert_string_equal(seen.name, own);
	close(seen.fd);
	child.outlives = true;
	child.name = "goes on";
	assert_int_equal(dp_child_run(&child), 0);
	assert_int_equal(seen.dies_of, 0);
	assert_string_equal(seen.name, "goes on");
	close(seen.fd);
	prctl(PR_GET_NAME, seen.name);
	assert_string_equal(seen.name, own);
}

static void says_that_it_was_killed(void **state)
{
	const struct dp_child child = { .work = kill_child };

	assert_int_equal(dp_child_run(&child), -EINTR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_memory_and_files),
		cmocka_unit_test(ends_with_us_or_not),
		cmocka_unit_test(says_that_it_was_killed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
