/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/syscalls.h>. */
#ifndef DP_ASM_SYSCALL_H
#define DP_ASM_SYSCALL_H

#include <linux/syscalls.h>
#include <asm/ptrace.h>
#include <asm/unistd.h>

#endif
