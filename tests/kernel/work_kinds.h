/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* work_kinds: kinds of work in another file. Each returns whether all results are what they always are. */
#ifndef DP_KERNEL_WORK_KINDS_H
#define DP_KERNEL_WORK_KINDS_H

int dp_work_streams(void);
/** dp_work_bring_up() - there is a network that leads to this machine, for these */
void dp_work_bring_up(void);
int dp_work_tcp(void);
int dp_work_udp(void);
int dp_work_netlink(void);
int dp_work_epoll(void);
int dp_work_poll(void);
int dp_work_told(void);

#endif
