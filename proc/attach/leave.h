/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leave: take an agent out, the tool's own or one that a dead tool left. */
#ifndef DP_PROC_ATTACH_LEAVE_H
#define DP_PROC_ATTACH_LEAVE_H

struct dp_diag;
struct dp_process;
struct dp_remote;
struct dp_view;

int dp_leave(struct dp_process *proc, struct dp_view *view,
	     struct dp_diag *diag);
/** dp_unmap() - the agent and all its pools, whatever there is of them */
int dp_unmap(struct dp_process *proc, struct dp_remote *remote);

#endif
