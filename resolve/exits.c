// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits: the exits of functions that are to be tracked. */
#include "resolve/exits.h"
#include "engine/layout/site.h"
#include "engine/insn/region.h"
#include "resolve/code.h"
#include <stdlib.h>
#include "sym/exits.h"
#include "sym/list.h"

/* So far before an exit its jump may begin: engine/site/group.c */
#define EARLIEST DP_INSN_MAX
#define FUNCTION_MAX (1u << 20)

/**
 * struct function - the part of a function that was looked at last
 * @code: of it, and where its direct branches go; NULL: not known
 */
struct function {
	struct dp_modules *mods;
	const struct dp_code_map *map;
	u64 start, end;
	u8 *code;
	struct dp_entries entries;
};

static void forget(struct function *f)
{
	free(f->code);
	free(f->entries.v);
	f->code = NULL;
	f->entries.v = NULL;
}

static bool is_in(const struct function *f, u64 addr)
{
	return f->code && addr >= f->start && addr < f->end;
}

/* Return: false: its code cannot be read, or its branches not be known. */
static bool enter(struct function *f, u64 addr)
{
	size_t size;

	if (is_in(f, addr))
		return true;
	forget(f);
	if (dp_code_map_function(f->map, addr, &f->start, &f->end))
		return false;
	size = f->end - f->start;
	if (size > FUNCTION_MAX)
		return false;
	f->code = malloc(size);
	f->entries.v = malloc((size / 2 + 1) * sizeof(u64));
	if (!f->code || !f->entries.v ||
	    dp_code_read_file(f->mods, f->start, f->code, size) != size) {
		forget(f);
		return false;
	}
	dp_entries_find(&f->entries, f->code, size, f->start);
	if (f->entries.cut)
		forget(f);
	return f->code;
}

/* How many branches of the region go to its @n-th instruction from before that */
static u32 inner_branches(const struct dp_region *r, int n)
{
	u32 found = 0;
	int i;

	for (i = 0; i < n; i++)
		found += (r->facts[i].class == DP_INSN_JCC ||
			  r->facts[i].class == DP_INSN_JMP) &&
			 r->at[i] + r->facts[i].len + r->facts[i].target ==
				 r->at[n];
	return found;
}

/* How many ways lead to @addr from elsewhere than the instruction before it, and the region */
static u32 ways_to(const struct function *f, u64 addr,
		   const struct dp_region *r, int n)
{
	u32 direct = 0;
	size_t i;

	if (!dp_code_map_target(f->map, addr - 1, addr + 1, NULL))
		return 0;
	for (i = 0; i < f->entries.n; i++)
		direct += f->entries.v[i] == addr;
	return direct ? direct - inner_branches(r, n) : 1;
}

static u32 arrivals(const struct function *f, u64 addr,
		    const struct dp_region *r)
{
	u32 n = 0;
	int i;

	for (i = 1; i < r->nr; i++)
		n += ways_to(f, addr + r->at[i], r, i);
	return n;
}

/* Do threads that begin the region come to its end? */
static bool falls_through(const struct dp_region *r)
{
	int i;

	for (i = 0; i + 1 < r->nr; i++)
		if (!dp_insn_falls_through(r->facts[i].class))
			return false;
	return true;
}

/* Is there a jump's region from @at to the end of the exit, and do threads that begin it come to the
 * exit? */
static bool leads_to(const struct function *f, u64 at, u64 end,
		     struct dp_region *r)
{
	const char *why;

	return dp_code_map_boundary(f->map, at) &&
	       !dp_region_decode_all(f->code + (at - f->start), end - at, r,
				     &why) &&
	       !r->returns && falls_through(r);
}

/* Would a jump at the exit displace what is entered behind the function? */
static bool reaches_out(const struct function *f, const struct dp_exit *exit)
{
	u64 end = exit->addr + DP_JUMP_SIZE;

	return end > f->end &&
	       dp_code_map_target(f->map, f->end - 1, end, NULL);
}

/* Of early starts the one with the fewest arrivals; of several the nearest one */
static struct dp_early_start find_best(const struct function *f, u64 entry,
				       const struct dp_exit *exit)
{
	u64 end = exit->addr + exit->len, at = end - DP_JUMP_SIZE;
	struct dp_early_start best = { 0 };
	struct dp_region r;
	u32 n, least = ~0u;

	for (; at >= f->start && exit->addr - at <= EARLIEST && least; at--) {
		/* The jump at the entry has the first bytes. */
		if ((at > entry && at < entry + DP_JUMP_SIZE) ||
		    !leads_to(f, at, end, &r))
			continue;
		n = arrivals(f, at, &r);
		if (n < least) {
			least = n;
			best.addr = at;
		}
	}
	best.better = !least || reaches_out(f, exit);
	return best;
}

/* Do others branch to what a jump at the exit displaces? */
static bool is_crowded(const struct function *f, const struct dp_exit *exit)
{
	return dp_code_map_target(f->map, exit->addr, exit->addr + DP_JUMP_SIZE,
				  NULL);
}

/*
 * A jump at an exit displaces bytes behind it, and a thread that arrives there traps. An
 * early start displaces bytes before the exit instead, to which fewer branches lead, or none.
 */
