// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trap: caught signals, on their way to the engine or to the program.
 *
 *   int3 at a site ──► kernel ──► dp_trap_entry ──► dp_hit_trap
 *   access to watched data ──┘                        │ data? dp_trap_watched()
 *                                                     │ site? dp_trap_hit()
 *                                                     │ else dp_foreign_trap()
 *   copy runs, jumps back behind the site ◄── sigreturn
 */
#include "port/user/signals/trap.h"
#include "port/user/signals/mask.h"
#include "engine/hit/hit.h"
#include "engine/hit/thread.h"
#include "arch/arch.h"
#include "port.h"
#include "port_hit.h"

static struct dp_trap trap_of(struct dp_ucontext *uc)
{
	return (struct dp_trap){
		.regs = &uc->mc,
		.at = (u64)uc,
		.alt_sp = uc->stack.sp,
		.alt_size = uc->stack.flags & DP_SS_DISABLE ? 0 :
							      uc->stack.size,
		.mask = &uc->sigmask,
	};
}

/* rt_sigreturn restores the alternate stack with the registers. */
static void show_alternate(const struct dp_trap *trap, struct dp_ucontext *uc)
{
	if (!trap->alt_changed)
		return;
	uc->stack.sp = trap->alt_sp;
	uc->stack.size = trap->alt_size;
	uc->stack.flags = 0;
}

/* The siginfo of SIGILL and SIGFPE has the address, too. */
static void say_where(struct dp_siginfo *info, u64 from, u64 to)
{
	if ((info->signo == DP_SIGILL || info->signo == DP_SIGFPE) &&
	    info->fields[0] == from)
		info->fields[0] = to;
}

static bool is_breakpoint(const struct dp_siginfo *info)
{
	return info->signo == DP_SIGTRAP && info->code == DP_SI_KERNEL;
}

/* A byte of dp_jump_upward(), which stands for a breakpoint at the end of a jump. */
static bool is_substitute(const struct dp_siginfo *info)
{
	return info->signo == DP_SIGILL && info->code == DP_ILL_ILLOPN;
}

static bool is_sites(const struct dp_siginfo *info, struct dp_trap *trap)
{
	u64 pc = trap->regs->rip;

	if (is_breakpoint(info))
		return dp_trap_hit(trap, pc - DP_BREAKPOINT_BEHIND, true);
	return is_substitute(info) && dp_trap_hit(trap, pc, false);
}

/* An access to watched data, behind which the kernel traps. One that comes late, for the signal was
 * blocked, is of an instruction long since past: it is none of the program's signals either. */
static bool is_watched(const struct dp_siginfo *info, struct dp_trap *trap)
{
	u32 number = dp_arena.control.watch_number;

	if (info->signo != DP_SIGTRAP || info->code != DP_TRAP_PERF ||
	    !number || DP_PERF_TAG(info) >> 32 != number)
		return false;
	if (!DP_PERF_LATE(info))
		dp_trap_watched(trap, (u32)DP_PERF_TAG(info));
	return true;
}

/* A process that watches itself without events has set the registers by ptrace(2), too. The tags are read
 * first: by the time that the library has answered, a register may have another one. */
static bool is_own_register(const struct dp_siginfo *info, struct dp_trap *trap)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 (*which)(void) = (void *)c->register_which;
	u32 tags[DP_REGISTERS], n, hit;

	if (!which || info->signo != DP_SIGTRAP ||
	    info->code != DP_TRAP_HWBKPT || dp_hit_who() != DP_WHO_OWNER)
		return false;
	for (n = 0; n < DP_REGISTERS; n++)
		tags[n] =
			__atomic_load_n(&c->register_tags[n], __ATOMIC_ACQUIRE);
	hit = which();
	for (n = 0; n < DP_REGISTERS; n++)
		if (hit >> n & 1 && tags[n])
			dp_trap_watched(trap, tags[n]);
	return hit != DP_REGISTERS_FOREIGN;
}

/* A tool that sets registers by ptrace(2) takes their traps before they come here. Of one that was
 * killed the registers are there until the next tool, and the traps are of no use. */
static bool is_left_register(const struct dp_siginfo *info)
{
	return info->signo == DP_SIGTRAP && info->code == DP_TRAP_HWBKPT &&
	       dp_arena.control.register_traps;
}

/* A tool was killed that led this thread out by single steps: the kernel makes the last of them without a tracer,
 * which ends with this signal's frame. So does the mask that the tool had set. */
static bool is_left_step(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	const struct dp_led *led = &dp_arena.control.led;
	u32 tid;

	if (info->signo != DP_SIGTRAP ||
	    (info->code != DP_TRAP_TRACE && info->code != DP_TRAP_BRKPT))
		return false;
	tid = __atomic_load_n(&led->tid, __ATOMIC_ACQUIRE);
	if (!tid || dp_private.led == led->number || tid != dp_hit_tid())
		return false;
	dp_private.led = led->number;
	if (led->masked)
		uc->sigmask = led->mask;
	return true;
}

/* Has the program's own instruction faulted, in a copy? Then its frame shows that. */
static bool is_handlers(struct dp_siginfo *info, struct dp_trap *trap)
{
	u64 pc = trap->regs->rip;

	if (info->signo == DP_SIGTRAP)
		return dp_arena.control.own_process && dp_trap_returned(trap);
	if (info->code <= 0)
		return false;
	if (dp_trap_raised(trap))
		return true;
	if (trap->regs->rip != pc)
		say_where(info, pc, trap->regs->rip);
	return false;
}

u64 dp_hit_trap(struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_trap trap = trap_of(uc);

	if (dp_marks_nudged(info, &uc->sigmask))
		return 0;
	if (!is_watched(info, &trap) && !is_own_register(info, &trap) &&
	    !is_left_register(info) && !is_left_step(info, uc) &&
	    !is_sites(info, &trap) && !is_handlers(info, &trap))
		return dp_foreign_trap(info, uc);
	show_alternate(&trap, uc);
	return 0;
}
