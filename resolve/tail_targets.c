// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tail_targets: functions that tracked ones jump to, and which return in their place. */
#include "engine/layout/probe.h"
#include "resolve/exits.h"
#include "engine/insn/insn.h"
#include "sym/list.h"
#include <stdlib.h>
#include <string.h>

#define ENDBR64_LEN 4

struct dp_tail_targets *dp_tail_targets_of(struct dp_points *points)
{
	if (!points->tail_targets)
		points->tail_targets = calloc(1, sizeof(*points->tail_targets));
	return points->tail_targets;
}

struct dp_exit_reader *dp_tail_targets_reader(struct dp_tail_targets *o,
					      const struct dp_module *m)
{
	size_t i;

	for (i = 0; i < DP_READERS; i++)
		if (o->reader[i].module == m)
			return &o->reader[i];
	return &o->reader[o->next_reader++ % DP_READERS];
}

struct looker {
	struct dp_points *points;
	struct dp_modules *mods;
};

static bool decode(const struct looker *l, u64 addr, u8 *code,
		   struct insn_facts *f)
{
	ssize_t n = dp_modules_read(l->mods, addr, code, DP_INSN_MAX);

	return n > 0 && !dp_insn_facts(code, (size_t)n, f);
}

/* The target of a jump through a word in memory. Return: 0 if the instruction is no such
 * jump, or if @constant is set and the word can still change. */
static u64 through_word(const struct looker *l, u64 addr,
			const struct insn_facts *f, bool constant)
{
	u64 at = addr + f->len + (u64)f->target, to;
	const struct dp_map *map = dp_maps_find(dp_modules_maps(l->mods), at);

	if (f->class != DP_INSN_JMP_IND || !f->rip_relative || !map ||
	    (constant && map->perms[1] == 'w') ||
	    dp_modules_read(l->mods, at, &to, sizeof(to)) != sizeof(to))
		return 0;
	return to;
}

/* The target behind a stub of the linker's, which jumps through a word written once. */
static u64 past_stub(const struct looker *l, u64 addr)
{
	static const u8 endbr64[ENDBR64_LEN] = { 0xf3, 0x0f, 0x1e, 0xfa };
	u8 code[DP_INSN_MAX];
	struct insn_facts f;
	u64 at = addr, to;

	if (!decode(l, at, code, &f))
		return 0;
	if (!memcmp(code, endbr64, sizeof(endbr64))) {
		at += sizeof(endbr64);
		if (!decode(l, at, code, &f))
			return 0;
	}
	if (f.class != DP_INSN_JMP_IND || !f.rip_relative)
		return addr;
	to = through_word(l, at, &f, false);
	/* The word leads back to the stub until the linker has bound it. */
	return to - addr < DP_INSN_MAX + 1 ? 0 : to;
}

static u64 goes_to(const struct looker *l, const struct dp_exit *exit)
{
	u8 code[DP_INSN_MAX];
	struct insn_facts f;

	if (exit->to)
		return past_stub(l, exit->to);
	if (!decode(l, exit->addr, code, &f))
		return 0;
	return through_word(l, exit->addr, &f, true);
}

static bool has(const struct dp_tail_targets *o, u64 addr)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->v[i].addr == addr)
			return true;
	return false;
}

static int add(struct dp_tail_targets *o, u64 addr)
{
	if (has(o, addr) || o->n == DP_TAIL_TARGETS_MAX)
		return 0;
	return dp_list_add(&o->v, &o->n, &o->cap,
			   &(struct dp_point){ .addr = addr }, sizeof(*o->v));
}

static int see_jumps(const struct looker *l, const struct dp_point *p)
{
	struct dp_tail_targets *o = l->points->tail_targets;
	struct dp_exit *exits = p->exits;
	/* A call that is only counted ends where its function is left. */
	bool none = p->refused || p->gone || (p->spec && p->spec->counted);
	size_t i, n = none ? 0 : p->nr_exits;
	u64 addr = p->addr;
	int err = 0;

	/* add() may move @p. */
	for (i = 0; i < n && !err; i++) {
		if (exits[i].kind != DP_EXIT_TAIL)
			continue;
		exits[i].to = goes_to(l, &exits[i]);
		/* A jump to its own entry hits the entry's probe again. */
		if (exits[i].to == addr)
			exits[i].to = 0;
		if (exits[i].to)
			err = add(o, exits[i].to);
	}
	return err;
}

int dp_tail_targets_resolve(struct dp_points *points, struct dp_modules *mods,
			    void (*read)(void *arg, struct dp_point *function),
			    void *arg)
{
	struct dp_tail_targets *o = dp_tail_targets_of(points);
	struct looker l = { .points = points, .mods = mods };
	int err = o ? 0 : -ENOMEM;

	while (!err && o->points_seen < points->n)
		err = see_jumps(&l, &points->v[o->points_seen++]);
	while (!err && o->seen < o->n) {
		read(arg, &o->v[o->seen]);
		err = see_jumps(&l, &o->v[o->seen++]);
	}
	return err;
}

int dp_tail_targets_cover(struct dp_points *points)
{
	struct dp_tail_targets *o = points->tail_targets;
	size_t i;

	if (!o)
		return 0;
	free(o->covered);
	o->n_covered = 0;
	o->covered = calloc(points->n + o->n + 1, sizeof(*o->covered));
	if (!o->covered)
		return -ENOMEM;
	for (i = 0; i < points->n; i++)
		if (points->v[i].spec->kind == DP_SPEC_RETURN &&
		    !points->v[i].refused)
			o->covered[o->n_covered++] = points->v[i].addr;
	qsort(o->covered, o->n_covered, sizeof(*o->covered), dp_list_order);
	for (i = 0; i < o->n; i++)
		if (dp_tail_targets_is_covered(points, o->v[i].addr))
			o->v[i].refused = -EEXIST;
	for (i = 0; i < o->n; i++)
		if (!o->v[i].refused)
			o->covered[o->n_covered++] = o->v[i].addr;
	qsort(o->covered, o->n_covered, sizeof(*o->covered), dp_list_order);
	return 0;
}

bool dp_tail_targets_is_covered(const struct dp_points *points, u64 addr)
{
	const struct dp_tail_targets *o = points->tail_targets;

	return o && o->covered &&
	       bsearch(&addr, o->covered, o->n_covered, sizeof(addr),
		       dp_list_order);
}

void dp_tail_targets_free(struct dp_points *points)
{
	struct dp_tail_targets *o = points->tail_targets;
	size_t i;

	if (!o)
		return;
	for (i = 0; i < o->n; i++) {
		free(o->v[i].exits);
		free(o->v[i].early_starts);
		free(o->v[i].branches);
	}
	for (i = 0; i < DP_READERS; i++)
		dp_exit_reader_close(&o->reader[i]);
	free(o->v);
	free(o->covered);
	free(o);
	points->tail_targets = NULL;
}

u32 dp_tail_targets_way(const struct dp_points *points,
			const struct dp_exit *exit)
{
	bool covered = exit->kind == DP_EXIT_TAIL && exit->to &&
		       dp_tail_targets_is_covered(points, exit->to);

	return dp_exit_way(exit) | (covered ? DP_WAY_TAIL_TARGET : 0);
}
