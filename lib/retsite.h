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

/** struct dp_sites - of one return probe */
struct dp_sites;

/**
 * struct dp_site_finder - what has been read of a module; zero at first
 */
struct dp_site_finder {
	const struct dp_module *module;
	struct dp_code_map *map;
	struct dp_exits *exits;
};
void dp_site_finder_close(struct dp_site_finder *finder);

/**
 * dp_sites_make() - find where a function is left
 * @follow: the probe's instances; it has to live as long as the result
 * @addr: the function
 * Return: 0; -EOPNOTSUPP where it is left is not known; -ENOMEM. Words are in
 * dp_last().
 */
int dp_sites_make(struct dp_site_finder *finder, struct kretprobe *rp,
		  struct dp_follow *follow, u64 addr, struct dp_sites **sites);
void dp_sites_free(struct dp_sites *sites);

/** dp_sites_count() - kprobes that there are: of the entry, which is the first, and
 *  of the exits */
u32 dp_sites_count(const struct dp_sites *sites);
/** dp_sites_describe() - so many requests that register them */
void dp_sites_describe(struct dp_sites *sites, struct dp_request *requests);
/** dp_sites_kprobes() - all of them. Context: any. */
struct kprobe **dp_sites_kprobes(struct dp_sites *sites);

/** dp_sites_of() - of a return probe, or NULL: it is of the other kind, or not
 *  registered. Context: any. */
struct dp_sites *dp_sites_of(const struct kretprobe *rp);

/** dp_site_was_left() - is an instance's call over, in another way? */
bool dp_site_was_left(const struct dp_instance *ri);

#endif
