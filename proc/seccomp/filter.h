/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter: what a seccomp filter says of a system call, whatever its arguments. */
#ifndef DP_PROC_FILTER_H
#define DP_PROC_FILTER_H

#include "port_types.h"
#include <linux/filter.h>

/** enum dp_filter_says - in order: of several filters the least is what counts */
enum dp_filter_says {
	DP_FILTER_NEVER, /* the call fails, or ends the process */
	DP_FILTER_PERHAPS, /* it depends, or others decide */
	DP_FILTER_ALWAYS,
};

/**
 * dp_filter_ask() - what a filter says of a system call by 64-bit x86 code
 * @code: its @n instructions; need not be ones that the kernel would take
 * @nr: the call; where it comes from and its arguments are not known
 *
 * Takes time in proportion to @n.
 */
enum dp_filter_says dp_filter_ask(const struct sock_filter *code, size_t n,
				  u32 nr);

#endif
