/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * retsite: return probes that leave the return address alone: a kprobe on the entry, and
 * a kprobe on each exit of the function.
 */
#ifndef DP_RETSITE_H
#define DP_RETSITE_H

#include "lib/self.h"

/**
 * struct dp_retsites - the kprobes of one return probe
 * @all: @n kprobes: the entry's is the first, the exits' follow
 * @exits: the exits; @way: DP_WAY_TAIL, DP_WAY_TAKEN
 */
struct dp_retsites {
	u32 n;
	struct kprobe **all;
	struct {
		struct kprobe kp;
		u32 way;
	} exits[];
};

/** dp_retsites_of() - a registered return probe's kprobes; NULL: the probe replaces return
 *  addresses. Context: any. */
struct dp_retsites *dp_retsites_of(const struct kretprobe *rp);

#endif
