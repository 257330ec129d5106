// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobe: which probes are registered, in which order they come and go, and what becomes of
 * the sites of a return probe. The engines of other processes are made up.
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
#include "lib/foreign.h"

#define SITES 3
#define MANY 300 /* more than go in two rounds */

static struct uretprobe function;
static struct dp_tracked_site sites[SITES];

/** engine - the other process's
 *  @add_err: how adding ends; @links: so many clients have been linked by then
 *  @linked, @retired: clients; @gone: by site, how often its caller was told
 *  @adds, @removes: calls; @get_err_pid: the process that cannot be attached to
 *  @lost: it has gone with its process */
static struct {
	struct dp_foreign f;
	int add_err;
	u32 links, linked, retired, gone[SITES];
	u32 adds, removes, tidied, get_err_pid;
	bool lost;
} engine;
static struct dp_foreign other; /* the one with the process id 2 */

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
	if (pid == (pid_t)engine.get_err_pid)
		return -ESRCH;
	*f = pid == 2 ? &other : &engine.f;
	return 0;
}

int __wrap_dp_foreign_add(struct dp_foreign *f, struct dp_client **clients,
			  u32 n)
{
	u32 i;

	engine.adds++;
	for (i = 0; i < n && i < engine.links; i++)
		clients[i]->linked = true;
	engine.linked += i;
	return engine.add_err;
}

void __wrap_dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients,
			      u32 n)
{
	u32 i;

	engine.removes++;
	for (i = 0; i < n; i++) {
		assert_ptr_equal(clients[i]->at, f);
		assert_true(clients[i]->linked && clients[i]->off);
		clients[i]->linked = false;
		engine.linked--;
	}
}

void __wrap_dp_foreign_retire(struct dp_client *c)
{
	assert_true(!c->linked || engine.lost);
	engine.retired++;
}