static struct dp_early_start find_early_start(struct function *f, u64 entry,
					      const struct dp_exit *exit)
{
	u64 end = exit->addr + exit->len, at = end - DP_JUMP_SIZE;

	if (exit->len >= DP_JUMP_SIZE || !is_crowded(f, exit) ||
	    !enter(f, exit->addr))
		return (struct dp_early_start){ 0 };
	if (at >= f->start && dp_code_map_boundary(f->map, at) &&
	    !dp_code_map_target(f->map, at, end, NULL))
		return (struct dp_early_start){ at, true, true };
	return find_best(f, entry, exit);
}

/* Bytes from a branch on to which nothing else branches; as many as a jump's region may have */
static u32 size_at(const struct function *f, u64 addr)
{
	u64 end = addr + DP_REGION_MAX, first;

	if (end > f->end)
		end = f->end;
	if (dp_code_map_target(f->map, addr, end, &first))
		end = first;
	return (u32)(end - addr);
}

static int add_branch(struct dp_point *p, size_t *cap, u64 addr, u32 size,
		      size_t exit)
{
	if (dp_list_reserve(&p->branches, p->nr_branches + 1, cap,
			    sizeof(*p->branches)))
		return -ENOMEM;
	p->branches[p->nr_branches++] =
		(struct dp_branch){ addr, size, (u32)exit };
	return 0;
}

/* The branches to exit @i in its part of the function */
static int find_branches(const struct function *f, struct dp_point *p, size_t i,
			 size_t *cap)
{
	const struct dp_exit *exit = &p->exits[i];
	struct insn_facts facts;
	size_t at, size = f->end - f->start;
	int err = 0;

	if (exit->kind != DP_EXIT_RET)
		return 0;
	for (at = 0; at < size && !err; at += facts.len) {
		if (dp_insn_facts(f->code + at, size - at, &facts))
			break;
		if ((facts.class == DP_INSN_JCC ||
		     facts.class == DP_INSN_JMP) &&
		    f->start + at + facts.len + (u64)facts.target == exit->addr)
			err = add_branch(p, cap, f->start + at,
					 size_at(f, f->start + at), i);
	}
	return err;
}

/* Where jumps for the exits begin early, and where branches to them are */
static int find_starts(struct dp_point *p, struct function *f)
{
	size_t i, cap = 0;
	int err = 0;

	p->early_starts = calloc(p->nr_exits + 1, sizeof(*p->early_starts));
	if (!p->early_starts)
		return -ENOMEM;
	for (i = 0; i < p->nr_exits && !err; i++) {
		p->early_starts[i] = find_early_start(f, p->addr, &p->exits[i]);
		if (is_in(f, p->exits[i].addr) && !p->early_starts[i].exact &&
		    is_crowded(f, &p->exits[i]))
			err = find_branches(f, p, i, &cap);
	}
	forget(f);
	return err;
}

int dp_exit_reader_find(struct dp_exit_reader *r, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *p)
{
	struct dp_exit_list list = { 0 };
	struct dp_diag diag = { .text = "" };
	struct function f = { .mods = mods };
	const char *why = diag.text;
	int err = dp_exit_reader_open(r, mods, m, &diag);

	if (!err)
		err = dp_exits_find(r->exits, p->addr, &list, &why);
	if (err == -ENOMEM)
		return dp_point_refuse(p, err, "out of memory");
	if (err == -ENOENT && why != diag.text)
		return dp_point_refuse(p, -EINVAL, "no function begins there");
	if (err)
		return dp_point_refuse(p, err, "its exits are not known: %s",
				       why);
	f.map = r->map;
	p->exits = list.v;
	p->nr_exits = list.n;
	err = find_starts(p, &f);
	return err ? dp_point_refuse(p, err, "out of memory") : 0;
}

int dp_exits_track(struct dp_exit_reader *r, struct dp_modules *mods, u64 addr,
		   struct dp_exit_list *list, struct dp_diag *diag)
{
	const struct dp_module *m = dp_module_at(mods, addr);
	const char *why = "it belongs to no file";
	int err = m ? dp_exit_reader_open(r, mods, m, diag) : -EOPNOTSUPP;

	if (m && err)
		return err == -ENOENT ? -EOPNOTSUPP : err;
	if (!err)
		err = dp_exits_find(r->exits, addr, list, &why);
	if (err)
		return dp_diag_set(
			diag, err == -ENOENT ? -EINVAL : err,
			"where the function at 0x%lx is left is not known: %s",
			addr, why);
	return 0;
}

u32 dp_exit_way(const struct dp_exit *exit)
{
	return (exit->kind == DP_EXIT_TAIL ? DP_WAY_TAIL : 0) |
	       (exit->conditional ? DP_WAY_TAKEN : 0) |
	       (exit->shared ? DP_WAY_SHARED : 0);
}

int dp_exits_begin(struct dp_modules *mods, u64 addr, struct dp_diag *diag)
{
	u64 start, end;

	if (dp_function_bounds(mods, addr, &start, &end) || start == addr)
		return 0;
	return dp_diag_set(diag, -EINVAL,
			   "0x%lx is not the first instruction of a function",
			   addr);
}
