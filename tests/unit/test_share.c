// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_share: descriptors and mappings that the tool makes in another process, and takes back. */
#include <dprobes/diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/site/arm.h"
#include "engine/site/engine.h"
#include "proc/attach/area.h"
#include "proc/attach/attach.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"

#define FD 77
#define FREE 3 /* descriptors that a poor victim has left */

/** struct seen - what a victim tells of itself: its thread that runs */
struct seen {
	volatile pid_t busy;
};

static struct seen *seen;
static pid_t victim;

static void *run(void *arg)
{
	seen->busy = gettid();
	for (;;)
		__asm__ volatile("pause");
	return arg;
}

/* It has descriptors of its own: another file by the same number. */
static void *run_alone(void *arg)
{
	if (unshare(CLONE_FILES) || dup2(open("/dev/null", O_RDONLY), FD) != FD)
		abort();
	return run(arg);
}

/* Its first thread sleeps, so that the tool takes the other one for its calls. */
static void be_left(void)
{
	int fd = memfd_create("dprobes", 0);
	pthread_t t;

	if (dup2(fd, FD) != FD || close(fd))
		abort();
	pthread_create(&t, NULL, run_alone, NULL);
	for (;;)
		pause();
}

static void be_poor(void)
{
	const struct rlimit limit = { 3 + FREE, 3 + FREE };

	if (close_range(3, ~0u, 0) || setrlimit(RLIMIT_NOFILE, &limit))
		abort();
	run(NULL);
}

static void be_plain(void)
{
	run(NULL);
}

static void start(void (*be)(void))
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	victim = fork();
	if (!victim) {
		alarm(60);
		be();
	}
	while (!seen->busy)
		usleep(100);
}

static int end(void **state)
{
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	munmap(seen, sizeof(*seen));
	return 0;
}

/* What descriptor FD of the thread that runs is. */
static const char *file_of_busy(void)
{
	static char to[64];
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", victim,
		 seen->busy, FD);
	n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = '\0';
	return to;
}

static int nr_files(void)
{
	char path[64];
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", victim);
	d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static int nr_areas(void)
{
	struct dp_maps maps;
	int n = 0;
	size_t i;

	assert_int_equal(dp_maps_read(victim, &maps), 0);
	for (i = 0; i < maps.n; i++)
		n += dp_path_is_ours(maps.v[i].path);
	dp_maps_free(&maps);
	return n;
}

static bool no_room;

bool dp_kill_point_fails(const char *name)
{
	return no_room && !strcmp(name, "share: room");
}

/** struct held - a victim that is attached to, and held */
struct held {
	struct dp_process *proc;
};

static struct held hold(void)
{
	struct dp_diag diag = { 0 };
	struct held h;

	assert_int_equal(dp_process_attach(victim, &h.proc, &diag), 0);
	assert_int_equal(dp_stop_alone(h.proc, &diag), 0);
	assert_int_equal(dp_remote_begin(h.proc, &diag), 0);
	return h;
}

static void let_go(struct held *h)
{
	dp_remote_end(h->proc);
	dp_stop_release(h->proc);
	dp_process_close(h->proc);
}

/* What a killed tool left is in the first thread's table of descriptors alone. */
static void sweeps_its_own_alone(void **state)
{
	struct dp_diag diag = { 0 };

	start(be_left);
	assert_string_equal(file_of_busy(), "/dev/null");
	assert_int_equal(dp_process_clean(victim, &diag), 1);
	assert_string_equal(file_of_busy(), "/dev/null");
}

/* The file that the arena is settled with was passed to another thread. */
static void settles_with_its_own_alone(void **state)
{
	struct held h;

	start(be_left);
	h = hold();
	assert_int_equal(dp_remote_thread(h.proc), seen->busy);
	assert_int_equal(dp_engine_create(&h.proc->engine), 0);
	h.proc->own_process = true;
	h.proc->unsettled = FD;
	assert_int_equal(dp_area_settle(h.proc), -EBADF);
	assert_int_equal(dp_unmap(h.proc), 0);
	assert_string_equal(file_of_busy(), "/dev/null");
	dp_engine_destroy(h.proc->engine);
	h.proc->engine = NULL;
	let_go(&h);
}

static void closes_what_came_in_part(void **state)
{
	int files[2] = { dp_share_file(4096), dp_share_file(4096) };
	struct held h;
	s32 there[2];

	start(be_poor);
	h = hold();
	assert_int_equal(dp_share_pass(h.proc, files, 1, there), 0);
	assert_int_equal(nr_files(), 4);
	dp_share_close(h.proc, there, 1);
	assert_int_equal(dp_share_pass(h.proc, files, 2, there), -EMFILE);
	assert_int_equal(nr_files(), 3);
	let_go(&h);
	close(files[0]);
	close(files[1]);
}

static void maps_only_what_it_keeps(void **state)
{
	struct held h;
	u64 there;
	u8 *ours;

	start(be_plain);
	h = hold();
	assert_int_equal(dp_attach_other_map(h.proc, 4096, &ours, &there), 0);
	assert_int_equal(nr_areas(), 1);
	no_room = true;
	assert_int_equal(dp_attach_other_map(h.proc, 4096, &ours, &there),
			 -ENOMEM);
	assert_int_equal(nr_areas(), 1);
	no_room = false;
	let_go(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sweeps_its_own_alone, end),
		cmocka_unit_test_teardown(settles_with_its_own_alone, end),
		cmocka_unit_test_teardown(closes_what_came_in_part, end),
		cmocka_unit_test_teardown(maps_only_what_it_keeps, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("share", tests, NULL, NULL);
}
