/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Uprobes, with all that kernel sources expect to come with them. */
#ifndef DP_LINUX_UPROBES_H
#define DP_LINUX_UPROBES_H

#include <linux/kprobes.h>
#include <linux/uaccess.h>
#include <linux/delay.h>
#include <dprobes/uprobes.h>

#endif
