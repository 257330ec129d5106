/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwound: step through a detour in this process, and look at each instruction whether its
 * state leads to the program's registers.
 *
 * The kernel sends a thread that traps in a restartable sequence back to its beginning, again and
 * again. So such a detour uses an area of its own, that the kernel does not know.
 */
#ifndef UNWOUND_H
#define UNWOUND_H

#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include "engine/insn/detour.h"
#include "engine/layout/handler.h"

#define UNWOUND_TRAP_FLAG 0x100ull
#define UNWOUND_RSP 4

/** struct unwound - the program as the unwinder sees it
 *  @insn: as in a state; @r: by number; @flags */
struct unwound {
	u8 insn;
	u64 r[DP_UNWIND_REGS], flags;
};

/* In the order of an instruction's register numbers */
static const u8 unwound_regs[DP_UNWIND_REGS] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15
};

static __thread struct {
	u32 cpu_id_start, cpu_id;
	u64 rseq_cs;
} unwound_area __attribute__((aligned(32)));

static inline struct dp_rseq unwound_rseq(u32 signature)
{
	return (struct dp_rseq){
		.offset = (s32)((char *)&unwound_area -
				(char *)__builtin_thread_pointer()),
		.signature = signature,
	};
}

/* Send the thread to where the kernel would, if it is in a sequence. */
static inline bool unwound_interrupt(const ucontext_t *uc, u64 *to)
{
	const u64 *seq = (const u64 *)unwound_area.rseq_cs;

	if (!seq || (u64)uc->uc_mcontext.gregs[REG_RIP] - seq[1] >= seq[2])
		return false;
	*to = seq[3];
	unwound_area.rseq_cs = 0;
	return true;
}

/* What the depth of a state is about */
static inline u64 unwound_frame(u8 state, const greg_t *g)
{
	if (state == DP_UNWIND_IN_ARGUMENT)
		return (u64)g[REG_RSI];
	if (state == DP_UNWIND_IN_STACK)
		return ((const struct dp_stack *)g[REG_RSP])->regs;
	return (u64)g[REG_RSP];
}

static inline void unwound_at(const struct dp_detour *d, u64 base,
			      const ucontext_t *uc, struct unwound *u)
{
	const greg_t *g = uc->uc_mcontext.gregs;
	const struct dp_unwind_note *note = dp_unwind_note_at(
		d->unwind.v, d->unwind.nr, (u32)((u64)g[REG_RIP] - base));
	u8 state = note ? note->state : 0;
	u32 i, slot, more = note ? note->more : 0;
	u32 saved = dp_unwind_saved(state) + more;
	u64 sp = unwound_frame(state, g) + dp_unwind_sp(state) +
		 sizeof(u64) * more;

	u->insn = dp_unwind_insn(state);
	u->flags = (u64)g[REG_EFL];
	for (i = 0; i < DP_UNWIND_REGS; i++) {
		/* What counts inner instructions saves two, always, unless they begin or end calls. */
		slot = !u->insn || saved > 2 ? d->unwind.slot[i] :
		       i < 2		     ? i + 1 :
					       0;
		u->r[i] = slot && slot <= saved ?
				  ((u64 *)(sp - DP_RED_ZONE_SIZE))[-(s64)slot] :
				  (u64)g[unwound_regs[i]];
	}
	u->r[UNWOUND_RSP] = sp;
}

#endif
