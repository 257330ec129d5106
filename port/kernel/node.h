/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * node: a return address in its task's list, where unwinders look it up.
 *
 *     dp_node_take() ─► dp_node_link(): the trampoline's address ─► the stack
 *     ret ─► the kernel's trampoline ─► what dp_node_make() was told ─► the kernel puts it back
 *            its task ends inside ─────────────────────────────────► the kernel puts it back
 *
 * The kernel has pools of nodes. Here each is the only one of a pool of its own. So that pool says whether the kernel has
 * done with the node, and it costs less than one that several share.
 */
#ifndef DP_KERNEL_NODE_H
#define DP_KERNEL_NODE_H

#include "port/kernel/compat.h"
#include "port_types.h"

#if DP_KERNEL_HAS_NODE_RINGS
#define DP_NODE_ROOM (nr_cpu_ids * sizeof(struct objpool_slot *))
/** struct dp_node - @home: its pool, whose only ring, of all CPUs, is @slot with @entry */
struct dp_node {
	struct rethook_node node;
	struct rethook home;
	struct objpool_slot slot;
	void *entry;
};
static_assert(offsetof(struct dp_node, entry) ==
	      offsetof(struct dp_node, slot.entries));

static inline bool dp_node_is_back(const struct dp_node *n)
{
	return smp_load_acquire(&n->slot.last) != READ_ONCE(n->slot.head);
}

static inline bool dp_node_take(struct dp_node *n)
{
	u32 head = READ_ONCE(n->slot.head);

	return smp_load_acquire(&n->slot.last) != head &&
	       cmpxchg(&n->slot.head, head, head + 1) == head;
}

static inline void dp_node_give(struct dp_node *n)
{
	smp_store_release(&n->slot.head, n->slot.head - 1);
}

static inline void dp_node_open(struct dp_node *n, void *room)
{
	unsigned int cpu;

	n->home.pool.nr_objs = 1;
	n->home.pool.cpu_slots = room;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		n->home.pool.cpu_slots[cpu] = &n->slot;
	n->entry = &n->node;
	n->slot.tail = n->slot.last = 1;
}
#else
#define DP_NODE_ROOM 0
/** struct dp_node - @home: its pool, a list of free ones */
struct dp_node {
	struct rethook_node node;
	struct rethook home;
};

/** dp_node_is_back() - it is in no list, and not taken */
static inline bool dp_node_is_back(const struct dp_node *n)
{
	return smp_load_acquire(&n->home.pool.head);
}

/** dp_node_take() - if so. The kernel puts back what has a count of 0, and touches nothing of it afterwards. */
static inline bool dp_node_take(struct dp_node *n)
{
	struct freelist_node *back = &n->node.freelist;

	if (READ_ONCE(n->home.pool.head) != back ||
	    cmpxchg(&n->home.pool.head, back, NULL) != back)
		return false;
	atomic_set(&back->refs, 0);
	return true;
}

/** dp_node_give() - it is back; of one that is taken, and in no list */
static inline void dp_node_give(struct dp_node *n)
{
	smp_store_release(&n->home.pool.head, &n->node.freelist);
}

/** dp_node_open() - there is a pool; @room: DP_NODE_ROOM bytes of it */
static inline void dp_node_open(struct dp_node *n, void *room)
{
	dp_node_give(n);
}
#endif

/** dp_node_trampoline - what is on the stack in the place of a return address that a node has.
 *  0: this kernel has no such lists */
extern u64 dp_node_trampoline;
/** dp_node_make() - @returned: called with @data, as the trampoline calls the kernel's; with NULL, the kernel would free the
 *  node */
void dp_node_make(struct dp_node *node, void *room,
		  void (*returned)(DP_COMPAT_RETURNED), void *data);
/**
 * dp_node_link() - the current task returns from a call by the trampoline; @slot: of its return address
 *
 * Who interrupts it and unwinds finds the return address on the stack, or in the list.
 * Context: a hit; the node is taken
 */
static __always_inline void dp_node_link(struct dp_node *n, unsigned long *slot)
{
	struct llist_head *list = dp_compat_returns(current);

	n->node.ret_addr = *slot;
	n->node.frame = (unsigned long)slot;
	n->node.llist.next = list->first;
	barrier();
	WRITE_ONCE(list->first, &n->node.llist);
	barrier();
	WRITE_ONCE(*slot, dp_node_trampoline);
}

/** dp_node_next() - a return address of the current task, of the call inside first. @at: NULL at first
 *  Return: 0: there are no more */
u64 dp_node_next(const struct llist_node **at);
/** dp_node_leave() - take the nodes that call @returned out of the list of a task, and give them
 *  Context: nobody else has the list */
void dp_node_leave(struct task_struct *task,
		   void (*returned)(DP_COMPAT_RETURNED));

#endif
