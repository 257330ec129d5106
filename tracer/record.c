// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record: put the records from the rings of all CPUs in order of time.
 *
 * A thread that changes CPU leaves its records in several rings, so each reading begins
 * by reading the clock. A record stamped well before that follows only records that have
 * been handed over by then. So the earlier records are sorted and handed on; later records
 * wait for the next reading.
 */
#include "tracer/clock.h"
#include "tracer/interval.h"
#include "tracer/output.h"
#include "tracer/recorder.h"
#include "tracer/session.h"
#include "proc/inspect.h"
#include "sym/list.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMM_MAX 16
#define COMMS 64
/* From the time of a record until the reader can see it, it takes a CPU fewer ticks: tens of ms, because another thread, an
 * interrupt, or the host of a virtual machine, may keep the CPU that long. */
#define UNSEEN (1u << 27)
/* How long the name of a thread is taken to be valid. */
#define NS 1000000000ll
#define COMM_NS 100000000

struct held {
	struct dp_record_copy *record;
	u64 arrival;
};

/* @tid: in the process's namespace; @known: in the tool's, once it has been asked for */
struct comm {
	u32 tid, known, pid;
	s64 asked;
	char name[COMM_MAX + 1];
};

/* @v: the first @sorted are in order */
struct dp_records {
	struct held *v;
	size_t n, room, sorted;
	u64 arrivals;
	struct dp_clock clock;
	struct comm main; /* the process's name, for threads that have ended */
	struct comm comms[COMMS];
	time_t second; /* of the last stamp; @day: its time of day */
	char day[16];
};

static struct dp_clock_sample sample(const struct dp_session *s)
{
	return dp_clock_sample(CLOCK_REALTIME, s->ops->ticks);
}

void dp_records_close(struct dp_session *s)
{
	size_t i;

	if (!s->records)
		return;
	for (i = 0; i < s->records->n; i++)
		free(s->records->v[i].record);
	free(s->records->v);
	free(s->records);
	s->records = NULL;
}

const struct dp_point *dp_record_point(const struct dp_session *s, u32 probe)
{
	size_t low = 0, high = s->points.n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (s->points.v[middle].probe <= probe)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && s->points.v[low - 1].refused)
		low--;
	return low ? &s->points.v[low - 1] : NULL;
}

bool dp_records_fits(struct dp_session *s, const struct dp_record_copy *record)
{
	if (dp_record_point(s, record->head.probe))
		return true;
	s->torn++;
	return false;
}

static void ask_comm(const struct dp_session *s, struct comm *c)
{
	u32 known = s->ops->thread(s->source, c->tid);
	size_t n;
	FILE *f;

	c->pid = (u32)s->source->pid;
	if (known)
		c->known = known;
	/* After an exec the name is that of another program, which has not hit. */
	if (s->ops->outdated(s->source, false))
		return;
	f = fopen(dp_path("/proc/%d/task/%u/comm", s->source->pid, c->known).s,
		  "re");
	if (!f)
		return;
	/* A newline follows the name, and the name may contain others. */
	n = fread(c->name, 1, COMM_MAX, f);
	c->name[n ? n - 1 : 0] = '\0';
	fclose(f);
}

/* Of any process, where records are of all */
static void ask(const struct dp_session *s, struct comm *c)
{
	struct dp_source_task task = { .tid = c->tid,
				       .pid = c->pid,
				       .name = c->name,
				       .size = sizeof(c->name) };

	if (!s->ops->task) {
		ask_comm(s, c);
		return;
	}
	s->ops->task(s->source, &task);
	c->known = task.tid;
	c->pid = task.pid;
}

/* The thread may have ended before it was asked for: then @known is its own @tid. */
static const char *comm_of(const struct dp_session *s, u32 tid, u32 *pid,
			   u32 *known)
{
	struct dp_records *r = s->records;
	struct comm *c = &r->comms[tid % COMMS];

	if (c->tid != tid) {
		c->tid = c->known = tid;
		c->pid = 0;
		c->name[0] = '\0';
		c->asked = 0;
	}
	/* Whether there was an answer or not: of a thread that has ended, many records may wait. */
	if (r->clock.last.ns - c->asked > COMM_NS) {
		ask(s, c);
		c->asked = r->clock.last.ns;
	}
	*known = c->known;
	*pid = c->pid;
	/* A thread that has ended gets its process's name. */
	return c->name[0] ? c->name : r->main.name;
}

static void keep(void *arg, const struct dp_record_copy *record)
{
	struct dp_session *s = arg;
	struct dp_records *r = s->records;
	u64 now = s->ops->ticks();
	size_t size = offsetof(struct dp_record_copy, data) + record->head.len;
	struct held h = { .arrival = r->arrivals++ };
	u32 unused[2];

	if (!dp_records_fits(s, record))
		return;
	h.record = malloc(size);
	if (!h.record || dp_list_push(r, &h)) {
		free(h.record);
		s->dropped++;
		return;
	}
	memcpy(h.record, record, size);
	/* A process of any kind may end before its records are in order. */
	if (s->ops->task)
		comm_of(s, record->head.tid, &unused[0], &unused[1]);
	/* No hit is later than now; a later stamp would keep the record for ever. */
	if (record->head.ticks > now)
		h.record->head.ticks = now;
}

static int by_time(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->record->head.ticks != y->record->head.ticks)
		return x->record->head.ticks < y->record->head.ticks ? -1 : 1;
	return x->arrival < y->arrival ? -1 : x->arrival > y->arrival;
}

