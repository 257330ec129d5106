// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trap: what a breakpoint of ours, or somebody else's, leads to.
 *
 *   int3 at a site ──► kernel ──► dp_trap_entry ──► dp_hit_trap
 *                                                     │ site? dispatch, pc = copy
 *                                                     │ else dp_foreign_trap
 *   copy runs, jumps back behind the site ◄── sigreturn
 *
 * Where a record has to wait for the instruction, the pc goes to a second copy
 * with a breakpoint behind the instruction; that trap commits the record.
 *
 * Nothing is single-stepped and the site keeps its breakpoint throughout, so no
 * other thread can run past it unseen. A site's record stays as long as the
 * agent does: a thread that trapped just before the byte went back is still
 * recognised.
 */
#include "port/user/signals/trap.h"
#include "engine/hit/arena.h"
#include "engine/hit/call.h"
#include "engine/hit/entry.h"
#include "engine/hit/hit.h"
#include "engine/hit/jprobe.h"
#include "engine/hit/program.h"
#include "engine/hit/site.h"
#include "engine/hit/thread.h"
#include "port/user/signals/action.h"
#include "port/user/signals/child.h"
#include "port/user/signals/mask.h"
#include "engine/arch/x86/sigframe.h"
#include "port_hit.h"

#define FRAME_MAX 16384
#define BREAKPOINT 0xcc /* first, while others are being written */

/* Which instruction of a site's region stands behind a breakpoint in its jump? */
static int jump_boundary(const struct dp_site_entry *s, u64 addr)
{
	u64 offset = addr - s->addr;
	int i;

	if (offset >= sizeof(s->patch) || !(s->jump.traps >> offset & 1))
		return -1;
	for (i = 1; i < s->jump.nr; i++)
		if (s->jump.offset[i] == offset)
			return i;
	return -1;
}

/* What a breakpoint in the middle of a jump raises follows from its byte (landing.c). */
static bool raises(const struct dp_site_entry *s, u64 addr, bool int3)
{
	return jump_boundary(s, addr) > 0 &&
	       (s->patch[addr - s->addr] == BREAKPOINT) == int3;
}

/* The site whose jump has a breakpoint at an address inside it, be there a site of
 * its own or not: of several that could, one that is armed. */
static const struct dp_site_entry *site_around(u64 addr, bool int3)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_site_entry *sites = dp_at(c->site_off);
	const u32 *slots = dp_at(c->hash_off);
	const struct dp_site_entry *around = NULL;
	u32 i = dp_site_hash(addr) & c->hash_mask;

	for (; c->nr_sites && slots[i]; i = (i + 1) & c->hash_mask) {
		const struct dp_site_entry *s = &sites[slots[i] - 1];

		if (raises(s, addr, int3) && (!around || s->armed))
			around = s;
	}
	return around;
}

const struct dp_site_entry *dp_site_lookup(u64 addr)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_site_entry *sites = dp_at(c->site_off);
	const u32 *slots = dp_at(c->hash_off);
	const struct dp_site_entry *around = NULL;
	u32 i = dp_site_hash(addr) & c->hash_mask;

	if (!c->nr_sites)
		return NULL;
	for (; slots[i]; i = (i + 1) & c->hash_mask) {
		const struct dp_site_entry *s = &sites[slots[i] - 1];

		if (s->addr == addr ||
		    (s->post && s->post + s->post_body == addr))
			return s;
		/* A site of its own would go before this. */
		if (jump_boundary(s, addr) >= 0)
			around = s;
	}
	return around;
}

enum dp_who dp_hit_who(void)
{
	if (!dp_wipe.owner)
		return DP_WHO_CHILD;
	return dp_wipe.owner == dp_port_pid() ? DP_WHO_OWNER : DP_WHO_SHARER;
}

bool dp_hit_is_owners(void)
{
	return !__atomic_load_n(&dp_arena.hit.sharers, __ATOMIC_RELAXED) ||
	       dp_hit_who() == DP_WHO_OWNER;
}

/* Is what is at a site the program's instruction or our patch? What a child has is what
 * was there when it was made, and that may have been in the middle of arming: a site's
 * state is its parent's, which goes on. Another site's patch may follow. */
static bool is_known(const struct dp_site_entry *s)
{
	u8 now[sizeof(s->orig)];
	u32 i;

	if (dp_port_copy_in(now, s->addr, sizeof(now)))
		return false;
	for (i = 0; i < sizeof(now); i++) {
		if (i && dp_site_lookup(s->addr + i))
			break;
		if (now[i] != s->orig[i] &&
		    (i >= s->patch_len ||
		     (now[i] != s->patch[i] && now[i] != BREAKPOINT)))
			return false;
	}
	return true;
}

/* A library may have been unmapped, and something else be in its place. */
static bool is_there(const struct dp_mapped *text)
{
	const struct dp_site_entry *s = dp_at(dp_arena.control.site_off);
	bool gone = false;
	u32 i;

	for (i = 0; i < dp_arena.control.nr_sites; i++, s++) {
		if (s->addr - text->start >= text->size || !s->patch_len)
			continue;
		if (s->armed != DP_SITE_GONE)
			return is_known(s);
		gone = true;
	}
	return !gone;
}

bool dp_hit_leave_text(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 i;

	if (!c->revertible)
		return false;
	for (i = 0; i < c->nr_texts; i++)
		if ((c->resident || is_there(&c->texts[i])) &&
		    dp_port_drop(c->texts[i].start, c->texts[i].size))
			return false;
	return true;
}

