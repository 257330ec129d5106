// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * quiesce: write jumps into the text of a process while none of its threads runs.
 *
 * The table of sites of a process that probes itself is copied here, changed, and the changes
 * are copied back. Nothing else changes the table meanwhile: the thread that asked for the
 * jumps waits. A tool writes with its engine's own table: if it is killed between two jumps,
 * the next tool finds there which are in the text.
 *
 * A site that was a breakpoint has copies of its one instruction that lead back behind it,
 * which is now inside the jump. A thread in such a copy goes on in the detour. A thread on
 * its way into a copy, or out of it through an after-handler, has to run on first.
 */
#include "engine/text/strategy.h"
#include "engine/layout/handler.h"
#include "engine/site/arm.h"
#include "arch/uregs.h"
#include "engine/layout/base.h"
#include "proc/attach/attach.h"
#include "proc/attach/drain.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/attach_other.h"
#include "sym/list.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define TRIES 40
#define NAP_NS 200000

/** struct span - a copy that leads back into the jump of site @i */
struct span {
	u64 start;
	u32 size, i;
};

struct table {
	struct dp_sites sites;
	u64 *bad;
	u64 arena, addr;
	struct dp_arena_control control;
	void *ours; /* the arena's mapping in this process, if any */
	struct dp_engine *engine; /* the tool's own, or NULL */
	struct span *spans;
	size_t nr_spans;
	bool handled; /* has any site after-handlers? */
};

static void add_span(struct table *t, u64 start, u32 size, u32 i)
{
	if (start && size)
		t->spans[t->nr_spans++] = (struct span){ start, size, i };
}

/* Does the site's jump displace several instructions? */
static bool is_long(const struct table *t, const struct dp_site_entry *s)
{
	const struct dp_jump *j = dp_sites_jump(&t->sites, s);

	return j && j->nr > 1;
}

static void find_spans(struct table *t)
{
	const struct dp_site_entry *s;
	u32 i;

	for (i = 0; i < t->sites.n; i++) {
		s = dp_sites_at(&t->sites, i);
		t->handled |= s->post != 0;
		if (!is_long(t, s))
			continue;
		add_span(t, s->single, s->single_len, i);
		add_span(t, s->post, s->post_len, i);
	}
	qsort(t->spans, t->nr_spans, sizeof(*t->spans), dp_list_order);
}

/* A pc may also lie behind a breakpoint that ends a copy. */
static const struct span *span_at(const struct table *t, u64 pc)
{
	size_t n = dp_list_upto(t->spans, t->nr_spans, sizeof(*t->spans),
				offsetof(struct span, start), pc);
	const struct span *last = n ? &t->spans[n - 1] : NULL;

	return last && pc - last->start < last->size ? last : NULL;
}

static int load_table(struct dp_process *proc, const struct table *t,
		      u32 offset, size_t size, void **to)
{
	*to = malloc(size);
	return *to ? dp_process_read(proc, t->arena + offset, *to, size) :
		     -ENOMEM;
}

static int load(struct dp_process *proc, struct table *t)
{
	struct dp_arena_control *c = &t->control;
	int err = dp_process_read(proc, t->arena, c, sizeof(*c));

	if (err)
		return err;
	t->addr = t->arena + c->site_off;
	t->spans = malloc((2 * (size_t)t->sites.n + 1) * sizeof(*t->spans));
	if (!t->spans)
		return -ENOMEM;
	err = load_table(proc, t, c->site_off,
			 c->nr_sites * sizeof(*t->sites.v),
			 (void **)&t->sites.v);
	if (!err)
		err = load_table(proc, t, c->jump_off,
				 c->nr_jumps * sizeof(*t->sites.jumps),
				 (void **)&t->sites.jumps);
	t->sites.nr_jumps = c->nr_jumps;
	t->sites.total = c->nr_sites;
	if (!err)
		find_spans(t);
	return err;
}

/* If the sites are another process's, only the process that has the tables mapped can
 * write them. */
static int store(struct dp_process *proc, const struct table *t)
{
	struct dp_site_entry *sites =
		t->ours ? (void *)((char *)t->ours + t->control.site_off) :
			  NULL;
	int err = 0;
	u32 i;

	for (i = 0; i < t->sites.n && !err; i++) {
		const struct dp_site_entry *s = dp_sites_at(&t->sites, i);
		u64 offset = t->sites.which[i] * sizeof(*s) +
			     offsetof(struct dp_site_entry, armed);

		err = sites ? dp_site_mirror_state(&sites[t->sites.which[i]],
						   s) :
			      dp_process_write(proc, t->addr + offset,
					       &s->armed, 1);
	}
	return err;
}

static bool has_trapped(const void *arg, u64 pc)
{
	const struct table *t = arg;

	return dp_sites_find(&t->sites, pc - 1);
}

static bool is_inside(const void *arg, u64 pc)
{
	const struct table *t = arg;
	u64 to;

	return dp_sites_inside(&t->sites, pc, &to) || span_at(t, pc) ||
	       has_trapped(t, pc);
}

