// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* signals: threads, and how signals reach them. */
#include "port/fake/hit/kernel.h"
#include "engine/hit/hit.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/intercept.h"
#include "port/user/signals/masked_wait.h"
#include "port/user/signals/trap.h"
#include "port.h"
#include <string.h>
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "port/fake/hit/world.h"

#define STACK_WORDS 1024
#define NEVER (DP_SIGMASK(9) | DP_SIGMASK(19))
#define SI_TKILL (-6)

struct dp_fake_seen dp_fake_seen;
static u64 stacks[DP_FAKE_THREADS][STACK_WORDS];

void dp_kernel_begin(u32 caught)
{
	u32 i;

	memset(&dp_kernel, 0, sizeof(dp_kernel));
	memset(&dp_fake_seen, 0, sizeof(dp_fake_seen));
	memset(stacks, 0, sizeof(stacks));
	dp_kernel_forget();
	dp_kernel.pid = DP_FAKE_PID;
	for (i = 0; i < DP_FAKE_THREADS; i++) {
		dp_kernel.tasks[i].self[0] = (u64)dp_kernel.tasks[i].self;
		dp_kernel.tasks[i].regs.rsp = (u64)&stacks[i][STACK_WORDS / 2];
	}
	if (caught)
		dp_intercept_take_actions();
}

void dp_fake_revive(u32 caught)
{
	dp_fake_seen.died = 0;
	dp_kernel_task()->mask = 0;
	memset(dp_kernel_task()->pends, 0, sizeof(dp_kernel_task()->pends));
	if (caught)
		dp_intercept_take_actions();
}

void dp_fake_thread(u32 i)
{
	dp_kernel.current = i;
}

void dp_fake_cpu(u32 cpu)
{
	dp_kernel.cpu = cpu;
}

void dp_fake_altstack(u64 sp, u64 size)
{
	dp_kernel_task()->alt_sp = sp;
	dp_kernel_task()->alt_size = size;
}

void dp_fake_fork(void)
{
	dp_kernel.pid += 100;
	dp_wipe.owner = 0;
}

void dp_fake_vfork(bool over)
{
	dp_kernel.pid = over ? DP_FAKE_PID : DP_FAKE_PID + 200;
	dp_arena.hit.vm_children = !over;
}

u64 dp_fake_mask(void)
{
	return dp_kernel_task()->mask;
}

void dp_fake_set_mask(u64 mask)
{
	dp_kernel_task()->mask = mask & ~NEVER;
}

struct dp_kernel_sigaction *dp_fake_action(u32 sig)
{
	return &dp_kernel.actions[sig];
}

struct dp_mcontext *dp_fake_regs(void)
{
	return &dp_kernel_task()->regs;
}

static struct dp_ucontext context_of(const struct dp_fake_task *t)
{
	return (struct dp_ucontext){
		.mc = t->regs,
		.sigmask = t->mask,
		.stack = { t->alt_sp, t->alt_size ? 0 : DP_SS_DISABLE, 0,
			   t->alt_size },
	};
}

/* rt_sigreturn(2) */
static void go_home(struct dp_fake_task *t, const struct dp_ucontext *uc)
{
	t->regs = uc->mc;
	t->mask = uc->sigmask & ~NEVER;
	t->alt_size = uc->stack.flags & DP_SS_DISABLE ? 0 : uc->stack.size;
	t->alt_sp = t->alt_size ? uc->stack.sp : 0;
}

static void enter(struct dp_fake_task *t, u64 handler, u64 restorer,
		  const struct dp_siginfo *info, const struct dp_ucontext *uc)
{
	dp_fake_seen.entered++;
	dp_fake_seen.handler = handler;
	dp_fake_seen.restorer = restorer;
	dp_fake_seen.mask = t->mask;
	dp_fake_seen.info = *info;
	t->frame = *uc;
	t->in_handler = true;
}

/* @frame: as the kernel would put it, before the handler's mask is in force */
static void handle(struct dp_fake_task *t, u32 sig, struct dp_sigframe *frame)
{
	struct dp_kernel_sigaction act = dp_kernel.actions[sig];
	u64 handler = act.handler;

	if (handler == DP_SIG_IGN && frame->info.code <= 0)
		return;
	if (handler == DP_SIG_DFL || handler == DP_SIG_IGN) {
		dp_fake_seen.died = sig;
		return;
	}
	frame->restorer = act.restorer;
	t->mask |= act.mask & ~NEVER;
	if (!(act.flags & DP_SA_NODEFER))
		t->mask |= DP_SIGMASK(sig);
	if (handler == (u64)dp_trap_entry) {
		handler = dp_hit_trap(&frame->info, &frame->uc);
		if (!handler) {
			go_home(t, &frame->uc);
			return;
		}
	}
	enter(t, handler, frame->restorer, &frame->info, &frame->uc);
}

