// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits: the exits of functions that are to be tracked. */
#include "resolve/exits.h"
#include "engine/layout/site.h"
#include "engine/insn/region.h"
#include "resolve/code.h"
#include <stdlib.h>
#include "sym/exits.h"

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

/* Return: false: its code cannot be read, or its branches not be known. */
static bool enter(struct function *f, u64 addr)
{
	size_t size;

	if (f->code && addr >= f->start && addr < f->end)
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

/*
 * A jump at an exit displaces bytes behind it, and a thread that arrives there traps. An
 * early start displaces bytes before the exit instead, to which fewer branches lead, or none.
 */
static struct dp_early_start find_early_start(struct function *f, u64 entry,
					      const struct dp_exit *exit)
{
	u64 end = exit->addr + exit->len, at = end - DP_JUMP_SIZE;

	if (exit->len >= DP_JUMP_SIZE ||
	    !dp_code_map_target(f->map, exit->addr, exit->addr + DP_JUMP_SIZE,
				NULL) ||
	    !enter(f, exit->addr))
		return (struct dp_early_start){ 0 };
	if (at >= f->start && dp_code_map_boundary(f->map, at) &&
	    !dp_code_map_target(f->map, at, end, NULL))
		return (struct dp_early_start){ at, true, true };
	return find_best(f, entry, exit);
}

int dp_exit_reader_find(struct dp_exit_reader *r, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *p)
{
	struct dp_exit_list list = { 0 };
	struct dp_diag diag = { .text = "" };
	struct function f = { .mods = mods };
	const char *why = diag.text;
	size_t i;
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
	p->early_starts = calloc(list.n + 1, sizeof(*p->early_starts));
	if (!p->early_starts)
		return dp_point_refuse(p, -ENOMEM, "out of memory");
	for (i = 0; i < list.n; i++)
		p->early_starts[i] = find_early_start(&f, p->addr, &list.v[i]);
	forget(&f);
	return 0;
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
