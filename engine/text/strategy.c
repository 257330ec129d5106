// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * strategy: single instructions written to text that threads may be executing.
 *
 * trap: one byte, so there is no state in between.
 *
 * intercept: a jump over one instruction of five bytes, while no thread runs: a thread is
 * before or behind that instruction, never inside. A thread left asleep may still wake
 * and return to it. It must not meet a breakpoint, because the agent does not catch it
 * yet, or any more. So the jump is one write, unless it lies in two pages: the tool may
 * be killed between those writes, and a breakpoint comes first.
 */
#include "arch/arch.h"
#include "engine/text/strategy.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/text/target.h"

int dp_text_expect(struct dp_target *target, u64 addr, const u8 *bytes,
		   size_t n)
{
	u8 now[sizeof(((struct dp_site_entry *)0)->orig)];
	int err = target->ops->read(target, addr, now, n);

	if (err)
		return err;
	return dp_bytes_same(now, bytes, n) ? 0 : -EBUSY;
}

int dp_text_sync(struct dp_target *target)
{
	return target->ops->sync ? target->ops->sync(target) : 0;
}

bool dp_sites_lose(const struct dp_sites *sites, struct dp_site_entry *site,
		   int err)
{
	if (err != -EFAULT || !sites->may_go)
		return false;
	return !dp_site_set_state(site, DP_SITE_GONE);
}

const struct dp_jump *dp_sites_jump(const struct dp_sites *sites,
				    const struct dp_site_entry *s)
{
	u32 i = __atomic_load_n(&s->jump, __ATOMIC_RELAXED);

	return i && i < sites->nr_jumps ? &sites->jumps[i] : NULL;
}

bool dp_site_is_covered(const struct dp_sites *sites,
			const struct dp_site_entry *s)
{
	u32 leader = __atomic_load_n(&s->leader, __ATOMIC_RELAXED);

	return leader && leader <= sites->total &&
	       dp_site_jumps(&sites->v[leader - 1]);
}

struct dp_site_entry *dp_sites_find(const struct dp_sites *sites, u64 addr)
{
	u32 low = 0, high = sites->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (dp_sites_at(sites, mid)->addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < sites->n && dp_sites_at(sites, low)->addr == addr ?
		       dp_sites_at(sites, low) :
		       NULL;
}

bool dp_sites_inside(const struct dp_sites *sites, u64 addr, u64 *to)
{
	const struct dp_site_entry *s;
	const struct dp_jump *j;
	u64 back;
	int i, n;

	for (back = 1; back < DP_JUMP_SIZE; back++) {
		s = dp_sites_find(sites, addr - back);
		if (!s || s->mode != DP_MODE_JUMP || s->intercept)
			continue;
		j = dp_sites_jump(sites, s);
		n = j ? dp_jump_insns(j) : 0;
		for (i = 1; i < n; i++)
			if (j->offset[i] == back) {
				*to = j->base + j->at[i];
				return true;
			}
	}
	return false;
}

/** struct batch - the next sites, and the bytes that are there */
struct batch {
	struct dp_site_entry *site[DP_EXTRACTS_MAX];
	struct dp_extract text[DP_EXTRACTS_MAX];
	u8 now[DP_EXTRACTS_MAX][sizeof(((struct dp_site_entry *)0)->orig)];
	u32 n;
	bool read;
};

/*
 * With no thread running, many sites are read at a time. Single bytes are read and
 * written one by one: a debugger may set breakpoints meanwhile, and the window for that
 * is to be short.
 */
static u32 fill(struct batch *b, const struct dp_sites *sites, u32 i,
		const struct dp_strategy *strategy, bool armed)
{
	u32 most = strategy->stopped ? DP_EXTRACTS_MAX : 1;
	struct dp_site_entry *s;

	for (b->n = 0; i < sites->n && b->n < most; i++) {
		s = dp_sites_at(sites, i);
		if (!strategy->mine(s) || !s->armed != !armed ||
		    !s->wanted != armed || s->armed == DP_SITE_GONE)
			continue;
		b->site[b->n] = s;
		b->text[b->n] = (struct dp_extract){
			s->addr, b->now[b->n],
			strategy->stopped ? dp_site_patch_len(s) : 1
		};
		b->n++;
	}
	return i;
}

static void look(struct dp_target *target, struct batch *b)
{
	b->read = b->n > 1 && target->ops->extract &&
		  !target->ops->extract(target, b->text, b->n);
}

typedef int act_fn(struct dp_target *target, struct dp_site_entry *site,
		   const u8 *now);

/* The jump that covers the site has its breakpoint, and takes it along. */
static int act_covered(struct dp_site_entry *s)
{
	return dp_site_set_state(s, s->wanted == DP_WANT_OFF ? DP_SITE_OFF :
				    s->mode == DP_MODE_TRAP  ? DP_SITE_THERE :
							       DP_SITE_TRAPPED);
}

static int act_on(struct dp_target *target, const struct dp_sites *sites,
		  const struct batch *b, u32 i, act_fn *act)
{
	const struct dp_extract *text = &b->text[i];
	int err = b->read ? 0 :
			    target->ops->read(target, text->addr, text->to,
					      text->len);

	if (!err && dp_site_is_covered(sites, b->site[i]))
		return act_covered(b->site[i]);
	return err ? err : act(target, b->site[i], b->now[i]);
}

/* Read and act on one site after the other, for both strategies. */
static int each(struct dp_target *target, const struct dp_sites *sites,
		const struct dp_strategy *strategy, act_fn *act, bool armed,
		u64 *bad)
{
	int first = 0, err;
	struct batch b = { .n = 0 };
	u32 i = 0, k;

	while (i < sites->n && (!first || armed)) {
		i = fill(&b, sites, i, strategy, armed);
		look(target, &b);
		for (k = 0; k < b.n && (!first || armed); k++) {
			err = act_on(target, sites, &b, k, act);
			if (!err || dp_sites_lose(sites, b.site[k], err))
				continue;
			if (!first && bad)
				*bad = b.site[k]->addr;
			first = first ? first : err;
		}
	}
	return first;
}

static bool is_trap(const struct dp_site_entry *s)
{
	return s->mode == DP_MODE_TRAP;
}

/* Breakpoints, also at sites that could be jumps but are wanted as traps. */
static bool trap_mine(const struct dp_site_entry *s)
{
	return is_trap(s) || (s->wanted == DP_WANT_TRAP && !s->intercept);
}

static int trap_put(struct dp_target *target, struct dp_site_entry *site,
		    const u8 *now)
{
	static const u8 breakpoint = DP_BREAKPOINT;
	int err;

	if (*now != *site->orig)
		return -EBUSY;
	err = dp_site_set_state(site, is_trap(site) ? DP_SITE_THERE :
						      DP_SITE_TRAPPED);
	if (err)
		return err;
	err = target->ops->write(target, site->addr, &breakpoint, 1);
	if (err)
		dp_site_set_state(site, DP_SITE_OFF);
	return err;
}

static int trap_take(struct dp_target *target, struct dp_site_entry *site,
		     const u8 *now)
{
	int err = 0;

	if (*now == *site->patch)
		err = target->ops->write(target, site->addr, site->orig, 1);
	/* The tool that armed it may have been killed before it wrote. */
	else if (*now != *site->orig)
		err = -EBUSY;
	if (!err)
		err = dp_site_set_state(site, DP_SITE_OFF);
	if (!err)
		site->returned = 1;
	return err;
}

/* A uprobe takes a breakpoint of ours for its own, and removes it. */
static bool is_lost(struct dp_target *target, const struct dp_site_entry *s)
{
	return is_trap(s) && dp_site_patch_len(s) &&
	       s->armed == DP_SITE_THERE &&
	       !dp_text_expect(target, s->addr, s->orig, 1) &&
	       target->ops->traced && !target->ops->traced(target);
}

bool dp_trap_lost(struct dp_target *target, const struct dp_sites *sites)
{
	u32 i;

	for (i = 0; i < sites->n; i++)
		if (is_lost(target, dp_sites_at(sites, i)))
			return true;
	return false;
}

int dp_trap_return(struct dp_target *target, const struct dp_sites *sites,
		   dp_cede_fn *tell, void *arg)
{
	int first = 0, err;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		struct dp_site_entry *s = dp_sites_at(sites, i);

		if (!is_lost(target, s))
			continue;
		err = trap_put(target, s, s->orig);
		if (!err)
			tell(arg, s->addr, false);
		first = first ? first : err;
	}
	return first;
}

