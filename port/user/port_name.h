/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_name: the name of the calling thread. A part of port_hit.h. */
#ifndef DP_PORT_NAME_H
#define DP_PORT_NAME_H

#define DP_PR_GET_NAME 16

static inline bool dp_port_comm(u64 name[2])
{
	return !dp_syscall(__NR_prctl, DP_PR_GET_NAME, name);
}

#endif
