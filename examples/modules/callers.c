// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * callers: a uprobe tells which threads of another process come to an address, and
 * with what.
 *
 *     dprobes insmod callers.so pid=PID vaddr=0xADDRESS show=3 -- sleep 10
 *
 * The first few are shown, and in the end how many there were. The handler runs in
 * the process that has the module, with the probed thread held: it may block, and it
 * reads that program's memory. With pid=0 it is the process itself.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uprobes.h>

static int pid;
module_param(pid, int, 0444);
MODULE_PARM_DESC(pid, "process to be probed; 0: this one");

static ulong vaddr;
module_param(vaddr, ulong, 0444);
MODULE_PARM_DESC(vaddr, "address of an instruction in it");

static int show = 10;
module_param(show, int, 0644);
MODULE_PARM_DESC(show, "so many hits are shown");

static atomic_t hits = ATOMIC_INIT(0);

static void tell(struct uprobe *u, struct pt_regs *regs)
{
	unsigned long caller = 0;

	if (atomic_inc_return(&hits) > show)
		return;
	if (copy_from_user(&caller, (void __user *)regs->sp, sizeof(caller)))
		pr_warn("the stack of %d cannot be read\n", current->pid);
	pr_info("%s/%d: %#lx(%#lx), from %#lx\n", current->comm, current->pid,
		u->vaddr, regs_get_kernel_argument(regs, 0), caller);
}

static struct uprobe probe = {
	.handler = tell,
};

static int __init callers_init(void)
{
	int err;

	probe.pid = pid ? pid : current->tgid;
	probe.vaddr = vaddr;
	err = register_uprobe(&probe);
	if (err)
		pr_err("no probe at %#lx of process %d: %d\n", vaddr, probe.pid,
		       err);
	else
		pr_info("waiting at %#lx of process %d\n", vaddr, probe.pid);
	return err;
}

static void __exit callers_exit(void)
{
	unregister_uprobe(&probe);
	pr_info("%d hits\n", atomic_read(&hits));
}

module_init(callers_init);
module_exit(callers_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Threads of another process that come to an address");
