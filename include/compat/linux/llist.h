/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists without a lock: many add, one takes all. */
#ifndef DP_LINUX_LLIST_H
#define DP_LINUX_LLIST_H

#include <linux/kernel.h>
#include <linux/atomic.h>

struct llist_node {
	struct llist_node *next;
};
struct llist_head {
	struct llist_node *first;
};

#define LLIST_HEAD_INIT(name) { NULL }
#define LLIST_HEAD(name) struct llist_head name = LLIST_HEAD_INIT(name)
#define init_llist_head(list) ((void)((list)->first = NULL))
#define llist_entry(ptr, type, member) container_of(ptr, type, member)
#define llist_for_each(pos, node) for ((pos) = (node); pos; (pos) = (pos)->next)
#define llist_for_each_safe(pos, n, node) \
	for ((pos) = (node); (pos) && ((n) = (pos)->next, true); (pos) = (n))
#define DP_LLIST_OBJECT(node, pos, member)                                  \
	({                                                                  \
		struct llist_node *dp_at = (node);                          \
		dp_at ? llist_entry(dp_at, __typeof__(*(pos)), member) : NULL; \
	})
#define llist_for_each_entry(pos, node, member)             \
	for ((pos) = DP_LLIST_OBJECT(node, pos, member); pos; \
	     (pos) = DP_LLIST_OBJECT((pos)->member.next, pos, member))
#define llist_for_each_entry_safe(pos, n, node, member)                      \
	for ((pos) = DP_LLIST_OBJECT(node, pos, member);                     \
	     (pos) && ((n) = DP_LLIST_OBJECT((pos)->member.next, n, member), true); \
	     (pos) = (n))

static inline bool llist_empty(const struct llist_head *head)
{
	return !READ_ONCE(head->first);
}

/** llist_add() - Context: any. Return: was it empty? */
static inline bool llist_add(struct llist_node *node, struct llist_head *head)
{
	node->next = READ_ONCE(head->first);
	while (!__atomic_compare_exchange_n(&head->first, &node->next, node, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return !node->next;
}

static inline struct llist_node *llist_del_all(struct llist_head *head)
{
	return __atomic_exchange_n(&head->first, NULL, __ATOMIC_ACQ_REL);
}

static inline struct llist_node *llist_reverse_order(struct llist_node *head)
{
	struct llist_node *reversed = NULL, *next;

	for (; head; head = next) {
		next = head->next;
		head->next = reversed;
		reversed = head;
	}
	return reversed;
}

#endif
