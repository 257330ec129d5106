/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * user: tasks in user space that come to a probed instruction of a file.
 *
 *     breakpoint ─► the kernel's uprobes ─► struct uprobe_consumer ─► dp_kernel_user_hit() ─► the hit half
 *
 * The kernel keeps the breakpoint and executes the instruction. A site of the engine's stands for it, at which
 * nothing is armed.
 */
#ifndef DP_KERNEL_USER_H
#define DP_KERNEL_USER_H

#include "port_types.h"

struct pt_regs;
struct dp_site_entry;

/**
 * dp_kernel_user_hit() - run the probes of a site for the current task, which goes on with @regs
 * @site: its index; @regs: of user space, with ip at the instruction. General registers may be changed
 * @vectors: a program of the site reads registers of the floating-point units
 * Context: task, as the kernel's uprobes call: it would return to user space. The site stays for as long.
 */
void dp_kernel_user_hit(u32 site, struct pt_regs *regs, bool vectors);

/**
 * dp_kernel_user_onward() - count a jump of the current task to another function, if it is taken
 * @probe: whose; @jump: what dp_branch_taken() asks of it. Context: as dp_kernel_user_hit()
 */
void dp_kernel_user_onward(u32 probe, const struct dp_site_entry *jump,
			   const struct pt_regs *regs);

#define DP_KERNEL_COMM 16

/**
 * dp_kernel_user_of() - who a task was that has hit, and may have ended since
 * @comm: its name, of DP_KERNEL_COMM bytes, as it was at its last hit; "" if it is not known
 * Context: task. Return: its process; 0: other tasks have hit meanwhile, and it is not known any more
 */
u32 dp_kernel_user_of(u32 tid, char *comm);

#endif
