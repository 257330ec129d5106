// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* inspect: the probes of a process, read from outside without touching it. */
#include "engine/site/enable.h"
#include "engine/site/view.h"
#include "engine/text/state.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs made for trace and for conditions have no number. */
static char kind_of(const struct dp_probe_entry *p,
		    const struct dp_site_entry *s)
{
	if (s->watch)
		return 'w';
	if (p->program && (p->major || p->minor))
		return 'd';
	return p->kind == DP_KIND_RETURN || p->kind == DP_KIND_ENTER ? 'r' :
	       p->kind == DP_KIND_JPROBE			     ? 'j' :
								       'k';
}

/* The probes at the exits follow the one at the entry. */
static void describe_exits(const struct dp_view *view, u32 enter,
			   struct dp_armed *out)
{
	const struct dp_probe_entry *p;
	u32 i;

	out->has_exits = view->probes[enter].kind == DP_KIND_ENTER &&
			 !view->arena->control.own_process;
	for (i = enter + 1; out->has_exits && i < view->nr_probes; i++) {
		p = &view->probes[i];
		if (p->kind != DP_KIND_EXIT || p->group != enter)
			return;
		out->exits++;
		out->exit_traps += view->sites[p->site].mode == DP_MODE_TRAP;
		out->exit_tails += (p->way & DP_WAY_TAIL) != 0;
		out->exit_lost +=
			(p->way & (DP_WAY_TAIL | DP_WAY_TAIL_TARGET)) ==
			DP_WAY_TAIL;
	}
}

static void describe(const struct dp_view *view, u32 i, struct dp_armed *out)
{
	const struct dp_probe_entry *p = &view->probes[i];
	const struct dp_site_entry *s = &view->sites[p->site];
	const u64 *tally = view->states[i].tally;

	*out = (struct dp_armed){
		.addr = p->gone ? p->gone : s->addr,
		.kind = kind_of(p, s),
		.disabled = !p->enabled || p->disabled,
		.counts = p->kind == DP_KIND_PLAIN && !p->program,
		.gone = p->gone || s->armed == DP_SITE_GONE,
		.optimized = !p->gone && dp_view_is_jump(view, s),
		.hits = dp_view_probe_hits(view, i),
		.missed = tally[DP_TALLY_CONTEXT] + tally[DP_TALLY_RECURSED] +
			  tally[DP_TALLY_INSTANCES] +
			  tally[DP_TALLY_TOOL_GONE] + tally[DP_TALLY_SELF],
		.middle = dp_view_middle(view, i),
		.watch = s->watch,
		.watch_len = s->watch_len,
	};
	describe_exits(view, i, out);
	dp_view_reason(view, s, out->reason);
}

static void describe_pending(const struct dp_view *view, u32 i,
			     struct dp_armed *out)
{
	*out = (struct dp_armed){ .kind = 'k' };
	snprintf(out->pending, sizeof(out->pending), "%.*s",
		 DP_PENDING_SIZE - 1, view->arena->control.pending[i]);
}

/* In a process that probes itself, probes come and go. The lists of the sites have
 * those in use; probes whose code is gone are in none. */
static void list_linked(const struct dp_view *view, struct dp_armed *list,
			size_t *n)
{
	u32 i, p;

	for (i = 0; i < view->nr_sites; i++)
		for (p = view->sites[i].first_probe;
		     p && p <= view->nr_probes && *n < view->nr_probes;
		     p = view->probes[p - 1].next)
			describe(view, p - 1, &list[(*n)++]);
	for (i = 0; i < view->nr_probes && *n < view->nr_probes; i++)
		if (view->probes[i].gone)
			describe(view, i, &list[(*n)++]);
}

/* A probe that waits for its exchange is on its way. */
static bool is_listed(const struct dp_view *view, u32 i)
{
	const struct dp_probe_entry *p = &view->probes[i];

	return (view->sites[p->site].armed || view->sites[p->site].watch ||
		p->disabled) &&
	       p->disabled != DP_OFF_RETIRED && !dp_kind_is_hidden(p->kind);
}

