// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* odd: says what a terminal would obey, and refuses to be loaded when it is asked to. */
#include <linux/module.h>
#include <linux/kernel.h>

static int refuse;
module_param(refuse, int, 0);

static int __init odd_init(void)
{
	printk(KERN_INFO "odd \033]0;x\007 \x9b"
			 "31m \xc2\x9b \xc3\xa9 \xff here\n");
	return refuse ? -EINVAL : 0;
}

static void __exit odd_exit(void)
{
	printk(KERN_INFO "odd\tgoes\033[2J\n");
}

module_init(odd_init);
module_exit(odd_exit);
MODULE_LICENSE("GPL");
