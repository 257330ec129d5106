// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nested: return probes of a function and of one that it calls. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/atomic.h>

static char *outer = "malloc", *inner = "free";
module_param(outer, charp, 0444);
module_param(inner, charp, 0444);

struct seen {
	unsigned long sp;
};

static atomic_t calls[2], returns[2], in_order;

static int on_call(struct kretprobe_instance *ri, struct pt_regs *regs);
static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs);

static struct kretprobe probes[2] = {
	{ .handler = on_return,
	  .entry_handler = on_call,
	  .data_size = sizeof(struct seen),
	  .maxactive = 64 },
	{ .handler = on_return,
	  .entry_handler = on_call,
	  .data_size = sizeof(struct seen),
	  .maxactive = 64 },
};
static struct kretprobe *both[2] = { &probes[0], &probes[1] };

static int on_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct seen *seen = (struct seen *)ri->data;

	seen->sp = regs->sp;
	atomic_inc(&calls[get_kretprobe(ri) - probes]);
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct seen *seen = (struct seen *)ri->data;

	atomic_inc(&returns[get_kretprobe(ri) - probes]);
	/* A return has taken its address off the stack. */
	if (regs->sp == seen->sp + sizeof(long))
		atomic_inc(&in_order);
	return 0;
}

static int __init nested_init(void)
{
	probes[0].kp.symbol_name = outer;
	probes[1].kp.symbol_name = inner;
	return register_kretprobes(both, 2);
}

static void __exit nested_exit(void)
{
	unregister_kretprobes(both, 2);
	pr_info("outer %d of %d, inner %d of %d, in order %d\n",
		atomic_read(&returns[0]), atomic_read(&calls[0]),
		atomic_read(&returns[1]), atomic_read(&calls[1]),
		atomic_read(&in_order));
}

module_init(nested_init);
module_exit(nested_exit);
MODULE_LICENSE("Dual BSD/GPL");