/* Few have come at a time; most that are held have been sorted. */
static void sort(struct dp_records *r)
{
	size_t came = r->n - r->sorted, old = r->sorted, i = r->n;
	struct held *fresh = came ? malloc(came * sizeof(*fresh)) : NULL;

	r->sorted = r->n;
	if (!fresh) {
		if (came)
			qsort(r->v, r->n, sizeof(*r->v), by_time);
		return;
	}
	memcpy(fresh, r->v + old, came * sizeof(*fresh));
	qsort(fresh, came, sizeof(*fresh), by_time);
	while (came)
		if (old && by_time(&r->v[old - 1], &fresh[came - 1]) > 0)
			r->v[--i] = r->v[--old];
		else
			r->v[--i] = fresh[--came];
	free(fresh);
}

bool dp_record_were_all(const struct dp_session *s, enum dp_ending *ending)
{
	const struct dp_printed *p = s->printed;

	if (!p->until && !(s->opt->records && p->records >= s->opt->records))
		return false;
	*ending = p->until ? DP_ENDING_UNTIL : DP_ENDING_RECORDS;
	return true;
}

/* The last spec is that of --until. */
static bool is_until(const struct dp_session *s, const struct dp_point *p)
{
	return s->opt->until &&
	       (size_t)(p->spec - s->specs) == s->opt->nr_specs - 1;
}

/* With -f, records of other processes are read after the hit of --until that came before it. */
static bool is_wanted(const struct dp_session *s,
		      const struct dp_record_copy *record)
{
	const struct dp_printed *p = s->printed;

	if (s->opt->records && p->records >= s->opt->records)
		return false;
	return !p->until || record->head.ticks < p->until;
}

static void print_until(struct dp_session *s,
			const struct dp_record_copy *record)
{
	dp_recorder_last(s->opt->recorder, true);
	s->kind->record(s, record);
	dp_recorder_last(s->opt->recorder, false);
	s->printed->until = record->head.ticks ?: 1;
}

void dp_record_print(struct dp_session *s, const struct dp_record_copy *record)
{
	if (!is_wanted(s, record))
		return;
	if (!s->printed->until &&
	    is_until(s, dp_record_point(s, record->head.probe))) {
		print_until(s, record);
	} else if (s->kind->collects) {
		s->kind->record(s, record);
	} else {
		dp_output_begin(s->opt->out);
		s->kind->record(s, record);
		/* No reader sees half a record. */
		dp_output_whole(s->opt->out);
	}
	s->written++;
	s->printed->records++;
}

/* There was no room for the record of the hit that is waited for: the wait is over all the same. */
static void look_for_lost(struct dp_session *s)
{
	struct dp_source_count c;
	size_t i = s->points.n;

	/* The points of the last spec are the last ones. */
	while (!s->printed->until && i-- > 0 && is_until(s, &s->points.v[i])) {
		if (s->points.v[i].refused)
			continue;
		s->ops->count(s->source, &s->points.v[i], &c);
		if (c.tally[DP_TALLY_LOST])
			s->printed->until = ~0ull;
	}
}

size_t dp_records_read(struct dp_session *s, bool ended)
{
	struct dp_records *r = s->records;
	size_t came, i;
	u64 horizon;

	r->clock.last = sample(s);
	horizon = ended			       ? ~0ull :
		  r->clock.last.ticks > UNSEEN ? r->clock.last.ticks - UNSEEN :
						 0;
	came = s->ops->records(s->source, keep, s, ended);
	look_for_lost(s);
	if (!r->n)
		return came;
	sort(r);
	for (i = 0; i < r->n && r->v[i].record->head.ticks < horizon; i++) {
		dp_record_print(s, r->v[i].record);
		free(r->v[i].record);
	}
	fflush(s->opt->out);
	memmove(r->v, r->v + i, (r->n - i) * sizeof(*r->v));
	r->sorted = r->n -= i;
	return came;
}

/* Records of one second are many. */
static const char *time_of_day(struct dp_records *r, time_t second)
{
	struct tm tm = { 0 };

	if (second == r->second && *r->day)
		return r->day;
	localtime_r(&second, &tm);
	if (!strftime(r->day, sizeof(r->day), "%H:%M:%S", &tm))
		*r->day = '\0';
	r->second = second;
	return r->day;
}

/* @to: "HH:MM:SS.uuuuuu" */
static void write_time(char *to, const char *day, u32 us)
{
	char *at;
	int i;

	at = stpcpy(to, day);
	*at = '.';
	for (i = 6; i > 0; i--, us /= 10)
		at[i] = (char)('0' + us % 10);
	at[7] = '\0';
}

void dp_record_stamp(const struct dp_session *s,
		     const struct dp_record_copy *record,
		     struct dp_stamp *stamp)
{
	s64 ns = dp_clock_ns(&s->records->clock, record->head.ticks);

	write_time(stamp->time, time_of_day(s->records, ns / NS),
		   (u32)(ns % NS / 1000));
	stamp->seconds = (double)ns / 1e9;
	stamp->comm = comm_of(s, record->head.tid, &stamp->pid, &stamp->tid);
}

int dp_records_open(struct dp_session *s)
{
	if (s->records)
		return 0;
	s->records = calloc(1, sizeof(*s->records));
	if (!s->records)
		return -ENOMEM;
	s->records->clock.first = s->records->clock.last = sample(s);
	dp_rate_begin(s);
	s->records->main.tid = s->source->inside;
	if (s->ops->task)
		strcpy(s->records->main.name, "?");
	else
		ask_comm(s, &s->records->main);
	return 0;
}
