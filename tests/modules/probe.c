// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* probe: one probe of any kind on any function, which does what it is told. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/kallsyms.h>
#include <linux/atomic.h>

static char symbol[KSYM_NAME_LEN] = "victim_function";
module_param_string(symbol, symbol, sizeof(symbol), 0444);
static char *kind = "kprobe";
module_param(kind, charp, 0444);
static int lines;
module_param(lines, int, 0444);
MODULE_PARM_DESC(lines, "to print at each hit");
static bool stack, again, crash, forget, leave;
module_param(stack, bool, 0444);
MODULE_PARM_DESC(stack, "print a stack trace at each hit");
module_param(again, bool, 0444);
MODULE_PARM_DESC(again, "call the probed function from the handler");
module_param(crash, bool, 0444);
MODULE_PARM_DESC(crash, "read from address 8");
module_param(forget, bool, 0444);
MODULE_PARM_DESC(forget, "go without unregistering");
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "let init fail, with the probe registered");
static bool sites;
module_param(sites, bool, 0444);
MODULE_PARM_DESC(sites, "a return probe that leaves return addresses alone");
static int *crash_at = (int *)8;
static int maxactive;
module_param(maxactive, int, 0444);

static atomic_t hits, returns;
static long (*probed)(long n);

static void hit(void)
{
	int i;

	atomic_inc(&hits);
	for (i = 0; i < lines; i++)
		pr_info("line %d of %s\n", i, current->comm);
	if (stack)
		dump_stack();
	if (again)
		probed(1);
	if (crash)
		(void)*(volatile int *)READ_ONCE(crash_at);
}

static int on_probe(struct kprobe *p, struct pt_regs *regs)
{
	hit();
	return 0;
}

static long on_entry(long n)
{
	hit();
	jprobe_return();
	return 0;
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&returns);
	return 0;
}

static int on_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hit();
	return 0;
}

static struct kprobe kp = { .symbol_name = symbol, .pre_handler = on_probe };
static struct jprobe jp = {
	.kp.symbol_name = symbol,
	.entry = on_entry,
};
static struct kretprobe rp = {
	.kp.symbol_name = symbol,
	.handler = on_return,
	.entry_handler = on_call,
};

static int __init probe_init(void)
{
	int err;

	probed = (void *)kallsyms_lookup_name(symbol);
	rp.maxactive = maxactive;
	rp.kp.flags = sites ? KPROBE_FLAG_RET_SITES : 0;
	err = *kind == 'k' && kind[1] == 'p' ? register_kprobe(&kp) :
	      *kind == 'j'		     ? register_jprobe(&jp) :
					       register_kretprobe(&rp);
	if (err)
		pr_err("no %s on %s: %d\n", kind, symbol, err);
	else
		pr_notice("%s on %s\n", kind, symbol);
	return err ? err : leave ? -ENODEV : 0;
}

static void __exit probe_exit(void)
{
	unsigned long missed = kp.nmissed + jp.kp.nmissed + rp.kp.nmissed;

	if (!forget) {
		unregister_kprobe(&kp);
		unregister_jprobe(&jp);
		unregister_kretprobe(&rp);
	}
	pr_warn("%s: %d hits, %d returns, %lu missed, %d without instance\n",
		kind, atomic_read(&hits), atomic_read(&returns), missed,
		rp.nmissed);
}

module_init(probe_init);
module_exit(probe_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("One probe");
