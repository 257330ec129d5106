/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Uprobes, with all that kernel sources expect to come with them. */
#ifndef DP_LINUX_UPROBES_H
#define DP_LINUX_UPROBES_H

#include <linux/kprobes.h>
#include <linux/uaccess.h>
#include <linux/delay.h>
#include <dprobes/uprobes.h>

/* The kernel's own interface of today is by file, for all processes that execute it. */
struct inode;
struct uprobe_consumer {
	int (*handler)(struct uprobe_consumer *self, struct pt_regs *regs);
	int (*ret_handler)(struct uprobe_consumer *self, unsigned long func,
			   struct pt_regs *regs);
	bool (*filter)(struct uprobe_consumer *self, struct mm_struct *mm);
	struct uprobe_consumer *next;
};

#define DP_BY_FILE "it is by file, for all processes; register_uprobe() is by process"
int dp_absent_uprobe_register(void) DP_ABSENT(uprobe_register, DP_BY_FILE);
int dp_absent_uprobe_unregister(void) DP_ABSENT(uprobe_unregister, DP_BY_FILE);
#define uprobe_register(...) dp_absent_uprobe_register()
#define uprobe_unregister(...) dp_absent_uprobe_unregister()

#endif
