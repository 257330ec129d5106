/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * retsite: return probes that leave the return address alone: a kprobe on the
 * entry, and one on each instruction by which the function is left.
 *
 * Context of every function: library lock held, unless it says otherwise.
 */
#ifndef DP_RETSITE_H
#define DP_RETSITE_H

#include "lib/self.h"
#include "sym/exits.h"
#include "engine/layout/instance.h"

/**
 * struct dp_retsites - of one return probe
 * @all: the kprobes of the entry, which is the first, and of the exits; @n of them
 * @exits: the latter; @way: DP_WAY_TAIL, DP_WAY_TAKEN
 */
struct dp_retsites {
	u32 n;
	struct kprobe **all;
	struct {
		struct kprobe kp;
		u32 way;
	} exits[];
};

/**
 * dp_retsites_make() - find where a function is left
 * @addr: the function
 * @sites: to be freed with free()
 * Return: 0; -EOPNOTSUPP where it is left is not known; -ENOMEM. Words are in
 * dp_last().
 */
int dp_retsites_make(struct dp_exit_reader *reader, struct kretprobe *rp,
		     u64 addr, struct dp_retsites **sites);

/** dp_retsites_of() - of a return probe that is registered, or NULL: it is of the other
 *  kind. Context: any. */
struct dp_retsites *dp_retsites_of(const struct kretprobe *rp);

/** dp_retsites_is_abandoned() - is an instance's call over, in another way? */
bool dp_retsites_is_abandoned(const struct dp_instance *ri);

#endif
