/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What sources that name system calls expect. */
#ifndef DP_LINUX_SYSCALLS_H
#define DP_LINUX_SYSCALLS_H

#include <linux/linkage.h>
#include <linux/types.h>
#include <linux/sched.h>
#include <linux/fs.h>

#endif
