// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* params: a parameter of each type; init shows what they are. */
#include <linux/module.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#define pr_name KBUILD_MODNAME

static int number = 1;
static unsigned char byte;
static short small;
static unsigned long big;
static bool truth, other = true;
static char *word = "none";
static char buffer[8] = "abc";
static int list[3];
static int nlist;
static unsigned int hex, hooked;
module_param(number, int, 0644);
module_param(byte, byte, 0644);
module_param(small, short, 0644);
module_param(big, ulong, 0644);
module_param(truth, bool, 0644);
module_param_named(not_other, other, invbool, 0644);
module_param(word, charp, 0444);
MODULE_PARM_DESC(word, "a word");
module_param_string(text, buffer, sizeof(buffer), 0644);
module_param_array(list, int, &nlist, 0644);
module_param(hex, hexint, 0644);

static int set_hooked(const char *text, const struct kernel_param *kp)
{
	int err = param_set_uint(text, kp);

	if (!err)
		*(unsigned int *)kp->arg *= 2;
	return err;
}

static const struct kernel_param_ops hooked_ops = { .set = set_hooked };
module_param_cb(hooked, &hooked_ops, &hooked, 0644);

static int __init params_init(void)
{
	pr_info(pr_name ": %d %u %d %lu %d %d %s %s %x %u\n", number, byte,
		small, big, truth, other, word, buffer, hex, hooked);
	pr_info("%s: %d of %d %d %d\n", THIS_MODULE->name, nlist, list[0],
		list[1], list[2]);
	return number < 0 ? number : 0;
}

static void __exit params_exit(void)
{
	printk(KERN_NOTICE "gone");
}

module_init(params_init);
module_exit(params_exit);
MODULE_LICENSE("Dual BSD/GPL");
