// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * device_records: what programs have logged, for read(2) of /dev/dprobes.
 *
 * Hits may come anywhere, so none can wake a reader: who waits looks again after a while. What the
 * rings have had is put into a buffer, which has room for all that they have at a time.
 */
#include "kmod/device.h"
#include "kmod/session.h"
#include "port/kernel/nofault.h"
#include <dprobes/device.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/* The rings have as much, and each record has less here */
#define ROOM (6u << 20)

/* The CPU's idle task has no number. */
static u32 task_of(const struct dp_record_copy *r)
{
	u32 task = r->head.tid & (DP_KERNEL_TASK | DP_KERNEL_IDLE);

	return task & DP_KERNEL_IDLE ? 0 : task;
}

static void take(void *arg, const struct dp_record_copy *r)
{
	struct dp_owner *o = arg;
	u32 len = min_t(u32, r->head.len, DP_KMOD_LOG);
	const struct dp_device_record head = {
		.ticks = r->head.ticks,
		.size = ALIGN(sizeof(head) + len, 8),
		.log = len,
		.probe = r->head.probe,
		.tid = task_of(r),
		.context = (u8)(r->head.tid >> DP_KERNEL_CONTEXT),
		.cpu = (u16)r->head.cpu,
		.exception = r->head.exception,
		.major = r->head.major,
		.minor = r->head.minor,
		.facility = r->head.facility,
		.flags = r->head.flags & DP_RECORD_TRUNCATED ?
				 DP_DEVICE_TRUNCATED :
				 0,
		.parm = { r->head.parm[0], r->head.parm[1] },
	};

	if (head.size > ROOM - o->filled) {
		o->lost++;
		return;
	}
	memset(o->records + o->filled, 0, head.size);
	memcpy(o->records + o->filled, &head, sizeof(head));
	memcpy(o->records + o->filled + sizeof(head), r->data, len);
	o->filled += head.size;
}

int dp_device_look(struct dp_owner *o)
{
	if (o->taken < o->filled)
		return 1;
	if (!o->programs || !o->committed)
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
