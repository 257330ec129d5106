/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of hlists. */
#ifndef DP_LINUX_HASHTABLE_H
#define DP_LINUX_HASHTABLE_H

#include <linux/list.h>
#include <linux/hash.h>
#include <linux/bitops.h>

#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define DECLARE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define HASH_SIZE(name) ARRAY_SIZE(name)
#define HASH_BITS(name) ilog2(HASH_SIZE(name))
#define hash_init(name)                                            \
	do {                                                       \
		for (size_t dp_i = 0; dp_i < HASH_SIZE(name); dp_i++) \
			INIT_HLIST_HEAD(&name[dp_i]);              \
	} while (0)
#define hash_add(name, node, key) \
	hlist_add_head(node, &name[hash_min(key, HASH_BITS(name))])
#define hash_add_rcu hash_add
#define hash_hashed(node) (!hlist_unhashed(node))
#define hash_del(node) hlist_del_init(node)
#define hash_del_rcu hash_del
#define hash_for_each(name, bkt, obj, member)                              \
	for ((bkt) = 0, obj = NULL; !obj && (bkt) < (int)HASH_SIZE(name);  \
	     (bkt)++)                                                      \
		hlist_for_each_entry(obj, &name[bkt], member)
#define hash_for_each_safe(name, bkt, tmp, obj, member)                    \
	for ((bkt) = 0, obj = NULL; !obj && (bkt) < (int)HASH_SIZE(name);  \
	     (bkt)++)                                                      \
		hlist_for_each_entry_safe(obj, tmp, &name[bkt], member)
#define hash_for_each_possible(name, obj, member, key) \
	hlist_for_each_entry(obj, &name[hash_min(key, HASH_BITS(name))], member)
#define hash_for_each_possible_safe(name, obj, tmp, member, key)           \
	hlist_for_each_entry_safe(obj, tmp,                                \
				  &name[hash_min(key, HASH_BITS(name))], member)
#define hash_for_each_possible_rcu hash_for_each_possible
#define hash_for_each_rcu hash_for_each

#endif