/* A pc before or behind the instruction in its single copy has a counterpart in the
 * detour. */
static bool to_copy(const void *arg, u64 pc, u64 *to)
{
	const struct table *t = arg;
	const struct span *span = span_at(t, pc);
	const struct dp_site_entry *s;
	const struct dp_jump *j;

	if (!span)
		return dp_sites_inside(&t->sites, pc, to);
	s = dp_sites_at(&t->sites, span->i);
	if (span->start != s->single)
		return false;
	j = dp_sites_jump(&t->sites, s);
	*to = j->base + (pc == s->single ? j->insn[0] : j->at[1]);
	return pc == s->single || pc == s->single + s->single_body;
}

/* Do after-handlers of the site return to behind its instruction? */
static bool is_handled(const struct table *t, u64 site)
{
	const struct dp_site_entry *s;
	u32 i;

	for (i = 0; i < t->sites.n; i++) {
		s = dp_sites_at(&t->sites, i);
		if (t->addr + (u64)(s - t->sites.v) * sizeof(*s) == site)
			return s->post && is_long(t, s);
	}
	return false;
}

/* Stacks for handlers; the target can write anything there. */
static u32 nr_stacks(const struct table *t)
{
	return t->control.nr_stacks < DP_STACKS ? t->control.nr_stacks :
						  DP_STACKS;
}

/* Is a thread on its way to a handler or back, with no note of its hit? */
static bool on_the_way(const struct dp_process *proc, const struct table *t)
{
	const struct dp_arena_control *c = &t->control;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (dp_uregs_pc(&proc->threads[i].regs) - c->base <
			    DP_AGENT_TEXT &&
		    dp_uregs_sp(&proc->threads[i].regs) - c->stack_base <
			    (u64)nr_stacks(t) * DP_STACK_SIZE)
			return true;
	return false;
}

static bool out_of_handlers(const struct dp_process *proc, const void *arg)
{
	const struct table *t = arg;
	const struct dp_arena_control *c = &t->control;
	static u32 owners[DP_STACKS];
	struct dp_stack stack;
	u32 i;

	if (!t->handled)
		return true;
	if (on_the_way(proc, t))
		return false;
	if (dp_process_read(proc, t->arena + c->owner_off, owners,
			    sizeof(owners)))
		return false;
	for (i = 0; i < nr_stacks(t); i++) {
		if (!owners[i] || owners[i] & DP_OWNER_COMES)
			continue;
		if (dp_process_read(proc,
				    c->stack_base +
					    (u64)(i + 1) * DP_STACK_SIZE -
					    sizeof(stack),
				    &stack, offsetof(struct dp_stack, vectors)))
			continue;
		if (stack.busy && is_handled(t, stack.site))
			return false;
	}
	return true;
}

static int write_jumps(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct table *t = arg;

	if (t->engine)
		return dp_engine_write_jumps(t->engine, &proc->target,
					     t->sites.which, t->sites.n);
	return dp_strategy_quiesce.arm(&proc->target, &t->sites, t->bad) ?:
		       store(proc, t);
}

static int write_all(struct dp_process *proc, struct table *t,
		     struct dp_diag *diag)
{
	const struct dp_moves moves = { .arg = t,
					.from = is_inside,
					.to = to_copy,
					.trapped = has_trapped,
					.agent = t->control.base,
					.ready = out_of_handlers };
	int err = -EAGAIN, tries;

	for (tries = 0; err == -EAGAIN && tries < TRIES; tries++) {
		if (tries)
			dp_nap(NAP_NS);
		err = dp_threads_clear(proc, &moves, write_jumps, t, diag);
		err = err > 0 ? -EAGAIN : err;
	}
	if (err == -EAGAIN)
		dp_diag_set(
			diag, err,
			"a thread is where a jump has to be written and cannot be moved");
	return err;
}

static int quiesce(struct dp_process *proc, struct table *t,
		   struct dp_diag *diag)
{
	int err = load(proc, t);

	if (!err)
		err = write_all(proc, t, diag);
	free(t->spans);
	free(t->sites.v);
	free((void *)t->sites.jumps);
	return err;
}

int dp_process_quiesce(pid_t pid, u64 arena, void *ours, const u32 *which,
		       u32 n, u64 *bad, struct dp_diag *diag)
{
	struct table t = { .sites = { .n = n, .which = which },
			   .bad = bad,
			   .arena = arena,
			   .ours = ours };
	struct dp_process *proc;
	int err = dp_process_open(pid, &proc, diag);

	if (err)
		return err;
	err = quiesce(proc, &t, diag);
	dp_process_close(proc);
	return err;
}

int dp_quiesce_write(struct dp_process *proc, const u32 *which, u32 n,
		     struct dp_diag *diag)
{
	struct table t = { .sites = { .n = n, .which = which },
			   .arena = proc->base + DP_ARENA_OFFSET,
			   .engine = proc->engine };

	return quiesce(proc, &t, diag);
}
