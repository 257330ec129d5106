// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device: who has /dev/dprobes open, and how a client ends that nobody has any more.
 *
 * A thread may be in a copy for long: a task of low priority that was preempted there. So a client ends in a work item.
 * Who closes the file waits for it as long as it usually takes. Who opens it next waits until it is over.
 *
 * Locks: asking of each owner, above the engine's; owners is a spinlock, which is held for no wait.
 */
#include "kmod/device.h"
#include "kmod/safe.h"
#include <dprobes/device.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

/* Jiffies: for how long a close waits; after how long a client that could not end is tried again */
#define PATIENCE (2 * HZ)
#define AGAIN HZ
/* After how long those who wait for records look again */
#define PACE DIV_ROUND_UP(HZ, 100)

static DEFINE_SPINLOCK(owners);
static LIST_HEAD(all);
static u32 nr_owners, nr_ending;
static DECLARE_WAIT_QUEUE_HEAD(changed);
/* Its own: an owner is freed by its last work item, which is waited for by all of them. */
static struct workqueue_struct *works;

static void finish(struct work_struct *work);
static void seek(struct work_struct *work);

/* Context: the lock is held. */
static void count_ending(const struct dp_owner *o, int by)
{
	if (o->life == DP_DEVICE_ENDING)
		WRITE_ONCE(nr_ending, nr_ending + by);
}

static void live(struct dp_owner *o, enum dp_device_life life)
{
	spin_lock(&owners);
	count_ending(o, -1);
	o->life = life;
	count_ending(o, 1);
	spin_unlock(&owners);
	wake_up_all(&changed);
}

static void free_owner(struct dp_owner *o)
{
	kvfree(o->number);
	kvfree(o->local);
	kvfree(o->records);
	kvfree(o);
}

static bool enter(struct dp_owner *o)
{
	bool may;

	spin_lock(&owners);
	may = nr_owners < DP_DEVICE_OWNERS;
	nr_owners += may;
	if (may)
		list_add(&o->list, &all);
	spin_unlock(&owners);
	return may;
}

static void leave(struct dp_owner *o)
{
	spin_lock(&owners);
	count_ending(o, -1);
	list_del(&o->list);
	nr_owners--;
	spin_unlock(&owners);
	free_owner(o);
	wake_up_all(&changed);
}

/* A client keeps the module until it has ended, and from then on dp_device_end() waits. */
static void finish(struct work_struct *work)
{
	struct dp_owner *o =
		container_of(to_delayed_work(work), struct dp_owner, finishing);
	int err = dp_client_end(&o->client);

	if (!err || err == -ENOENT) {
		leave(o);
		return;
	}
	if (READ_ONCE(o->life) != DP_DEVICE_STUCK)
		pr_warn("dprobes: a session cannot end (%d): somebody has written over a probe; it is tried again\n",
			err);
	live(o, DP_DEVICE_STUCK);
	queue_delayed_work(works, &o->finishing, AGAIN);
}

static struct dp_owner *make_owner(const struct file *file)
{
	struct dp_owner *o = kvzalloc(sizeof(*o), GFP_KERNEL_ACCOUNT);

	if (!o)
		return NULL;
	o->number = kvcalloc(DP_KMOD_PROBES, sizeof(*o->number),
			     GFP_KERNEL_ACCOUNT);
	o->local =
		kvcalloc(DP_KMOD_PROBES, sizeof(*o->local), GFP_KERNEL_ACCOUNT);
	if (!o->number || !o->local) {
		free_owner(o);
		return NULL;
	}
	INIT_DELAYED_WORK(&o->finishing, finish);
	INIT_DELAYED_WORK(&o->seeking, seek);
	init_waitqueue_head(&o->came);
	mutex_init(&o->asking);
	mutex_init(&o->filling);
	o->client.take = dp_device_take;
	o->client.arg = o;
	o->client.shows = dp_safe_shows(file->f_cred);
	return o;
}

static bool any_ending(void)
{
	return READ_ONCE(nr_ending);
}

static int open_device(struct inode *inode, struct file *file)
{
	struct dp_owner *o;
	int err;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	err = security_locked_down(LOCKDOWN_KPROBES);
	if (err)
		return err;
	if (!(file->f_flags & O_NONBLOCK) &&
	    wait_event_interruptible(changed, !any_ending()))
		return -ERESTARTSYS;
	o = make_owner(file);
	if (!o)
		return -ENOMEM;
	if (!enter(o)) {
		free_owner(o);
		return -EBUSY;
	}
	file->private_data = o;
	return stream_open(inode, file);
}

/* Has one that was waited for been freed, or is it stuck? */
static bool has_ended(const struct dp_owner *which)
{
	const struct dp_owner *o;
	bool there = false;

	spin_lock(&owners);
	list_for_each_entry(o, &all, list)
		there |= o == which && o->life == DP_DEVICE_ENDING;
	spin_unlock(&owners);
	return !there;
}

static int close_device(struct inode *inode, struct file *file)
{
	struct dp_owner *o = file->private_data;

	cancel_delayed_work_sync(&o->seeking);
	if (!o->begun) {
		leave(o);
		return 0;
	}
	live(o, DP_DEVICE_ENDING);
	queue_delayed_work(works, &o->finishing, 0);
	wait_event_timeout(changed, has_ended(o), PATIENCE);
	return 0;
}

static long ask(struct file *file, unsigned int request, unsigned long arg)
{
	struct dp_owner *o = file->private_data;
	int err = mutex_lock_killable(&o->asking);

	if (err)
		return err;
	err = dp_device_ask(o, request, (void __user *)arg);
	mutex_unlock(&o->asking);
	return err;
}

static ssize_t read_now(struct dp_owner *o, void __user *to, size_t size)
{
	ssize_t n = mutex_lock_killable(&o->asking);

	if (n)
		return n;
	n = dp_device_look(o) ? dp_device_read(o, to, size) : 0;
	mutex_unlock(&o->asking);
	return n;
}

/* Who waits by epoll(7) for what comes does not ask again when all has been read, so who has read goes on looking. */
static void seek_on(struct dp_owner *o)
{
	if (wq_has_sleeper(&o->came))
		queue_delayed_work(works, &o->seeking, PACE);
}

static ssize_t read_records(struct file *file, char __user *to, size_t size,
			    loff_t *unused)
{
	struct dp_owner *o = file->private_data;
	ssize_t n;

	while (!(n = read_now(o, to, size))) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		schedule_timeout_interruptible(PACE);
	}
	seek_on(o);
	return n;
}

/* For those who wait in poll(2) */
static void seek(struct work_struct *work)
{
	struct dp_owner *o =
		container_of(to_delayed_work(work), struct dp_owner, seeking);

	if (dp_device_look(o))
		wake_up_all(&o->came);
	else
		seek_on(o);
}

static __poll_t poll_records(struct file *file, struct poll_table_struct *wait)
{
	struct dp_owner *o = file->private_data;
	bool any;

	poll_wait(file, &o->came, wait);
	any = dp_device_look(o);
	if (!any)
		queue_delayed_work(works, &o->seeking, PACE);
	return any ? EPOLLIN | EPOLLRDNORM : 0;
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
	int err;

	works = alloc_workqueue("dprobes", WQ_UNBOUND, 0);
	if (!works)
		return -ENOMEM;
	err = misc_register(&device);
	if (err)
		destroy_workqueue(works);
	return err;
}

/* A client that has ended let the module go a moment before its work has. */
void dp_device_end(void)
{
	misc_deregister(&device);
	destroy_workqueue(works);
}
