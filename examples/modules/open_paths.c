// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * open_paths: a jprobe shows what a program opens, with open()'s own arguments.
 *
 *     dprobes insmod open_paths.so prefix=/etc -- PROGRAM
 *
 * A jprobe's handler looks like the function. The newer way to the same is a
 * kprobe whose pre_handler reads regs->di and regs->si.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#define PATH_SHOWN 256

static char function[KSYM_NAME_LEN] = "open";
module_param_string(function, function, sizeof(function), 0444);
MODULE_PARM_DESC(function, "function that takes (path, flags, mode)");

static char *prefix = "";
module_param(prefix, charp, 0644);
MODULE_PARM_DESC(prefix, "show only paths that begin so");

static bool stacks;
module_param(stacks, bool, 0644);
MODULE_PARM_DESC(stacks, "show who opens, too");

static atomic_t unreadable = ATOMIC_INIT(0);

static int show_open(const char __user *path, int flags, unsigned int mode)
{
	char text[PATH_SHOWN];
	long n = strncpy_from_user(text, path, sizeof(text) - 1);

	if (n < 0) {
		atomic_inc(&unreadable);
	} else {
		text[n] = '\0';
		if (strstarts(text, prefix)) {
			pr_info("%s[%d] %s(\"%s\", %#x)\n", current->comm,
				task_pid_nr(current), function, text, flags);
			if (stacks)
				dump_stack();
		}
	}
	jprobe_return();
	return 0;
}

static struct jprobe probe = {
	.entry = JPROBE_ENTRY(show_open),
	.kp.symbol_name = function,
};

static int __init paths_init(void)
{
	int err = register_jprobe(&probe);

	if (err)
		pr_err("no jprobe on %s: %d\n", function, err);
	return err;
}

static void __exit paths_exit(void)
{
	unregister_jprobe(&probe);
	if (atomic_read(&unreadable))
		pr_info("%d paths could not be read\n",
			atomic_read(&unreadable));
}

module_init(paths_init);
module_exit(paths_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Paths that a program opens");
