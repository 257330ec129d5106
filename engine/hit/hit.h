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
#include "arch/x86/sigframe.h"
#include "engine/layout/action.h"
#include "engine/layout/arena.h"
#include "engine/layout/context.h"
#include "engine/layout/page.h"
#include "engine/layout/private.h"
#include "engine/layout/probe.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/layout/sleep.h"
#include "engine/layout/tally.h"
#include "engine/layout/visit.h"

/* Nothing here is ever bound at run time. */
#pragma GCC visibility push(hidden)

/* Placed by the link script at their distances from the text (engine/layout/arena.h). */
extern struct dp_wipe dp_wipe;
extern u64 dp_table[DP_TABLE_WORDS];
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

/** dp_hit_thread() - the thread pointer: where its thread-local memory is told from */
static inline u64 dp_hit_thread(void)
{
	u64 pointer;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/** dp_hit_is_owners() - the same without asking the kernel, where it is known
 *  that nobody else runs in our memory */
bool dp_hit_is_owners(void);

/**
 * dp_hit_leave() - in a fork child, take all patches out of its text
 *
 * Gives the patched pages back to the page cache, and the program its SIGTRAP
 * action and its signal masks. Only where control found that nobody else had
 * changed the pages.
 * @mask: where the thread's mask is that will be in force, NULL: it is already
 * Return: true if the child's text is the program's own again.
 */
bool dp_hit_leave(u64 *mask);

/** dp_hit_leave_text() - its first half: nothing but the text. Return: as above. */
bool dp_hit_leave_text(void);
/** dp_hit_leave_signals() - its second half: actions and masks */
void dp_hit_leave_signals(u64 *mask);

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

/**
 * struct dp_hit - a thread at a site
 * @regs: its registers, the pc at the site; of what is behind the segment
 *        registers nothing is there
 * @low, @high: what of its stack is there for certain
 * @alt_sp, @alt_size: its alternate stack; DP_ALT_UNKNOWN: nobody has asked
 * @fpstate: where its vector registers are, by address; 0: in place
 * @signals: they are not blocked meanwhile
 */
struct dp_hit {
	struct dp_mcontext *regs;
	u64 low, high;
	u64 fpstate;
	u64 alt_sp, alt_size;
	bool signals;
};

#define DP_ALT_UNKNOWN (~0ull)

#define DP_RED_ZONE 128
#define DP_WORD 8

/** dp_hit_knows() - is the word at @addr there for certain? */
static inline bool dp_hit_knows(const struct dp_hit *hit, u64 addr)
{
	return addr >= hit->low && addr + DP_WORD <= hit->high;
}

/* Something has just been written below the red zone, so that the page of the
 * stack pointer is there if that was on the same one. */
static inline void dp_hit_know_stack(struct dp_hit *hit)
{
	u64 sp = hit->regs->rsp, written = sp - DP_RED_ZONE - 1;

	if ((written ^ sp) & ~(u64)(DP_PAGE - 1))
		return;
	hit->low = sp - DP_RED_ZONE;
	hit->high = (sp | (DP_PAGE - 1)) + 1;
}

/** dp_hit_of_signal() - from what a signal handler gets
 *
 * The kernel has just written a signal frame below the stack pointer, unless
 * there is an alternate stack: then nothing of the stack is certain.
 */
void dp_hit_of_signal(struct dp_hit *hit, struct dp_ucontext *uc);

/**
 * struct dp_detour_frame - what entry.S makes of a call from a detour
 * @regs: as far as they go
 * @back: into the detour; @number what it told
 */
struct dp_detour_frame {
	u64 regs[19];
	u64 back;
	u32 number, pad;
};

/** dp_detour_hit() - a detour tells of its site. Context: as the thread. */
void dp_detour_hit(struct dp_detour_frame *frame);

/**
 * dp_watch() - a system call is about to be made where it stands
 * @after: or has returned
 * Return: true if it was answered here instead, with its result in @regs->rax.
 */
bool dp_watch(const struct dp_site_entry *site, struct dp_mcontext *regs,
	      bool after);

/**
 * dp_confine() - a system call is about to be made: should it install a seccomp filter,
 * wait for the tool, which looks whether probes can go on under that
 * @site: of the hook; @regs: as they are then
 *
 * May not return: the tool takes the probes away, and sends the thread to before the
 * call.
 */
void dp_confine(const struct dp_site_entry *site, struct dp_mcontext *regs);

/** dp_hook_undo_exec() - an exec has failed */
void dp_hook_undo_exec(void);

/** dp_hook_trap_address() - of the handler in them */
u64 dp_hook_trap_address(void);
/** dp_hook_take_actions() - put our actions in force, for this process */
void dp_hook_take_actions(void);

/**
 * dp_dispatch_site() - run the probes of a site for this thread
 * Return: does a record wait for the instruction to complete?
 */
bool dp_dispatch_site(const struct dp_site_entry *site,
		      const struct dp_hit *hit);

/** dp_hit_count() - count a hit of a probe */
void dp_hit_count(u32 probe);

/**
 * dp_program_run() - run the program of a probe
 * Return: true if its record waits for the original instruction.
 */
bool dp_program_run(u32 probe, const struct dp_site_entry *site,
		    const struct dp_hit *hit, u64 serial);
/** dp_program_enter() - the same at the entry of a function: it fills in the visit,
 *  or leaves it incomplete if the call is not to be followed */
void dp_program_enter(u32 probe, const struct dp_site_entry *site,
		      const struct dp_hit *hit, struct dp_visit *visit);

/** dp_context_claim() - a context that is free, or has been left by this thread for
 *  good, for a hit of it; or NULL */
struct dp_context *dp_context_claim(const struct dp_hit *hit);
void dp_context_release(struct dp_context *ctx);
/** dp_context_suspend() - its record waits for the original instruction */
void dp_context_suspend(struct dp_context *ctx);

/** enum dp_completes - will the original instruction complete? */
enum dp_completes {
	DP_COMPLETES,
	DP_COMPLETES_NOT,
	DP_COMPLETES_PERHAPS,
};

/** dp_completes() - before it is run, with the registers it will see */
enum dp_completes dp_completes(const struct dp_site_entry *site,
			       const struct dp_hit *hit);

/** dp_log_put() - hand a record to the reader, or count it lost
 *  @parts: what it consists of, @head->len bytes; only @head->cpu is filled in */
struct dp_log_part {
	const void *bytes;
	u64 len;
};
void dp_log_put(struct dp_record *head, const struct dp_log_part *parts,
		u32 nr);
/** dp_log_commit() - hand a context's record to the reader, or count it lost */
void dp_log_commit(struct dp_context *ctx);
/** dp_log_discard() - count its record as discarded, and its execution as none */
void dp_log_discard(struct dp_context *ctx);

/** dp_pending_complete() - the original instruction of a hit has completed */
void dp_pending_complete(const struct dp_site_entry *site);
/** dp_pending_abandon() - discard the records of hits that this thread, being
 *  where @hit says, will not come back to */
void dp_pending_abandon(u32 tid, const struct dp_hit *hit);

/* visit.c: calls of functions whose exits are probed */
/** dp_visit_begin() - a function is entered: count it, and follow the call from
 *  now on, if there is room and its program, if it has one, does not object. If a
 *  visit is where this one will be, that was left otherwise. */
void dp_visit_begin(u32 probe, const struct dp_site_entry *site,
		    const struct dp_hit *hit);
/** dp_visit_fill() - the call will be followed
 *  @log: what the exit's record shall have, @len bytes */
void dp_visit_fill(struct dp_visit *visit, u32 probe, const struct dp_hit *hit,
		   const void *log, u32 len);
/** dp_visit_end() - a function is about to be left by the instruction of @site */
void dp_visit_end(u32 probe, const struct dp_site_entry *site,
		  const struct dp_hit *hit);
/** dp_visit_unwind() - a part of the stack is about to be left by an unwinder, and
 *  with it the calls that have their return addresses there */
void dp_visit_unwind(u32 probe, const struct dp_hit *hit);

/** dp_branch_taken() - will a conditional branch be taken? */
bool dp_branch_taken(const struct dp_site_entry *site, u64 flags, u64 cx);

/** dp_hit_cpu() - where this thread is, or was a moment ago */
u32 dp_hit_cpu(void);
/** dp_hit_tid() - thread id, in the target's namespace */
u32 dp_hit_tid(void);

/* What lies behind struct dp_arena; the compiler is not to know that it does. */
static inline void *dp_at(u64 offset)
{
	char *arena = (char *)&dp_arena;

	__asm__("" : "+r"(arena));
	return arena + offset;
}

static inline struct dp_probe_state *dp_probe_state(u32 probe)
{
	struct dp_probe_state *states = dp_at(dp_arena.control.state_off);

	return &states[probe];
}

static inline const struct dp_probe_entry *dp_probe(u32 probe)
{
	const struct dp_probe_entry *probes = dp_at(dp_arena.control.probe_off);

	return &probes[probe];
}

static inline u32 dp_site_index(const struct dp_site_entry *site)
{
	const struct dp_site_entry *sites = dp_at(dp_arena.control.site_off);

	return (u32)(site - sites);
}

/** dp_linker_tell() - the linker says that libraries have come or gone: linker.c */
void dp_linker_tell(const struct dp_hit *hit);

static inline void dp_tally(u32 probe, enum dp_tally what)
{
	__atomic_fetch_add(&dp_probe_state(probe)->tally[what], 1,
			   __ATOMIC_RELAXED);
}

/** dp_site_lookup() - the site that has a breakpoint of ours at an address, be
 *  it in the text or behind its second copy; or NULL */
const struct dp_site_entry *dp_site_lookup(u64 addr);

/**
 * dp_foreign_trap() - a SIGTRAP that is none of ours
 *
 * Return: as dp_hit_trap().
 */
u64 dp_foreign_trap(struct dp_siginfo *info, struct dp_ucontext *uc);

/** dp_caught_index() - which caught signal is it? DP_CAUGHT: none */
u32 dp_caught_index(u64 sig);

/** dp_action_get() - copy of the program's action for the k-th caught signal */
void dp_action_get(u32 k, struct dp_kernel_sigaction *action);

/** dp_action_set() - replace it; @old, if not NULL, gets what it was */
void dp_action_set(u32 k, const struct dp_kernel_sigaction *action,
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

/* mask.c: signal masks as the program believes them to be */
/** dp_mask_thread() - what this thread is known by: dp_thread_id() */
u64 dp_mask_thread(void);
/** dp_mask_catches() - is our action in force for the k-th caught signal? Where it is
 *  not, its masks and actions are the kernel's business */
bool dp_mask_catches(u32 k);
/** dp_mask_caught() - the signals of which that is so */
u64 dp_mask_caught(void);
/** dp_mask_blocked() - caught signals that this thread believes to be blocked */
u64 dp_mask_blocked(void);
/** dp_mask_hold() - keep a signal until this thread unblocks it.
 *  Return: false if there is no room. */
bool dp_mask_hold(const struct dp_siginfo *info);
/** dp_mask_procmask() - make rt_sigprocmask(2) for the program. Return: its result */
s64 dp_mask_procmask(u64 how, u64 set, u64 old);
/** dp_mask_sigaction() - make rt_sigaction(2), of another signal than a caught one */
s64 dp_mask_sigaction(u64 sig, u64 from, u64 to);
/** dp_mask_pending() - make rt_sigpending(2) */
s64 dp_mask_pending(u64 set, u64 size);
/** dp_mask_lend() - a child is about to run with our thread pointer */
void dp_mask_lend(void);
/** dp_mask_set_trap() - such a child has set its SIGTRAP action */
void dp_mask_set_trap(u64 handler);
/** dp_mask_ignores() - is the k-th caught signal to be ignored after an exec? */
bool dp_mask_ignores(u32 k);
/** dp_mask_inherit() - a thread is about to be made that begins with our mask */
void dp_mask_inherit(u64 thread);
/** dp_mask_begin() - this thread has just been made, with this mask, by one that
 *  could not tell what it would be known by */
void dp_mask_begin(u64 mask);
/** dp_mask_forget() - this thread is about to end */
void dp_mask_forget(void);
/** dp_mask_believe() - what this thread believes from now on; lets held signals
 *  come that it opens. Return: false if there is no room. */
bool dp_mask_believe(u64 mask);
/** dp_mask_holds() - are any held for it? */
bool dp_mask_holds(void);
/** dp_mask_get() - a mask of the program's. Return: 0, -EFAULT. */
int dp_mask_get(u64 *mask, u64 from);
/** dp_mask_give_back() - make the kernel's masks what the program believes */
void dp_mask_give_back(u64 *mask);
/** dp_mask_real() - block really what is believed to be, or not any more: for
 *  what comes after an exec */
void dp_mask_real(bool real);

/* stepped.c */
/**
 * dp_stepped_end() - end what a tool has begun with this thread that has ended itself
 * @info, @uc: of a signal of ours
 * Return: was the signal only that?
 */
bool dp_stepped_end(const struct dp_siginfo *info, struct dp_ucontext *uc);

/* sleep.c: calls that sleep under a mask of their own */
/**
 * dp_sleep_enter() - one is about to be made
 * @site: of the hook before it; @nr: its number
 * @regs: as they are then; that which has the mask may change
 */
void dp_sleep_enter(const struct dp_site_entry *site, u64 nr,
		    struct dp_mcontext *regs);
/** dp_sleep_return() - one may just have returned */
void dp_sleep_return(struct dp_mcontext *regs);
/** dp_sleep_come_through() - the same of one that another function makes; @site: of
 *  the hook behind that */
void dp_sleep_come_through(const struct dp_site_entry *site,
			   const struct dp_mcontext *regs);
/** dp_sleep_of() - the call that a signal has interrupted or kept from going to
 *  sleep; or NULL */
struct dp_sleep *dp_sleep_of(struct dp_mcontext *regs);
/** dp_sleep_native() - the same, of one that was made without us and lets @sig come. Only
 *  while our actions come or go. */
const struct dp_native *dp_sleep_native(const struct dp_mcontext *regs,
					s32 sig);
/**
 * dp_sleep_delay() - a signal comes between the beginning of a call that opens it
 * and the call itself
 * Return: true if it waits for the call.
 */
bool dp_sleep_delay(const struct dp_siginfo *info, struct dp_ucontext *uc);
/** dp_sleep_again() - what has interrupted a call was nothing to it */
void dp_sleep_again(const struct dp_siginfo *info, struct dp_ucontext *uc);
/** dp_sleep_give_back() - a fork child leaves: its handlers return from such calls to
 *  what the program believes */
void dp_sleep_give_back(void);
/** dp_sleep_forget() - there is no such thread any more, or none yet */
void dp_sleep_forget(u64 thread);

/* entry.S: see there */
extern const char dp_detour_entry[];
void dp_call_on(void *arg, void (*function)(void *arg), void *top);
void dp_wait_home(const u32 *word, u32 is, const s64 *timeout, u64 regs);

/* entry.S: SIGTRAP's handler and the code it returns to */
extern const char dp_trap_entry[], dp_trap_restorer[];

#pragma GCC visibility pop

#endif
