// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * upcount: upcount PID ENTRY SECONDS: Uprobes of each kind on a function of another
 * process.
 *
 * Prints "task N, interrupt N, returns N, late N, missed N, wrong N", or why not.
 */
#include <dprobes/uprobes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long task, inside, returns, wrong;

static void in_task(struct uprobe *u, struct pt_regs *regs)
{
	unsigned long to;

	__atomic_fetch_add(&task, 1, __ATOMIC_RELAXED);
	if (regs->ip != u->vaddr || current->tgid != u->pid ||
	    copy_from_user(&to, (const void *)regs->sp, sizeof(to)) || !to ||
	    !copy_from_user(&to, (const void *)16, sizeof(to)))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void in_thread(struct uprobe *u, struct pt_regs *regs)
{
	__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
	if (regs->ip != u->vaddr)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static int returned(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	__atomic_fetch_add(&returns, 1, __ATOMIC_RELAXED);
	if (regs->ip != ri->ret_addr || current->tgid != ri->rp->u.pid)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return 0;
}

static int refused(const char *what)
{
	printf("%s: %s\n", what, dp_last_diag()->text);
	return 1;
}

int main(int argc, char **argv)
{
	struct uprobe one = { .handler = in_task };
	struct uprobe two = { .handler = in_thread, .handler_in_interrupt = 1 };
	struct uretprobe ret = { .handler = returned };
	struct dp_uprobe_account a, b;
	unsigned long *there;

	if (argc != 4)
		return 2;
	one.pid = two.pid = ret.u.pid = atoi(argv[1]);
	one.vaddr = two.vaddr = ret.u.vaddr = strtoul(argv[2], NULL, 16);
	if (register_uprobe(&one))
		return refused("task");
	if (register_uprobe(&two))
		return refused("interrupt");
	if (register_uretprobe(&ret))
		return refused("return");
	usleep((useconds_t)(atof(argv[3]) * 1e6));
	there = dp_uprobe_there(&two, (const void *)&inside);
	if (there)
		inside = *there;
	there = dp_uprobe_there(&two, (const void *)&wrong);
	if (there)
		wrong += *there;
	if (dp_uprobe_account(&one, &a) || dp_uprobe_account(&two, &b))
		return refused("account");
	unregister_uretprobe(&ret);
	unregister_uprobe(&two);
	unregister_uprobe(&one);
	printf("task %lu, interrupt %lu, returns %lu, late %lu, missed %lu, wrong %lu\n",
	       task, inside, returns, a.late + b.late,
	       a.missed + b.missed + ret.nmissed, wrong);
	return 0;
}
