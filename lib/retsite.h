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

/** struct dp_retsites - of one return probe */
struct dp_retsites;

/**
 * dp_retsites_make() - find where a function is left
 * @follow: the probe's instances; it has to live as long as the result
 * @addr: the function
 * Return: 0; -EOPNOTSUPP where it is left is not known; -ENOMEM. Words are in
 * dp_last().
 */
int dp_retsites_make(struct dp_exit_reader *reader, struct kretprobe *rp,
		     struct dp_follow *follow, u64 addr,
		     struct dp_retsites **sites);
void dp_retsites_free(struct dp_retsites *sites);

/** dp_retsites_count() - kprobes that there are: of the entry, which is the first, and
 *  of the exits */
u32 dp_retsites_count(const struct dp_retsites *sites);
/** dp_retsites_describe() - so many requests that register them */
void dp_retsites_describe(struct dp_retsites *sites,
			  struct dp_request *requests);
/** dp_retsites_kprobes() - all of them. Context: any. */
struct kprobe **dp_retsites_kprobes(struct dp_retsites *sites);

/** dp_retsites_of() - of a return probe that is registered, or NULL: it is of the other
 *  kind. Context: any. */
struct dp_retsites *dp_retsites_of(const struct kretprobe *rp);

/** dp_retsites_was_left() - is an instance's call over, in another way? */
bool dp_retsites_was_left(const struct dp_instance *ri);

#endif
