// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * numbers: system calls whose number is no constant in the code before them.
 *
 * The number of such a call is known only when the call is made. In musl that is syscall(3);
 * a program without libc can have such calls anywhere. They are intercepted where the
 * function around them can be decoded, and where a jump fits in front of the call: a thread
 * that sleeps in the call may restart it.
 */
#include "arch/arch.h"
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/layout/private.h"
#include "arch/calls.h"
#include "proc/code/intercepts.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/process.h"
#include <stdlib.h>

#define FUNCTION_MAX 65536
#define BACK 16 /* instructions before a call that are examined */

/**
 * struct around - the function around a call
 * @code, @start, @size: the function's bytes, address and size
 * @entries: targets of its branches
 */
struct around {
	const u8 *code;
	u64 start;
	size_t size;
	struct dp_entries entries;
};

/* List the offsets of the plain instructions just before @call, the last one first.
 * Return: how many; 0 also if no instruction of the function begins at @call. */
static int lead_up(const struct around *f, size_t call, size_t *at)
{
	struct insn_facts facts;
	size_t offset = 0;
	int n = 0, i;

	while (offset < call) {
		if (dp_insn_facts(f->code + offset, f->size - offset, &facts))
			return 0;
		if (facts.class != DP_INSN_PLAIN) {
			n = 0;
		} else {
			for (i = BACK - 1; i > 0; i--)
				at[i] = at[i - 1];
			at[0] = offset;
			n = n < BACK ? n + 1 : n;
		}
		offset += facts.len;
	}
	return offset == call ? n : 0;
}

/* Is the call in a signal restorer? That is told by its bytes, because the restorer's frame
 * description begins a byte early. */
static bool ends_handler(const struct around *f, size_t call)
{
	size_t n = call < DP_RESTORER_MAX ? call : DP_RESTORER_MAX;

	for (; n; n--)
		if (dp_restorer_length(f->code + call - n,
				       n + DP_SYSCALL_SIZE) == n)
			return true;
	return false;
}

/* Is the number a constant after all, of a call that is not to be intercepted? */
static bool is_dull(const struct around *f, const size_t *at, int n)
{
	u32 nr;
	int i;

	for (i = 0; i < n; i++)
		if (dp_code_sets_number(f->code + at[i], &nr))
			return !dp_intercepts_wanted(nr);
	return false;
}

/* Does a branch of the function lead into the bytes of a jump at @at? */
static bool is_entered(const struct around *f, size_t at)
{
	size_t i;

	for (i = 0; i < f->entries.n; i++)
		if (f->entries.v[i] > f->start + at &&
		    f->entries.v[i] < f->start + at + DP_JUMP_SIZE)
			return true;
	return f->entries.cut;
}

static void intercept(struct dp_process *proc, const struct around *f,
		      size_t call)
{
	size_t at[BACK] = { 0 };
	int n = lead_up(f, call, at), i = 0;

	if (!n || is_dull(f, at, n) || ends_handler(f, call))
		return;
	while (i < n && call - at[i] < DP_JUMP_SIZE)
		i++;
	if (i >= n || i + 2 > DP_REGION_INSNS || is_entered(f, at[i]) ||
	    proc->nr_intercepts == DP_INTERCEPTS_MAX)
		return;
	dp_intercepts_add(proc, f->start + at[i], f->code + at[i],
			  DP_PLAIN_CALL, (u32)(call + DP_SYSCALL_SIZE - at[i]),
			  false);
}

static bool is_intercepted(const struct dp_process *proc, u64 addr)
{
	size_t i;

	for (i = 0; i < proc->nr_intercepts; i++)
		if (addr - proc->intercepts[i].addr < proc->intercepts[i].len)
			return true;
	return false;
}

/* A function need not lie in one mapping. */
static void look_at(struct dp_process *proc, const struct dp_span *span,
		    const u8 *text, u64 start, u64 end, u64 call)
{
	struct around f = { .code = text + (start - span->start),
			    .start = start,
			    .size = end - start };

	if (start < span->start || f.size > FUNCTION_MAX ||
	    start + f.size + DP_REGION_MAX > span->start + span->size)
		return;
	f.entries.v = malloc((f.size / 2 + 1) * sizeof(u64));
	if (!f.entries.v)
		return;
	dp_entries_find(&f.entries, f.code, f.size, start);
	intercept(proc, &f, call - start);
	free(f.entries.v);
}

/* Only syscall(3): musl's other calls with such numbers need no intercept, and musl itself
 * tells by the pc whether a thread is in some of them. */
static void look_at_musl(struct dp_process *proc, struct dp_modules *mods,
			 const struct dp_span *span, const u8 *text)
{
	const struct dp_module *m = dp_module_at(mods, span->start);
	struct dp_symbol sym;
	const u8 *at, *code;

	if (!m || dp_module_function(mods, m, "syscall", false, &sym, NULL) ||
	    sym.addr - span->start >= span->size ||
	    sym.size > span->start + span->size - sym.addr)
		return;
	code = text + (sym.addr - span->start);
	at = dp_syscall_next(code, code + sym.size);
	if (at)
		look_at(proc, span, text, sym.addr, sym.addr + sym.size,
			sym.addr + (u64)(at - code));
}

void dp_numbers_find(struct dp_process *proc, const struct dp_span *span,
		     const u8 *text)
{
	const u8 *at = text, *end = text + span->size;
	struct dp_modules *mods;
	u64 addr, start, stop;

	if (dp_modules_open(proc->pid, proc->mem, &mods, NULL))
		return;
	if (proc->libc)
		look_at_musl(proc, mods, span, text);
	while (!proc->libc && (at = dp_syscall_next(at, end))) {
		addr = span->start + (u64)(at - text);
		if (!is_intercepted(proc, addr) &&
		    !dp_function_bounds(mods, addr, &start, &stop))
			look_at(proc, span, text, start, stop, addr);
		at++;
	}
	dp_modules_close(mods);
}
