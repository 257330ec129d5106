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
#include <linux/time64.h>

struct file;
struct mm_struct;

/** enum dp_inode_width - of a file's code, in bits: not known, as of what is no ELF file; 32; 64 */
enum dp_inode_width { DP_INODE_ANY, DP_INODE_NARROW, DP_INODE_WIDE };

/**
 * struct dp_inode_place - an instruction of a file
 * @path: its mount stays; @at: its inode, which stays, too; @code: @size bytes from the instruction on
 * @written, @length: when the file had been written last, and how long it was
 */
struct dp_inode_place {
	struct path path;
	struct dp_compat_uprobe at;
	u8 code[DP_INSN_MAX];
	u32 size;
	enum dp_inode_width width;
	struct timespec64 written;
	loff_t length;
};

/**
 * dp_inode_open() - can the instruction at @offset of a file be probed?
 *
 * The current process maps it for a moment, where the kernel looks at it. Without memory of its own, as a thread of the
 * kernel's, or if its code has the other width, it is looked at when a process maps it, and a bad one is never armed.
 * @why: on failure, a static phrase, or NULL
 * Return: 0: dp_inode_close() has to follow; -EACCES it is not open for reading; -EINVAL it is no regular file, or
 * that is no code of it, or one that the kernel's uprobes do not take; -EILSEQ no instruction begins there;
 * -EOPNOTSUPP the kernel has no uprobes, or not on that file system; -ENOMEM.
 */
int dp_inode_open(struct dp_inode_place *place, struct file *file, u64 offset,
		  const char **why);
void dp_inode_close(struct dp_inode_place *place);

/**
 * dp_inode_is_meant() - is a process that maps the file to have a consumer's breakpoint? For its filter
 *
 * The kernel decodes the instruction once, in the width of the process that maps it first, and executes its copy of it in
 * all. So no process of the other width is meant, nor one that maps the file when the instruction has been written.
 * @still: it has the breakpoint already: what has been written does not count
 * Context: as the kernel's uprobes call filters: with the lock of mappings. Nothing is read into memory.
 */
bool dp_inode_is_meant(const struct dp_inode_place *place, struct mm_struct *mm,
		       bool still);

/** dp_inode_is_same() - has the instruction not been written since dp_inode_open()? Context: as dp_inode_is_meant() */
bool dp_inode_is_same(const struct dp_inode_place *place);

/** dp_inode_enter() - have a consumer called. Return: 0; as dp_inode_open() for a process that has it mapped; -EINVAL the
 *  file has become too short; -ESTALE the instruction has been written since dp_inode_open()
 *  dp_inode_leave() - no more, from dp_compat_uprobe_sync() on */
int dp_inode_enter(struct dp_inode_place *place,
		   struct uprobe_consumer *consumer);
void dp_inode_leave(struct dp_inode_place *place,
		    struct uprobe_consumer *consumer);

#endif
