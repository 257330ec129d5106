// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device: who has /dev/dprobes, and how a session ends that nobody has any more.
 *
 * A thread may be in a copy for long: a task of low priority that was preempted there. So a session
 * ends in a work item. Who closes the file waits for it as long as it usually takes. Who opens it
 * next waits until it is over.
 *
 * Locks: asking, above those of the session; state is under changes, which is held for no wait.
 */
#include "kmod/device.h"
#include "kmod/safe.h"
#include "kmod/session.h"
#include <dprobes/device.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* Jiffies: for how long a close waits; after how long a session that could not end is tried again */
#define PATIENCE (2 * HZ)
#define AGAIN HZ
/* After how long those who wait for records look again */
#define PACE DIV_ROUND_UP(HZ, 100)

enum state { FREE, OWNED, ENDING, STUCK };

static DEFINE_SPINLOCK(changes);
static DEFINE_MUTEX(asking);
static DECLARE_WAIT_QUEUE_HEAD(changed);
static enum state state;
static struct dp_owner owner;

static void finish(struct work_struct *work);
static DECLARE_DELAYED_WORK(finishing, finish);

static void seek(struct work_struct *work);
static DECLARE_DELAYED_WORK(seeking, seek);
static DECLARE_WAIT_QUEUE_HEAD(came);

static bool change(enum state from, enum state to)
{
	bool is;

	spin_lock(&changes);
	is = state == from;
	if (is)
		WRITE_ONCE(state, to);
	spin_unlock(&changes);
	if (is)
		wake_up_all(&changed);
	return is;
}

static bool is_ending(void)
{
	return READ_ONCE(state) == ENDING;
}

/* The session keeps the module until it has ended, and from then on dp_device_end() waits. */
static void finish(struct work_struct *work)
{
	int err = dp_kmod_end();

	if (!err || err == -ENOENT) {
		if (!change(ENDING, FREE))
			change(STUCK, FREE);
		return;
	}
	if (change(ENDING, STUCK))
		pr_warn("dprobes: a session cannot end (%d): somebody has written over a probe; it is tried again\n",
			err);
	queue_delayed_work(system_unbound_wq, &finishing, AGAIN);
}

static int take(bool waits)
{
	while (!change(FREE, OWNED)) {
		if (!is_ending() || !waits)
			return -EBUSY;
		if (wait_event_interruptible(changed, !is_ending()))
			return -ERESTARTSYS;
	}
	return 0;
}

static int open_device(struct inode *inode, struct file *file)
{
	int err;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	err = security_locked_down(LOCKDOWN_KPROBES);
	if (err)
		return err;
	err = take(!(file->f_flags & O_NONBLOCK));
	if (err)
		return err;
	memset(&owner, 0, sizeof(owner));
	owner.at = kvcalloc(DP_KMOD_PROBES, sizeof(*owner.at), GFP_KERNEL);
	if (!owner.at) {
		change(OWNED, FREE);
		return -ENOMEM;
	}
	owner.shows = dp_safe_shows(file->f_cred);
	return stream_open(inode, file);
}

static int close_device(struct inode *inode, struct file *file)
{
	cancel_delayed_work_sync(&seeking);
	kvfree(owner.at);
	kvfree(owner.records);
	owner.records = NULL;
	owner.at = NULL;
	if (!owner.begun) {
		change(OWNED, FREE);
		return 0;
	}
	change(OWNED, ENDING);
	queue_delayed_work(system_unbound_wq, &finishing, 0);
	wait_event_timeout(changed, !is_ending(), PATIENCE);
	return 0;
}

static long ask(struct file *file, unsigned int request, unsigned long arg)
{
	int err = mutex_lock_killable(&asking);

	if (err)
		return err;
	err = dp_device_ask(&owner, request, (void __user *)arg);
	mutex_unlock(&asking);
	return err;
}

static int look(void)
{
	int err = mutex_lock_killable(&asking), any;

	if (err)
		return err;
	any = dp_device_look(&owner);
	mutex_unlock(&asking);
	return any;
}

static ssize_t read_now(void __user *to, size_t size)
{
	ssize_t n = mutex_lock_killable(&asking);

	if (n)
		return n;
	n = dp_device_look(&owner);
	if (n > 0)
		n = dp_device_read(&owner, to, size);
	mutex_unlock(&asking);
	return n;
}

static ssize_t read_records(struct file *file, char __user *to, size_t size,
			    loff_t *unused)
{
	ssize_t n;

	while (!(n = read_now(to, size))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		schedule_timeout_interruptible(PACE);
	}
	return n;
}

/* For those who wait in poll(2) */
static void seek(struct work_struct *work)
{
	if (look())
		wake_up_all(&came);
	else if (wq_has_sleeper(&came))
		queue_delayed_work(system_wq, &seeking, PACE);
}

static __poll_t poll_records(struct file *file, struct poll_table_struct *wait)
{
	int any;

	poll_wait(file, &came, wait);
	any = look();
	if (!any)
		queue_delayed_work(system_wq, &seeking, PACE);
	return any < 0 ? EPOLLERR : any ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open_device,
	.release = close_device,
	.read = read_records,
	.poll = poll_records,
	.unlocked_ioctl = ask,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "dprobes",
	.mode = 0600,
	.fops = &operations,
};

int dp_device_begin(void)
{
	return misc_register(&device);
}

void dp_device_end(void)
{
	misc_deregister(&device);
	/* A session that has ended let the module go a moment before its work has. */
	flush_delayed_work(&finishing);
}
