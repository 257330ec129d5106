// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log: records as the kernel's DProbes wrote them, in a file or in a log of the system.
 *
 *   dprobes(1,7) cpu=0 pid=12 
 *   dprobes(1,7)  
 *   0x00000000 : 00100040 41424344 45464748 494a4b4c : ...@ABCDEFGHIJKL
 *
 * Stack traces follow as a record of their own, dprobes(0,0). The last row shows the bytes that
 * there are, not sixteen. A log that was cut ends with a line that says so.
 */
#include "tracer/facility.h"
#include "tracer/output.h"
#include "tracer/system.h"
#include "sym/sym.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#define ROW 16
#define GROUP 4
#define TRACE_LIST 2 /* the token of stack traces */
#define KERNEL_LOG "/dev/kmsg"
#define SYSTEM_LOG "/dev/log"
/* The kernel takes a line of less than 1 KiB. */
#define FLAT 256
#define USER_CS 0x33 /* of every process that can be probed */
#define KERNEL_CS 0x10

struct dp_log {
	const struct dp_tracer_options *opt;
	int kernel; /* descriptor, or -1 */
};

/* syslog(3) does not say that nobody listens. Return: 0 or an errno. */
static int try_syslog(void)
{
	struct sockaddr_un name = { AF_UNIX, SYSTEM_LOG };
	int type, fd, err = ENOENT;

	for (type = SOCK_STREAM; err && type <= SOCK_DGRAM; type++) {
		fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
		err = connect(fd, (struct sockaddr *)&name, sizeof(name)) ?
			      errno :
			      0;
		close(fd);
	}
	return err;
}

bool dp_tracer_log_listens(void)
{
	return !try_syslog();
}

static int find_syslog(struct dp_diag *diag)
{
	int err = try_syslog();

	if (err)
		return dp_diag_set(
			diag, -EIO,
			"--log-target syslog: nobody listens at " SYSTEM_LOG
			" (%s); use --log-target file, with -o FILE",
			strerror(err));
	openlog("dprobes", LOG_NDELAY, LOG_USER);
	return 0;
}