void dp_hit_leave_signals(u64 *mask)
{
	struct dp_kernel_sigaction action;
	u32 k;

	for (k = 0; k < dp_arena.control.nr_caught; k++) {
		if (!dp_mask_catches(k))
			continue;
		dp_action_get(k, &action);
		dp_port_sigaction(dp_caught(k), &action);
	}
	dp_mask_give_back(mask);
}

bool dp_hit_leave(u64 *mask)
{
	if (!dp_hit_leave_text())
		return false;
	dp_hit_leave_signals(mask);
	return true;
}

static void hit(const struct dp_site_entry *site, struct dp_ucontext *uc)
{
	struct dp_hit hit;

	uc->mc.rip = site->addr;
	switch (dp_hit_who()) {
	case DP_WHO_OWNER:
		if (site->calls) {
			dp_call_trap(site, uc);
			break;
		}
		dp_hit_of_signal(&hit, uc);
		uc->mc.rip = dp_dispatch_site(site, &hit) && site->post ?
				     site->post :
				     site->copy;
		break;
	case DP_WHO_CHILD:
		if (!dp_hit_leave(&uc->sigmask))
			uc->mc.rip = site->copy;
		break;
	case DP_WHO_SHARER:
		__atomic_fetch_add(&dp_arena.hit.missed[DP_MISSED_FORK], 1,
				   __ATOMIC_RELAXED);
		uc->mc.rip = site->copy;
		break;
	}
}

/* A trap in the middle of a jump: of the site that is there, if there is one with probes,
 * or else of the jump's. Children are not counted. */
static void count_middle(const struct dp_site_entry *site)
{
	if (dp_hit_who() != DP_WHO_OWNER)
		return;
	__atomic_fetch_add(&dp_arena.hit.strays, 1, __ATOMIC_RELAXED);
	if (site->first_probe)
		dp_tally(site->first_probe - 1, DP_TALLY_MIDDLE);
}

/* Somebody has come to the middle of what a jump replaces: back from where he
 * was when it was written, or by a branch. */
static void stray(const struct dp_site_entry *site, int insn,
		  struct dp_ucontext *uc)
{
	uc->mc.rip = site->addr + site->jump.offset[insn];
	if (!dp_wipe.owner && dp_hit_leave(&uc->sigmask))
		return;
	uc->mc.rip = site->jump.base + site->jump.at[insn];
}

void dp_hit_of_signal(struct dp_hit *hit, struct dp_ucontext *uc)
{
	u64 sp = uc->mc.rsp, frame = (u64)uc;

	hit->regs = &uc->mc;
	hit->low = hit->high = 0;
	hit->fpstate = uc->mc.fpstate;
	hit->signals = false;
	hit->alt_sp = uc->stack.sp;
	hit->alt_size = uc->stack.size;
	if (frame < sp && sp - frame <= FRAME_MAX)
		dp_hit_know_stack(hit);
}

/* The id as libc keeps it beside the thread pointer, where control has found
 * out that it does. */
u32 dp_hit_tid(void)
{
	u32 offset = dp_arena.control.tid_offset, tid;

	if (!offset)
		return dp_port_tid();
	__asm__ volatile("movl %%fs:(%1), %0" : "=r"(tid) : "r"((u64)offset));
	return tid;
}

/* As the kernel keeps it in the thread's struct rseq, which is quicker to read than
 * a segment's limit, where every thread has one. */
u32 dp_hit_cpu(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 cpu;

	if (!c->counts_alone)
		return dp_port_cpu();
	__asm__ volatile("movl %%fs:(%1), %0"
			 : "=r"(cpu)
			 : "r"((s64)c->rseq_offset));
	return cpu;
}

static bool deals_with(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	if (!dp_arena.control.resident)
		return false;
	if (info->signo == DP_SIGTRAP)
		return uc->mc.rip == (u64)dp_jprobe_return + 1 &&
		       dp_jprobe_leave(uc);
	return dp_call_fault(info, uc);
}

static u64 not_ours(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	if (deals_with(info, uc))
		return 0;
	return dp_foreign_trap(info, uc);
}

static bool is_inside(const struct dp_site_entry *s, u64 addr)
{
	return addr - s->addr - 1 < sizeof(s->patch) - 1;
}

/* Whose breakpoint is at @pc? @around: the site whose jump it is in the middle of, or
 * NULL. A site of its own that nobody uses any more leaves it to that one. */
static const struct dp_site_entry *find(u64 pc, bool int3,
					const struct dp_site_entry **around)
{
	const struct dp_site_entry *site = dp_site_lookup(pc);

	*around = NULL;
	if (!site)
		return NULL;
	/* By itself it raises nothing else than SIGTRAP. */
	if (!int3 || pc != site->addr || !site->armed || !site->patch_len)
		*around = site_around(pc, int3);
	if (*around)
		return pc == site->addr && site->first_probe ? site : *around;
	return int3 && !is_inside(site, pc) ? site : NULL;
}

u64 dp_hit_trap(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	const struct dp_site_entry *site = NULL, *around = NULL;
	bool int3 = info->signo == DP_SIGTRAP;
	u64 pc = uc->mc.rip - int3;

	if (dp_stepped_end(info, uc))
		return 0;
	if ((int3 && info->code == DP_SI_KERNEL) ||
	    (info->signo == DP_SIGILL && info->code == DP_ILL_ILLOPN))
		site = find(pc, int3, &around);
	if (!site)
		return not_ours(info, uc);

	if (around)
		count_middle(site);
	if (pc == site->addr)
		hit(site, uc);
	else if (around)
		stray(site, jump_boundary(site, pc), uc);
	else if (dp_hit_who() != DP_WHO_OWNER)
		uc->mc.rip = site->addr + site->insn_len;
	else if (site->calls)
		dp_call_after(site, uc);
	else
		dp_pending_complete(site);
	return 0;
}
