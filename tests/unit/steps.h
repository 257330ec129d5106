/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* steps: what another thread may see or do between any two instructions of this one. */
#ifndef DP_TEST_STEPS_H
#define DP_TEST_STEPS_H

#include <signal.h>
#include <ucontext.h>

#define STEPS_TRAP_FLAG 0x100ull

static void (*steps_between)(void);
static unsigned long long steps_pc; /* the instruction that is next */

static void steps_step(int sig, siginfo_t *info, void *uc)
{
	steps_pc = (unsigned long long)((ucontext_t *)uc)
			   ->uc_mcontext.gregs[REG_RIP];
	steps_between();
}

/* Call @run, and @between before each instruction of @run. */
static inline void steps(void (*run)(void), void (*between)(void))
{
	struct sigaction step = { .sa_sigaction = steps_step,
				  .sa_flags = SA_SIGINFO },
			 was;

	steps_between = between;
	sigaction(SIGTRAP, &step, &was);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() |
				       STEPS_TRAP_FLAG);
	run();
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() &
				       ~STEPS_TRAP_FLAG);
	sigaction(SIGTRAP, &was, NULL);
}

#endif
