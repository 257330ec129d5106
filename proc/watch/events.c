// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * events: breakpoint events of the kernel's, one of each thread for each watchpoint.
 *
 * An event that is open goes with the threads that its thread makes from then on. So each
 * thread must have been given one, or have inherited it, and none may have both: then its
 * hits would count twice. While the events are opened, threads come. So:
 *
 *     list threads ─► open the events of each ─► list again ─► all listed have been opened: done
 *           ▲                                        │
 *           └───────────── close all ◄───────────────┘ another one, which may have inherited
 *
 * Threads that come behind that have been made by one that has its events. They are switched
 * on last, so that nothing of a vain attempt is counted.
 */
#include "proc/facts.h"
#include "proc/inspect.h"
#include "proc/ptrace/debug.h"
#include "proc/ptrace/process.h"
#include "proc/watch.h"
#include "sym/list.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 200
#define COST_HITS 2000
#define HIGH 1000

/* Of one call of dp_watch_events_open() */
struct opening {
	struct dp_watch_events *events;
	pid_t pid;
	const struct dp_watchpoint *watches;
	size_t n;
	const int *programs;
	struct dp_diag *diag;
};

struct tids {
	pid_t *v;
	size_t n, cap;
};

static int by_number(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorted. Return: 0; -ESRCH the process has ended; -ENOMEM */
static int list_threads(pid_t pid, struct tids *tids)
{
	DIR *dir = opendir(dp_path("/proc/%d/task", pid).s);
	struct dirent *d;
	pid_t tid;
	int err = 0;

	*tids = (struct tids){ 0 };
	if (!dir)
		return -ESRCH;
	while (!err && (d = readdir(dir))) {
		tid = atoi(d->d_name);
		if (tid > 0)
			err = dp_list_add(&tids->v, &tids->n, &tids->cap, &tid,
					  sizeof(tid));
	}
	closedir(dir);
	if (!err)
		qsort(tids->v, tids->n, sizeof(*tids->v), by_number);
	return err ? err : tids->n ? 0 : -ESRCH;
}

/* Are all of @now among @then? */
static bool are_known(const struct tids *now, const struct tids *then)
{
	size_t i;

	for (i = 0; i < now->n; i++)
		if (!bsearch(&now->v[i], then->v, then->n, sizeof(*then->v),
			     by_number))
			return false;
	return true;
}

static struct perf_event_attr attr_of(const struct dp_watchpoint *w)
{
	static const u32 types[] = {
		[DP_WATCH_WRITE] = HW_BREAKPOINT_W,
		[DP_WATCH_ACCESS] = HW_BREAKPOINT_RW,
		[DP_WATCH_EXECUTE] = HW_BREAKPOINT_X,
	};

	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(struct perf_event_attr),
		.bp_type = types[w->access],
		.bp_addr = w->addr,
		.bp_len = w->access == DP_WATCH_EXECUTE ? sizeof(long) : w->len,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.inherit = !w->tid,
		.inherit_thread = !w->tid,
		.remove_on_exec = 1,
		.sigtrap = w->tag != 0,
		.sig_data = w->tag,
	};
}

