// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* records: what the kernel's probes have logged, as the tool has records of a process. */
#include "tracer/system/session.h"
#include "tracer/system.h"
#include <string.h>

/* Bytes of records that are read at a time */
#define BUFFER 65536
/* More of them than all rings fill */
#define BATCHES 256

/* As programs at returns of a process have it behind their logs */
static bool add_ending(struct dp_record_copy *copy)
{
	const struct dp_program_ending ending = {
		.major = copy->head.major,
		.minor = copy->head.minor,
		.exception = copy->head.exception,
		.facility = copy->head.facility,
		.flags = copy->head.flags,
		.parm = { copy->head.parm[0], copy->head.parm[1] },
	};

	if (copy->head.len > sizeof(copy->data) - sizeof(ending))
		return false;
	memcpy(copy->data + copy->head.len, &ending, sizeof(ending));
	copy->head.len += (u32)sizeof(ending);
	return true;
}

/* @told: see struct dp_system_session. Return: false: it makes no sense. */
static bool take_log(struct dp_record_copy *copy,
		     const struct dp_device_record *r, bool told)
{
	struct dp_device_return head;
	struct dp_leaving leaving = { .how = DP_CALL_RETURNED };
	u32 len = r->log - (u32)sizeof(head);

	if (!(r->flags & DP_DEVICE_RETURNED)) {
		copy->head.len = r->log;
		memcpy(copy->data, r + 1, r->log);
		return true;
	}
	if (r->log < sizeof(head) || len > sizeof(copy->data) - sizeof(leaving))
		return false;
	memcpy(&head, r + 1, sizeof(head));
	leaving.entered = head.entered;
	leaving.value = head.value;
	copy->head.len = (u32)sizeof(leaving) + len;
	memcpy(copy->data, &leaving, sizeof(leaving));
	memcpy(copy->data + sizeof(leaving),
	       (const char *)(r + 1) + sizeof(head), len);
	return !told || add_ending(copy);
}

/* The parts of a record are checked as those of any. */
static size_t take_record(struct dp_system_session *s,
			  const struct dp_device_record *r, size_t left,
			  dp_source_take take, void *arg)
{
	struct dp_record_copy copy;

	if (r->size > left || r->size < sizeof(*r) ||
	    r->log > r->size - sizeof(*r) || r->log > sizeof(copy.data))
		return 0;
	memset(&copy.head, 0, sizeof(copy.head));
	copy.head.ticks = r->ticks;
	copy.head.probe = r->probe;
	copy.head.tid = r->tid | (u32)r->context << DP_SYSTEM_CONTEXT;
	copy.head.cpu = r->cpu;
	copy.head.exception = r->exception;
	copy.head.major = r->major;
	copy.head.minor = r->minor;
	copy.head.facility = r->facility;
	memcpy(copy.head.parm, r->parm, sizeof(copy.head.parm));
	copy.head.flags =
		(r->flags & DP_DEVICE_TRUNCATED ? DP_RECORD_TRUNCATED : 0) |
		(r->flags & DP_DEVICE_TAKEN ? DP_RECORD_TAKEN : 0) |
		(r->flags & DP_DEVICE_DENIED ? DP_RECORD_MISSED : 0);
	if (!take_log(&copy, r, s->told[r->probe % DP_SYSTEM_PROBES]))
		return 0;
	s->hitter = (struct dp_system_hitter){ .tid = copy.head.tid,
					       .pid = r->pid };
	memcpy(s->hitter.comm, r->comm, sizeof(s->hitter.comm) - 1);
	take(arg, &copy);
	return r->size;
}

static size_t take_batch(struct dp_system_session *s, const char *at,
			 size_t left, dp_source_take take, void *arg)
{
	size_t size, n = 0;

	for (; left >= sizeof(struct dp_device_record);
	     at += size, left -= size) {
		size = take_record(s, (const void *)at, left, take, arg);
		if (!size)
			break;
		n++;
	}
	return n;
}

/* Taking records makes others, where what reads is probed. So it ends when few are left, and in any case. */
size_t dp_system_records(struct dp_source *source, dp_source_take take,
			 void *arg, bool ended_now)
{
	struct dp_system_session *s = dp_system_of(source);
	u64 buffer[BUFFER / sizeof(u64)];
	size_t left, all = 0;
	u32 i;

	for (i = 0; i < BATCHES; i++) {
		left = dp_system_device_read(&s->device, buffer, BUFFER);
		all += take_batch(s, (const char *)buffer, left, take, arg);
		if (left < (ended_now ? 1 : BUFFER / 2))
			break;
	}
	return all;
}
