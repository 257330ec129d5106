// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of the sums over processes of the same program, on sessions that are made up. */
#include "tracer/groups.h"
#include "tracer/session.h"
#include "tracer/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct dp_spec specs[2] = { { .name = (char *)"f" },
				   { .name = (char *)"f*", .glob = true } };
static struct dp_source source;
static const struct dp_tracer_options options = { .children = true };
static const struct dp_session session = { .opt = &options, .source = &source };

/* One more process of a program begins. */
static void begin(struct dp_groups *g, const char *exe)
{
	source.exe = exe;
	dp_groups_session(g);
}

static void add(struct dp_groups *g, const char *name, struct dp_spec *spec,
		u64 hits, const char *mode)
{
	struct dp_point point = { .name = (char *)name, .spec = spec };
	const struct dp_row row = { .s = &session,
				    .point = &point,
				    .hits = hits,
				    .missed = 1,
				    .mode = mode };

	dp_groups_add(g, &row);
}

static void is(const struct dp_groups *g, size_t i, const char *program,
	       const char *name, u64 hits, u64 processes, const char *mode)
{
	assert_true(i < g->n);
	assert_string_equal(g->v[i].program, program);
	assert_string_equal(g->v[i].name, name);
	assert_int_equal(g->v[i].hits, hits);
	assert_int_equal(g->v[i].missed, processes);
	assert_int_equal(g->v[i].processes, processes);
	assert_string_equal(g->v[i].mode, mode);
}

static void test_programs(void **state)
{
	struct dp_groups g = { 0 };

	begin(&g, "/bin/a");
	add(&g, "f", &specs[0], 3, "jump");
	begin(&g, "/bin/b");
	add(&g, "f", &specs[0], 10, "jump");
	begin(&g, "/usr/bin/a");
	add(&g, "f", &specs[0], 4, "jump");
	add(&g, "g", &specs[0], 5, "trap");
	assert_int_equal(g.n, 3);
	is(&g, 0, "a", "f", 7, 2, "jump");
	is(&g, 1, "b", "f", 10, 1, "jump");
	is(&g, 2, "a", "g", 5, 1, "trap");
	dp_groups_free(&g);
}

static void test_modes(void **state)
{
	struct dp_groups g = { 0 };

	begin(&g, "a");
	add(&g, "f", &specs[0], 1, "jump");
	begin(&g, "a");
	add(&g, "f", &specs[0], 1, "trap");
	begin(&g, "a");
	add(&g, "f", &specs[0], 1, "trap");
	is(&g, 0, "a", "f", 3, 3, "both");
	dp_groups_free(&g);
}

/* Probes of one name in a process are rows of their own, as they are without -f. */
static void test_same_name(void **state)
{
	struct dp_groups g = { 0 }, total = { 0 };
	int i;

	for (i = 0; i < 2; i++) {
		begin(&g, i ? "a" : "b");
		add(&g, "f", &specs[0], 1, "jump");
		add(&g, "f", &specs[0], 20, "jump");
		add(&g, "f", &specs[1], 300, "jump");
	}
	begin(&g, "a");
	add(&g, "f", &specs[0], 1, "jump");
	assert_int_equal(g.n, 6);
	is(&g, 3, "a", "f", 2, 2, "jump");
	is(&g, 4, "a", "f", 20, 1, "jump");
	is(&g, 5, "a", "f", 300, 1, "jump");
	dp_groups_total(&g, &total);
	assert_int_equal(total.n, 3);
	is(&total, 0, "(all)", "f", 3, 3, "jump");
	is(&total, 1, "(all)", "f", 40, 2, "jump");
	is(&total, 2, "(all)", "f", 600, 2, "jump");
	assert_int_equal(total.v[0].parts, 2);
	dp_groups_free(&g);
	dp_groups_free(&total);
}

/* More than the table begins with, and each is found again. */
static void test_many(void **state)
{
	struct dp_groups g = { 0 };
	char name[16];
	int round, i;

	for (round = 0; round < 3; round++) {
		begin(&g, "a");
		for (i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "f%d", i);
			add(&g, name, &specs[1], (u64)i, "jump");
		}
	}
	assert_int_equal(g.n, 5000);
	assert_false(g.lost);
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		is(&g, (size_t)i, "a", name, 3 * (u64)i, 3, "jump");
	}
	dp_groups_free(&g);
	assert_int_equal(g.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
