/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tracepoints: a process has none. */
#ifndef DP_LINUX_TRACEPOINT_H
#define DP_LINUX_TRACEPOINT_H

#include <linux/types.h>
#include <linux/compiler.h>

struct tracepoint;

int dp_absent_tracepoint_probe_register(void)
	DP_ABSENT(tracepoint_probe_register, "a process has no tracepoints; use a kprobe");
#define tracepoint_probe_register(...) dp_absent_tracepoint_probe_register()
int dp_absent_tracepoint_probe_unregister(void)
	DP_ABSENT(tracepoint_probe_unregister, "a process has no tracepoints; use a kprobe");
#define tracepoint_probe_unregister(...) dp_absent_tracepoint_probe_unregister()
int dp_absent_for_each_kernel_tracepoint(void)
	DP_ABSENT(for_each_kernel_tracepoint, "a process has no tracepoints; use a kprobe");
#define for_each_kernel_tracepoint(...) dp_absent_for_each_kernel_tracepoint()
int dp_absent_tracepoint_synchronize_unregister(void)
	DP_ABSENT(tracepoint_synchronize_unregister, "a process has no tracepoints; use a kprobe");
#define tracepoint_synchronize_unregister(...) dp_absent_tracepoint_synchronize_unregister()

#endif
