// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_records: what programs have logged, for read(2) of /dev/dprobes.
 *
 * Hits may come anywhere, so none can wake a reader: who waits looks again after a while. What the
 * rings have had is put into a buffer, which has room for all that they have at a time.
 */
#include "kmod/device.h"
#include "kmod/session.h"
#include "engine/layout/instance.h"
#include "port/kernel/nofault.h"
#include "port/kernel/user.h"
#include <dprobes/device.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* The rings have half of it, and records here are less than twice as long */
#define ROOM (6u << 20)
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

static void take(void *arg, const struct dp_record_copy *r)
{
	struct dp_owner *o = arg;
	bool returned = dp_device_owns(o, r->head.probe) &&
			test_bit(r->head.probe, o->returns);
	struct dp_record from = r->head;
	struct dp_device_record head;
	u8 *to = o->records + o->filled;

	if (MOST > ROOM - o->filled) {
		o->lost++;
		return;
	}
	if (returned && test_bit(from.probe, o->told))
		take_ending(&from, r->data);
	head = head_of(&from, returned);
	if (dp_device_owns(o, r->head.probe) &&
	    test_bit(r->head.probe, o->files))
		head.pid = dp_kernel_user_of(head.tid, head.comm);
	head.log = take_log(to + sizeof(head), &from, r->data, returned);
	head.size = ALIGN(sizeof(head) + head.log, 8);
	memset(to + sizeof(head) + head.log, 0,
	       head.size - sizeof(head) - head.log);
	memcpy(to, &head, sizeof(head));
	o->filled += head.size;
}

int dp_device_look(struct dp_owner *o)
{
	if (o->taken < o->filled)
		return 1;
	if (!o->committed)
		return 0;
	if (!o->records)
		o->records = kvmalloc(ROOM, GFP_KERNEL);
	if (!o->records)
		return -ENOMEM;
	o->taken = o->filled = 0;
	dp_kmod_records(take, o);
	return o->filled != 0;
}

ssize_t dp_device_read(struct dp_owner *o, void __user *to, size_t size)
{
	struct dp_device_record head;
	size_t end = o->taken, done;

	while (end < o->filled) {
		memcpy(&head, o->records + end, sizeof(head));
		if (end + head.size - o->taken > size)
			break;
		end += head.size;
	}
	done = end - o->taken;
	if (!done)
		return o->taken < o->filled ? -EINVAL : 0;
	if (copy_to_user(to, o->records + o->taken, done))
		return -EFAULT;
	o->taken = end;
	return (ssize_t)done;
}
