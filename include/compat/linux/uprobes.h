/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Uprobes. */
#ifndef DP_LINUX_UPROBES_H
#define DP_LINUX_UPROBES_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/sched.h>
#include <linux/ptrace.h>
#include <dprobes/uprobes.h>

#endif
