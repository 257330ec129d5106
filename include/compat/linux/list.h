/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists with links inside their entries. */
#ifndef DP_LINUX_LIST_H
#define DP_LINUX_LIST_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/poison.h>

#define LIST_HEAD_INIT(name) { &(name), &(name) }
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head->prev = head;
}

/* The links are complete before the entry can be found going forward. */
static inline void dp_list_link(struct list_head *entry, struct list_head *before,
				struct list_head *after)
{
	entry->prev = before;
	entry->next = after;
	after->prev = entry;
	__atomic_store_n(&before->next, entry, __ATOMIC_RELEASE);
}

static inline void dp_list_unlink(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	WRITE_ONCE(entry->prev->next, entry->next);
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	dp_list_link(entry, head, head->next);
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	dp_list_link(entry, head->prev, head);
}

static inline void list_del(struct list_head *entry)
{
	dp_list_unlink(entry);
	entry->next = (struct list_head *)LIST_POISON1;
	entry->prev = (struct list_head *)LIST_POISON2;
}

static inline void list_del_init(struct list_head *entry)
{
	dp_list_unlink(entry);
	INIT_LIST_HEAD(entry);
}

/* A reader that stands on the entry still finds its way out. */
static inline void list_del_rcu(struct list_head *entry)
{
	dp_list_unlink(entry);
	entry->prev = (struct list_head *)LIST_POISON2;
}

static inline void list_replace(struct list_head *old, struct list_head *entry)
{
	dp_list_link(entry, old->prev, old->next);
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	dp_list_unlink(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	dp_list_unlink(entry);
	list_add_tail(entry, head);
}

static inline int list_empty(const struct list_head *head)
{
	return READ_ONCE(head->next) == head;
}

static inline int list_is_last(const struct list_head *entry,
			       const struct list_head *head)
{
	return entry->next == head;
}

static inline int list_is_singular(const struct list_head *head)
{
	return !list_empty(head) && head->next == head->prev;
}

static inline void list_splice(struct list_head *list, struct list_head *head)
{
	if (list_empty(list))
		return;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	list->next->prev = head;
	head->next = list->next;
}

static inline void list_splice_init(struct list_head *list,
				    struct list_head *head)
{
	list_splice(list, head);
	INIT_LIST_HEAD(list);
}

#define list_add_rcu list_add
#define list_add_tail_rcu list_add_tail

#define list_entry(ptr, type, member) container_of(ptr, type, member)
#define list_first_entry(head, type, member) \
	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member) \
	list_entry((pos)->member.next, __typeof__(*(pos)), member)
#define list_prev_entry(pos, member) \
	list_entry((pos)->member.prev, __typeof__(*(pos)), member)
#define list_for_each(pos, head) \
	for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_prev(pos, head) \
	for (pos = (head)->prev; pos != (head); pos = pos->prev)
#define list_for_each_safe(pos, n, head)                           \
	for (pos = (head)->next, n = pos->next; pos != (head);     \
	     pos = n, n = pos->next)
#define list_for_each_entry(pos, head, member)                           \
	for (pos = list_first_entry(head, __typeof__(*pos), member);     \
	     &pos->member != (head); pos = list_next_entry(pos, member))
#define list_for_each_entry_reverse(pos, head, member)                   \
	for (pos = list_last_entry(head, __typeof__(*pos), member);      \
	     &pos->member != (head); pos = list_prev_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)                   \
	for (pos = list_first_entry(head, __typeof__(*pos), member),     \
	    n = list_next_entry(pos, member);                            \
	     &pos->member != (head); pos = n, n = list_next_entry(n, member))
#define list_for_each_entry_rcu(pos, head, member, ...) \
	list_for_each_entry(pos, head, member)

/* Lists with a head of one pointer. */
#define HLIST_HEAD_INIT { .first = NULL }
#define HLIST_HEAD(name) struct hlist_head name = { .first = NULL }
#define INIT_HLIST_HEAD(head) ((head)->first = NULL)

static inline void INIT_HLIST_NODE(struct hlist_node *node)
{
	node->next = NULL;
	node->pprev = NULL;
}

static inline int hlist_unhashed(const struct hlist_node *node)
{
	return !node->pprev;
}

static inline int hlist_empty(const struct hlist_head *head)
{
	return !READ_ONCE(head->first);
}

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	__atomic_store_n(&head->first, node, __ATOMIC_RELEASE);
}

static inline void dp_hlist_unlink(struct hlist_node *node)
{
	WRITE_ONCE(*node->pprev, node->next);
	if (node->next)
		node->next->pprev = node->pprev;
}

static inline void hlist_del(struct hlist_node *node)
{
	dp_hlist_unlink(node);
	node->next = (struct hlist_node *)LIST_POISON1;
	node->pprev = (struct hlist_node **)LIST_POISON2;
}

static inline void hlist_del_init(struct hlist_node *node)
{
	if (hlist_unhashed(node))
		return;
	dp_hlist_unlink(node);
	INIT_HLIST_NODE(node);
}

static inline void hlist_del_rcu(struct hlist_node *node)
{
	dp_hlist_unlink(node);
	node->pprev = (struct hlist_node **)LIST_POISON2;
}

#define hlist_add_head_rcu hlist_add_head
#define hlist_del_init_rcu hlist_del_init
#define hlist_entry(ptr, type, member) container_of(ptr, type, member)
#define hlist_entry_safe(ptr, type, member)                              \
	({                                                               \
		__typeof__(ptr) dp_node = (ptr);                         \
		dp_node ? hlist_entry(dp_node, type, member) : NULL;     \
	})
#define hlist_for_each(pos, head) \
	for (pos = (head)->first; pos; pos = pos->next)
#define hlist_for_each_safe(pos, n, head) \
	for (pos = (head)->first; pos && ({ n = pos->next; 1; }); pos = n)
#define hlist_for_each_entry(pos, head, member)                                \
	for (pos = hlist_entry_safe((head)->first, __typeof__(*(pos)), member); \
	     pos;                                                              \
	     pos = hlist_entry_safe((pos)->member.next, __typeof__(*(pos)),    \
				    member))
#define hlist_for_each_entry_safe(pos, n, head, member)                        \
	for (pos = hlist_entry_safe((head)->first, __typeof__(*pos), member);  \
	     pos && ({ n = pos->member.next; 1; });                            \
	     pos = hlist_entry_safe(n, __typeof__(*pos), member))
#define hlist_for_each_entry_rcu(pos, head, member, ...) \
	hlist_for_each_entry(pos, head, member)

#endif
