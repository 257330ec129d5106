// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* foreign: needs functions that are not ours. */
#include <linux/module.h>

int puts(const char *s);
int kthread_stop(struct task_struct *task);

int init_module(void)
{
	kthread_stop(current);
	return puts("never");
}