void __wrap_dp_foreign_tidy(struct dp_foreign *f)
{
	assert_true(f == &engine.f || f == &other);
	engine.tidied++;
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

/* --- lists of probes --- */

static struct uprobe u[MANY], *list[MANY];

static int many(void **state)
{
	u32 i;

	begin(state);
	engine.links = MANY;
	for (i = 0; i < MANY; i++) {
		u[i] = (struct uprobe){ .pid = 1 + (i >= 2),
					.vaddr = 4096 + i,
					.handler = on_hit };
		list[i] = &u[i];
	}
	return 0;
}

static void expect_none(void)
{
	struct dp_uprobe_account account;
	u32 i;

	assert_int_equal(engine.linked, 0);
	for (i = 0; i < MANY; i++)
		assert_int_equal(dp_uprobe_account(&u[i], &account), -ENOENT);
	assert_string_equal(dp_last_diag()->text,
			    "the probe is not registered");
}

/* Of each process at once, in rounds; the first round has probes of both. */
static void probes_of_a_process_come_and_go_together(void **state)
{
	assert_int_equal(register_uprobes(list, MANY), 0);
	assert_int_equal(engine.adds, 2);
	assert_int_equal(engine.linked, MANY);
	unregister_uprobes(list, MANY);
	assert_int_equal(engine.retired, MANY);
	assert_int_equal(engine.removes, 4);
	expect_none();
	/* Once more nothing is there. */
	unregister_uprobes(list, MANY);
	unregister_uprobes(NULL, 1);
	unregister_uprobes(list, 0);
	unregister_uprobe(NULL);
	assert_int_equal(engine.removes, 4);
}

static void all_are_registered_or_none(void **state)
{
	engine.get_err_pid = 2;
	assert_int_equal(register_uprobes(list, MANY), -ESRCH);
	assert_int_equal(engine.retired, 2);
	expect_none();
	/* Those of the first process are in its engine then, and those that cannot be added
	 * to the second one may be, too. */
	many(state);
	assert_int_equal(register_uprobes(list, 2), 0);
	unregister_uprobes(list, 2);
	engine.retired = engine.adds = engine.tidied = 0;
	engine.add_err = -EBUSY;
	engine.links = 1;
	assert_int_equal(register_uprobes(list, MANY), -EBUSY);
	assert_int_equal(engine.adds, 1);
	assert_int_equal(engine.retired, 1);
	assert_true(engine.tidied > 0);
	expect_none();
}

static void expect_refusal(int err, const char *words)
{
	assert_int_equal(register_uprobes(list, 3), err);
	assert_string_equal(dp_last_diag()->text, words);
	assert_int_equal(engine.linked, 0);
	assert_int_equal(engine.adds, 0);
}

static void some_are_refused_with_words(void **state)
{
	assert_int_equal(register_uprobes(NULL, 1), -EINVAL);
	assert_string_equal(dp_last_diag()->text, "there are no probes");
	assert_int_equal(register_uprobes(list, 0), -EINVAL);
	list[1] = NULL;
	expect_refusal(-EINVAL, "probe 1 is NULL");
	list[1] = &u[1];
	u[2].handler = NULL;
	expect_refusal(-EINVAL, "the probe has no handler");
	u[2].handler = on_hit;
	list[1] = list[0];
	expect_refusal(-EEXIST, "the probe is registered already");
	expect_none();
	list[1] = &u[1];
	assert_int_equal(register_uprobe(&u[2]), 0);
	assert_int_equal(register_uprobes(list, 3), -EEXIST);
	assert_int_equal(engine.adds, 1);
	unregister_uprobe(&u[2]);
	expect_none();
}

/* --- what belongs to whom --- */

static void on_other_hit(struct uprobe *u, struct pt_regs *regs)
{
	engine.adds++;
}

/* By where they are, or where their handlers are: from the first byte to the last. */
static void probes_go_with_their_memory(void **state)
{
	u[1].handler = on_other_hit;
	assert_int_equal(register_uprobes(list, 4), 0);
	assert_int_equal(dp_uprobes_drop((char *)&u[1] + 1, 8, false), 0);
	assert_int_equal(dp_uprobes_drop((char *)&u[1] - 8, 8, false), 0);
	assert_int_equal(dp_uprobes_drop(&u[0], 4 * sizeof(u[0]), true), 0);
	assert_int_equal(engine.linked, 4);
	assert_int_equal(dp_uprobes_drop((void *)((u64)&u[0] - 8), 9, false),
			 1);
	assert_int_equal(engine.linked, 3);
	assert_int_equal(dp_uprobes_drop((void *)on_other_hit, 1, false), 1);
	assert_int_equal(engine.linked, 2);
	assert_int_equal(dp_uprobes_drop((void *)on_hit, 1, false), 2);
	expect_none();
	/* More of them than are found at once */
	assert_int_equal(register_uprobes(list, MANY), 0);
	assert_int_equal(dp_uprobes_drop(u, sizeof(u), false), MANY);
	expect_none();
}

static void a_return_probe_is_one_object(void **state)
{
	assert_int_equal(dp_uprobes_add_tracked(sites, SITES), 0);
	assert_true(dp_tracked_any(&function));
	assert_false(dp_tracked_any((const void *)((u64)&function - 1)));
	assert_false(dp_tracked_any((const void *)((u64)&function + 1)));
	assert_int_equal(dp_uprobes_drop(&function, 1, false), 1);
	expect_gone(1);
}

/* All of a process that has gone, and no others. */
static void probes_of_a_lost_process_go(void **state)
{
	struct dp_uprobe_account account;

	u[3].pid = 1;
	assert_int_equal(register_uprobes(list, 4), 0);
	engine.lost = true;
	dp_foreign_lock();
	dp_clients_lose(&engine.f);
	dp_foreign_unlock();
	engine.lost = false;
	assert_int_equal(engine.retired, 3);
	assert_int_equal(dp_uprobe_account(&u[0], &account), -ENOENT);
	unregister_uprobes(list, 4);
	assert_int_equal(engine.retired, 4);
	assert_int_equal(engine.linked, 3);
}

/* --- in our own process --- */

static struct pt_regs hit_regs;
static u32 hits;

static long __attribute__((noipa)) victim(long x)
{
	return x * 3 + 1;
}

static void on_own_hit(struct uprobe *p, struct pt_regs *regs)
{
	assert_ptr_equal(p, &u[0]);
	hit_regs = *regs;
	hits++;
}

static long __attribute__((noipa)) instead(long x)
{
	return 2000 + x;
}

static void elsewhere(struct uprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)instead;
}

