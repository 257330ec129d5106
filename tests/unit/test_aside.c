// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of what a child that reads hostile input can still do: not open, write, or reach anybody. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sym/aside.h"

/* Return: the exit status of a child that is confined and then does @what; 200: it cannot be */
static int status_of(int (*what)(int line))
{
	int pair[2], status;
	pid_t child;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	child = fork();
	if (!child)
		_exit(dp_aside_confine(1u << 30, pair[1]) ? what(pair[1]) :
							    200);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(pair[0]);
	close(pair[1]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int open_files(int line)
{
	static const char *const path[] = { "/etc/passwd", "/dev/null",
					    "/proc/self/mem", "." };
	size_t i;

	for (i = 0; i < sizeof(path) / sizeof(*path); i++)
		if (open(path[i], O_RDONLY) >= 0 || errno != ENOENT ||
		    openat(AT_FDCWD, path[i], O_PATH) >= 0 || errno != ENOENT)
			return 1;
	return 0;
}

static void test_nothing_is_opened(void **state)
{
	assert_int_equal(status_of(open_files), 0);
}

static int use_lent(int line)
{
	dp_aside_lend(line);
	if (open("/etc/passwd", O_RDONLY) != line)
		return 1;
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != ENOENT)
		return 2;
	if (dp_aside_lend(line) != -1 || dp_aside_lend(-1) != line)
		return 3;
	return open("/etc/passwd", O_RDONLY) >= 0;
}

static void test_a_lent_file_is_opened_once(void **state)
{
	assert_int_equal(status_of(use_lent), 0);
}

static int reach_out(int line)
{
	char byte = 0;

	if (write(line, &byte, 1) != 1)
		return 1;
	if (write(STDERR_FILENO, &byte, 0) != -1 || errno != EPERM)
		return 2;
	if (send(line, &byte, 1, 0) != -1 ||
	    socket(AF_UNIX, SOCK_STREAM, 0) != -1)
		return 3;
	if (kill(getppid(), 0) != -1 || fork() != -1)
		return 4;
	if (alarm(0) != ~0u || signal(SIGALRM, SIG_IGN) != SIG_ERR)
		return 5;
	return unlink("/nonexistent") != -1 || errno != EPERM;
}

static void test_nobody_is_reached(void **state)
{
	assert_int_equal(status_of(reach_out), 0);
}

static int be_large(int line)
{
	if (mmap(NULL, 1u << 28, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		 0) == MAP_FAILED)
		return 1;
	return mmap(NULL, 1u << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED;
}

static void test_memory_has_an_end(void **state)
{
	assert_int_equal(status_of(be_large), 0);
}

/* In the child only @kept is there afterwards. */
static void test_shared_memory_is_given_up(void **state)
{
	const int how = MAP_SHARED | MAP_ANONYMOUS;
	int *given = mmap(NULL, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	int *kept = mmap(NULL, 4096, PROT_READ | PROT_WRITE, how, -1, 0);
	int *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char there;
	pid_t child = fork();

	if (!child) {
		dp_aside_alone(kept);
		if (mincore(given, 4096, &there) == -1 && errno == ENOMEM)
			*kept = 1 + *own;
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(*kept, 1);
	assert_int_equal(*given, 0);
	munmap(given, 4096);
	munmap(kept, 4096);
	munmap(own, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_opened),
		cmocka_unit_test(test_a_lent_file_is_opened_once),
		cmocka_unit_test(test_nobody_is_reached),
		cmocka_unit_test(test_memory_has_an_end),
		cmocka_unit_test(test_shared_memory_is_given_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("aside", tests, NULL, NULL);
}
