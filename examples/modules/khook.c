// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * khook: a module with hooks in a function of its own, which kexit calls.
 *
 *     dprobes insmod khook.so -- PROGRAM &
 *     dprobes insmod kexit.so -p PID
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/hook.h>

DECLARE_HOOK(order_taken);
DECLARE_HOOK(dish_cooked);
DECLARE_EXCLUSIVE_HOOK(bill_written);

int serve(int table, const char *dish);
EXPORT_SYMBOL(serve);

/* Each hook is one line. The first may refuse the order. */
int serve(int table, const char *dish)
{
	HOOK_RET(order_taken, table, dish);
	HOOK(dish_cooked, dish);
	EXCLUSIVE_HOOK(bill_written, "table %d: %s", table, dish);
	return table;
}

static int __init khook_init(void)
{
	pr_info("khook: the kitchen is open\n");
	return 0;
}

static void __exit khook_exit(void)
{
	pr_info("khook: closed\n");
}

module_init(khook_init);
module_exit(khook_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Hooks in a function, for kexit");
