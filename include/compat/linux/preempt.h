/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts. A handler runs in a thread, and nothing can be switched off. */
#ifndef DP_LINUX_PREEMPT_H
#define DP_LINUX_PREEMPT_H

#include <linux/compiler.h>

#define preempt_disable() barrier()
#define preempt_enable() barrier()
#define preempt_disable_notrace() barrier()
#define preempt_enable_notrace() barrier()
#define preempt_enable_no_resched() barrier()
#define preempt_count() 0
/* As in the kernel: code that a probe's handler runs may not be preempted. */
#define preemptible() 0
#define in_interrupt() 0
#define in_irq() 0
#define in_hardirq() 0
#define in_softirq() 0
#define in_serving_softirq() 0
#define in_nmi() 0
#define in_task() 1
#define in_atomic() 0
#define irqs_disabled() 0
#define need_resched() 0
#define local_irq_disable() barrier()
#define local_irq_enable() barrier()
#define local_irq_save(flags) \
	do {                  \
		(flags) = 0;  \
		barrier();    \
	} while (0)
#define local_irq_restore(flags) \
	do {                     \
		(void)(flags);   \
		barrier();       \
	} while (0)
#define local_save_flags(flags) ((flags) = 0)
#define local_bh_disable() barrier()
#define local_bh_enable() barrier()

#endif
