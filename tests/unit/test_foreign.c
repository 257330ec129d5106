// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * foreign: when another process is attached to and left, and when jumps in it cede to others'
 * breakpoints. The process is made up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/text/strategy.h"
#include "engine/site/live.h"
#include "lib/foreign.h"
#include "proc/attach_other.h"
#include "proc/call.h"
#include "proc/linker.h"
#include "proc/proc.h"

/** there - the process
 *  @sites: that are probed in it; @disturbed: by another's breakpoint
 *  @begin_err: why its text cannot be changed, or 0
 *  @held: its text may be changed; @ceded: how often its jumps ceded */
static struct {
	size_t sites;
	bool disturbed;
	int begin_err, held, ceded;
} there;

static struct dp_target text;

int __wrap_dp_child_run(const struct dp_child *child);
int __wrap_dp_attach_other_begin(struct dp_process *proc,
				 struct dp_target **target,
				 struct dp_diag *diag);
void __wrap_dp_attach_other_end(struct dp_process *proc);
struct dp_target *__wrap_dp_process_target(struct dp_process *proc);
bool __wrap_dp_engine_disturbed(const struct dp_engine *engine,
				struct dp_target *target);
int __wrap_dp_engine_cede(struct dp_engine *engine, struct dp_target *target,
			  dp_cede_fn *tell, void *arg);
size_t __wrap_dp_engine_sites(const struct dp_engine *engine);

int __wrap_dp_child_run(const struct dp_child *child)
{
	child->work(child->arg);
	return 0;
}

int __wrap_dp_attach_other_begin(struct dp_process *proc,
				 struct dp_target **target,
				 struct dp_diag *diag)
{
	if (there.begin_err)
		return there.begin_err;
	*target = &text;
	there.held++;
	return 0;
}

void __wrap_dp_attach_other_end(struct dp_process *proc)
{
	there.held--;
}

struct dp_target *__wrap_dp_process_target(struct dp_process *proc)
{
	return &text;
}

bool __wrap_dp_engine_disturbed(const struct dp_engine *engine,
				struct dp_target *target)
{
	assert_ptr_equal(target, &text);
	return there.disturbed;
}

int __wrap_dp_engine_cede(struct dp_engine *engine, struct dp_target *target,
			  dp_cede_fn *tell, void *arg)
{
	assert_int_equal(there.held, 1);
	assert_ptr_equal(target, &text);
	there.ceded++;
	return 0;
}

size_t __wrap_dp_engine_sites(const struct dp_engine *engine)
{
	return there.sites;
}

/* The more sites there are, the more looks are left out. */
static void expect_look(struct dp_foreign *f, u32 rests, int ceded)
{
	there.ceded = 0;
	assert_int_equal(dp_foreign_cede(f), rests);
	assert_int_equal(there.ceded, ceded);
	assert_int_equal(there.held, 0);
}

static void cedes_where_text_can_be_changed(void **state)
{
	struct dp_foreign f = { .pid = 1 };

	memset(&there, 0, sizeof(there));
	there.sites = 5000;
	expect_look(&f, 4, 0);
	there.disturbed = true;
	expect_look(&f, 4, 1);
	there.begin_err = -ESRCH;
	expect_look(&f, 4, 0);
	there.begin_err = 0;
	there.sites = 1;
	expect_look(&f, 0, 1);
	f.gone = true;
	expect_look(&f, 0, 0);
	f.gone = false;
	f.ending = true;
	there.sites = 5000;
	expect_look(&f, 0, 0);
}

/* --- from the first probe to the last --- */

#define PID 1234567
#define UPCALLS 5
#define PROC ((struct dp_process *)0x1000)
#define ENGINE ((struct dp_engine *)0x2000)

/** life - of the process
 *  @attach_err, @serve_err: how that ends; @ended: it runs no more
 *  @filtered: no probe can stay under its filter; the others count calls */
static struct {
	int attach_err, serve_err;
	bool ended, filtered;
	int attached, served, left, held, served_no_more, lost, abandoned;
	u32 forgotten, switched_off, removed;
	u64 user;
} life;
static struct dp_upcalls upcalls;

int __wrap_dp_process_attach_other(pid_t pid, const struct dp_attach_other *how,
				   struct dp_process **proc,
				   struct dp_diag *diag);
int __wrap_dp_process_detach(struct dp_process *proc, struct dp_diag *diag);
struct dp_engine *__wrap_dp_process_engine(const struct dp_process *proc);
struct dp_upcalls *__wrap_dp_live_upcalls(const struct dp_engine *engine,
					  u32 *n);
int __wrap_dp_serve_begin(struct dp_foreign *f);
void __wrap_dp_serve_end(struct dp_foreign *f);
void __wrap_dp_process_hold_asking(struct dp_process *proc, bool hold);
enum dp_process_state __wrap_dp_process_poll(struct dp_process *proc,
					     int timeout_ms);
