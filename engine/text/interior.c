// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * interior: a jump of five bytes over several instructions, in running text.
 *
 * A thread may stand before any of these instructions, anywhere between two writes, for
 * any time. So each inner instruction begins with a breakpoint from the first write to
 * the last, and in the jump. The jump's displacement is chosen for it (island.c):
 *
 *     55  48 89 e5  41 54     push; mov; push
 *     cc  cc 89 e5  cc 54     1: breakpoints
 *     cc  cc 12 34  cc 54     2: the rest of the displacement
 *     e9  cc 12 34  cc 54     3: the jump
 *
 * After each step every CPU is made to discard the instructions that it has fetched. A
 * thread that meets a breakpoint is sent to the copy of its instruction. Disarming is the
 * same in reverse. No thread is stopped.
 *
 * A uprobe may put a breakpoint where the jump begins, and will later put the file's byte
 * back there. With our bytes behind it that is no instruction. So our jump cedes, and
 * comes back when the uprobe has gone. A debugger puts back the bytes it found, and is
 * left alone.
 *
 * quiesce writes the whole jump at once while no thread runs, wherever the jump leads.
 * Threads inside the region have been moved to the copy by then.
 */
#include "arch/arch.h"
#include "engine/text/strategy.h"
#include "engine/layout/site.h"
#include "engine/text/target.h"

#define SIZE DP_JUMP_SIZE

static bool is_jump(const struct dp_site_entry *s)
{
	return s->mode == DP_MODE_JUMP && !s->intercept && s->patch_len == SIZE;
}

static bool holds(const struct dp_site_entry *s)
{
	return s->armed == DP_SITE_TRAPPED ||
	       (s->armed == DP_SITE_THERE && s->mode == DP_MODE_TRAP);
}

/* The bytes where sites begin that the jump covers, or only those that are their breakpoints, a
 * bit each. */
static u8 covered(const struct dp_sites *sites, const struct dp_site_entry *s,
		  bool any)
{
	const struct dp_jump *j = dp_sites_jump(sites, s);
	int i, n = j ? dp_jump_insns(j) : 0;
	u8 bits = 0;
	u32 number;

	for (i = 1; i < n; i++) {
		number = __atomic_load_n(&j->member[i], __ATOMIC_RELAXED);
		if (!number || number > sites->total || j->offset[i] >= SIZE)
			continue;
		if (any || holds(&sites->v[number - 1]))
			bits |= (u8)(1u << j->offset[i]);
	}
	return bits;
}

/* A jump without breakpoints inside has those of sites that it covers on its way out. */
static enum dp_bytes bytes_of(const struct dp_sites *sites,
			      const struct dp_site_entry *s, const u8 *now)
{
	u8 bits = covered(sites, s, true), own[SIZE];
	bool others = false;
	enum dp_bytes is;
	int i;

	for (i = 0; i < SIZE; i++) {
		own[i] = now[i];
		if (!(bits >> i & 1) || now[i] != DP_BREAKPOINT ||
		    s->patch[i] == DP_BREAKPOINT)
			continue;
		own[i] = s->orig[i];
		others = true;
	}
	is = dp_site_bytes(s, own);
	return others && is < DP_BYTES_BETWEEN ? DP_BYTES_BETWEEN : is;
}

/* What is there while the jump is not: the original, with other sites' breakpoints. */
static void resting(const struct dp_sites *sites, const struct dp_site_entry *s,
		    u8 *bytes)
{
	u8 bits = covered(sites, s, false);
	int i;

	for (i = 0; i < SIZE; i++)
		bytes[i] = bits >> i & 1 ? DP_BREAKPOINT : s->orig[i];
}

/* The original with a breakpoint at the start of every instruction; inner breakpoints are
 * those of the jump. */
static void broken(const struct dp_sites *sites, const struct dp_site_entry *s,
		   u8 *bytes)
{
	int i;

	resting(sites, s, bytes);
	bytes[0] = DP_BREAKPOINT;
	for (i = 1; i < SIZE; i++)
		if (s->traps >> i & 1)
			bytes[i] = s->patch[i];
}

static int put_breakpoints(struct dp_target *target,
			   const struct dp_sites *sites,
			   struct dp_site_entry *s)
{
	u8 bytes[SIZE];
	size_t n = SIZE;

	broken(sites, s, bytes);
	while (bytes[n - 1] == s->orig[n - 1])
		n--;
	return target->ops->write(target, s->addr, bytes, n);
}

/* From any of our bytes: write only the first. */
static int put_breakpoint(struct dp_target *target,
			  const struct dp_sites *sites, struct dp_site_entry *s)
{
	static const u8 breakpoint = DP_BREAKPOINT;

	return target->ops->write(target, s->addr, &breakpoint, 1);
}

