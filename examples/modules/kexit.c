// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kexit: exits of khook's hooks.
 *
 * They are registered, armed and disarmed while khook's function is called in between. An exit may take
 * fewer arguments than the hook has, and refuse what the function would do.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/hook.h>

USE_HOOK(order_taken);
USE_HOOK(dish_cooked);
USE_HOOK(bill_written);
int serve(int table, const char *dish);

static int no_table_13(struct hook *hook, int *result, int table)
{
	if (table != 13)
		return HOOK_CONTINUE;
	pr_info("%s: no table 13\n", hook->hook_id);
	*result = -1;
	return HOOK_RETURN;
}

static int note_order(struct hook *hook, int *result, int table,
		      const char *dish)
{
	pr_info("%s: %s for table %d\n", hook->hook_id, dish, table);
	return HOOK_CONTINUE;
}

static int taste(struct hook *hook, const char *dish)
{
	pr_info("%s: %s, tasted\n", hook->hook_id, dish);
	return HOOK_CONTINUE;
}

static int print_bill(struct hook *hook, ...)
{
	const char *format;
	char text[80];
	va_list args;

	va_start(args, hook);
	format = va_arg(args, const char *);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pr_info("%s: %s\n", hook->hook_id, text);
	return HOOK_CONTINUE;
}

static struct hook_rec order = { .hook_exit = note_order,
				 .hook_exit_name = "note_order" };
static struct hook_rec refusal = { .hook_exit = no_table_13,
				   .hook_exit_name = "no_table_13",
				   .hook_flags = HOOK_PRIORITY_FIRST };
static struct hook_rec cook = { .hook_exit = taste, .hook_exit_name = "taste" };
static struct hook_rec bill = { .hook_exit = print_bill,
				.hook_exit_name = "print_bill" };
static struct hook_rec second_bill = { .hook_exit = print_bill };

static void deregister_all(void)
{
	hook_exit_deregister(&order);
	hook_exit_deregister(&refusal);
	hook_exit_deregister(&cook);
	hook_exit_deregister(&bill);
}

static int register_all(void)
{
	int err = hook_exit_register(&order_taken, &order);

	if (!err)
		err = hook_exit_register(&order_taken, &refusal);
	if (!err)
		err = hook_exit_register(&dish_cooked, &cook);
	if (!err)
		err = hook_exit_register(&bill_written, &bill);
	if (err)
		deregister_all();
	return err;
}

static int __init kexit_init(void)
{
	int err = register_all();

	if (err)
		return err;
	pr_info("kexit: a second bill: %d\n",
		hook_exit_register(&bill_written, &second_bill));
	pr_info("kexit: not armed: %d\n", serve(13, "soup"));
	hook_exit_arm(&order);
	hook_exit_arm(&refusal);
	hook_exit_arm(&cook);
	hook_exit_arm(&bill);
	pr_info("kexit: armed: %d\n", serve(13, "soup"));
	pr_info("kexit: armed: %d\n", serve(4, "fish"));
	hook_exit_disarm(&refusal);
	pr_info("kexit: no refusal: %d, %u is the first\n", serve(13, "tea"),
		refusal.hook_index);
	return 0;
}

static void __exit kexit_exit(void)
{
	deregister_all();
	pr_info("kexit: gone: %d\n", serve(13, "soup"));
}

module_init(kexit_init);
module_exit(kexit_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Exits of khook's hooks");