void __wrap_dp_clients_lose(struct dp_foreign *f);
void __wrap_dp_process_abandon(struct dp_process *proc);
const char *__wrap_dp_process_filter_installed(struct dp_process *proc);
bool __wrap_dp_live_switch_off(struct dp_engine *engine, u32 probe, u64 user);
int __wrap_dp_live_remove(struct dp_engine *engine, struct dp_target *target,
			  const u32 *probes, u32 n);
void __wrap_dp_live_forget(struct dp_engine *engine, u32 probe);

int __wrap_dp_process_attach_other(pid_t pid, const struct dp_attach_other *how,
				   struct dp_process **proc,
				   struct dp_diag *diag)
{
	assert_int_equal(pid, PID);
	assert_int_equal(how->tool, getpid());
	assert_int_equal(how->upcalls, DP_UPCALLS);
	assert_true(how->max_sites > 0);
	*proc = PROC;
	life.attached += !life.attach_err;
	return life.attach_err;
}

int __wrap_dp_process_detach(struct dp_process *proc, struct dp_diag *diag)
{
	assert_ptr_equal(proc, PROC);
	life.left++;
	return 0;
}

struct dp_engine *__wrap_dp_process_engine(const struct dp_process *proc)
{
	return ENGINE;
}

struct dp_upcalls *__wrap_dp_live_upcalls(const struct dp_engine *engine,
					  u32 *n)
{
	*n = UPCALLS;
	return &upcalls;
}

int __wrap_dp_serve_begin(struct dp_foreign *f)
{
	assert_ptr_equal(f->upcalls, &upcalls);
	assert_int_equal(f->nr_upcalls, UPCALLS);
	assert_false(f->occupied[UPCALLS - 1]);
	assert_int_equal(f->stop, -1);
	life.served += !life.serve_err;
	return life.serve_err;
}

void __wrap_dp_serve_end(struct dp_foreign *f)
{
	/* A thread that asks now waits. */
	assert_int_equal(life.held, life.served_no_more + 1);
	f->ending = true;
	life.served_no_more++;
}

void __wrap_dp_process_hold_asking(struct dp_process *proc, bool hold)
{
	assert_true(hold);
	life.held++;
}

enum dp_process_state __wrap_dp_process_poll(struct dp_process *proc,
					     int timeout_ms)
{
	assert_int_equal(timeout_ms, 0);
	return life.ended ? DP_PROCESS_EXITED : DP_PROCESS_RUNS;
}

/* Its clients are all unregistered. */
void __wrap_dp_clients_lose(struct dp_foreign *f)
{
	assert_true(f->gone);
	f->live = 0;
	life.lost++;
}

void __wrap_dp_process_abandon(struct dp_process *proc)
{
	assert_ptr_equal(proc, PROC);
	life.abandoned++;
}

const char *__wrap_dp_process_filter_installed(struct dp_process *proc)
{
	return life.filtered ? "it is forbidden" : NULL;
}

bool __wrap_dp_live_switch_off(struct dp_engine *engine, u32 probe, u64 user)
{
	life.switched_off += probe;
	life.user = user;
	return true;
}

int __wrap_dp_live_remove(struct dp_engine *engine, struct dp_target *target,
			  const u32 *probes, u32 n)
{
	assert_ptr_equal(target, &text);
	assert_int_equal(there.held, 1);
	assert_int_equal(n, 2);
	life.removed += probes[0] + probes[1];
	return 0;
}

void __wrap_dp_live_forget(struct dp_engine *engine, u32 probe)
{
	life.forgotten += probe;
}

static int begin(void **state)
{
	memset(&there, 0, sizeof(there));
	memset(&life, 0, sizeof(life));
	return 0;
}

static struct dp_foreign *get(void)
{
	struct dp_foreign *f = NULL;

	assert_int_equal(dp_foreign_get(PID, &f), 0);
	assert_non_null(f);
	assert_int_equal(f->pid, PID);
	assert_ptr_equal(f->proc, PROC);
	assert_ptr_equal(f->engine, ENGINE);
	assert_int_equal(f->refs, 1);
	return f;
}

/* Once, and left when its last probe has gone. */
static void a_process_is_attached_to_while_it_has_probes(void **state)
{
	struct dp_foreign *f = get();

	assert_ptr_equal(get(), f);
	assert_int_equal(life.attached, 1);
	assert_int_equal(life.served, 1);
	f->live = 1;
	dp_foreign_tidy(f);
	assert_int_equal(life.left, 0);
	f->live = 0;
	/* A thread that serves it still has it. */
	f->refs++;
	dp_foreign_tidy(f);
	assert_int_equal(life.held, 1);
	assert_int_equal(life.served_no_more, 1);
	assert_int_equal(life.left, 1);
	assert_int_equal(life.abandoned, 0);
	dp_foreign_tidy(f);
	assert_int_equal(life.left, 1);
	dp_foreign_put(f);
	assert_int_equal(life.abandoned, 1);
	/* Anew */
	dp_foreign_tidy(get());
	assert_int_equal(life.attached, 2);
	assert_int_equal(life.abandoned, 2);
}