static int find_kernel(struct dp_log *log, struct dp_diag *diag)
{
	log->kernel = open(KERNEL_LOG, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (log->kernel >= 0)
		return 0;
	return dp_diag_set(diag, -EIO,
			   "--log-target klog: cannot write " KERNEL_LOG
			   " (%s); use --log-target file, with -o FILE",
			   strerror(errno));
}

int dp_log_open(const struct dp_tracer_options *opt, struct dp_log **log,
		struct dp_diag *diag)
{
	int err = 0;

	*log = calloc(1, sizeof(**log));
	if (!*log)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	(*log)->opt = opt;
	(*log)->kernel = -1;
	if (opt->log_target == DP_LOG_KERNEL)
		err = find_kernel(*log, diag);
	else if (opt->log_target == DP_LOG_SYSLOG)
		err = find_syslog(diag);
	return err;
}

void dp_log_close(struct dp_log *log)
{
	if (!log)
		return;
	if (log->kernel >= 0)
		close(log->kernel);
	if (log->opt->log_target == DP_LOG_SYSLOG)
		closelog();
	free(log);
}

static void hex(FILE *out, u8 byte)
{
	static const char digits[] = "0123456789abcdef";

	putc(digits[byte >> 4], out);
	putc(digits[byte & 15], out);
}

static void row(FILE *out, const u8 *bytes, u32 at, u32 len)
{
	u32 i;

	dp_output_print(out, "0x%08x : ", at);
	for (i = at; i < at + ROW; i++) {
		if (i < len)
			hex(out, bytes[i]);
		else
			fputs("  ", out);
		if (i % GROUP == GROUP - 1)
			putc(' ', out);
	}
	fputs(": ", out);
	for (i = at; i < at + ROW && i < len; i++)
		putc(bytes[i] >= 0x20 && bytes[i] < 0x7f ? bytes[i] : '.', out);
	putc('\n', out);
}

/* Two digits a byte, with blanks between them, on one line; the kernel's lines are shorter. */
static void flat(FILE *out, const u8 *bytes, u32 len, u32 most)
{
	u32 i;

	for (i = 0; i < len; i++) {
		hex(out, bytes[i]);
		putc(i + 1 == len || i % most == most - 1 ? '\n' : ' ', out);
	}
}

static void data(const struct dp_log *log, FILE *out, const u8 *bytes, u32 len)
{
	u32 at;

	if (log->opt->unformatted)
		flat(out, bytes, len, log->kernel >= 0 ? FLAT : ~0u);
	else
		for (at = 0; at < len; at += ROW)
			row(out, bytes, at, len);
}

u16 dp_log_segment(const struct dp_point *point)
{
	return dp_system_is(point->spec) ? KERNEL_CS : USER_CS;
}

u32 dp_log_user(const struct dp_session *s, const struct dp_stamp *stamp)
{
	u32 pid = s->ops->everybody ? stamp->pid : (u32)s->source->pid;
	char path[64], line[256];
	unsigned int uid = ~0u;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", pid,
		 stamp->tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u", &uid) == 1)
			break;
	if (f)
		fclose(f);
	return uid;
}

u64 dp_log_time(const struct dp_session *s, const struct dp_record *r)
{
	struct timespec t;
	u64 since = dp_rate_ns(s, r->ticks, s->ops->ticks()), now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
	return now > since ? now - since : 0;
}

/* In the order of DProbes. What is not known is left out. */
static void header(const struct dp_log *log, FILE *out,
		   const struct dp_session *s, const struct dp_stamp *stamp,
		   const struct dp_record *r)
{
	const struct dp_point *p = dp_record_point(s, r->probe);
	u32 want = log->opt->log_items, uid;
	u64 us;

	dp_output_print(out, "dprobes(%u,%u) cpu=%u ", r->major, r->minor,
			r->cpu);
	if (want & DP_LOG_PID)
		dp_output_print(out, "pid=%u ", stamp->pid);
	uid = want & DP_LOG_UID ? dp_log_user(s, stamp) : ~0u;
	if (uid != ~0u)
		dp_output_print(out, "uid=%u ", uid);
	if (want & DP_LOG_CSEIP)
		dp_output_print(out, "cs=%x eip=%08lx ", dp_log_segment(p),
				p->addr);
	us = want & DP_LOG_TSC ? dp_log_time(s, r) / 1000 : 0;
	if (want & DP_LOG_TSC)
		dp_output_print(out, "tsc=%lu:%lu ", us / 1000000,
				us % 1000000);
	if (want & DP_LOG_PROCNAME)
		dp_output_print(out, "name=%s ", stamp->comm);
	putc('\n', out);
	dp_output_print(out, "dprobes(%u,%u)  \n", r->major, r->minor);
}

static void put(FILE *f, const void *bytes, size_t len)
{
	fwrite(bytes, 1, len, f);
}

static void put_prefix(FILE *f, u8 token, size_t count)
{
	u16 n = (u16)count;

	put(f, &token, 1);
	put(f, &n, sizeof(n));
}

/* How many traces are there? See engine/vm/trace.c; 0: pop stp has cut them. */
static u32 count_traces(const u8 *bytes, u32 len)
{
	u32 at = 0, n = 0, frames, k, i;

	for (; at < len; n++) {
		if (len - at < 4 * 8 + DP_ITEM_PREFIX)
			return 0;
		at += 4 * 8;
		frames = bytes[at + 1] | (u32)bytes[at + 2] << 8;
		at += DP_ITEM_PREFIX;
		for (k = 0; k < frames; k++) {
			at += 2 * 8;
			for (i = 0; i < DP_RANGES; i++) {
				if (at > len || len - at < DP_ITEM_PREFIX)
					return 0;
				at += DP_ITEM_PREFIX +
				      8 * (bytes[at + 1] | (u32)bytes[at + 2]
								   << 8);
			}
		}
	}
	return at == len ? n : 0;
}

/* Where the probe is in its file */
static s64 offset_of(const struct dp_session *s, const struct dp_point *p)
{
	const struct dp_maps *maps =
		s->source->mods ? dp_modules_maps(s->source->mods) : NULL;
	const struct dp_map *m = maps ? dp_maps_find(maps, p->addr) : NULL;

	return m ? (s64)(p->addr - m->start + m->offset) : -1;
}

int dp_log_traces(const struct dp_session *s,
		  const struct dp_record_copy *record, u16 id, char **all,
		  size_t *len, bool *whole)
{
	const struct dp_record *r = &record->head;
	const struct dp_point *p = dp_record_point(s, r->probe);
	const u8 *bytes = record->data + r->len - r->traces;
	u32 n = count_traces(bytes, r->traces);
	s64 offset = offset_of(s, p);
	FILE *f = open_memstream(all, len);

	if (!f)
		return -ENOMEM;
	*whole = n;
	put_prefix(f, DP_ITEM_STRING, strlen(p->module));
	put(f, p->module, strlen(p->module));
	put(f, &offset, sizeof(offset));
	put(f, &id, sizeof(id));
	put(f, &r->major, sizeof(r->major));
	put(f, &r->minor, sizeof(r->minor));
	put_prefix(f, TRACE_LIST, n);
	put(f, bytes, r->traces);
	return fclose(f) ? -ENOMEM : 0;
}

static void traces(const struct dp_log *log, FILE *out,
		   const struct dp_session *s,
		   const struct dp_record_copy *record, u16 id)
{
	bool whole;
	char *all;
	size_t len;

	if (dp_log_traces(s, record, id, &all, &len, &whole))
		return;
	dp_output_print(out, "dprobes(0,0) cpu=%u \n", record->head.cpu);
	dp_output_print(out, "dprobes(0,0)  \n");
	data(log, out, (u8 *)all, (u32)len);
	free(all);
}

static void text(const struct dp_log *log, FILE *out,
		 const struct dp_session *s, const struct dp_stamp *stamp,
		 const struct dp_record_copy *record, u16 id)
{
	const struct dp_record *r = &record->head;

	header(log, out, s, stamp, r);
	data(log, out, record->data, r->len - r->traces);
	if (r->flags & DP_RECORD_TRUNCATED)
		dp_output_print(out, "dprobes(%u,%u) truncated\n", r->major,
				r->minor);
	if (r->traces)
		traces(log, out, s, record, id);
}

/* Return: 0; a negative errno: a line of it is not there. */
static int send_line(const struct dp_log *log, const char *line, size_t len)
{
	char *message;
	int err = 0;

	if (log->kernel < 0) {
		syslog(LOG_INFO, "%.*s", (int)len, line);
		return 0;
	}
	if (asprintf(&message, "<%d>%.*s\n", LOG_USER | LOG_INFO, (int)len,
		     line) < 0)
		return -ENOMEM;
	if (write(log->kernel, message, strlen(message)) < 0)
		err = -errno;
	free(message);
	return err;
}

static int send_all(const struct dp_log *log, const char *all)
{
	size_t len;
	int err = 0;

	for (; *all && !err; all += len + (all[len] == '\n')) {
		len = strcspn(all, "\n");
		err = send_line(log, all, len);
	}
	return err;
}

int dp_log_write(struct dp_log *log, const struct dp_session *s,
		 const struct dp_stamp *stamp,
		 const struct dp_record_copy *record, u16 id)
{
	char *all = NULL;
	size_t len = 0;
	FILE *out;
	int err;

	if (log->opt->log_target == DP_LOG_FILE) {
		text(log, s->opt->out, s, stamp, record, id);
		return 0;
	}
	out = open_memstream(&all, &len);
	if (!out)
		return -ENOMEM;
	text(log, out, s, stamp, record, id);
	err = fclose(out) ? -ENOMEM : send_all(log, all);
	free(all);
	return err;
}
