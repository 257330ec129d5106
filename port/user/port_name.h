/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_name: the name and the registers of the calling thread. A part of port_hit.h. */
#ifndef DP_PORT_NAME_H
#define DP_PORT_NAME_H

struct dp_regs;

#define DP_PR_GET_NAME 16

static inline bool dp_port_comm(u64 name[2])
{
	return !dp_syscall(__NR_prctl, DP_PR_GET_NAME, name);
}

static inline struct dp_regs *dp_port_user_regs(struct dp_regs *regs)
{
	return regs;
}

#endif
