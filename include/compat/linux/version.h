/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The version whose interfaces these headers have. */
#ifndef DP_LINUX_VERSION_H
#define DP_LINUX_VERSION_H

/*
 * 4.14 is the newest that has all of them: jprobes and the fault handler, an
 * exported kallsyms_lookup_name(), functions that get their own arguments rather
 * than a pt_regs. What came later is there as well where it does not contradict.
 */
#define LINUX_VERSION_CODE 265728
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_MAJOR 4
#define LINUX_VERSION_PATCHLEVEL 14
#define LINUX_VERSION_SUBLEVEL 0
#define UTS_RELEASE "4.14.0-dprobes"

#endif
