// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jprobes: handlers with the arguments of the probed function.
 *
 *     a pre_handler at the entry ─► dp_kernel_call_as() ─► entry() ─► dp_jprobe_return() ─► back
 *
 * It is called where other handlers are, with copies of the arguments. So the function's own stay what they are, and no
 * breakpoint ends it. No handler runs within another one on a CPU, so one word for each says where it began.
 */
#include "kmod/kprobes.h"
#include "kmod/safe.h"
#include "port/kernel/jprobe.h"
#include "port/kernel/nofault.h"
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#define WORDS (DP_JPROBE_STACK / 8)

static DEFINE_PER_CPU(u64, began);

/* Behind the return address; the stack may end sooner. */
static void copy_words(const struct pt_regs *regs, u64 words[WORDS])
{
	u32 i;

	for (i = 0; i < WORDS; i++)
		if (dp_kernel_read(&words[i], regs->sp + 8 * (i + 1), 8))
			words[i] = 0;
}

static int entered(struct dp_kprobe *p, struct pt_regs *regs)
{
	struct dp_jprobe *jp = container_of(p, struct dp_jprobe, kp);
	u64 words[WORDS];

	copy_words(regs, words);
	dp_kernel_call_as((const struct dp_regs *)regs, (u64)jp->entry, words,
			  this_cpu_ptr(&began));
	return 0;
}

void dp_jprobe_end(void)
{
	dp_kernel_call_end(__this_cpu_read(began));
}
EXPORT_SYMBOL_NS_GPL(dp_jprobe_end, DPROBES);

bool dp_jprobes_own(const struct dp_kprobe *p)
{
	return p->pre_handler == entered;
}

bool dp_jprobes_call(const struct dp_kprobe *p, const struct module *m)
{
	return p->pre_handler == entered &&
	       within_module((unsigned long)container_of(p, struct dp_jprobe,
							 kp)
				     ->entry,
			     m);
}

static int prepare(struct dp_jprobe *jp)
{
	u64 addr;

	if (!jp || !jp->entry)
		return -EINVAL;
	addr = jp->kp.symbol_name ? dp_safe_symbol(jp->kp.symbol_name) :
				    (u64)jp->kp.addr;
	if (addr && dp_safe_is_inside(addr + jp->kp.offset))
		return -EINVAL;
	jp->kp.pre_handler = entered;
	jp->kp.post_handler = NULL;
	return 0;
}

int dp_register_jprobes(struct dp_jprobe **jps, int num)
{
	struct dp_kprobe **kps;
	int err = 0, i;

	if (!jps || num <= 0)
		return -EINVAL;
	kps = kvcalloc(num, sizeof(*kps), GFP_KERNEL);
	if (!kps)
		return -ENOMEM;
	for (i = 0; i < num && !err; i++) {
		err = prepare(jps[i]);
		kps[i] = err ? NULL : &jps[i]->kp;
	}
	err = err ?: dp_register_kprobes(kps, num);
	kvfree(kps);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_register_jprobes, DPROBES);

/* Without memory, one by one */
void dp_unregister_jprobes(struct dp_jprobe **jps, int num)
{
	struct dp_kprobe **kps;
	int i, n = 0;

	if (!jps || num <= 0)
		return;
	kps = kvcalloc(num, sizeof(*kps), GFP_KERNEL);
	for (i = 0; i < num; i++)
		if (kps && jps[i])
			kps[n++] = &jps[i]->kp;
		else if (jps[i])
			dp_unregister_kprobe(&jps[i]->kp);
	if (n)
		dp_unregister_kprobes(kps, n);
	kvfree(kps);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_jprobes, DPROBES);

int dp_register_jprobe(struct dp_jprobe *jp)
{
	return dp_register_jprobes(&jp, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_register_jprobe, DPROBES);

void dp_unregister_jprobe(struct dp_jprobe *jp)
{
	dp_unregister_jprobes(&jp, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_jprobe, DPROBES);
