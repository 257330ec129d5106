// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stack: stack traces, by steps from a frame to its caller's.
 *
 *   ip ─► mapping ─► file ─► .eh_frame_hdr ─► FDE ─► row: where the caller's stack
 *                                                    pointer (CFA) and registers are
 *
 * Unwind information comes from the objects' files (.eh_frame, through its sorted table).
 * Code without it is unwound by frame pointers. The stack, which the program can have
 * corrupted, is read through the kernel. Reads of the files are bounds-checked.
 */
#include "lib/compat/compat.h"
#include "lib/compat/image.h"
#include "sym/unwind/cfi.h"

/* Register numbers of unwind information. */
enum {
	DP_UNW_BX = 3,
	DP_UNW_BP = 6,
	DP_UNW_SP = 7,
	DP_UNW_IP = 16,
	DP_UNW_N = DP_CFI_REGS
};

struct place {
	unsigned long start, end, bias;
	const struct dp_image *image;
};

/**
 * struct frame - a frame, and caches of places and stack
 * @reg: registers, as they are in the frame
 * @exact: reg[DP_UNW_IP] is the frame's instruction, not a return address
 */
struct frame {
	unsigned long reg[DP_UNW_N];
	bool exact;
	unsigned int place_next;
	struct place places[4];
	unsigned long window_at;
	size_t window_size;
	u8 window[512];
};

/* --- memory of the program --- */

static bool read_word(void *arg, unsigned long addr, unsigned long *value)
{
	struct frame *unwind = arg;
	unsigned long at = addr - unwind->window_at;
	size_t n = sizeof(unwind->window);

	if (at >= unwind->window_size || unwind->window_size - at < 8) {
		/* Behind the end of the stack there may be no memory. */
		if (copy_from_kernel_nofault(unwind->window, (void *)addr, n)) {
			n = 4096 - addr % 4096;
			n = min_t(size_t, n < 8 ? 8 : n,
				  sizeof(unwind->window));
			unwind->window_size = 0;
			if (copy_from_kernel_nofault(unwind->window,
						     (void *)addr, n))
				return false;
		}
		unwind->window_at = addr;
		unwind->window_size = n;
		at = 0;
	}
	memcpy(value, unwind->window + at, 8);
	return true;
}

static const struct place *place_of(struct frame *unwind, unsigned long ip)
{
	struct place *place;
	struct dp_mapping m;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unwind->places); i++)
		if (ip >= unwind->places[i].start && ip < unwind->places[i].end)
			return &unwind->places[i];
	if (!dp_mapping_at(ip, &m))
		return NULL;
	place = &unwind->places[unwind->place_next++ %
				ARRAY_SIZE(unwind->places)];
	place->start = m.start;
	place->end = m.end;
	place->image = dp_image_get(&m, &place->bias);
	return place;
}

/* --- a step --- */

/* @at: offset of an expression's block, from a row. @begin: the first stack entry. */
static bool evaluate(struct frame *unwind, const struct dp_eh *eh, uint64_t at,
		     const unsigned long *begin, unsigned long *value)
{
	const struct dp_expr x = { unwind->reg, read_word, unwind };
	struct dp_cursor c = { eh->data + at, eh->data + eh->len, false };

	return dp_expr_value(&x, c, begin, value);
}

static bool cfa_of(struct frame *unwind, const struct dp_cfi *m,
		   unsigned long *cfa)
{
	const struct dp_cfi_row *row = &m->row;

	if (row->cfa_expr)
		return evaluate(unwind, m->eh, row->cfa_expr, NULL, cfa);
	if (row->cfa_reg >= DP_UNW_N)
		return false;
	*cfa = unwind->reg[row->cfa_reg] + (unsigned long)row->cfa;
	return true;
}

static bool restore(struct frame *unwind, const struct dp_cfi *m, int reg,
		    unsigned long cfa, unsigned long *value)
{
	long said = m->row.value[reg];
	unsigned long at = cfa + (unsigned long)said;

	switch (m->row.how[reg]) {
	case DP_CFI_AT_CFA:
		return read_word(unwind, at, value);
	case DP_CFI_IS_CFA:
		*value = at;
		return true;
	case DP_CFI_IN_REG:
		if (said < 0 || said >= DP_UNW_N)
			return false;
		*value = unwind->reg[said];
		return true;
	case DP_CFI_AT_EXPR:
		return evaluate(unwind, m->eh, (uint64_t)said, &cfa, &at) &&
		       read_word(unwind, at, value);
	case DP_CFI_IS_EXPR:
		return evaluate(unwind, m->eh, (uint64_t)said, &cfa, value);
	default:
		return true;
	}
}

