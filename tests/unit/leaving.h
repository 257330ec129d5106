/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leaving: a function that is left for good, as by a signal handler, before any one of its
 * instructions. */
#ifndef DP_TEST_LEAVING_H
#define DP_TEST_LEAVING_H

#include <sys/mman.h>
#include "steps.h"

#define LEAVING_MOST 20000 /* instructions */
/* Of those noted, so many at most are around what is left. The sanitizer's own functions do
 * more the first time. */
#ifdef __SANITIZE_ADDRESS__
#define LEAVING_AROUND(n) (32 + (n) / 16)
#else
#define LEAVING_AROUND(n) 32
#endif

static unsigned long long leaving_pcs[LEAVING_MOST];
static unsigned int leaving_nr;
static sigjmp_buf leaving_out;

static struct {
	unsigned char *at, byte;
	unsigned int passes; /* before it is left */
	bool steps;
} leaving;

static inline void leaving_note(void)
{
	assert_true(leaving_nr < LEAVING_MOST);
	leaving_pcs[leaving_nr++] = steps_pc;
}

static inline void leaving_put(unsigned char byte)
{
	unsigned long long page = (unsigned long long)leaving.at & ~4095ull;

	mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
	*(volatile unsigned char *)leaving.at = byte;
}

static inline void leaving_trap(int sig, siginfo_t *info, void *uc)
{
	greg_t *regs = ((ucontext_t *)uc)->uc_mcontext.gregs;

	if (leaving.steps) {
		leaving.steps = false;
		regs[REG_EFL] &= ~(greg_t)STEPS_TRAP_FLAG;
		leaving_put(0xcc);
		return;
	}
	leaving_put(leaving.byte);
	if (!leaving.passes--)
		siglongjmp(leaving_out, 1);
	leaving.steps = true;
	regs[REG_RIP] = (greg_t)leaving.at;
	regs[REG_EFL] |= (greg_t)STEPS_TRAP_FLAG;
}

/* Note the instructions of @act, whose way depends on nothing but what is ready before it.
 * Return: how many there are */
static inline unsigned int leaving_count(void (*act)(void))
{
	leaving_nr = 0;
	steps(act, leaving_note);
	return leaving_nr;
}

/* Call @act, and leave it before the instruction @nth of those noted. Return: was it left? Not
 * at those around @act. */
static inline bool leaving_at(void (*act)(void), unsigned int nth)
{
	struct sigaction trap = { .sa_sigaction = leaving_trap,
				  .sa_flags = SA_SIGINFO },
			 was;
	volatile bool left = true;
	unsigned int i;

	leaving.at = (unsigned char *)leaving_pcs[nth];
	leaving.byte = *leaving.at;
	leaving.passes = 0;
	leaving.steps = false;
	for (i = 0; i < nth; i++)
		leaving.passes += leaving_pcs[i] == leaving_pcs[nth];
	sigaction(SIGTRAP, &trap, &was);
	if (!sigsetjmp(leaving_out, 1)) {
		leaving_put(0xcc);
		act();
		left = false;
	}
	leaving_put(leaving.byte);
	sigaction(SIGTRAP, &was, NULL);
	return left;
}

#endif
