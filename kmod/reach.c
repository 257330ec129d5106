// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reach: how far a jump may displace instructions of the kernel's.
 *
 * A jump that is written at once has no breakpoints inside. So nothing may come to its inner
 * instructions but from the one before.
 */
#include "kmod/reach.h"
#include "engine/insn/insn.h"
#include "engine/site/engine.h"
#include "port/kernel/compat.h"
#include "port/kernel/text.h"
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/extable.h>

/* Of the part of a function that is hardly ever run, so many bytes at most. It may be the last of them all, whose
 * symbol goes on to whatever comes behind. */
#define COLD 4096

static struct {
	const u8 *labels, *labels_end;
	const struct exception_table_entry *faults, *faults_end;
} kernel;

int dp_reach_begin(void)
{
	kernel.labels = (void *)dp_safe_symbol("__start___jump_table");
	kernel.labels_end = (void *)dp_safe_symbol("__stop___jump_table");
	kernel.faults = (void *)dp_safe_symbol("__start___ex_table");
	kernel.faults_end = (void *)dp_safe_symbol("__stop___ex_table");
	return kernel.labels && kernel.labels_end && kernel.faults &&
			       kernel.faults_end ?
		       0 :
		       -ENOENT;
}

/**
 * struct room - bytes from @addr on; @left of them are free by now
 * @start, @size: of the function; @cold: of its part that is hardly ever run, 0: none is known
 * @other: where the last branch went that left both: mostly all go to one place, where returns are made
 */
struct room {
	const struct dp_engine *engine;
	u64 addr, start, size, cold, other;
	u32 left;
};

static void come_to(struct room *r, u64 to)
{
	if (to > r->addr && to - r->addr < r->left)
		r->left = (u32)(to - r->addr);
}

static bool has_target(u8 class)
{
	return class == DP_INSN_JMP || class == DP_INSN_JCC ||
	       class == DP_INSN_LOOP || class == DP_INSN_CALL;
}

static bool follow_out(struct room *r, u64 to);

/* Return: false if it cannot be told where its branches go. */
static bool follow(struct room *r, const u8 *code, u64 start, u64 size)
{
	struct insn_facts f;
	u64 at, to;

	for (at = 0; at < size; at += f.len) {
		if (dp_insn_facts(code + at, size - at, &f) ||
		    f.class == DP_INSN_JMP_IND)
			return false;
		if (!has_target(f.class))
			continue;
		to = start + at + f.len + (u64)f.target;
		come_to(r, to);
		if (f.class != DP_INSN_CALL && !follow_out(r, to))
			return false;
	}
	return true;
}

/* Its end is not a function's: what follows is decoded, too, for nothing. */
static bool follow_cold(struct room *r, u64 start, u64 size)
{
	bool known = false;
	u8 *code;

	r->cold = start;
	code = size <= COLD ? kvmalloc(size, GFP_KERNEL) : NULL;
	if (code &&
	    !dp_kernel_text()->ops->read(dp_kernel_text(), start, code, size)) {
		dp_engine_originals(r->engine, start, code, size);
		known = follow(r, code, start, size);
	}
	kvfree(code);
	return known;
}

/* Compilers put what is hardly ever run elsewhere: "name.cold", to which only the function goes. Others may have
 * that name, too, so the branch tells which it is. A function has one such part. */
static bool follow_out(struct room *r, u64 to)
{
	char symbol[KSYM_SYMBOL_LEN], *plus;
	unsigned long offset, size;

	if (to - r->start < r->size || to == r->other)
		return true;
	sprint_symbol(symbol, (unsigned long)to);
	/* An indirect jump, where the processor needs that */
	if (strstarts(symbol, "__x86_indirect_"))
		return false;
	plus = strrchr(symbol, '+');
	if (!strstr(symbol, ".cold") || !plus) {
		r->other = to;
		return true;
	}
	if (sscanf(plus, "+%lx/%lx", &offset, &size) != 2)
		return false;
	if (to - offset == r->cold)
		return true;
	return !r->cold && follow_cold(r, to - offset, size);
}

/* Of a module, or of the kernel */
static bool follow_labels(struct room *r, const struct module *m)
{
	u32 n = m ? dp_compat_labels(m) :
		    (kernel.labels_end - kernel.labels) / DP_KERNEL_LABEL_SIZE,
	    i;

	for (i = 0; i < n; i++) {
		struct dp_compat_label l = dp_compat_label(m, kernel.labels, i);

		come_to(r, l.target);
		if (l.code - r->start < r->size && !follow_out(r, l.target))
			return false;
	}
	return true;
}

static bool follow_faults(struct room *r,
			  const struct exception_table_entry *from,
			  const struct exception_table_entry *to)
{
	for (; from < to; from++) {
		u64 insn = (u64)&from->insn + (u64)(s64)from->insn,
		    fixup = (u64)&from->fixup + (u64)(s64)from->fixup;

		come_to(r, fixup);
		if (insn - r->start < r->size && !follow_out(r, fixup))
			return false;
	}
	return true;
}

void dp_reach_cut(const struct dp_engine *engine, struct dp_function *f,
		  u64 addr, const u8 *code)
{
	struct room r = { .engine = engine,
			  .addr = addr,
			  .start = f->start,
			  .size = f->size,
			  .left = f->room };
	const struct module *m = f->module;
	bool known = follow(&r, code, f->start, f->size) &&
		     follow_labels(&r, NULL) &&
		     follow_faults(&r, kernel.faults, kernel.faults_end);

	if (known && m)
		known = follow_labels(&r, m) &&
			follow_faults(&r, m->extable,
				      m->extable + m->num_exentries);
	f->room = known ? r.left : 0;
}
