// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A library that comes and goes. */
#include <dprobes/kprobes.h>

DP_HANDLER_GPR int so_handler(struct kprobe *p, struct pt_regs *regs);
long so_first(long a);
long so_second(long a);

long so_first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

long so_second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return so_first(a) + 5;
}

int so_handler(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}
