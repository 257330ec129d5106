// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobe: what becomes of the sites of a return probe in another process, whose engine is
 * made up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "lib/foreign.h"

#define SITES 3

static struct uretprobe function;
static struct dp_tracked_site sites[SITES];

/** engine - the other process's
 *  @add_err: how adding ends; @links: so many clients have been linked by then
 *  @linked, @retired: clients; @gone: by site, how often its caller was told */
static struct {
	struct dp_foreign f;
	int add_err;
	u32 links, linked, retired, gone[SITES];
} engine;

int __wrap_dp_foreign_get(pid_t pid, struct dp_foreign **f);
int __wrap_dp_foreign_add(struct dp_foreign *f, struct dp_client **clients,
			  u32 n);
void __wrap_dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients,
			      u32 n);
void __wrap_dp_foreign_retire(struct dp_client *c);
void __wrap_dp_foreign_tidy(struct dp_foreign *f);
void __wrap_dp_tracked_gone(struct dp_tracked_site *site);

int __wrap_dp_foreign_get(pid_t pid, struct dp_foreign **f)
{
	*f = &engine.f;
	return 0;
}

int __wrap_dp_foreign_add(struct dp_foreign *f, struct dp_client **clients,
			  u32 n)
{
	u32 i;

	for (i = 0; i < n && i < engine.links; i++)
		clients[i]->linked = true;
	engine.linked += i;
	return engine.add_err;
}

void __wrap_dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients,
			      u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		assert_true(clients[i]->linked && clients[i]->off);
		clients[i]->linked = false;
		engine.linked--;
	}
}

void __wrap_dp_foreign_retire(struct dp_client *c)
{
	assert_false(c->linked);
	engine.retired++;
}

void __wrap_dp_foreign_tidy(struct dp_foreign *f)
{
	assert_ptr_equal(f, &engine.f);
}

void __wrap_dp_tracked_gone(struct dp_tracked_site *site)
{
	engine.gone[site - sites]++;
}

static void on_hit(struct uprobe *u, struct pt_regs *regs)
{
}

/* An entry, and exits. */
static int begin(void **state)
{
	u32 i;

	memset(&engine, 0, sizeof(engine));
	engine.links = SITES;
	for (i = 0; i < SITES; i++)
		sites[i] = (struct dp_tracked_site){
			.u = { .pid = 1, .vaddr = 4096 + i, .handler = on_hit },
			.owner = { &function },
			.is_exit = i > 0,
		};
	return 0;
}

static void expect_gone(u32 times)
{
	u32 i;

	assert_int_equal(engine.linked, 0);
	assert_false(dp_tracked_any(&function));
	for (i = 0; i < SITES; i++)
		assert_int_equal(engine.gone[i], times);
}

static void all_sites_go(void **state)
{
	assert_int_equal(dp_uprobes_add_tracked(sites, SITES), 0);
	assert_true(dp_tracked_any(&function));
	assert_int_equal(engine.linked, SITES);
	assert_int_equal(dp_uprobes_drop(&function, 1, true), 1);
	assert_int_equal(engine.retired, SITES);
	expect_gone(1);
}

/* The caller frees them all, and is told of none, however far the adding has come. */
static void sites_that_fail_are_the_callers(void **state)
{
	engine.add_err = -EBUSY;
	for (engine.links = 0; engine.links <= SITES; engine.links++) {
		engine.retired = 0;
		assert_int_equal(dp_uprobes_add_tracked(sites, SITES), -EBUSY);
		assert_int_equal(engine.retired, engine.links);
		expect_gone(0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_sites_go, begin),
		cmocka_unit_test_setup(sites_that_fail_are_the_callers, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
