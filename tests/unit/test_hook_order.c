// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Exits of hooks against a model: random chains are registered, armed, disarmed and deregistered.
 *   HOOK_OPS=N   so many operations
 *
 * The model keeps, for each hook, an array of records, and moves through it by the rules as the paper
 * and the HOWTO tell them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dprobes/hooks.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define RECS 10
#define CHAIN 3

DECLARE_GENERIC_HOOK(model_a, int);
DECLARE_GENERIC_HOOK(model_b, int);
DECLARE_EXCLUSIVE_HOOK(model_only, int);

static struct gkh_hook *const hooks[] = { GKH_HOOK(model_a), GKH_HOOK(model_b),
					  GKH_HOOK(model_only) };
#define HOOKS 3

static struct gkh_rec recs[RECS];
static int called[RECS + 1], nr_called, stop_at;

struct model_rec {
	int hook; /* -1: not registered */
	bool armed;
	unsigned int prio;
};

struct model {
	struct model_rec rec[RECS];
	int order[HOOKS][RECS], n[HOOKS];
};

static struct model model;

static int note_call(struct gkh_hook *h, struct gkh_args *a)
{
	int i = (int)(a->rec - recs);

	called[nr_called++] = i;
	return i == stop_at ? GKH_TERMINATE : GKH_CONTINUE;
}

static unsigned int prio_at(const struct model *m, int hook, int place)
{
	return m->rec[m->order[hook][place]].prio & GKH_ONLY;
}

static int model_place(const struct model *m, int hook, unsigned int prio)
{
	int n = m->n[hook], place;
	bool first = n && prio_at(m, hook, 0) == GKH_FIRST;
	bool last = n && prio_at(m, hook, n - 1) == GKH_LAST;

	if (n && (hook == 2 || (prio & GKH_ONLY) == GKH_ONLY ||
		  prio_at(m, hook, 0) == GKH_ONLY))
		return -EBUSY;
	if ((prio & GKH_ONLY) == GKH_FIRST)
		return first ? -EBUSY : 0;
	if ((prio & GKH_ONLY) == GKH_LAST)
		return last ? -EBUSY : n;
	if ((prio & GKH_ONLY) == GKH_ONLY)
		return 0;
	place = prio & GKH_LIFO ? first : n - last;
	return place;
}

static int model_register(struct model *m, int i)
{
	int hook, place, k;

	if (m->rec[i].hook >= 0)
		return -EEXIST;
	hook = (int)(intptr_t)recs[i].data;
	m->rec[i].prio = recs[i].flags & (GKH_ONLY | GKH_LIFO);
	place = model_place(m, hook, m->rec[i].prio);
	if (place < 0)
		return place;
	for (k = m->n[hook]++; k > place; k--)
		m->order[hook][k] = m->order[hook][k - 1];
	m->order[hook][place] = i;
	m->rec[i].hook = hook;
	m->rec[i].armed = false;
	return 0;
}

static int model_deregister(struct model *m, int i)
{
	int hook = m->rec[i].hook, k, n = 0;

	if (hook < 0)
		return -EINVAL;
	for (k = 0; k < m->n[hook]; k++)
		if (m->order[hook][k] != i)
			m->order[hook][n++] = m->order[hook][k];
	m->n[hook] = n;
	m->rec[i].hook = -1;
	m->rec[i].armed = false;
	return 0;
}

static int model_arm(struct model *m, int i)
{
	if (m->rec[i].hook < 0)
		return -EINVAL;
	m->rec[i].armed = true;
	return 0;
}

static int model_disarm(struct model *m, int i)
{
	if (m->rec[i].hook < 0)
		return -EINVAL;
	m->rec[i].armed = false;
	return 0;
}

static int (*const model_op[])(struct model *, int) = { model_register,
							model_arm, model_disarm,
							model_deregister };
static int (*const real_op[])(struct gkh_rec *) = { gkh_register, gkh_arm,
						    gkh_disarm,
						    gkh_deregister };

/* All or nothing: the model does it to a copy. */
static int model_chain(int op, const int *chain, int n)
{
	struct model next = model;
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = model_op[op](&next, chain[i]);
	if (!err)
		model = next;
	return err;
}

static unsigned int state = 1;

static int draw(int n)
{
	state = state * 1664525u + 1013904223u;
	return (int)((state >> 8) % (unsigned int)n);
}

static const unsigned int prios[] = { 0,	0,	  0,
				      GKH_LIFO, GKH_LIFO, GKH_FIRST,
				      GKH_LAST, GKH_ONLY, GKH_FIRST | GKH_LIFO };

static void make_new(int i)
{
	int hook = draw(HOOKS);

	if (model.rec[i].hook >= 0)
		return;
	memset(&recs[i], 0, sizeof(recs[i]));
	recs[i].exit = note_call;
	recs[i].hook = hooks[hook];
	recs[i].data = (void *)(intptr_t)hook;
	recs[i].flags = prios[draw(sizeof(prios) / sizeof(prios[0]))];
}

/* Different records, in any order */
static int draw_chain(int *chain)
{
	int n = 1 + draw(CHAIN), i, k;

	for (i = 0; i < n; i++) {
	again:
		chain[i] = draw(RECS);
		for (k = 0; k < i; k++)
			if (chain[k] == chain[i])
				goto again;
	}
	return n;
}

static void operate(void)
{
	int chain[CHAIN], n = draw_chain(chain), op = draw(4), i, wanted;

	for (i = 0; i < n && op == 0; i++)
		make_new(chain[i]);
	for (i = 0; i < n; i++)
		recs[chain[i]].next = i + 1 < n ? &recs[chain[i + 1]] : NULL;
	wanted = model_chain(op, chain, n);
	assert_int_equal(real_op[op](&recs[chain[0]]), wanted);
}

static void check_call(int hook)
{
	int i, n = 0;

	stop_at = draw(4) ? -1 : draw(RECS);
	nr_called = 0;
	if (hook == 0)
		GENERIC_HOOK(model_a, 1);
	else if (hook == 1)
		GENERIC_HOOK(model_b, 1);
	else
		GENERIC_HOOK(model_only, 1);
	for (i = 0; i < model.n[hook]; i++) {
		int r = model.order[hook][i];

		assert_int_equal(recs[r].index, i + 1);
		if (!model.rec[r].armed || (n && called[n - 1] == stop_at))
			continue;
		assert_true(n < nr_called);
		assert_int_equal(called[n++], r);
	}
	assert_int_equal(n, nr_called);
}

static void check_states(void)
{
	int i, armed[HOOKS] = { 0 };

	for (i = 0; i < RECS; i++) {
		bool registered = recs[i].flags & GKH_REGISTERED;

		assert_int_equal(registered, model.rec[i].hook >= 0);
		assert_int_equal(!!(recs[i].flags & GKH_ARMED),
				 model.rec[i].armed);
		if (model.rec[i].armed)
			armed[model.rec[i].hook]++;
	}
	for (i = 0; i < HOOKS; i++)
		assert_int_equal(!!hooks[i]->active, !!armed[i]);
}

static void test_random_operations(void **unused)
{
	const char *text = getenv("HOOK_OPS");
	long n = text ? atol(text) : 1000000;
	int i;

	for (i = 0; i < RECS; i++)
		model.rec[i].hook = -1;
	while (n--) {
		operate();
		check_states();
		check_call(draw(HOOKS));
	}
	for (i = 0; i < RECS; i++) {
		recs[i].next = NULL;
		if (model.rec[i].hook >= 0)
			assert_int_equal(gkh_deregister(&recs[i]), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		test_random_operations) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
