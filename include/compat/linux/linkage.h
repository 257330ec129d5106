/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How functions are called: as everywhere. */
#ifndef DP_LINUX_LINKAGE_H
#define DP_LINUX_LINKAGE_H

#define asmlinkage
#define asmregparm
#define __sched
#define SYSCALL_ALIAS(alias, name)

#endif
