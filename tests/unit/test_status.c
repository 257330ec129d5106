// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_status: what /proc tells of a process, and what not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "proc/ptrace/process.h"
#include "proc/ptrace/procfs.h"

#define STATUS 3

/* A process that has ended, and that nobody has waited for. */
static pid_t start_zombie(uid_t user)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(user && setuid(user) ? 1 : STATUS);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static int status_seen(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), status = 0;
	bool known = dp_status_exit(pid, fd, &status);

	close(fd);
	return known ? WEXITSTATUS(status) : -1;
}

static void ended(void **state)
{
	pid_t pid = start_zombie(0);

	assert_int_equal(status_seen(pid), STATUS);
	waitpid(pid, NULL, 0);
}

/* The kernel shows the status of another user's process as 0. */
static void ended_of_another_user(void **state)
{
	pid_t pid, other;
	int status;

	if (getuid())
		skip();
	pid = start_zombie(65533);
	other = fork();
	if (!other)
		_exit(setuid(65532) ? 1 : status_seen(pid) != -1);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_int_equal(status_seen(pid), STATUS);
	waitpid(pid, NULL, 0);
}

#define THREADS 200

static pthread_barrier_t there, over;

static void *stay(void *arg)
{
	*(pid_t *)arg = gettid();
	pthread_barrier_wait(&there);
	pthread_barrier_wait(&over);
	return NULL;
}

static size_t number(const pid_t *tids, pid_t tid)
{
	size_t i;

	for (i = 0; i < THREADS && tids[i] != tid; i++)
		continue;
	return i;
}

/* Each is seen once, and no memory is needed. */
static void every_thread(void **state)
{
	static const struct rlimit none = { 0, RLIM_INFINITY };
	pthread_t threads[THREADS];
	pid_t tids[THREADS], tid, *list;
	int seen[THREADS + 1] = { 0 };
	struct rlimit had;
	size_t i, n;

	pthread_barrier_init(&there, NULL, THREADS + 1);
	pthread_barrier_init(&over, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		assert_false(pthread_create(&threads[i], NULL, stay, &tids[i]));
	pthread_barrier_wait(&there);
	getrlimit(RLIMIT_AS, &had);
	setrlimit(RLIMIT_AS, &none);
	dp_each_task(tid, getpid())
		seen[number(tids, tid)]++;
	setrlimit(RLIMIT_AS, &had);
	for (i = 0; i <= THREADS; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(dp_tasks_list(getpid(), &list, &n), 0);
	assert_int_equal(n, THREADS + 1);
	free(list);
	pthread_barrier_wait(&over);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(dp_tasks_list(0x7fffffff, &list, &n), -ESRCH);
	assert_null(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ended),
		cmocka_unit_test(ended_of_another_user),
		cmocka_unit_test(every_thread),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
