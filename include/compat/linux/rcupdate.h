/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readers and updates. There are no grace periods: a module that asks for one is not built. */
#ifndef DP_LINUX_RCUPDATE_H
#define DP_LINUX_RCUPDATE_H

#include <linux/compiler.h>
#include <linux/atomic.h>

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

#define rcu_read_lock() barrier()
#define rcu_read_unlock() barrier()
#define rcu_read_lock_sched() barrier()
#define rcu_read_unlock_sched() barrier()
#define rcu_read_lock_bh() barrier()
#define rcu_read_unlock_bh() barrier()
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_dereference_raw rcu_dereference
#define rcu_dereference_sched rcu_dereference
#define rcu_dereference_check(p, c) rcu_dereference(p)
#define rcu_dereference_protected(p, c) (p)
#define rcu_access_pointer(p) READ_ONCE(p)
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)
#define RCU_INIT_POINTER(p, v) WRITE_ONCE(p, v)

/**
 * synchronize_rcu() - wait until no handler of a kprobe, jprobe or return probe runs
 * that has begun before
 *
 * Nothing else of a module runs beside others.
 * Context: task, not in a handler.
 */
void synchronize_rcu(void) DP_COMPAT(synchronize_rcu);
#define synchronize_sched() synchronize_rcu()
#define synchronize_rcu_expedited() synchronize_rcu()
#define synchronize_rcu_bh() synchronize_rcu()
#define rcu_barrier() synchronize_rcu()
#define rcu_read_lock_held() 1
void dp_absent_call_rcu(void)
	DP_ABSENT(call_rcu, "nothing runs behind a module's back; use synchronize_rcu()");
void dp_absent_kfree_rcu(void)
	DP_ABSENT(kfree_rcu, "nothing runs behind a module's back; use synchronize_rcu() and kfree()");
#define call_rcu(head, function) dp_absent_call_rcu()
#define kfree_rcu(p, ...) dp_absent_kfree_rcu()

#endif