static int put_tail(struct dp_target *target, const struct dp_sites *sites,
		    struct dp_site_entry *s)
{
	return target->ops->write(target, s->addr + 1, s->patch + 1, SIZE - 1);
}

static int put_head(struct dp_target *target, const struct dp_sites *sites,
		    struct dp_site_entry *s)
{
	int err = target->ops->write(target, s->addr, s->patch, 1);

	return err ? err : dp_site_set_state(s, DP_SITE_THERE);
}

static int take_tail(struct dp_target *target, const struct dp_sites *sites,
		     struct dp_site_entry *s)
{
	u8 bytes[SIZE];

	broken(sites, s, bytes);
	return target->ops->write(target, s->addr + 1, bytes + 1, SIZE - 1);
}

static int take_breakpoints(struct dp_target *target,
			    const struct dp_sites *sites,
			    struct dp_site_entry *s)
{
	u8 bytes[SIZE];

	resting(sites, s, bytes);
	return target->ops->write(target, s->addr + 1, bytes + 1, SIZE - 1);
}

static int take_head(struct dp_target *target, const struct dp_sites *sites,
		     struct dp_site_entry *s)
{
	int err;

	if (s->wanted == DP_WANT_TRAP)
		return dp_site_set_state(s, DP_SITE_TRAPPED);
	err = target->ops->write(target, s->addr, s->orig, 1);
	return err ? err : dp_site_set_state(s, DP_SITE_OFF);
}

static int let_go(struct dp_target *target, const struct dp_sites *sites,
		  struct dp_site_entry *s)
{
	return dp_site_set_state(s, s->wanted ? DP_SITE_CEDED : DP_SITE_OFF);
}

/* Does this step concern the site? A site that begins may have its breakpoint already. */
static bool is_in(const struct dp_site_entry *s, u8 state)
{
	if (state == DP_SITE_OFF)
		return s->wanted == DP_WANT_PLAN &&
		       (s->armed == DP_SITE_OFF || s->armed == DP_SITE_TRAPPED);
	return s->armed == state &&
	       (state != DP_SITE_COMING || s->wanted == DP_WANT_PLAN);
}

/* From the first write to the last our text begins with a breakpoint. Where other code is
 * mapped by now, nothing is written. */
static int still_there(struct dp_target *target, const struct dp_sites *sites,
		       const struct dp_site_entry *s)
{
	u8 now[SIZE], rest[SIZE];
	enum dp_bytes is;
	int err;

	if (!s->unowned)
		return 0;
	err = target->ops->read(target, s->addr, now, SIZE);
	if (err)
		return err;
	is = bytes_of(sites, s, now);
	resting(sites, s, rest);
	if (s->armed == DP_SITE_OFF)
		return dp_bytes_same(now, rest, SIZE) ? 0 : -EFAULT;
	return is <= DP_BYTES_BETWEEN && (now[0] == DP_BREAKPOINT ||
					  now[0] == s->patch[0]) ?
		       0 :
		       -EFAULT;
}

typedef int act_fn(struct dp_target *target, const struct dp_sites *sites,
		   struct dp_site_entry *s);

/* One step of all sites in a state, then make every CPU see it. */
static int step(struct dp_target *target, const struct dp_sites *sites,
		u8 state, act_fn *act, u64 *bad)
{
	bool any = false;
	int err = 0;
	u32 i;

	for (i = 0; i < sites->n && !err; i++) {
		struct dp_site_entry *s = dp_sites_at(sites, i);

		if (!is_jump(s) || !is_in(s, state))
			continue;
		any = true;
		err = still_there(target, sites, s);
		if (!err)
			err = act(target, sites, s);
		if (dp_sites_lose(sites, s, err))
			err = 0;
		if (err && bad)
			*bad = s->addr;
	}
	return err || !any ? err : dp_text_sync(target);
}

/* Check that all sites have their original bytes, before any is written. */
static int expect_all(struct dp_target *target, const struct dp_sites *sites,
		      u64 *bad)
{
	u8 bytes[SIZE];
	int err = 0;
	u32 i;

	for (i = 0; i < sites->n && !err; i++) {
		struct dp_site_entry *s = dp_sites_at(sites, i);

		if (!is_jump(s) || !is_in(s, DP_SITE_OFF))
			continue;
		resting(sites, s, bytes);
		if (s->armed)
			bytes[0] = DP_BREAKPOINT;
		err = dp_text_expect(target, s->addr, bytes, SIZE);
		if (dp_sites_lose(sites, s, err))
			err = 0;
		if (err && bad)
			*bad = s->addr;
	}
	return err;
}

