// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_alive: what an arena tells of its tool, when processes are closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/layout/arena.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "proc/attach/attach.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"

#define SIZE (DP_FILE_ARENA_OFFSET + sizeof(struct dp_arena))

/** struct agent - an engine with an arena: the tool's mapping, and that of the process */
struct agent {
	struct dp_engine *engine;
	void *ours;
	struct dp_arena_control *control, *theirs;
};

static void *map(int fd)
{
	void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static struct agent make(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct agent a;

	assert_int_equal(ftruncate(fd, SIZE), 0);
	a.ours = map(fd);
	a.control = (void *)((char *)a.ours + DP_FILE_ARENA_OFFSET);
	a.theirs = (void *)((char *)map(fd) + DP_FILE_ARENA_OFFSET);
	close(fd);
	assert_int_equal(dp_engine_create(&a.engine), 0);
	a.engine->arena = (struct dp_arena *)a.control;
	return a;
}

static void drop(const struct agent *a)
{
	dp_engine_destroy(a->engine);
	munmap((char *)a->theirs - DP_FILE_ARENA_OFFSET, SIZE);
}

static struct dp_process *with(const struct agent *a)
{
	struct dp_process *proc = dp_process_new();

	assert_non_null(proc);
	proc->pid = getpid();
	proc->engine = a->engine;
	proc->file = a->ours;
	proc->file_size = SIZE;
	return proc;
}

static bool lives(const struct agent *a)
{
	return (a->theirs->tool_futex & FUTEX_TID_MASK) == (u32)gettid() &&
	       !(a->theirs->tool_futex & DP_TOOL_DIED);
}

/* Every link leads to memory that is mapped: else this dies. Return: how many there are. */
static int listed(void)
{
	struct robust_list_head *head;
	struct robust_list *l;
	size_t len;
	int n = 0;

	assert_int_equal(syscall(SYS_get_robust_list, 0, &head, &len), 0);
	for (l = head->list.next; l != &head->list; l = l->next)
		n++;
	return n;
}

static void ends_with_the_object(void **state)
{
	struct agent a = make();
	struct dp_process *proc = with(&a);

	dp_alive_enter(a.control);
	assert_true(lives(&a));
	assert_int_equal(listed(), 1);
	dp_process_abandon(proc);
	assert_false(lives(&a));
	assert_int_equal(listed(), 0);
	drop(&a);
}

static void others_stay_when_one_ends(void **state)
{
	struct agent a[3] = { make(), make(), make() };
	struct dp_process *proc[3];
	int i;

	for (i = 0; i < 3; i++) {
		proc[i] = with(&a[i]);
		dp_alive_enter(a[i].control);
	}
	for (i = 0; i < 3; i++) {
		assert_true(lives(&a[i]));
		dp_process_abandon(proc[i]);
		assert_false(lives(&a[i]));
		assert_int_equal(listed(), 2 - i);
		drop(&a[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_the_object),
		cmocka_unit_test(others_stay_when_one_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("alive", tests, NULL, NULL);
}
