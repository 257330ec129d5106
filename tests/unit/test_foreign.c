// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* foreign: when jumps in another process cede to others' breakpoints. The process is made up. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/text/strategy.h"
#include "lib/foreign.h"
#include "proc/attach_other.h"
#include "proc/call.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cedes_where_text_can_be_changed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