static void own_code_is_probed(void **state)
{
	struct dp_uprobe_account account;
	long variable;

	u[0] = (struct uprobe){ .pid = getpid(),
				.vaddr = (unsigned long)victim,
				.handler = on_own_hit };
	hits = 0;
	assert_null(dp_uprobe_there(&u[0], &variable));
	assert_int_equal(register_uprobe(&u[0]), 0);
	assert_int_equal(engine.adds, 0);
	assert_int_equal(victim(5), 16);
	assert_int_equal(victim(6), 19);
	assert_int_equal(hits, 2);
	assert_int_equal(hit_regs.ip, (unsigned long)victim);
	assert_int_equal(hit_regs.di, 6);
	assert_int_equal(dp_uprobe_account(&u[0], &account), 0);
	assert_int_equal(account.hits, 2);
	assert_int_equal(account.missed, 0);
	assert_int_equal(account.late, 0);
	assert_ptr_equal(dp_uprobe_there(&u[0], &variable), &variable);
	unregister_uprobe(&u[0]);
	assert_int_equal(victim(5), 16);
	assert_int_equal(hits, 2);
	/* A handler may send the thread elsewhere. */
	u[0].handler = elsewhere;
	assert_int_equal(register_uprobe(&u[0]), 0);
	assert_int_equal(victim(5), 2005);
	unregister_uprobe(&u[0]);
	assert_int_equal(victim(5), 16);
}

static void leave_oneself(struct uprobe *p, struct pt_regs *regs)
{
	engine.add_err = register_uprobe(&u[1]);
	unregister_uprobe(p);
	hits++;
}

static void a_handler_may_unregister_only(void **state)
{
	struct dp_uprobe_account account;

	u[0] = (struct uprobe){ .pid = getpid(),
				.vaddr = (unsigned long)victim,
				.handler = leave_oneself };
	hits = 0;
	assert_int_equal(register_uprobe(&u[0]), 0);
	assert_int_equal(victim(5), 16);
	assert_int_equal(victim(5), 16);
	assert_int_equal(hits, 1);
	assert_int_equal(engine.add_err, -EAGAIN);
	engine.add_err = 0;
	assert_int_equal(dp_uprobe_account(&u[0], &account), -ENOENT);
	assert_int_equal(register_uprobe(&u[0]), 0);
	unregister_uprobe(&u[0]);
}

/* All of a list or none, here too. */
static void own_code_that_cannot_be_probed_is_refused(void **state)
{
	u[0] = (struct uprobe){ .pid = getpid(),
				.vaddr = (unsigned long)victim,
				.handler = on_own_hit };
	u[1] = (struct uprobe){ .pid = getpid(),
				.vaddr = 8,
				.handler = on_own_hit };
	hits = 0;
	assert_true(register_uprobes(list, 2) < 0);
	assert_string_not_equal(dp_last_diag()->text, "");
	victim(1);
	assert_int_equal(hits, 0);
	expect_none();
}

static int count_free(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* What is called while a uprobe comes or goes is none of the program's calls. */
static void the_librarys_calls_are_its_own(void **state)
{
	struct kprobe p = { .symbol_name = "free", .pre_handler = count_free };
	void *volatile room;

	u[0] = (struct uprobe){ .pid = getpid(),
				.vaddr = (unsigned long)victim,
				.handler = on_own_hit };
	assert_int_equal(register_kprobe(&p), 0);
	hits = 0;
	assert_int_equal(register_uprobe(&u[0]), 0);
	assert_int_equal(hits, 0);
	room = malloc(1);
	free(room);
	assert_int_equal(hits, 1);
	unregister_uprobe(&u[0]);
	assert_int_equal(hits, 1);
	unregister_kprobe(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_sites_go, begin),
		cmocka_unit_test_setup(sites_that_fail_are_the_callers, begin),
		cmocka_unit_test_setup(probes_of_a_process_come_and_go_together,
				       many),
		cmocka_unit_test_setup(all_are_registered_or_none, many),
		cmocka_unit_test_setup(some_are_refused_with_words, many),
		cmocka_unit_test_setup(probes_go_with_their_memory, many),
		cmocka_unit_test_setup(a_return_probe_is_one_object, begin),
		cmocka_unit_test_setup(probes_of_a_lost_process_go, many),
		cmocka_unit_test_setup(own_code_is_probed, many),
		cmocka_unit_test_setup(a_handler_may_unregister_only, many),
		cmocka_unit_test_setup(
			own_code_that_cannot_be_probed_is_refused, many),
		cmocka_unit_test_setup(the_librarys_calls_are_its_own, many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
