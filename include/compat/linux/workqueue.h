/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work for others to do, which modules include for a type: of the functions there is
 * none yet. */
#ifndef DP_LINUX_WORKQUEUE_H
#define DP_LINUX_WORKQUEUE_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/timer.h>

struct work_struct;
typedef void (*work_func_t)(struct work_struct *work);
struct work_struct {
	struct list_head entry;
	work_func_t func;
};
struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
};
struct workqueue_struct;

#define DECLARE_WORK(name, f) struct work_struct name = { .func = f }
#define DECLARE_DELAYED_WORK(name, f) struct delayed_work name = { .work.func = f }
#define to_delayed_work(w) container_of(w, struct delayed_work, work)
#define INIT_WORK(w, f) ((void)((w)->func = (f)))
#define INIT_DELAYED_WORK(w, f) INIT_WORK(&(w)->work, f)

int dp_absent_schedule_work(void)
	DP_ABSENT(schedule_work, "work queues are not there yet");
#define schedule_work(...) dp_absent_schedule_work()
int dp_absent_schedule_work_on(void)
	DP_ABSENT(schedule_work_on, "work queues are not there yet");
#define schedule_work_on(...) dp_absent_schedule_work_on()
int dp_absent_queue_work(void)
	DP_ABSENT(queue_work, "work queues are not there yet");
#define queue_work(...) dp_absent_queue_work()
int dp_absent_queue_work_on(void)
	DP_ABSENT(queue_work_on, "work queues are not there yet");
#define queue_work_on(...) dp_absent_queue_work_on()
int dp_absent_schedule_delayed_work(void)
	DP_ABSENT(schedule_delayed_work, "work queues are not there yet");
#define schedule_delayed_work(...) dp_absent_schedule_delayed_work()
int dp_absent_queue_delayed_work(void)
	DP_ABSENT(queue_delayed_work, "work queues are not there yet");
#define queue_delayed_work(...) dp_absent_queue_delayed_work()
int dp_absent_mod_delayed_work(void)
	DP_ABSENT(mod_delayed_work, "work queues are not there yet");
#define mod_delayed_work(...) dp_absent_mod_delayed_work()
int dp_absent_cancel_work(void)
	DP_ABSENT(cancel_work, "work queues are not there yet");
#define cancel_work(...) dp_absent_cancel_work()
int dp_absent_cancel_work_sync(void)
	DP_ABSENT(cancel_work_sync, "work queues are not there yet");
#define cancel_work_sync(...) dp_absent_cancel_work_sync()
int dp_absent_cancel_delayed_work(void)
	DP_ABSENT(cancel_delayed_work, "work queues are not there yet");
#define cancel_delayed_work(...) dp_absent_cancel_delayed_work()
int dp_absent_cancel_delayed_work_sync(void)
	DP_ABSENT(cancel_delayed_work_sync, "work queues are not there yet");
#define cancel_delayed_work_sync(...) dp_absent_cancel_delayed_work_sync()
int dp_absent_flush_work(void)
	DP_ABSENT(flush_work, "work queues are not there yet");
#define flush_work(...) dp_absent_flush_work()
int dp_absent_flush_workqueue(void)
	DP_ABSENT(flush_workqueue, "work queues are not there yet");
#define flush_workqueue(...) dp_absent_flush_workqueue()
int dp_absent_flush_scheduled_work(void)
	DP_ABSENT(flush_scheduled_work, "work queues are not there yet");
#define flush_scheduled_work(...) dp_absent_flush_scheduled_work()
int dp_absent_destroy_workqueue(void)
	DP_ABSENT(destroy_workqueue, "work queues are not there yet");
#define destroy_workqueue(...) dp_absent_destroy_workqueue()
struct workqueue_struct *dp_absent_alloc_workqueue(void)
	DP_ABSENT(alloc_workqueue, "work queues are not there yet");
#define alloc_workqueue(...) dp_absent_alloc_workqueue()
struct workqueue_struct *dp_absent_create_workqueue(void)
	DP_ABSENT(create_workqueue, "work queues are not there yet");
#define create_workqueue(...) dp_absent_create_workqueue()
struct workqueue_struct *dp_absent_create_singlethread_workqueue(void)
	DP_ABSENT(create_singlethread_workqueue, "work queues are not there yet");
#define create_singlethread_workqueue(...) dp_absent_create_singlethread_workqueue()
struct workqueue_struct *dp_absent_alloc_ordered_workqueue(void)
	DP_ABSENT(alloc_ordered_workqueue, "work queues are not there yet");
#define alloc_ordered_workqueue(...) dp_absent_alloc_ordered_workqueue()

#endif