static int list_probes(const struct dp_view *view, struct dp_armed **list,
		       size_t *n)
{
	u32 i;

	*list = calloc(view->nr_probes + DP_PENDING, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	if (view->arena->control.own_process) {
		list_linked(view, *list, n);
		return 0;
	}
	for (i = 0; i < view->arena->control.nr_pending && i < DP_PENDING; i++)
		describe_pending(view, i, &(*list)[(*n)++]);
	for (i = 0; i < view->nr_probes; i++)
		if (is_listed(view, i))
			describe(view, i, &(*list)[(*n)++]);
	return 0;
}

/* Reads something out of an arena; @view is valid only during the call. */
typedef int reader_fn(const struct dp_process *proc, const struct dp_view *view,
		      u64 addr, void *arg);

static int read_arena(const struct dp_process *proc, reader_fn *reader,
		      void *arg, struct dp_diag *diag)
{
	struct dp_view view;
	void *arena;
	size_t size;
	u64 addr;
	int err = dp_arena_load(proc, &arena, &size, &addr, diag);

	if (err)
		return err;
	err = dp_view_open(&view, arena, size);
	if (!err && view.arena->control.own_process)
		dp_patched_mark_live(proc, &view, addr);
	else if (!err)
		dp_patched_mark(proc, &view);
	if (!err && view.arena->control.owner != proc->ns_pid)
		err = -ENOENT;
	if (!err)
		err = reader(proc, &view, addr, arg);
	free(arena);
	return err;
}

int dp_arena_cannot(const struct dp_process *proc, int err,
		    struct dp_diag *diag)
{
	return dp_diag_set(
		diag, err,
		err == -ENOENT ?
			"process %d is not probed" :
			"what is mapped into process %d as dprobes is damaged",
		proc->pid);
}

static int inspect(pid_t pid, reader_fn *reader, void *arg,
		   struct dp_diag *diag)
{
	struct dp_process *proc;
	int err = dp_process_open(pid, &proc, diag);

	if (err)
		return err;
	proc->ns_pid = dp_process_inside(proc);
	err = read_arena(proc, reader, arg, diag);
	/* What is of another version has been told. */
	if (err && err != -EBUSY)
		dp_arena_cannot(proc, err, diag);
	dp_process_close(proc);
	return err;
}

struct probes {
	struct dp_armed *list;
	size_t n;
	pid_t tool;
};

static int read_probes(const struct dp_process *proc,
		       const struct dp_view *view, u64 addr, void *arg)
{
	const struct dp_arena_control *c = &view->arena->control;
	struct probes *p = arg;

	/* The kernel has said it; a process id may be another namespace's. */
	if (!(c->tool_futex & DP_TOOL_DIED))
		p->tool = (pid_t)c->tool;
	return list_probes(view, &p->list, &p->n);
}

int dp_process_inspect(pid_t pid, struct dp_armed **list, size_t *n,
		       pid_t *tool, struct dp_diag *diag)
{
	struct probes p = { 0 };
	int err = inspect(pid, read_probes, &p, diag);

	*list = p.list;
	*n = p.n;
	*tool = p.tool;
	return err;
}

struct variables {
	struct dp_variables *list;
	size_t n;
};

static void copy_variables(struct dp_variables *to, const struct dp_view *view,
			   const char *name, u64 addr, u32 offset, u32 n)
{
	snprintf(to->name, sizeof(to->name), "%s", name);
	to->addr = addr + offset;
	to->n = n < DP_VARIABLES_MAX ? n : DP_VARIABLES_MAX;
	memcpy(to->values, (const char *)view->arena + offset,
	       to->n * sizeof(u64));
}

/* There may be room for more than programs use. */
static u32 globals_of(const struct dp_view *view)
{
	u32 i, n = 0;

	for (i = 0; i < view->nr_programs; i++)
		n = view->programs[i].nr_gv > n ? view->programs[i].nr_gv : n;
	return n < view->nr_gv ? n : view->nr_gv;
}

/* Detours count some variables per CPU. */
static void add_met(struct dp_variables *v, const struct dp_view *view,
		    u32 program)
{
	u32 i;

	for (i = 0; i < v->n; i++)
		v->values[i] += dp_view_local_met(view, program, i);
}

static int read_variables(const struct dp_process *proc,
			  const struct dp_view *view, u64 addr, void *arg)
{
	struct variables *v = arg;
	u32 i;

	v->list = calloc(view->nr_programs + 1, sizeof(*v->list));
	if (!v->list)
		return -ENOMEM;
	copy_variables(&v->list[v->n++], view, "", addr,
		       view->arena->control.gv_off, globals_of(view));
	for (i = 0; i < view->nr_programs; i++) {
		if (view->programs[i].shares)
			continue;
		copy_variables(&v->list[v->n], view, view->programs[i].name,
			       addr, view->programs[i].lv_off,
			       view->programs[i].nr_lv);
		add_met(&v->list[v->n++], view, i);
	}
	return 0;
}

int dp_process_variables(pid_t pid, struct dp_variables **list, size_t *n,
			 struct dp_diag *diag)
{
	struct variables v = { 0 };
	int err = inspect(pid, read_variables, &v, diag);

	*list = v.list;
	*n = v.n;
	return err;
}

struct zeroing {
	u64 addr;
	u32 n;
};

static bool is_among(const struct zeroing *z, u64 start, u32 n)
{
	return z->n <= DP_VARIABLES_MAX && z->n <= n && z->addr >= start &&
	       z->addr - start <= (n - z->n) * sizeof(u64);
}

/* What detours have counted stays where it is: the memory of the variable makes up for it. */
static void make_up(u64 *values, const struct zeroing *z,
		    const struct dp_view *view, u64 addr, u32 program)
{
	u64 first =
		(z->addr - addr - view->programs[program].lv_off) / sizeof(u64);
	u32 i;

	for (i = 0; i < z->n; i++)
		values[i] -= dp_view_local_met(view, program, (u32)first + i);
}

/* The variables may be gone since they were listed, and another program's be there. */
static int zero(const struct dp_process *proc, const struct dp_view *view,
		u64 addr, void *arg)
{
	u64 values[DP_VARIABLES_MAX] = { 0 };
	const struct zeroing *z = arg;
	bool found =
		is_among(z, addr + view->arena->control.gv_off, view->nr_gv);
	u32 i;

	for (i = 0; i < view->nr_programs && !found; i++) {
		found = is_among(z, addr + view->programs[i].lv_off,
				 view->programs[i].nr_lv);
		if (found)
			make_up(values, z, view, addr, i);
	}
	return found ? dp_process_write(proc, z->addr, values,
					z->n * sizeof(u64)) :
		       -ENOENT;
}

int dp_process_zero(pid_t pid, u64 addr, u32 n)
{
	struct zeroing z = { addr, n };

	return inspect(pid, zero, &z, NULL);
}

u64 dp_mapping_named(pid_t pid, const char *path)
{
	struct dp_maps maps;
	u64 addr = 0;
	size_t i;

	if (dp_maps_read(pid, &maps))
		return 0;
	for (i = 0; i < maps.n && !addr; i++)
		if (!strncmp(maps.v[i].path, path, strlen(path)))
			addr = maps.v[i].start;
	dp_maps_free(&maps);
	return addr;
}
