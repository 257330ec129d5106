// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* helper: what it tells of a thread, and what it leaves in the process that asks. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/helper/helper.h"

#define STACK 65536

static sem_t ready, done;
static u32 tid;

static void *wait_here(void *arg)
{
	tid = (u32)syscall(SYS_gettid);
	sem_post(&ready);
	while (sem_wait(&done))
		;
	return NULL;
}

static int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Return: pages of address space. */
static long address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld", &pages), 1);
	fclose(f);
	return pages;
}

static int look_at(u32 thread, struct dp_helper_answer *answer)
{
	const struct dp_helper_order order = { .pid = getpid(),
					       .verb = DP_HELPER_LOOK,
					       .n = thread };
	struct dp_diag diag;

	return dp_helper_run(&order, NULL, answer, &diag);
}

/* Nothing is left, whether it succeeds or not. */
static void looks_at_threads(void **state)
{
	struct dp_helper_answer answer = { 0 };
	long pages;
	void *stack = aligned_alloc(4096, STACK);
	int before = descriptors();
	pthread_attr_t attr;
	pthread_t thread;

	sem_init(&ready, 0, 0);
	sem_init(&done, 0, 0);
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstack(&attr, stack, STACK), 0);
	assert_int_equal(pthread_create(&thread, &attr, wait_here, NULL), 0);
	sem_wait(&ready);
	assert_int_equal(look_at(tid, &answer), 0);
	assert_in_range(answer.base, (u64)stack, (u64)stack + STACK);
	assert_true(answer.pc != 0);
	assert_int_equal(descriptors(), before);
	/* The stack on which the helper started has gone, too. */
	pages = address_space();
	assert_int_equal(look_at(tid, &answer), 0);
	assert_int_equal(address_space(), pages);
	sem_post(&done);
	pthread_join(thread, NULL);
	assert_int_not_equal(look_at(tid, &answer), 0);
	assert_int_equal(descriptors(), before);
	assert_int_equal(waitpid(-1, NULL, __WALL), -1);
	assert_int_equal(errno, ECHILD);
	free(stack);
}

/* --- Yama --- */

static const char *scope;
static unsigned long named[4];
static u32 nr_named;

ssize_t __wrap_dp_text_read(const char *path, char *text, size_t size);
ssize_t __real_dp_text_read(const char *path, char *text, size_t size);
int __wrap_prctl(int option, unsigned long arg);

ssize_t __wrap_dp_text_read(const char *path, char *text, size_t size)
{
	if (!scope || !strstr(path, "yama"))
		return __real_dp_text_read(path, text, size);
	strncpy(text, scope, size - 1);
	return (ssize_t)strlen(scope);
}

int __wrap_prctl(int option, unsigned long arg)
{
	assert_int_equal(option, PR_SET_PTRACER);
	assert_true(nr_named < 4);
	named[nr_named++] = arg;
	return 0;
}

/* Only where that is asked for may a process trace that is named, and only so long. */
static void the_helper_may_trace(void **state)
{
	static const char *const others[] = { "0", "2", "3" };
	struct dp_helper_answer answer = { 0 };
	u32 i;

	for (i = 0; i < 3; i++) {
		scope = others[i];
		look_at(0x7ffffff0, &answer);
		assert_int_equal(nr_named, 0);
	}
	scope = "1";
	assert_int_not_equal(look_at(0x7ffffff0, &answer), 0);
	assert_int_equal(nr_named, 2);
	assert_true(named[0] > 0 && (pid_t)named[0] != getpid());
	assert_int_equal(named[1], 0);
	scope = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_at_threads),
		cmocka_unit_test(the_helper_may_trace),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
