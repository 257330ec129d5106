// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * quiesce: jumps into the text of a process that probes itself, while none of its
 * threads runs.
 *
 * Its table of sites is copied here, changed, and what has changed is copied
 * back: nobody else touches it, for the thread that asked for this waits.
 */
#include "proc/private.h"
#include "engine/control/strategy.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#define TRIES 200
#define NAP_NS 200000

struct table {
	struct dp_sites sites;
	u64 addr;
};

static int load(struct dp_process *proc, u64 arena, struct table *t)
{
	struct dp_arena_control c;
	int err = dp_process_read(proc, arena, &c, sizeof(c));
	size_t size;

	if (err)
		return err;
	size = (size_t)c.nr_sites * sizeof(*t->sites.v);
	t->addr = arena + c.site_off;
	t->sites.v = malloc(size);
	return t->sites.v ? dp_process_read(proc, t->addr, t->sites.v, size) :
			    -ENOMEM;
}

static int store(struct dp_process *proc, const struct table *t)
{
	int err = 0;
	u32 i;

	for (i = 0; i < t->sites.n && !err; i++)
		err = dp_process_write(
			proc,
			t->addr + t->sites.which[i] * sizeof(*t->sites.v) +
				offsetof(struct dp_site_entry, armed),
			&dp_sites_at(&t->sites, i)->armed, 1);
	return err;
}

static bool is_inside(const void *sites, u64 pc)
{
	u64 to;

	return dp_sites_inside(sites, pc, &to);
}

static bool to_copy(const void *sites, u64 pc, u64 *to)
{
	return dp_sites_inside(sites, pc, to);
}

/* Return: -EAGAIN while somebody is inside. */
static int try_write(struct dp_process *proc, struct table *t, u64 *bad,
		     struct dp_diag *diag)
{
	const struct dp_moves moves = { &t->sites, is_inside, to_copy };
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = -EAGAIN;
	if (dp_threads_move(proc, &moves)) {
		err = dp_strategy_quiesce.arm(&proc->target, &t->sites, bad);
		if (!err)
			err = store(proc, t);
	}
	dp_stop_release(proc);
	return err;
}

static int write_all(struct dp_process *proc, struct table *t, u64 *bad,
		     struct dp_diag *diag)
{
	const struct timespec nap = { 0, NAP_NS };
	int err = -EAGAIN, tries;

	for (tries = 0; err == -EAGAIN && tries < TRIES; tries++) {
		if (tries)
			nanosleep(&nap, NULL);
		err = try_write(proc, t, bad, diag);
	}
	if (err == -EAGAIN)
		dp_diag_set(
			diag, err,
			"a thread is where a jump has to be written and cannot be moved");
	return err;
}

int dp_process_quiesce(pid_t pid, u64 arena, const u32 *which, u32 n, u64 *bad,
		       struct dp_diag *diag)
{
	struct dp_process *proc = dp_process_new();
	struct table t = { .sites = { NULL, n, which, false } };
	int err;

	if (!proc)
		return -ENOMEM;
	proc->pid = pid;
	err = dp_process_open_mem(proc, diag);
	if (!err)
		err = load(proc, arena, &t);
	if (!err)
		err = write_all(proc, &t, bad, diag);
	free(t.sites.v);
	dp_process_close(proc);
	return err;
}
