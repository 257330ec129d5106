// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stack: stack traces. */
#include "lib/compat/compat.h"
#include "lib/compat/unwind.h"

static void from_regs(struct dp_unwind *unwind, const struct pt_regs *regs)
{
	const unsigned long reg[DP_UNW_N] = {
		regs->ax,  regs->dx,  regs->cx,	 regs->bx,  regs->si,
		regs->di,  regs->bp,  regs->sp,	 regs->r8,  regs->r9,
		regs->r10, regs->r11, regs->r12, regs->r13, regs->r14,
		regs->r15, regs->ip,
	};

	memset(unwind, 0, offsetof(struct dp_unwind, window));
	memcpy(unwind->reg, reg, sizeof(reg));
}

/* Fill in the caller's registers, as far as a trace needs them. */
static __always_inline void from_here(struct dp_unwind *unwind)
{
	memset(unwind, 0, offsetof(struct dp_unwind, window));
	__asm__ volatile("lea 0(%%rip), %%rax\n\t"
			 "movq %%rax, %c[ip](%[reg])\n\t"
			 "movq %%rsp, %c[sp](%[reg])\n\t"
			 "movq %%rbp, %c[bp](%[reg])\n\t"
			 "movq %%rbx, %c[bx](%[reg])\n\t"
			 "movq %%r12, 96(%[reg])\n\t"
			 "movq %%r13, 104(%[reg])\n\t"
			 "movq %%r14, 112(%[reg])\n\t"
			 "movq %%r15, 120(%[reg])\n\t"
			 :
			 : [reg] "r"(unwind->reg), [ip] "i"(DP_UNW_IP * 8),
			   [sp] "i"(DP_UNW_SP * 8), [bp] "i"(DP_UNW_BP * 8),
			   [bx] "i"(DP_UNW_BX * 8)
			 : "rax", "memory");
}

static unsigned int collect(struct dp_unwind *unwind, unsigned long *store,
			    unsigned int size, unsigned int skip)
{
	unsigned int n = 0;

	while (n < size) {
		if (skip)
			skip--;
		else
			store[n++] = unwind->reg[DP_UNW_IP];
		if (!dp_unwind_step(unwind))
			break;
	}
	return n;
}

unsigned int stack_trace_save_regs(struct pt_regs *regs, unsigned long *store,
				   unsigned int size, unsigned int skip)
{
	struct dp_unwind unwind;

	from_regs(&unwind, regs);
	return collect(&unwind, store, size, skip);
}

/* In a handler, trace the program's stack, not the handler's. */
static const struct pt_regs *hit_regs(void)
{
	return dp_compat_hooks.hit_regs ? dp_compat_hooks.hit_regs() : NULL;
}

unsigned int noinline stack_trace_save(unsigned long *store, unsigned int size,
				       unsigned int skip)
{
	const struct pt_regs *regs = hit_regs();
	struct dp_unwind unwind;

	if (regs)
		from_regs(&unwind, regs);
	else
		from_here(&unwind);
	/* Leave out this function itself. */
	return collect(&unwind, store, size, regs ? skip : skip + 1);
}

void stack_trace_print(const unsigned long *trace, unsigned int n, int spaces)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		printk(KERN_DEFAULT "%*s%pB\n", 1 + spaces, "",
		       (void *)trace[i]);
}

int stack_trace_snprint(char *buf, size_t size, const unsigned long *trace,
			unsigned int n, int spaces)
{
	unsigned int i;
	int total = 0, len;

	for (i = 0; i < n && size; i++) {
		len = snprintf(buf, size, "%*s%pB\n", 1 + spaces, "",
			       (void *)trace[i]);
		total += len;
		if ((size_t)len >= size)
			break;
		buf += len;
		size -= (size_t)len;
	}
	return total;
}

#define DP_TRACE_MAX 64

void noinline dump_stack(void)
{
	unsigned long trace[DP_TRACE_MAX];
	const struct task_struct *task = current;
	unsigned int n;

	n = stack_trace_save(trace, DP_TRACE_MAX, hit_regs() ? 0 : 1);
	printk(KERN_DEFAULT "CPU: %u PID: %d Comm: %s\n", smp_processor_id(),
	       task->pid, task->comm);
	printk(KERN_DEFAULT "Call Trace:\n");
	stack_trace_print(trace, n, 0);
}