static int open_event(const struct dp_watchpoint *w, pid_t tid)
{
	struct perf_event_attr attr = attr_of(w);
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Out of the way of a program's own */
static int move_up(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int dp_watch_events_forbidden(pid_t pid, int err, struct dp_diag *diag)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;

	if (f && fscanf(f, "%d", &level) != 1)
		level = 0;
	if (f)
		fclose(f);
	if (pid == getpid())
		return dp_diag_set(
			diag, err,
			"the kernel permits this process no perf events (kernel.perf_event_paranoid is %d, and may be 2 at most without CAP_PERFMON, or a filter forbids them); without DPROBES_WATCH=events it would set the registers by ptrace(2)",
			level);
	if (level > 2)
		return dp_diag_set(
			diag, err,
			"kernel.perf_event_paranoid is %d, which keeps users from perf events: give dprobes CAP_PERFMON (sudo), or set it to 2; without DPROBES_WATCH=events it would set the registers by ptrace(2)",
			level);
	return dp_diag_set(
		diag, err,
		"watchpoints of process %d need the right to trace it: run dprobes as its user, or with CAP_PERFMON (sudo)",
		pid);
}

int dp_watch_useless(struct dp_diag *diag)
{
	return dp_debug_useless(diag);
}

bool dp_watch_events_denied(int err)
{
	return err == -EPERM || err == -EACCES || err == -EOPNOTSUPP;
}

static int cannot(const struct opening *o, const struct dp_watchpoint *w,
		  int err)
{
	switch (err) {
	case -ENOSPC:
		return dp_watch_taken(o->pid, w->name, o->diag);
	case -EPERM:
	case -EACCES:
		return dp_watch_events_forbidden(o->pid, err, o->diag);
	case -EMFILE:
	case -ENFILE:
		return dp_diag_set(
			o->diag, err,
			"process %d has too many threads: each takes a descriptor a watchpoint; raise the limit (ulimit -n)",
			o->pid);
	case -E2BIG:
	case -EINVAL:
	case -ENOSYS:
	case -ENOENT:
	case -EOPNOTSUPP:
		return dp_diag_set(
			o->diag, -EOPNOTSUPP,
			"%s: this kernel or machine has no such breakpoint events that go with threads (they take Linux 5.13): %s",
			w->name, strerror(-err));
	default:
		return dp_diag_set(o->diag, err, "%s cannot be watched: %s",
				   w->name, strerror(-err));
	}
}

/* A thread that has ended needs none. */
static int open_thread(const struct opening *o, pid_t tid)
{
	struct dp_watch_event e = { .tid = tid };
	int err;

	for (e.watch = 0; e.watch < o->n; e.watch++) {
		e.fd = open_event(&o->watches[e.watch], tid);
		if (o->pid == getpid())
			e.fd = move_up(e.fd);
		if (e.fd == -ESRCH)
			return 0;
		if (e.fd < 0)
			return cannot(o, &o->watches[e.watch], e.fd);
		err = dp_list_add(&o->events->v, &o->events->n, &o->events->cap,
				  &e, sizeof(e));
		if (err)
			close(e.fd);
		else if (o->programs && ioctl(e.fd, PERF_EVENT_IOC_SET_BPF,
					      o->programs[e.watch]))
			err = -errno;
		if (err)
			return cannot(o, &o->watches[e.watch], err);
	}
	return 0;
}

static int attempt_one(const struct opening *o)
{
	int err = open_thread(o, o->watches->tid);

	if (!err && !o->events->n)
		err = dp_diag_set(o->diag, -ESRCH, "there is no thread %d",
				  o->watches->tid);
	if (err)
		dp_watch_events_close(o->events);
	return err;
}

/* Return: 0; 1 once more; a negative errno with words */
static int attempt(const struct opening *o)
{
	struct tids then, now = { 0 };
	int err = list_threads(o->pid, &then);
	size_t i;

	for (i = 0; !err && i < then.n; i++)
		err = open_thread(o, then.v[i]);
	if (!err)
		err = list_threads(o->pid, &now) ?: !are_known(&now, &then);
	free(then.v);
	free(now.v);
	if (err == -ESRCH)
		dp_diag_set(o->diag, err, "process %d has ended", o->pid);
	if (err)
		dp_watch_events_close(o->events);
	return err;
}

/* Does an event of this thread count what it writes? True also where there can be none. */
static bool events_work(void)
{
	static volatile u64 word __attribute__((aligned(8)));
	const struct dp_watchpoint w = { .addr = (u64)&word,
					 .len = sizeof(word),
					 .tid = 1 };
	int fd = open_event(&w, 0);
	u64 n = 0;
	bool known;

	if (fd < 0)
		return true;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	word = 1;
	known = read(fd, &n, sizeof(n)) == sizeof(n);
	close(fd);
	if (dp_kill_point_fails("debug: works"))
		return false;
	return !known || n;
}

int dp_watch_events_open(struct dp_watch_events *events, pid_t pid,
			 const struct dp_watchpoint *watches, size_t n,
			 const int *programs, struct dp_diag *diag)
{
	const struct opening o = { events, pid, watches, n, programs, diag };
	int err = dp_limits_descriptors(diag), tries = 0;

	if (err)
		return err;
	if (!events_work())
		return dp_debug_useless(diag);
	if (n && watches->tid)
		return attempt_one(&o);
	do
		err = attempt(&o);
	while (err == 1 && ++tries < ATTEMPTS);
	if (err != 1)
		return err;
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d makes threads all the time, so watchpoints could count some of them twice; try again",
		pid);
}

void dp_watch_events_switch(const struct dp_watch_events *events, bool on)
{
	size_t i;

	for (i = 0; i < events->n; i++)
		ioctl(events->v[i].fd,
		      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

u64 dp_watch_events_count(const struct dp_watch_events *events, u32 watch)
{
	u64 sum = 0, n;
	size_t i;

	for (i = 0; i < events->n; i++)
		if (events->v[i].watch == watch &&
		    read(events->v[i].fd, &n, sizeof(n)) == sizeof(n))
			sum += n;
	return sum;
}

int dp_watch_events_join(struct dp_watch_events *events,
			 struct dp_watch_events *more, u32 first)
{
	size_t i, had = events->n;
	int err = 0;

	for (i = 0; i < more->n && !err; i++) {
		more->v[i].watch += first;
		err = dp_list_add(&events->v, &events->n, &events->cap,
				  &more->v[i], sizeof(more->v[i]));
	}
	if (err) {
		events->n = had;
		dp_watch_events_close(more);
		return err;
	}
	free(more->v);
	*more = (struct dp_watch_events){ 0 };
	return 0;
}

void dp_watch_events_stop(struct dp_watch_events *events, u32 watch)
{
	size_t i, n = 0;

	for (i = 0; i < events->n; i++)
		if (events->v[i].watch == watch)
			close(events->v[i].fd);
		else
			events->v[n++] = events->v[i];
	events->n = n;
	dp_kill_point("events: stopped");
}

void dp_watch_events_drop(struct dp_watch_events *events, u32 watch)
{
	size_t i;

	dp_watch_events_stop(events, watch);
	for (i = 0; i < events->n; i++)
		events->v[i].watch -= events->v[i].watch > watch;
}

void dp_watch_events_close(struct dp_watch_events *events)
{
	size_t i;

	for (i = 0; i < events->n; i++)
		close(events->v[i].fd);
	free(events->v);
	*events = (struct dp_watch_events){ 0 };
}

/* Nanoseconds of this thread on a CPU */
static u64 used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void return_at_once(int sig)
{
}

u64 dp_watch_events_cost(bool signals)
{
	static volatile u64 word;
	const struct dp_watchpoint w = { .addr = (u64)&word,
					 .len = sizeof(word),
					 .tag = signals };
	struct sigaction ours = { .sa_handler = return_at_once }, theirs;
	int i, fd = open_event(&w, 0);
	u64 began;

	if (fd < 0)
		return 0;
	sigaction(SIGTRAP, &ours, &theirs);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	began = used();
	for (i = 0; i < COST_HITS; i++)
		word = (u64)i;
	began = used() - began;
	close(fd);
	sigaction(SIGTRAP, &theirs, NULL);
	return began / COST_HITS;
}
