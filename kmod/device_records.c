// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_records: what programs have logged, for read(2) of /dev/dprobes.
 *
 * Hits may come anywhere, so none can wake a reader: who waits looks again after a while. What the
 * rings have had is put into a buffer of its owner, which has room for all that they have at a time.
 */
#include "kmod/device.h"
#include "engine/layout/instance.h"
#include "port/kernel/nofault.h"
#include "port/kernel/user.h"
#include <dprobes/device.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* The rings have half of it, and records here are less than twice as long */
#define ROOM (6u << 20)
/* That are read at a time */
#define BATCH (64u << 10)
/* Bytes of a record here */
#define MOST                                                         \
	ALIGN(sizeof(struct dp_device_record) +                      \
		      sizeof(struct dp_device_return) + DP_KMOD_LOG, \
	      8)

/* The CPU's idle task has no number. */
static u32 task_of(const struct dp_record *r)
{
	u32 task = r->tid & (DP_KERNEL_TASK | DP_KERNEL_IDLE);

	return task & DP_KERNEL_IDLE ? 0 : task;
}

/* Behind the log of a call's record is how its program has ended. */
static void take_ending(struct dp_record *head, const u8 *data)
{
	struct dp_program_ending ending;

	if (head->len < sizeof(ending))
		return;
	head->len -= sizeof(ending);
	memcpy(&ending, data + head->len, sizeof(ending));
	head->major = ending.major;
	head->minor = ending.minor;
	head->exception = ending.exception;
	head->facility = ending.facility;
	head->flags = ending.flags;
	head->parm[0] = ending.parm[0];
	head->parm[1] = ending.parm[1];
}

/* Of a call that has returned: the slot on its stack is not for everybody. Return: bytes of the log, into @to */
static u32 take_return(u8 *to, const struct dp_record *r, const u8 *data)
{
	u32 len = r->len - min_t(u32, r->len, sizeof(struct dp_leaving));
	struct dp_leaving leaving;
	struct dp_device_return head;

	memcpy(&leaving, data, sizeof(leaving));
	head.entered = leaving.entered;
	head.value = leaving.value;
	memcpy(to, &head, sizeof(head));
	len = min_t(u32, len, DP_KMOD_LOG);
	memcpy(to + sizeof(head), data + sizeof(leaving), len);
	return sizeof(head) + len;
}

static u32 take_log(u8 *to, const struct dp_record *r, const u8 *data,
		    bool returned)
{
	u32 len = min_t(u32, r->len, DP_KMOD_LOG);

	if (returned)
		return take_return(to, r, data);
	memcpy(to, data, len);
	return len;
}

static struct dp_device_record head_of(const struct dp_record *r, bool returned)
{
	return (struct dp_device_record){
		.ticks = r->ticks,
		.probe = r->probe,
		.tid = task_of(r),
		.context = (u8)(r->tid >> DP_KERNEL_CONTEXT),
		.cpu = (u16)r->cpu,
		.exception = r->exception,
		.major = r->major,
		.minor = r->minor,
		.facility = r->facility,
		.flags = (r->flags & DP_RECORD_TRUNCATED ? DP_DEVICE_TRUNCATED :
							   0) |
			 (r->flags & DP_RECORD_TAKEN ? DP_DEVICE_TAKEN : 0) |
			 (r->flags & DP_RECORD_MISSED ? DP_DEVICE_DENIED : 0) |
			 (returned ? DP_DEVICE_RETURNED : 0),
		.parm = { r->parm[0], r->parm[1] },
	};
}

int dp_device_room(struct dp_owner *o)
{
	u8 *records;

	if (!o->logs || o->records)
		return 0;
	records = kvmalloc(ROOM, GFP_KERNEL_ACCOUNT);
	if (!records)
		return -ENOMEM;
	mutex_lock(&o->filling);
	o->records = records;
	mutex_unlock(&o->filling);
	return 0;
}

/* What has been read leaves its room to what comes. */
static bool has_room(struct dp_owner *o)
{
	if (!o->records)
		return false;
	if (o->taken && (o->taken == o->filled || MOST > ROOM - o->filled)) {
		o->filled -= o->taken;
		memmove(o->records, o->records + o->taken, o->filled);
		o->taken = 0;
	}
	return MOST <= ROOM - o->filled;
}

static void put(struct dp_owner *o, u32 probe, const struct dp_record_copy *r)
{
	bool returned = test_bit(probe, o->returns);
	struct dp_record from = r->head;
	struct dp_device_record head;
	u8 *to = o->records + o->filled;

	if (returned && test_bit(probe, o->told))
		take_ending(&from, r->data);
	from.probe = probe;
	head = head_of(&from, returned);
	if (test_bit(probe, o->files))
		head.pid = dp_kernel_user_of(head.tid, head.comm);
	head.log = take_log(to + sizeof(head), &from, r->data, returned);
	head.size = ALIGN(sizeof(head) + head.log, 8);
	memset(to + sizeof(head) + head.log, 0,
	       head.size - sizeof(head) - head.log);
	memcpy(to, &head, sizeof(head));
	o->filled += head.size;
}

/* Context: the engine's lock is held: its numbers of probes are what they were at the hit. */
void dp_device_take(void *arg, const struct dp_record_copy *r)
{
	struct dp_owner *o = arg;

	mutex_lock(&o->filling);
	if (has_room(o))
		put(o, o->local[r->head.probe], r);
	else
		o->lost++;
	mutex_unlock(&o->filling);
}

bool dp_device_look(struct dp_owner *o)
{
	bool any;

	mutex_lock(&o->filling);
	any = o->taken < o->filled;
	mutex_unlock(&o->filling);
	if (any)
		return true;
	dp_client_look();
	mutex_lock(&o->filling);
	any = o->taken < o->filled;
	mutex_unlock(&o->filling);
	return any;
}

/* Whole ones, as many as there are and as @size bytes hold. Return: bytes */
static size_t copy_whole(struct dp_owner *o, u8 *to, size_t size)
{
	struct dp_device_record head;
	size_t end = o->taken, n;

	while (end < o->filled) {
		memcpy(&head, o->records + end, sizeof(head));
		if (end + head.size - o->taken > size)
			break;
		end += head.size;
	}
	n = end - o->taken;
	memcpy(to, o->records + o->taken, n);
	return n;
}

/* The caller's memory may have to be waited for: nobody else waits meanwhile. */
ssize_t dp_device_read(struct dp_owner *o, void __user *to, size_t size)
{
	u8 *copy = kvmalloc(min_t(size_t, size, BATCH) + 1, GFP_KERNEL);
	ssize_t n;

	if (!copy)
		return -ENOMEM;
	mutex_lock(&o->filling);
	n = copy_whole(o, copy, min_t(size_t, size, BATCH));
	mutex_unlock(&o->filling);
	if (!n)
		n = -EINVAL;
	else if (copy_to_user(to, copy, n))
		n = -EFAULT;
	kvfree(copy);
	if (n < 0)
		return n;
	mutex_lock(&o->filling);
	o->taken += n;
	mutex_unlock(&o->filling);
	return n;
}
