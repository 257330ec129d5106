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

/* Of the part of a function that is hardly ever run, so many bytes at most */
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

/** struct room - bytes from @addr on; @left of them are free by now */
struct room {
	u64 addr;
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

/* Return: false if it cannot be told where its branches go. */
static bool follow(struct room *r, const u8 *code, u64 start, u64 size)
{
	struct insn_facts f;
	u64 at;

	for (at = 0; at < size; at += f.len) {
		if (dp_insn_facts(code + at, size - at, &f) ||
		    f.class == DP_INSN_JMP_IND)
			return false;
		if (has_target(f.class))
			come_to(r, start + at + f.len + (u64)f.target);
	}
	return true;
}

/* Of a module, or of the kernel */
static void follow_labels(struct room *r, const struct module *m)
{
	u32 n = m ? dp_compat_labels(m) :
		    (kernel.labels_end - kernel.labels) / DP_KERNEL_LABEL_SIZE,
	    i;

	for (i = 0; i < n; i++)
		come_to(r, dp_compat_label(m, kernel.labels, i));
}

static void follow_faults(struct room *r,
			  const struct exception_table_entry *from,
			  const struct exception_table_entry *to)
{
	for (; from < to; from++)
		come_to(r, (u64)&from->fixup + (u64)(s64)from->fixup);
}

/* Compilers put it elsewhere. Its end is not a function's: what follows is decoded, too, for nothing. */
static bool follow_cold(const struct dp_engine *engine, struct room *r,
			const char *name)
{
	char cold[KSYM_NAME_LEN];
	unsigned long size, offset;
	char symbol[KSYM_SYMBOL_LEN], *plus;
	bool known = false;
	u64 start;
	u8 *code;

	snprintf(cold, sizeof(cold), "%s.cold", name);
	start = dp_safe_symbol(cold);
	if (!start)
		return true;
	sprint_symbol(symbol, (unsigned long)start);
	plus = strrchr(symbol, '+');
	if (!plus || sscanf(plus, "+%lx/%lx", &offset, &size) != 2 ||
	    size > COLD)
		return false;
	code = kvmalloc(size, GFP_KERNEL);
	if (code &&
	    !dp_kernel_text()->ops->read(dp_kernel_text(), start, code, size)) {
		dp_engine_originals(engine, start, code, size);
		known = follow(r, code, start, size);
	}
	kvfree(code);
	return known;
}

void dp_reach_cut(const struct dp_engine *engine, struct dp_function *f,
		  const char *name, u64 addr, const u8 *code)
{
	struct room r = { .addr = addr, .left = f->room };
	const struct module *m = f->module;

	if (!follow(&r, code, f->start, f->size) ||
	    !follow_cold(engine, &r, name)) {
		f->room = 0;
		return;
	}
	follow_labels(&r, NULL);
	follow_faults(&r, kernel.faults, kernel.faults_end);
	if (m) {
		follow_labels(&r, m);
		follow_faults(&r, m->extable, m->extable + m->num_exentries);
	}
	f->room = r.left;
}