static int begin(struct dp_target *target, const struct dp_sites *sites,
		 struct dp_site_entry *s)
{
	int err = dp_site_set_state(s, DP_SITE_COMING);

	return err ? err : put_breakpoints(target, sites, s);
}

static int interior_arm(struct dp_target *target, const struct dp_sites *sites,
			u64 *bad)
{
	int err = expect_all(target, sites, bad);

	if (!err)
		err = step(target, sites, DP_SITE_OFF, begin, bad);
	if (!err)
		err = step(target, sites, DP_SITE_COMING, put_tail, bad);
	if (!err)
		err = step(target, sites, DP_SITE_COMING, put_head, bad);
	return err;
}

/* A breakpoint where a jump could be. Other sites may be in the bytes behind it, so only
 * the first byte is checked. */
static int untrap(struct dp_target *target, struct dp_site_entry *s)
{
	static const u8 breakpoint = DP_BREAKPOINT;
	int err = dp_text_expect(target, s->addr, &breakpoint, 1);

	if (err == -EBUSY && !dp_text_expect(target, s->addr, s->orig, 1))
		err = 0;
	else if (!err)
		err = target->ops->write(target, s->addr, s->orig, 1);
	return err ? err : dp_site_set_state(s, DP_SITE_OFF);
}

/* Our jumps do not begin with a breakpoint, so one there is foreign. */
static bool begins_with_anothers(struct dp_target *target,
				 const struct dp_site_entry *s, const u8 *now)
{
	return s->armed == DP_SITE_THERE && now[0] == DP_BREAKPOINT &&
	       dp_bytes_same(now + 1, s->patch + 1, SIZE - 1) &&
	       target->ops->traced && !target->ops->traced(target);
}

static int begin_leaving(struct dp_target *target, const struct dp_sites *sites,
			 struct dp_site_entry *s)
{
	enum dp_bytes is;
	u8 now[SIZE];
	int err;

	if (s->armed == DP_SITE_TRAPPED && dp_site_is_covered(sites, s))
		return dp_site_set_state(s, DP_SITE_OFF);
	if (s->armed == DP_SITE_TRAPPED)
		return untrap(target, s);
	if (s->armed == DP_SITE_CEDED)
		return dp_site_set_state(s, DP_SITE_OFF);
	err = target->ops->read(target, s->addr, now, SIZE);
	is = err ? DP_BYTES_FOREIGN : bytes_of(sites, s, now);
	if (!err && is > DP_BYTES_BETWEEN)
		err = -EBUSY;
	if (err) {
		dp_site_set_state(s, DP_SITE_THERE);
		return err;
	}
	if (!sites->begun && begins_with_anothers(target, s, now))
		return dp_site_set_state(s, DP_SITE_CEDES);
	return dp_site_set_state(s, is == DP_BYTES_ORIGINAL ? DP_SITE_OFF :
							      DP_SITE_LEAVING);
}

/* Is the site as far as it can be now? A ceded one can go on when the foreign breakpoint
 * has gone. */
static bool stays(struct dp_target *target, const struct dp_sites *sites,
		  const struct dp_site_entry *s)
{
	u8 rest[SIZE];

	switch (s->armed) {
	case DP_SITE_OFF:
	case DP_SITE_GONE:
		return true;
	case DP_SITE_THERE:
		return s->wanted == DP_WANT_PLAN;
	case DP_SITE_TRAPPED:
		return s->wanted;
	case DP_SITE_CEDED:
		resting(sites, s, rest);
		return s->wanted && dp_text_expect(target, s->addr, rest, 1);
	}
	return false;
}

/* Choose the sites that leave, without those with foreign bytes. A site whose earlier
 * call failed half-way starts anew. */
static int choose(struct dp_target *target, const struct dp_sites *sites,
		  u64 *bad)
{
	int first = 0, err;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		struct dp_site_entry *s = dp_sites_at(sites, i);

		if (!is_jump(s) || stays(target, sites, s))
			continue;
		err = begin_leaving(target, sites, s);
		if (dp_sites_lose(sites, s, err))
			continue;
		if (err && !first) {
			first = err;
			if (bad)
				*bad = s->addr;
		}
	}
	return first;
}

static int walk(struct dp_target *target, const struct dp_sites *sites,
		u8 state, act_fn *const *steps, size_t n, u64 *bad)
{
	int err = 0;
	size_t i;

	for (i = 0; i < n && !err; i++)
		err = step(target, sites, state, steps[i], bad);
	return err;
}

