/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* files: /sys/kernel/debug/dprobes, in the formats of the kernel's kprobes. */
#ifndef DP_KMOD_FILES_H
#define DP_KMOD_FILES_H

#include "port_types.h"

struct file;
struct inode;
struct seq_file;

/** dp_files_begin() - make them. A kernel without debugfs has none. */
void dp_files_begin(void);
/** dp_files_end() - take them away. None is open: that would keep the module. */
void dp_files_end(void);

/** dp_told_label() - "function+0x10  module", the module " " where it is the kernel's. Return: for kfree(); NULL:
 *  the kernel has no name for it, or no memory */
char *dp_told_label(u64 addr);
/** dp_told_blacklist() - write where no probe may be, as the kernel's kprobes/blacklist */
void dp_told_blacklist(struct seq_file *m);

/** dp_list_open() - of struct file_operations: begin to read the list of probes */
int dp_list_open(struct inode *inode, struct file *file);

#endif
