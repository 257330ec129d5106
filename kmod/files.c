// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * files: /sys/kernel/debug/dprobes, in the formats of the kernel's kprobes.
 *
 *     list           all probes: listing.c
 *     blacklist      where none may be: safe.c
 *     enabled        0: no probe is armed, whoever has it; 1: as each of them is
 *     optimization   0: no probe is a jump; 1: those that can be
 *     hooks          of modules, with their exits; "arm HOOK EXIT" and "disarm HOOK EXIT" are written
 *     dump           0: no program ends the kernel; 1: one that asks for a dump does
 *
 * Whom debugfs lets read may. To write takes CAP_SYS_ADMIN, too, whatever a file's mode has become.
 */
#include "kmod/files.h"
#include "kmod/facilities.h"
#include "kmod/hooks.h"
#include "kmod/safe.h"
#include "kmod/session.h"
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static struct dentry *folder;

static enum dp_kmod_knob knob_of(const struct file *file)
{
	return (enum dp_kmod_knob)(long)file_inode(file)->i_private;
}

static ssize_t tell(bool on, char __user *to, size_t size, loff_t *at)
{
	return simple_read_from_buffer(to, size, at, on ? "1\n" : "0\n", 2);
}

/* A file may have been opened before the kernel was locked down. */
static int may_write(void)
{
	return capable(CAP_SYS_ADMIN) ? security_locked_down(LOCKDOWN_DEBUGFS) :
					-EPERM;
}

static int hear(const char __user *from, size_t size, bool *on)
{
	return may_write() ?: kstrtobool_from_user(from, size, on);
}

static ssize_t read_knob(struct file *file, char __user *to, size_t size,
			 loff_t *at)
{
	return tell(dp_kmod_knob(knob_of(file)), to, size, at);
}

static ssize_t write_knob(struct file *file, const char __user *from,
			  size_t size, loff_t *at)
{
	bool on;
	int err = hear(from, size, &on);

	err = err ?: dp_kmod_set_knob(knob_of(file), on);
	return err ?: (ssize_t)size;
}

static const struct file_operations knobs = {
	.owner = THIS_MODULE,
	.read = read_knob,
	.write = write_knob,
	.llseek = default_llseek,
};

static ssize_t read_dump(struct file *file, char __user *to, size_t size,
			 loff_t *at)
{
	return tell(dp_facilities_dumps(), to, size, at);
}

static ssize_t write_dump(struct file *file, const char __user *from,
			  size_t size, loff_t *at)
{
	bool on;
	int err = hear(from, size, &on);

	err = err ?: dp_facilities_set_dumps(on);
	return err ?: (ssize_t)size;
}

static const struct file_operations dump = {
	.owner = THIS_MODULE,
	.read = read_dump,
	.write = write_dump,
	.llseek = default_llseek,
};

static const struct file_operations list = {
	.owner = THIS_MODULE,
	.open = dp_list_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release,
};

static int show_blacklist(struct seq_file *m, void *unused)
{
	dp_told_blacklist(m);
	return 0;
}

static int open_blacklist(struct inode *inode, struct file *file)
{
	return single_open(file, show_blacklist, NULL);
}

static const struct file_operations blacklist = {
	.owner = THIS_MODULE,
	.open = open_blacklist,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int show_hooks(struct seq_file *m, void *unused)
{
	dp_hooks_show(m);
	return 0;
}

static int open_hooks(struct inode *inode, struct file *file)
{
	return single_open(file, show_hooks, NULL);
}

/* "arm HOOK EXIT" */
static int set_hook(char *text)
{
	char *verb = strsep(&text, " "), *hook = strsep(&text, " "),
	     *exit_name = text ? strim(text) : NULL;
	bool armed = !strcmp(verb, "arm");

	if ((!armed && strcmp(verb, "disarm")) || !hook || !exit_name)
		return -EINVAL;
	return dp_hooks_set(hook, exit_name, armed);
}

static ssize_t write_hooks(struct file *file, const char __user *from,
			   size_t size, loff_t *at)
{
	int err = may_write();
	char *text;

	if (err)
		return err;
	if (size > PAGE_SIZE)
		return -EINVAL;
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = set_hook(text);
	kfree(text);
	return err ?: (ssize_t)size;
}

static const struct file_operations hooks = {
	.owner = THIS_MODULE,
	.open = open_hooks,
	.read = seq_read,
	.write = write_hooks,
	.llseek = seq_lseek,
	.release = single_release,
};

/* What fails here, probes do without. */
void dp_files_begin(void)
{
	folder = debugfs_create_dir("dprobes", NULL);
	debugfs_create_file("list", 0400, folder, NULL, &list);
	debugfs_create_file("blacklist", 0400, folder, NULL, &blacklist);
	debugfs_create_file("enabled", 0600, folder, (void *)DP_KMOD_ARMED,
			    &knobs);
	debugfs_create_file("optimization", 0600, folder, (void *)DP_KMOD_JUMPS,
			    &knobs);
	debugfs_create_file("hooks", 0600, folder, NULL, &hooks);
	debugfs_create_file("dump", 0600, folder, NULL, &dump);
}

void dp_files_end(void)
{
	debugfs_remove(folder);
}