static int go_from_behind(struct dp_target *target,
			  const struct dp_sites *sites, u64 *bad)
{
	static act_fn *const steps[] = { take_tail, take_breakpoints, let_go };

	return walk(target, sites, DP_SITE_CEDES, steps, 3, bad);
}

static int interior_disarm(struct dp_target *target,
			   const struct dp_sites *sites, u64 *bad)
{
	static act_fn *const steps[] = { put_breakpoint, take_tail,
					 take_breakpoints, take_head };
	int first = choose(target, sites, bad), err;

	bad = first ? NULL : bad;
	err = walk(target, sites, DP_SITE_LEAVING, steps, 4, bad);
	if (!err)
		err = go_from_behind(target, sites, bad);
	return first ? first : err;
}

/* Does the site have to cede, or to come back? */
static bool is_disturbed(struct dp_target *target, const struct dp_sites *sites,
			 const struct dp_site_entry *s, u8 state)
{
	u8 now[SIZE], rest[SIZE];

	if (!is_jump(s) || s->armed != state ||
	    target->ops->read(target, s->addr, now, SIZE))
		return false;
	resting(sites, s, rest);
	return state == DP_SITE_CEDED ? dp_bytes_same(now, rest, SIZE) :
					begins_with_anothers(target, s, now);
}

bool dp_interior_disturbed(struct dp_target *target,
			   const struct dp_sites *sites, bool back)
{
	u32 i;

	for (i = 0; i < sites->n; i++) {
		const struct dp_site_entry *s = dp_sites_at(sites, i);

		if (is_disturbed(target, sites, s, DP_SITE_THERE) ||
		    (back && is_disturbed(target, sites, s, DP_SITE_CEDED)))
			return true;
	}
	return false;
}

static int cede(struct dp_target *target, const struct dp_sites *sites,
		dp_cede_fn *tell, void *arg)
{
	u32 i;

	for (i = 0; i < sites->n; i++) {
		struct dp_site_entry *s = dp_sites_at(sites, i);

		if (is_disturbed(target, sites, s, DP_SITE_THERE) &&
		    !dp_site_set_state(s, DP_SITE_CEDES))
			tell(arg, s->addr, true);
	}
	return go_from_behind(target, sites, NULL);
}

static int come_back(struct dp_target *target, const struct dp_sites *sites,
		     dp_cede_fn *tell, void *arg)
{
	struct dp_sites one = *sites;
	int first = 0, err;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		struct dp_site_entry *s = dp_sites_at(sites, i);
		u32 number = (u32)(s - sites->v);

		one.n = 1;
		one.which = &number;

		if (!is_disturbed(target, sites, s, DP_SITE_CEDED))
			continue;
		err = dp_site_set_state(s, DP_SITE_OFF);
		if (!err)
			err = interior_arm(target, &one, NULL);
		if (!err)
			tell(arg, s->addr, false);
		first = first ? first : err;
	}
	return first;
}

int dp_interior_cede(struct dp_target *target, const struct dp_sites *sites,
		     bool back, dp_cede_fn *tell, void *arg)
{
	int err = cede(target, sites, tell, arg);

	return err || !back ? err : come_back(target, sites, tell, arg);
}

static int put_all(struct dp_target *target, const struct dp_sites *sites,
		   struct dp_site_entry *s)
{
	int err = dp_site_set_state(s, DP_SITE_COMING);

	if (!err)
		err = target->ops->write(target, s->addr, s->patch, SIZE);
	return err ? err : dp_site_set_state(s, DP_SITE_THERE);
}

static int quiesce_arm(struct dp_target *target, const struct dp_sites *sites,
		       u64 *bad)
{
	int err = expect_all(target, sites, bad);

	if (!err)
		err = step(target, sites, DP_SITE_OFF, put_all, bad);
	return err;
}

static int take_all(struct dp_target *target, const struct dp_sites *sites,
		    struct dp_site_entry *s)
{
	int err = target->ops->write(target, s->addr, s->orig, SIZE);

	return err ? err : dp_site_set_state(s, DP_SITE_OFF);
}

int dp_sites_restore(struct dp_target *target, const struct dp_sites *sites,
		     u64 *bad)
{
	int first = choose(target, sites, bad), err;

	bad = first ? NULL : bad;
	err = step(target, sites, DP_SITE_LEAVING, take_all, bad);
	if (!err)
		err = go_from_behind(target, sites, bad);
	return first ? first : err;
}

const struct dp_strategy dp_strategy_interior = { "interior", is_jump,
						  interior_arm, interior_disarm,
						  false };

/* No thread is inside five bytes that are one instruction, so disarming is the same. */
const struct dp_strategy dp_strategy_quiesce = { "quiesce", is_jump,
						 quiesce_arm, interior_disarm,
						 true };