static void a_process_without_a_tracer_or_threads_is_not_kept(void **state)
{
	struct dp_foreign *f;

	life.attach_err = -EPERM;
	assert_int_equal(dp_foreign_get(PID, &f), -EPERM);
	assert_int_equal(life.left, 0);
	life.attach_err = 0;
	life.serve_err = -EAGAIN;
	assert_int_equal(dp_foreign_get(PID, &f), -EAGAIN);
	assert_string_equal(
		dp_last_diag()->text,
		"no thread can be made that would do it: Resource temporarily unavailable");
	assert_int_equal(life.left, 1);
	assert_int_equal(life.abandoned, 1);
	life.serve_err = 0;
	dp_foreign_tidy(get());
	assert_int_equal(life.attached, 2);
}

/* There is nothing to leave. */
static void a_process_that_has_ended_is_lost(void **state)
{
	struct dp_foreign *f = get();

	f->live = 1;
	f->refs++;
	dp_foreign_look(f);
	assert_int_equal(life.lost, 0);
	life.ended = true;
	dp_foreign_look(f);
	assert_int_equal(life.lost, 1);
	assert_int_equal(life.left, 0);
	assert_int_equal(life.served_no_more, 1);
	dp_foreign_look(f);
	assert_int_equal(life.lost, 1);
	dp_foreign_put(f);
	assert_int_equal(life.abandoned, 1);
	/* Another process has its number now. */
	life.ended = false;
	f = get();
	assert_int_equal(life.attached, 2);
	life.ended = true;
	f->live = 1;
	f = get();
	assert_int_equal(life.attached, 3);
	dp_foreign_leave_all();
	assert_int_equal(life.left, 0);
	dp_foreign_put(f);
}

static void a_filter_may_end_the_probes(void **state)
{
	struct dp_foreign *f = get();

	f->live = 1;
	dp_foreign_filter_install(f);
	assert_int_equal(life.left + life.lost, 0);
	life.filtered = true;
	dp_foreign_filter_install(f);
	assert_int_equal(life.left, 1);
	assert_int_equal(life.lost, 1);
	assert_int_equal(life.abandoned, 1);
}

static void all_are_left_in_the_end(void **state)
{
	struct dp_foreign *f = get();

	f->live = 3;
	dp_foreign_leave_all();
	assert_int_equal(life.held, 1);
	assert_int_equal(life.served_no_more, 1);
	assert_int_equal(life.left, 1);
	dp_foreign_put(f);
	/* A fork child leaves none, and has no thread that could. */
	f = get();
	f->refs = 3;
	dp_foreign_forget_all();
	assert_int_equal(life.left, 1);
	assert_int_equal(life.abandoned, 2);
	dp_foreign_tidy(get());
	assert_int_equal(life.attached, 3);
}

static void removed_probes_are_off_and_then_free(void **state)
{
	struct dp_foreign *f = get();
	struct dp_client c[2] = {
		{ .at = f, .index = 1, .user = 11, .linked = true },
		{ .at = f, .index = 2, .user = 12, .linked = true },
	};
	struct dp_client *clients[] = { &c[0], &c[1] };

	f->clients = calloc(2, sizeof(*f->clients));
	f->nr_clients = 2;
	f->clients[1] = &c[0];
	f->live = 2;
	/* Text that cannot be written has them still, switched off. */
	there.begin_err = -EIO;
	dp_foreign_remove(f, clients, 2);
	assert_int_equal(life.switched_off, 3);
	assert_int_equal(life.user, 12);
	assert_true(c[0].linked && c[1].linked);
	there.begin_err = 0;
	dp_foreign_remove(f, clients, 2);
	assert_int_equal(life.removed, 3);
	assert_false(c[0].linked || c[1].linked);
	dp_foreign_retire(&c[0]);
	assert_int_equal(life.forgotten, 1);
	assert_null(f->clients[1]);
	/* No other probe gets the number of one that could not be removed. */
	c[1].linked = true;
	dp_foreign_retire(&c[1]);
	assert_int_equal(life.forgotten, 1);
	assert_int_equal(f->live, 0);
	dp_foreign_tidy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cedes_where_text_can_be_changed),
		cmocka_unit_test_setup(
			a_process_is_attached_to_while_it_has_probes, begin),
		cmocka_unit_test_setup(
			a_process_without_a_tracer_or_threads_is_not_kept,
			begin),
		cmocka_unit_test_setup(a_process_that_has_ended_is_lost, begin),
		cmocka_unit_test_setup(a_filter_may_end_the_probes, begin),
		cmocka_unit_test_setup(all_are_left_in_the_end, begin),
		cmocka_unit_test_setup(removed_probes_are_off_and_then_free,
				       begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
