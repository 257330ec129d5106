/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uprobes for a kernel's modules, by dprobes.ko: probes on the code of a file, in every process that maps it, also in
 * those that come later. In user space <dprobes/uprobes.h> has probes of one process.
 *
 * A module says MODULE_IMPORT_NS(DPROBES) and has a licence that is compatible with the GPL.
 *
 * Handlers. Context: task, which has come from user space and would return there: current is the probed thread. They
 * may sleep, take locks that are not held around the functions of this file, and use copy_from_user() and
 * copy_to_user(). They run at the same time for several threads; one that sleeps holds only its own, whose signals wait.
 * They call no function of this file.
 *
 * Source: ours; Documentation/uprobes.txt by Keniston and Dronamraju has the user's side.
 */
#ifndef DPROBES_KERNEL_UPROBES_H
#define DPROBES_KERNEL_UPROBES_H

#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/types.h>

struct dp_uprobe;
struct dp_uprobe_entry;

/**
 * typedef dp_uprobe_handler_t - called before the probed instruction
 * @regs: of user space; @regs->ip is the instruction's address there, and changing it has no effect. What is done to
 *        general registers is in force when the thread goes on
 */
typedef void (*dp_uprobe_handler_t)(struct dp_uprobe *u, struct pt_regs *regs);

/**
 * struct dp_uprobe - one probe; the caller's, until it is unregistered
 * @path: of a regular file, as the current task has it; or NULL, with @file, which is open for reading and need not
 *        stay open. The inode is what is probed, and its mount stays
 * @offset: of an instruction, in the file. Nobody else can tell whether one begins there
 * @handler: called at each hit
 * @dp_entry: dprobes.ko's
 *
 * Everything that is not used is 0. No field is changed while it is registered.
 */
struct dp_uprobe {
	const char *path;
	struct file *file;
	loff_t offset;
	dp_uprobe_handler_t handler;
	struct dp_uprobe_entry *dp_entry;
};

/* Context of all functions: task, may sleep; a lock keeps callers apart. */

/**
 * dp_register_uprobe() - put a probe on an instruction of a file
 *
 * When it returns the breakpoint is in every process that maps the file. Any number of probes may be at one place.
 * While debugfs's dprobes/enabled is 0, handlers are not called.
 * Return: 0; -EINVAL there is no handler, @path and @file are both set or both missing, it is no regular file, or the
 * kernel's uprobes do not take what is there; -EEXIST it is registered; -EILSEQ no instruction begins there; -EACCES
 * @file is not open for reading; -EOPNOTSUPP the kernel has no uprobes, or not on that file system; -ENOMEM; as
 * filp_open().
 */
int dp_register_uprobe(struct dp_uprobe *u);
/** dp_unregister_uprobe() - take it away: when it returns no handler of it runs any more. One that is not registered is
 *  left alone. A module does it before it goes. */
void dp_unregister_uprobe(struct dp_uprobe *u);
/** dp_register_uprobes() - several at once. Return: as dp_register_uprobe() for the first that fails; then none is
 *  registered. -EINVAL if @num is not positive or an entry is NULL. */
int dp_register_uprobes(struct dp_uprobe **us, int num);
void dp_unregister_uprobes(struct dp_uprobe **us, int num);

#endif