static bool apply(struct frame *unwind, const struct dp_cfi *m)
{
	unsigned long cfa, fresh[DP_UNW_N];
	bool signal = m->eh->signal;
	int i;

	/* The return address is undefined in the outermost frame. */
	if (m->row.how[DP_UNW_IP] == DP_CFI_UNDEFINED ||
	    m->row.how[DP_UNW_IP] == DP_CFI_SAME || !cfa_of(unwind, m, &cfa))
		return false;
	memcpy(fresh, unwind->reg, sizeof(fresh));
	fresh[DP_UNW_SP] = cfa;
	for (i = 0; i < DP_UNW_N; i++)
		if (!restore(unwind, m, i, cfa, &fresh[i]))
			return false;
	/* Only a signal's frame may lie on another stack. */
	if (!signal && fresh[DP_UNW_SP] <= unwind->reg[DP_UNW_SP])
		return false;
	memcpy(unwind->reg, fresh, sizeof(fresh));
	unwind->exact = signal;
	return true;
}

static bool step_by_table(struct frame *unwind, const struct place *place,
			  unsigned long ip)
{
	struct dp_cursor rules;
	struct dp_fde fde;
	struct dp_eh eh;
	struct dp_cfi m;

	ip -= place->bias;
	if (!dp_eh_find(&place->image->elf, ip, &eh, &fde, &rules) ||
	    eh.ra != DP_UNW_IP)
		return false;
	dp_cfi_begin(&m, &eh, &fde, rules);
	do {
		if (!dp_cfi_next(&m))
			return false;
	} while (ip >= m.end);
	return apply(unwind, &m);
}

static bool step_by_pointer(struct frame *unwind)
{
	unsigned long bp = unwind->reg[DP_UNW_BP], saved, ip;

	if (bp % 8 || bp < unwind->reg[DP_UNW_SP] ||
	    bp - unwind->reg[DP_UNW_SP] > 1ul << 20 ||
	    !read_word(unwind, bp, &saved) || !read_word(unwind, bp + 8, &ip))
		return false;
	unwind->reg[DP_UNW_BP] = saved;
	unwind->reg[DP_UNW_SP] = bp + 16;
	unwind->reg[DP_UNW_IP] = ip;
	unwind->exact = false;
	return true;
}

/* Step to the caller's frame. Return: false: this is the outermost frame, or the caller is
 * not known. */
static bool step(struct frame *unwind)
{
	unsigned long ip = unwind->reg[DP_UNW_IP] - !unwind->exact;
	const struct place *place = place_of(unwind, ip);
	bool has_table;

	if (!place)
		return false;
	has_table = place->image &&
		    dp_elf_segment(&place->image->elf, PT_GNU_EH_FRAME);
	if (has_table ? !step_by_table(unwind, place, ip) :
			!step_by_pointer(unwind))
		return false;
	if (dp_compat_hooks.leave)
		while (dp_compat_hooks.leave(&unwind->reg[DP_UNW_IP],
					     &unwind->reg[DP_UNW_SP]))
			continue;
	return unwind->reg[DP_UNW_IP] != 0;
}

/* --- traces --- */

static void from_regs(struct frame *unwind, const struct pt_regs *regs)
{
	const unsigned long reg[DP_UNW_N] = {
		regs->ax,  regs->dx,  regs->cx,	 regs->bx,  regs->si,
		regs->di,  regs->bp,  regs->sp,	 regs->r8,  regs->r9,
		regs->r10, regs->r11, regs->r12, regs->r13, regs->r14,
		regs->r15, regs->ip,
	};

	memset(unwind, 0, offsetof(struct frame, window));
	memcpy(unwind->reg, reg, sizeof(reg));
}

/* Fill in the caller's registers, as far as a trace needs them. */
static __always_inline void from_here(struct frame *unwind)
{
	memset(unwind, 0, offsetof(struct frame, window));
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

static unsigned int collect(struct frame *unwind, unsigned long *store,
			    unsigned int size, unsigned int skip)
{
	unsigned int n = 0;

	while (n < size) {
		if (skip)
			skip--;
		else
			store[n++] = unwind->reg[DP_UNW_IP];
		if (!step(unwind))
			break;
	}
	return n;
}

unsigned int stack_trace_save_regs(struct pt_regs *regs, unsigned long *store,
				   unsigned int size, unsigned int skip)
{
	struct frame unwind;

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
	struct frame unwind;

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
