/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * inode: an instruction of a file, which every process that maps it executes.
 *
 *     file, offset ─► dp_inode_open(): is it code that can be probed? ─► dp_inode_enter() ⇄ dp_inode_leave() ─► close
 *
 * The kernel's uprobes do the rest: they keep a breakpoint in each mapping, also in those that come later.
 * Context of every function: task, may sleep. None is called by what runs at a hit.
 */
#ifndef DP_KMOD_INODE_H
#define DP_KMOD_INODE_H

#include "port/kernel/compat.h"
#include "port_types.h"
#include "engine/insn/insn.h"
#include <linux/path.h>

struct file;

/**
 * struct dp_inode_place - an instruction of a file
 * @path: its mount stays; @at: its inode, which stays, too; @code: @size bytes from the instruction on
 */
struct dp_inode_place {
	struct path path;
	struct dp_compat_uprobe at;
	u8 code[DP_INSN_MAX];
	u32 size;
};

/**
 * dp_inode_open() - can the instruction at @offset of a file be probed?
 *
 * The current process maps it for a moment, where the kernel looks at it. Without memory of its own, as a thread of the
 * kernel's, it is looked at when a process maps it, and a bad one is never armed.
 * @why: on failure, a static phrase, or NULL
 * Return: 0: dp_inode_close() has to follow; -EACCES it is not open for reading; -EINVAL it is no regular file, or
 * that is no code of it, or one that the kernel's uprobes do not take; -EILSEQ no instruction begins there;
 * -EOPNOTSUPP the kernel has no uprobes, or not on that file system; -ENOMEM.
 */
int dp_inode_open(struct dp_inode_place *place, struct file *file, u64 offset,
		  const char **why);
void dp_inode_close(struct dp_inode_place *place);

/** dp_inode_enter() - have a consumer called. Return: 0; as dp_inode_open() for a process that has it mapped
 *  dp_inode_leave() - no more, from dp_compat_uprobe_sync() on */
int dp_inode_enter(struct dp_inode_place *place,
		   struct uprobe_consumer *consumer);
void dp_inode_leave(struct dp_inode_place *place,
		    struct uprobe_consumer *consumer);

#endif
