// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arming: bytes in text that probes need, while others who write it are kept out; and the knobs for all probes.
 *
 * Locks: none is taken but by dp_kmod_set_knob(): dp_kmod's, which the other functions need.
 */
#include "kmod/shared.h"
#include "engine/layout/base.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "kmod/kprobes.h"
#include "kmod/mapped.h"
#include "kmod/safe.h"
#include "kmod/watches.h"
#include "port/kernel/text.h"
#include <linux/rcupdate.h>
#include <linux/string.h>

/* Where one of the kernel's own probes has come over one of ours, or would be inside of it */
static u64 over;

/* Bytes of a probe that are written now, or are about to be: 0: none */
static u32 written(u32 probe, u64 addr)
{
	u8 now[DP_JUMP_SIZE], was[DP_JUMP_SIZE];

	if (dp_kernel_text()->ops->read(dp_kernel_text(), addr, now,
					sizeof(now)))
		return 0;
	memcpy(was, now, sizeof(now));
	dp_engine_originals(dp_kmod.engine, addr, was, sizeof(was));
	if (memcmp(was, now, sizeof(now)))
		return dp_live_optimized(dp_kmod.engine, probe) ? DP_JUMP_SIZE :
								  1;
	return strcmp(dp_engine_mode(dp_kmod.engine, probe), "jump") ?
		       0 :
		       DP_JUMP_SIZE;
}

/* Bytes of ours that are at a site now, whether or not it has probes */
static u32 left(u64 addr)
{
	u8 now[DP_JUMP_SIZE], was[DP_JUMP_SIZE];
	u32 n = DP_JUMP_SIZE;

	if (dp_kernel_text()->ops->read(dp_kernel_text(), addr, now,
					sizeof(now)))
		return 0;
	memcpy(was, now, sizeof(now));
	dp_engine_originals(dp_kmod.engine, addr, was, sizeof(was));
	while (n && was[n - 1] == now[n - 1])
		n--;
	return n;
}

static bool is_concerned(u64 addr)
{
	return addr &&
	       (!dp_kmod.leaving || dp_kmod.leaving(dp_kmod.leaving_arg, addr));
}

/* What could not be restored when its probe was taken away is still ours. */
static int find_over_left(void)
{
	size_t i;
	u64 addr;

	for (i = 0; dp_engine_site(dp_kmod.engine, i, &addr); i++)
		if (is_concerned(addr) &&
		    dp_safe_kprobe_writes(addr, left(addr))) {
			over = addr;
			return -EBUSY;
		}
	return 0;
}

/*
 * The kernel's own probes save what is there, and write it back when they go. Over one of ours that
 * would be our bytes, without what they lead to.
 */
static int find_over(void)
{
	u64 addr;
	u32 i;

	for (i = 0; i < DP_KMOD_PROBES; i++) {
		addr = dp_kmod.probes[i].used ? dp_kmod.probes[i].addr : 0;
		if (!is_concerned(addr) || dp_kmod.probes[i].data ||
		    dp_kmod.probes[i].state != DP_KMOD_THERE ||
		    !dp_safe_kprobe_writes(addr, written(i, addr)))
			continue;
		over = addr;
		return -EBUSY;
	}
	return 0;
}

/* The kernel's own probe may be disabled, or be a jump later: it will write over what is there by then. */
static int find_over_coming(void)
{
	size_t i;
	u64 addr;

	for (i = 0; dp_engine_site(dp_kmod.engine, i, &addr); i++)
		if (is_concerned(addr) &&
		    dp_engine_site_comes(dp_kmod.engine, i) &&
		    (dp_safe_kprobe(addr, 1) || dp_safe_kprobe_before(addr))) {
			over = addr;
			return -EBUSY;
		}
	return 0;
}

/* While others who write text are kept out */
int dp_kmod_hold(void *arg, bool unowned, int (*work)(void *what), void *what)
{
	int err;

	dp_safe_hold();
	err = find_over()		 ?:
		      find_over_left()	 ?:
		      find_over_coming() ?:
					   work(what);
	dp_safe_release();
	return err;
}

/* Of data the value that is there now is the last one that was seen. */
static void set_watch(u32 probe)
{
	struct dp_watch *w = dp_kmod.probes[probe].watch;
	const struct dp_kmod_probe *p = &dp_kmod.probes[probe];
	bool on = dp_kmod.knobs[DP_KMOD_ARMED] &&
		  (p->client ? p->armed && p->was : p->on);

	if (on && !dp_watch_is_on(w))
		dp_engine_watch_begin(dp_kmod.engine, probe, dp_watch_now(w));
	dp_watch_set(w,
		     on ? (u32)dp_engine_watch_tag(dp_kmod.engine, probe) : 0,
		     on);
}

void dp_kmod_set_watches(void)
{
	u32 i;

	for (i = 0; i < DP_KMOD_PROBES; i++)
		if (dp_kmod.probes[i].watch)
			set_watch(i);
}

u64 dp_kmod_over(void)
{
	u64 addr = over;

	over = 0;
	return addr;
}

int dp_kmod_arm_moved(const u32 *list, u32 n, u64 *bad)
{
	u32 which = 0;
	int err = dp_live_plan(dp_kmod.engine, list, n);

	*bad = 0;
	err = err   ?:
		      dp_live_commit(dp_kmod.engine, dp_kernel_text(), list, n,
				     &which);
	if (err && n)
		*bad = dp_kmod_over() ?: dp_kmod.probes[list[which]].addr;
	return err;
}

bool dp_kmod_knob(enum dp_kmod_knob knob)
{
	return READ_ONCE(dp_kmod.knobs[knob]);
}

static int set_knobs(bool armed_too, bool jumps)
{
	int err;

	if (!dp_kmod.engine)
		return 0;
	dp_mapped_apply(NULL, armed_too);
	err = dp_live_knobs(dp_kmod.engine, dp_kernel_text(), armed_too, jumps);
	dp_kprobes_tell();
	synchronize_rcu();
	if (!err)
		return 0;
	dp_live_set_knobs(dp_kmod.engine, dp_kmod.knobs[DP_KMOD_ARMED],
			  dp_kmod.knobs[DP_KMOD_JUMPS]);
	dp_mapped_apply(NULL, dp_kmod.knobs[DP_KMOD_ARMED]);
	return err;
}

int dp_kmod_set_knob(enum dp_kmod_knob knob, bool on)
{
	int err;

	mutex_lock(&dp_kmod.lock);
	err = set_knobs(
		knob == DP_KMOD_ARMED ? on : dp_kmod.knobs[DP_KMOD_ARMED],
		knob == DP_KMOD_JUMPS ? on : dp_kmod.knobs[DP_KMOD_JUMPS]);
	if (!err)
		WRITE_ONCE(dp_kmod.knobs[knob], on);
	if (dp_kmod.engine)
		dp_kmod_set_watches();
	mutex_unlock(&dp_kmod.lock);
	return err;
}