static int trap_arm(struct dp_target *target, const struct dp_sites *sites,
		    u64 *bad)
{
	return each(target, sites, &dp_strategy_trap, trap_put, false, bad);
}

static int trap_disarm(struct dp_target *target, const struct dp_sites *sites,
		       u64 *bad)
{
	return each(target, sites, &dp_strategy_trap, trap_take, true, bad);
}

static bool intercept_mine(const struct dp_site_entry *s)
{
	return s->intercept;
}

static bool is_in_a_page(u64 addr, size_t n)
{
	return addr / DP_PAGE == (addr + n - 1) / DP_PAGE;
}

/* Replace @n bytes at @addr, behind a breakpoint if they lie in two pages. */
static int poke(struct dp_target *target, u64 addr, const u8 *bytes, size_t n)
{
	static const u8 breakpoint = DP_BREAKPOINT;
	int err;

	if (is_in_a_page(addr, n))
		return target->ops->write(target, addr, bytes, n);
	err = target->ops->write(target, addr, &breakpoint, 1);
	if (!err)
		err = dp_text_sync(target);
	if (!err)
		err = target->ops->write(target, addr + 1, bytes + 1, n - 1);
	if (!err)
		err = dp_text_sync(target);
	if (!err)
		err = target->ops->write(target, addr, bytes, 1);
	return err;
}

static int intercept_put(struct dp_target *target, struct dp_site_entry *site,
			 const u8 *now)
{
	int err;

	if (dp_site_bytes(site, now) != DP_BYTES_ORIGINAL)
		return -EBUSY;
	err = dp_site_set_state(site, DP_SITE_THERE);
	return err ? err :
		     poke(target, site->addr, site->patch,
			  dp_site_patch_len(site));
}

static int intercept_take(struct dp_target *target, struct dp_site_entry *site,
			  const u8 *now)
{
	enum dp_bytes is = dp_site_bytes(site, now);
	int err = 0;

	if (is > DP_BYTES_BETWEEN)
		return -EBUSY;
	if (is != DP_BYTES_ORIGINAL)
		err = poke(target, site->addr, site->orig,
			   dp_site_patch_len(site));
	return err ? err : dp_site_set_state(site, DP_SITE_OFF);
}

static int intercept_arm(struct dp_target *target, const struct dp_sites *sites,
			 u64 *bad)
{
	return each(target, sites, &dp_strategy_intercept, intercept_put, false,
		    bad);
}

static int intercept_disarm(struct dp_target *target,
			    const struct dp_sites *sites, u64 *bad)
{
	return each(target, sites, &dp_strategy_intercept, intercept_take, true,
		    bad);
}

const struct dp_strategy dp_strategy_trap = { "trap", trap_mine, trap_arm,
					      trap_disarm, false };
const struct dp_strategy dp_strategy_intercept = { "intercept", intercept_mine,
						   intercept_arm,
						   intercept_disarm, true };
