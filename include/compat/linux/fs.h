/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files: the system's constants, and names of structures that are not there. */
#ifndef DP_LINUX_FS_H
#define DP_LINUX_FS_H

#include_next <linux/fs.h>
#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/stat.h>
#include <linux/spinlock.h>
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/err.h>

struct file;
struct inode;
struct dentry;
struct path;
struct super_block;


#endif
