// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* node: return addresses in the kernel's lists of these. */
#include "port/kernel/node.h"
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

u64 dp_node_trampoline;

void dp_node_make(struct dp_node *n, void *room,
		  void (*returned)(DP_COMPAT_RETURNED), void *data)
{
	n->node.rethook = &n->home;
	n->home.data = data;
	RCU_INIT_POINTER(n->home.handler, returned);
	dp_node_open(n, room);
}

u64 dp_node_next(const struct llist_node **at)
{
	*at = *at ? (*at)->next : dp_compat_returns(current)->first;
	return *at ? container_of(*at, struct rethook_node, llist)->ret_addr :
		     0;
}

void dp_node_leave(struct task_struct *task,
		   void (*returned)(DP_COMPAT_RETURNED))
{
	struct llist_node **at = &dp_compat_returns(task)->first;
	struct rethook_node *node;

	while (*at) {
		node = container_of(*at, struct rethook_node, llist);
		if (rcu_access_pointer(node->rethook->handler) != returned) {
			at = &node->llist.next;
			continue;
		}
		*at = node->llist.next;
		dp_node_give(container_of(node, struct dp_node, node));
	}
}
