/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers. The system's header of this name is for ptrace(2), and left out. */
#ifndef DP_LINUX_PTRACE_H
#define DP_LINUX_PTRACE_H

#include <asm/ptrace.h>

#endif
