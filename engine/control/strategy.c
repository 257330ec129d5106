// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * strategy: writing into text that others may be executing.
 *
 * trap  one byte, so there is nothing in between.
 * insn  a jump over one instruction of five bytes: breakpoint first, then the
 *       four bytes behind it, then the first one; synchronised in between. A
 *       thread is before or behind that instruction, never inside; one that
 *       meets the breakpoint is sent where the jump goes.
 */
#include "engine/control/strategy.h"

static bool same(const u8 *a, const u8 *b, size_t n)
{
	while (n && *a == *b)
		a++, b++, n--;
	return !n;
}

static int expect(struct dp_target *target, u64 addr, const u8 *bytes, size_t n)
{
	u8 now[sizeof(((struct dp_site_entry *)0)->orig)];
	int err = target->ops->read(target, addr, now, n);

	if (err)
		return err;
	return same(now, bytes, n) ? 0 : -EBUSY;
}

static int sync(struct dp_target *target)
{
	return target->ops->sync ? target->ops->sync(target) : 0;
}

static int trap_arm(struct dp_target *target, struct dp_site_entry *site)
{
	int err = expect(target, site->addr, site->orig, 1);

	if (err)
		return err;
	site->armed = 1;
	err = target->ops->write(target, site->addr, site->patch, 1);
	if (err)
		site->armed = 0;
	return err;
}

static int trap_disarm(struct dp_target *target, struct dp_site_entry *site)
{
	int err = expect(target, site->addr, site->patch, 1);

	/* The tool that armed it may have been ended before it wrote. */
	if (err == -EBUSY && !expect(target, site->addr, site->orig, 1))
		err = 0;
	else if (!err)
		err = target->ops->write(target, site->addr, site->orig, 1);
	if (!err) {
		site->armed = 0;
		site->returned = 1;
	}
	return err;
}

/* Replace @n bytes at @addr behind a breakpoint. */
static int poke(struct dp_target *target, u64 addr, const u8 *bytes, size_t n)
{
	static const u8 breakpoint = DP_BREAKPOINT;
	int err = target->ops->write(target, addr, &breakpoint, 1);

	if (!err)
		err = sync(target);
	if (!err)
		err = target->ops->write(target, addr + 1, bytes + 1, n - 1);
	if (!err)
		err = sync(target);
	if (!err)
		err = target->ops->write(target, addr, bytes, 1);
	return err;
}

static int insn_arm(struct dp_target *target, struct dp_site_entry *site)
{
	int err = expect(target, site->addr, site->orig, site->patch_len);

	if (err)
		return err;
	site->armed = 1;
	return poke(target, site->addr, site->patch, site->patch_len);
}

/* Halfway in or halfway out, by a tool that was ended: each byte is the
 * original's, the patch's, or the breakpoint. */
static bool ours(const u8 *now, const struct dp_site_entry *site)
{
	size_t i;

	for (i = 0; i < site->patch_len; i++)
		if (now[i] != site->orig[i] && now[i] != site->patch[i] &&
		    (i || now[i] != DP_BREAKPOINT))
			return false;
	return true;
}

static int insn_disarm(struct dp_target *target, struct dp_site_entry *site)
{
	u8 now[sizeof(site->orig)];
	int err = target->ops->read(target, site->addr, now, site->patch_len);

	if (err)
		return err;
	if (!ours(now, site))
		return -EBUSY;
	if (!same(now, site->orig, site->patch_len))
		err = poke(target, site->addr, site->orig, site->patch_len);
	if (!err)
		site->armed = 0;
	return err;
}

static const struct dp_strategy strategies[] = {
	[DP_MODE_TRAP] = { "trap", trap_arm, trap_disarm },
	[DP_MODE_JUMP] = { "insn", insn_arm, insn_disarm },
};

const struct dp_strategy *dp_strategy_of(const struct dp_site_entry *site)
{
	return &strategies[site->mode];
}
