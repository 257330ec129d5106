// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * raw: records as the kernel's DProbes sent them over a serial line, in a file.
 *
 *   header  u16 1, u16 its length, u64 mask, u16 major, u16 minor, items that the mask has
 *   log     as the program has written it
 *   CR LF
 *
 * Stack traces follow as a record of their own, of codes 0 and 0. No item of a log begins with CR, so
 * a reader that goes from item to item finds the end. A log that is not whole items has its length
 * in the header. All numbers are little-endian; "unsigned long" of the original is 8 bytes.
 */
#include "tracer/facility.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FACILITY_ID 1
#define COMM_ROOM 16
#define BILLION 1000000000u
#define HEADER_MOST 128

/** enum mask - items of a header, in their order; the last two are ours */
enum mask {
	MASK_MAJOR = 1,
	MASK_MINOR = 2,
	MASK_CPU = 4,
	MASK_PID = 8,
	MASK_UID = 0x10,
	MASK_CS = 0x20,
	MASK_EIP = 0x40,
	MASK_TIME = 0x200,
	MASK_COMM = 0x400,
	MASK_LENGTH = 0x10000, /* u32, bytes of the log */
	MASK_TRUNCATED = 0x20000, /* no item: the log was cut */
};

struct dp_raw {
	int file;
	u32 items; /* enum dp_log_item */
};

/** struct header - one that grows */
struct header {
	u8 bytes[HEADER_MOST];
	u16 len;
	u64 mask;
};

int dp_raw_open(const struct dp_tracer_options *opt, struct dp_raw **raw,
		struct dp_diag *diag)
{
	struct dp_raw *r = *raw = calloc(1, sizeof(*r));

	if (!r)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	r->items = opt->log_items;
	r->file =
		open(opt->raw, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return r->file >= 0 ?
		       0 :
		       dp_diag_set(diag, -EIO, "--raw: cannot write %s: %s",
				   opt->raw, strerror(errno));
}

int dp_raw_close(struct dp_raw *raw)
{
	int err = 0;

	if (raw && raw->file >= 0 && close(raw->file))
		err = -errno;
	free(raw);
	return err;
}

static void add(struct header *h, u64 mask, const void *bytes, size_t len)
{
	memcpy(h->bytes + h->len, bytes, len);
	h->len += (u16)len;
	h->mask |= mask;
}

static void add_u32(struct header *h, u64 mask, u32 n)
{
	add(h, mask, &n, sizeof(n));
}

static void add_time(struct header *h, u64 ns)
{
	const u64 t[] = { ns / BILLION, ns % BILLION };

	add(h, MASK_TIME, t, sizeof(t));
}

/* The id, length and mask are filled in when the rest is known. */
static void begin(struct header *h, u16 major, u16 minor, u32 cpu)
{
	*h = (struct header){ .len = 2 * sizeof(u16) + sizeof(u64) };
	add(h, MASK_MAJOR, &major, sizeof(major));
	add(h, MASK_MINOR, &minor, sizeof(minor));
	add_u32(h, MASK_CPU, cpu);
}

/* What is not known is left out. */
static void add_items(const struct dp_raw *raw, struct header *h,
		      const struct dp_session *s, const struct dp_stamp *stamp,
		      const struct dp_record *r)
{
	const struct dp_point *p = dp_record_point(s, r->probe);
	u64 eip = p->addr;
	char comm[COMM_ROOM] = "";
	u16 cs = dp_log_segment(p);
	u32 uid = raw->items & DP_LOG_UID ? dp_log_user(s, stamp) : ~0u;

	if (raw->items & DP_LOG_PID)
		add_u32(h, MASK_PID, stamp->pid);
	if (uid != ~0u)
		add_u32(h, MASK_UID, uid);
	if (raw->items & DP_LOG_CSEIP) {
		add(h, MASK_CS, &cs, sizeof(cs));
		add(h, MASK_EIP, &eip, sizeof(eip));
	}
	if (raw->items & DP_LOG_TSC)
		add_time(h, dp_log_time(s, r));
	if (raw->items & DP_LOG_PROCNAME) {
		strncpy(comm, stamp->comm, sizeof(comm) - 1);
		add(h, MASK_COMM, comm, sizeof(comm));
	}
}

static void put(FILE *f, struct header *h, const void *data, size_t len)
{
	const u16 id = FACILITY_ID;

	memcpy(h->bytes, &id, sizeof(id));
	memcpy(h->bytes + sizeof(id), &h->len, sizeof(h->len));
	memcpy(h->bytes + 2 * sizeof(u16), &h->mask, sizeof(h->mask));
	fwrite(h->bytes, 1, h->len, f);
	fwrite(data, 1, len, f);
	fputs("\r\n", f);
}

static bool is_whole(const struct dp_record_copy *record)
{
	u32 at = 0, len = record->head.len - record->head.traces;
	struct dp_item item;

	while (at < len)
		if (!dp_item_next(record, &at, &item))
			return false;
	return true;
}

static int put_traces(FILE *f, const struct dp_session *s,
		      const struct dp_record_copy *record, u16 id)
{
	struct header h;
	char *bytes;
	size_t len;
	bool whole;
	int err = dp_log_traces(s, record, id, &bytes, &len, &whole);

	if (err)
		return err;
	begin(&h, 0, 0, record->head.cpu);
	if (!whole)
		add_u32(&h, MASK_LENGTH, (u32)len);
	put(f, &h, bytes, len);
	free(bytes);
	return 0;
}

static int put_record(const struct dp_raw *raw, FILE *f,
		      const struct dp_session *s, const struct dp_stamp *stamp,
		      const struct dp_record_copy *record, u16 id)
{
	const struct dp_record *r = &record->head;
	u32 len = r->len - r->traces;
	struct header h;

	begin(&h, r->major, r->minor, r->cpu);
	add_items(raw, &h, s, stamp, r);
	if (!is_whole(record))
		add_u32(&h, MASK_LENGTH, len);
	if (r->flags & DP_RECORD_TRUNCATED)
		h.mask |= MASK_TRUNCATED;
	put(f, &h, record->data, len);
	return r->traces ? put_traces(f, s, record, id) : 0;
}

/* At once, so that a reader has whole records, also if the tool is killed */
static int send(const struct dp_raw *raw, const char *bytes, size_t len)
{
	ssize_t n;

	for (; len; bytes += n, len -= (size_t)n) {
		n = write(raw->file, bytes, len);
		if (n < 0 && errno != EINTR)
			return -errno;
		n = n < 0 ? 0 : n;
	}
	return 0;
}

int dp_raw_write(struct dp_raw *raw, const struct dp_session *s,
		 const struct dp_stamp *stamp,
		 const struct dp_record_copy *record, u16 id)
{
	char *all = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&all, &len);
	int err;

	if (!f)
		return -ENOMEM;
	err = put_record(raw, f, s, stamp, record, id);
	if (fclose(f) && !err)
		err = -ENOMEM;
	err = err ?: send(raw, all, len);
	free(all);
	return err;
}