/* The frame is on the thread's stack, where the agent looks for signal frames. */
static void come(u32 sig, const struct dp_siginfo *info,
		 const struct dp_ucontext *uc)
{
	struct dp_fake_task *t = dp_kernel_task();
	u64 at = t->alt_size ? t->alt_sp + t->alt_size : t->regs.rsp - 256;
	struct dp_sigframe *frame =
		(void *)((at - sizeof(struct dp_sigframe)) & ~63ull);

	frame->uc = *uc;
	frame->info = *info;
	dp_fake_seen.frame = &frame->uc;
	handle(t, sig, frame);
}

void dp_kernel_deliver(void)
{
	struct dp_fake_task *t = dp_kernel_task();
	struct dp_ucontext uc;
	u32 sig;

	for (sig = 1; sig < DP_FAKE_SIGNALS && !dp_fake_seen.died; sig++) {
		if (!t->pends[sig] || t->mask & DP_SIGMASK(sig))
			continue;
		t->pends[sig] = false;
		uc = context_of(t);
		come(sig, &t->info[sig], &uc);
		sig = 0;
	}
}

void dp_fake_raise(u32 sig, s32 code)
{
	struct dp_fake_task *t = dp_kernel_task();
	struct dp_siginfo info = { .signo = (s32)sig,
				   .code = code,
				   .fields = { t->regs.rip } };
	struct dp_ucontext uc = context_of(t);

	if (t->mask & DP_SIGMASK(sig))
		dp_fake_seen.died = sig;
	else
		come(sig, &info, &uc);
	dp_kernel_deliver();
}

void dp_fake_watched(u64 tag, bool late)
{
	struct dp_siginfo info = { .signo = DP_SIGTRAP,
				   .code = DP_TRAP_PERF,
				   .fields = { 0, tag, (u64)late << 32 } };
	struct dp_ucontext uc = context_of(dp_kernel_task());

	come(DP_SIGTRAP, &info, &uc);
	dp_kernel_deliver();
}

void dp_fake_breakpoint(u64 pc)
{
	dp_fake_regs()->rip = pc + 1;
	dp_fake_raise(DP_SIGTRAP, DP_SI_KERNEL);
}

void dp_fake_send(u32 sig)
{
	struct dp_fake_task *t = dp_kernel_task();

	if (!t->pends[sig])
		t->info[sig] = (struct dp_siginfo){ .signo = (s32)sig,
						    .code = SI_TKILL };
	t->pends[sig] = true;
	dp_kernel_deliver();
}

void dp_fake_return(void)
{
	struct dp_fake_task *t = dp_kernel_task();

	t->in_handler = false;
	go_home(t, &t->frame);
	dp_kernel_deliver();
}

s64 dp_fake_call(long nr, u64 a, u64 b, u64 c, u64 d, u64 e)
{
	struct dp_intercept_regs regs = { .nr = (u64)nr,
					  .args = { a, b, c, d, e } };

	if (!dp_intercept_before(&regs))
		regs.ret = (u64)dp_raw_call(nr, a, b, c, d, e, 0);
	dp_intercept_after(&regs);
	dp_kernel_deliver();
	return (s64)regs.ret;
}

/* The mask of rt_sigsuspend(2), the only masked wait that this kernel has. */
static u64 mask_of_call(const struct dp_mcontext *regs)
{
	return *(const u64 *)regs->rdi;
}

/* As the kernel does: the call's mask is in force, and signals come that it opens; their
 * frames have the thread's own mask. */
static void sleep_under(struct dp_fake_task *t, u64 mask, u32 sig)
{
	struct dp_ucontext uc = context_of(t);
	u32 i;

	t->mask = mask & ~NEVER;
	if (sig) {
		t->pends[sig] = true;
		t->info[sig] = (struct dp_siginfo){ .signo = (s32)sig,
						    .code = SI_TKILL };
	}
	for (i = 1; i < DP_FAKE_SIGNALS; i++)
		if (t->pends[i] && !(t->mask & DP_SIGMASK(i)))
			break;
	if (i == DP_FAKE_SIGNALS) {
		t->mask = uc.sigmask;
		return;
	}
	t->pends[i] = false;
	uc.mc.rax = (u64)-EINTR;
	come(i, &t->info[i], &uc);
}

s64 dp_fake_wait(struct dp_site_entry *site, u32 nr, u32 sig)
{
	struct dp_mcontext *regs = dp_fake_regs();
	u64 behind = site->addr + dp_call_length(site->number);

	dp_masked_wait_enter(site, nr, regs);
	dp_kernel_deliver();
	do {
		regs->rip = behind;
		regs->rax = 1;
		sleep_under(dp_kernel_task(), mask_of_call(regs), sig);
		/* The agent may send the thread back to the call. */
		sig = 0;
	} while (regs->rip == behind - 2);
	if (dp_kernel_task()->in_handler)
		return (s64)dp_kernel_task()->frame.mc.rax;
	dp_fake_wait_end(site);
	return (s64)regs->rax;
}

void dp_fake_wait_end(struct dp_site_entry *site)
{
	if (dp_kernel_task()->in_handler)
		dp_fake_return();
	dp_masked_wait_return(dp_fake_regs());
	dp_kernel_deliver();
}
