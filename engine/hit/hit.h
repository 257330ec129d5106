/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hit: the half of the engine that runs on every hit.
 *
 * Freestanding, general registers only. Allocates nothing, locks nothing, calls
 * nothing outside the engine. It follows offsets in memory that control has
 * prepared, and tells control by counters alone.
 */
#ifndef DP_HIT_H
#define DP_HIT_H

#include "port_types.h"
#include "engine/layout.h"
#include "engine/arch/x86/sigframe.h"

/* Nothing here is ever bound at run time. */
#pragma GCC visibility push(hidden)

/* Placed by the link script at their distances from the text (layout.h). */
extern struct dp_wipe dp_wipe;
extern struct dp_private dp_private;
extern struct dp_arena dp_arena;

/** enum dp_who - whose thread is running this */
enum dp_who {
	DP_WHO_OWNER, /* the probed process */
	DP_WHO_SHARER, /* a child in its memory: vfork, CLONE_VM */
	DP_WHO_CHILD, /* a fork child with memory of its own */
};

/** dp_hit_who() - tell them apart. Context: any. */
enum dp_who dp_hit_who(void);

/**
 * dp_hit_leave() - in a fork child, take all patches out of its text
 *
 * Gives the patched pages back to the page cache and the SIGTRAP action back
 * to the program. Only where control found that nobody else had changed them.
 * Return: true if the child's text is the program's own again.
 */
bool dp_hit_leave(void);

/**
 * dp_hit_trap() - SIGTRAP arrived
 * @info, @uc: the kernel's
 *
 * Context: signal handler on the interrupted thread, every signal but SIGTRAP
 * blocked.
 * Return: 0, the thread goes on as @uc says; else the address of the program's
 * own handler, to be entered with the frame as it is.
 */
u64 dp_hit_trap(struct dp_siginfo *info, struct dp_ucontext *uc);

/** dp_dispatch_site() - run the probes of a site for this thread */
void dp_dispatch_site(const struct dp_site_entry *site);

/** dp_site_lookup() - the site at an address, or NULL */
const struct dp_site_entry *dp_site_lookup(u64 addr);

/**
 * dp_foreign_trap() - a SIGTRAP that is none of ours
 *
 * Return: as dp_hit_trap().
 */
u64 dp_foreign_trap(struct dp_siginfo *info, struct dp_ucontext *uc);

/** dp_action_get() - copy of the program's SIGTRAP action */
void dp_action_get(struct dp_kernel_sigaction *action);

/** dp_action_set() - replace it; @old, if not NULL, gets what it was */
void dp_action_set(const struct dp_kernel_sigaction *action,
		   struct dp_kernel_sigaction *old);

/** struct dp_hook_regs - registers of a hooked system call, as saved by entry.S */
struct dp_hook_regs {
	u64 nr;
	u64 args[6];
	u64 ret;
};

/**
 * dp_hook_before() - a hooked system call is about to be made
 * Return: non-zero if it was answered here, with the result in @regs->ret.
 */
int dp_hook_before(struct dp_hook_regs *regs);

/** dp_hook_after() - it has returned, with @regs->ret */
void dp_hook_after(struct dp_hook_regs *regs);

/* entry.S: SIGTRAP's handler and the code it returns to */
extern const char dp_trap_entry[], dp_trap_restorer[];

#pragma GCC visibility pop

#endif
