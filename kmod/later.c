// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* later: what has to wait for tasks. */
#include "kmod/later.h"
#include "engine/site/arm.h"
#include "engine/site/live.h"
#include "kmod/kprobes.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include "kmod/tasks.h"
#include "port/kernel/text.h"
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* Jiffies until jumps are tried again; and bytes, and an engine, over whose probes others have written */
#define SOON (HZ / 4)
#define AGAIN HZ

static void try_jumps(struct work_struct *work);
static DECLARE_DELAYED_WORK(jumps, try_jumps);

static void try_restore(struct work_struct *work);
static DECLARE_DELAYED_WORK(restoring, try_restore);

static void try_end(struct work_struct *work);
static DECLARE_DELAYED_WORK(ending, try_end);
static DECLARE_WAIT_QUEUE_HEAD(ended);

void dp_later_jumps(void)
{
	queue_delayed_work(system_unbound_wq, &jumps, SOON);
}

static void try_jumps(struct work_struct *work)
{
	bool late;

	if (dp_kmod_enter(false))
		return;
	late = dp_live_late(dp_kmod_engine());
	if (late) {
		dp_live_retry(dp_kmod_engine(), dp_kernel_text());
		dp_kprobes_tell();
		late = dp_live_late(dp_kmod_engine());
	}
	dp_kmod_leave();
	if (late)
		dp_later_jumps();
}

void dp_later_restore(void)
{
	queue_delayed_work(system_unbound_wq, &restoring, AGAIN);
}

static void try_restore(struct work_struct *work)
{
	u64 bad;
	int err;

	if (dp_kmod_enter(false))
		return;
	err = dp_engine_apply(dp_kmod_engine(), dp_kernel_text(), &bad);
	dp_kmod_leave();
	if (err)
		dp_later_restore();
}

/* Who comes meanwhile uses the engine that there is, which then goes later. */
static void try_end(struct work_struct *work)
{
	u64 use;
	int err = dp_kmod_disarm_idle(&use);

	if (!err) {
		synchronize_rcu();
		dp_tasks_wait();
		dp_kmod_free_idle(use);
	} else if (err != -ENOENT) {
		queue_delayed_work(system_unbound_wq, &ending, AGAIN);
	}
	wake_up_all(&ended);
}

void dp_later_end(unsigned long patience)
{
	mod_delayed_work(system_unbound_wq, &ending, 0);
	if (patience)
		wait_event_timeout(ended, !dp_kmod_is_idle(), patience);
	else
		flush_delayed_work(&ending);
}

void dp_later_stop(void)
{
	cancel_delayed_work_sync(&jumps);
	cancel_delayed_work_sync(&restoring);
	cancel_delayed_work_sync(&ending);
}
