/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The function tracer, which modules include for what comes with it: there is none. */
#ifndef DP_LINUX_FTRACE_H
#define DP_LINUX_FTRACE_H

#include <linux/kallsyms.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/types.h>

int dp_absent_register_ftrace_function(void)
	DP_ABSENT(register_ftrace_function, "no function tracer is in a process; use a kprobe");
#define register_ftrace_function(...) dp_absent_register_ftrace_function()
int dp_absent_unregister_ftrace_function(void)
	DP_ABSENT(unregister_ftrace_function, "no function tracer is in a process; use a kprobe");
#define unregister_ftrace_function(...) dp_absent_unregister_ftrace_function()
int dp_absent_ftrace_set_filter_ip(void)
	DP_ABSENT(ftrace_set_filter_ip, "no function tracer is in a process; use a kprobe");
#define ftrace_set_filter_ip(...) dp_absent_ftrace_set_filter_ip()
int dp_absent_ftrace_set_filter(void)
	DP_ABSENT(ftrace_set_filter, "no function tracer is in a process; use a kprobe");
#define ftrace_set_filter(...) dp_absent_ftrace_set_filter()

#endif
