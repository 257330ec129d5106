// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * own_registers: debug registers of this process's threads, without the kernel's events.
 *
 *     noted, for threads that begin ─► set in each thread that is there ─► list again ─► no other: all have it
 *                                              ▲                              │
 *                                              └───────── some other ─────────┘
 *
 * A thread that begins holds the lock of register_child.h while it gets what is noted. So it is either
 * listed when that has been changed, or finds the change. To clear goes the same way.
 *
 * Lock: "the library".
 */
#include "lib/own_registers.h"
#include "lib/register_child.h"
#include "lib/self.h"
#include "arch/debug.h"
#include "proc/facts.h"
#include "proc/inspect.h"
#include "proc/watch.h"
#include "sym/list.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK 65536
#define WAIT_MS 5000
#define TRIES 500
#define NAP_US 200
#define CLEARS 5

/** struct threads - those that a job has been done with, or is to be */
struct threads {
	struct dp_register_thread *v;
	size_t n, room;
};

/* Such as the first thread, when it has ended before the others */
static bool has_ended(pid_t tid)
{
	char text[512], *state;

	if (dp_text_read(dp_path("/proc/self/task/%d/stat", tid).s, text,
			 sizeof(text)) <= 0)
		return true;
	state = strrchr(text, ')');
	return state && state[1] == ' ' && strchr("ZX", state[2]);
}

static bool is_among(const struct threads *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->v[i].tid == tid)
			return true;
	return false;
}

/* Add the threads that are not in the list yet. Return: 0; -ENOMEM, or of opendir(3). */
static int list_more(struct threads *t)
{
	struct dp_register_thread next = { 0 };
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (e = readdir(dir))) {
		next.tid = atoi(e->d_name);
		if (next.tid > 0 && !is_among(t, next.tid) &&
		    !has_ended(next.tid))
			err = dp_list_add(&t->v, &t->n, &t->room, &next,
					  sizeof(next));
	}
	closedir(dir);
	return err;
}

/* Return: the first error of the threads from @first on, and @bad: its thread */
static int error_of(const struct threads *t, size_t first, pid_t *bad)
{
	for (; first < t->n; first++) {
		if (t->v[first].err >= 0 || has_ended(t->v[first].tid))
			continue;
		*bad = t->v[first].tid;
		return t->v[first].err;
	}
	return 0;
}

static int run(struct dp_register_job *job, struct threads *t, size_t first,
	       pid_t *bad)
{
	int err;
	size_t i;

	job->threads = &t->v[first];
	job->n = (u32)(t->n - first);
	err = dp_register_run(job);
	if (!err)
		err = error_of(t, first, bad);
	for (i = first; i < t->n && job->what == DP_REGISTER_SET; i++)
		if (t->v[i].err >= 0)
			dp_register_know(t->v[i].tid);
	return err;
}

/* @tid: 0: all. Where registers are cleared, an error of one thread does not keep the others from it. */
static int sweep(struct dp_register_job *job, pid_t tid, pid_t *bad)
{
	struct dp_register_thread one = { .tid = tid };
	struct threads t = { 0 };
	bool clears = job->what == DP_REGISTER_CLEAR;
	size_t had = 0;
	int err = 0, now;

	*bad = 0;
	do {
		had = t.n;
		now = tid ? t.n ? 0 :
				  dp_list_add(&t.v, &t.n, &t.room, &one,
					      sizeof(one)) :
			    list_more(&t);
		if (!now && t.n > had)
			now = run(job, &t, had, bad);
		err = err ? err : now;
	} while (t.n > had && (!err || clears));
	if (tid && !err && !clears && t.v->err < 0)
		err = -ESRCH;
	free(t.v);
	return err;
}

static struct dp_register_job job_of(enum dp_register_what what, u32 n)
{
	const struct dp_register_slot *slot = &dp_register_state.slots[n];
	struct dp_register_job job = { .what = what, .control = slot->bits };

	job.addr[n] = slot->addr;
	return job;
}

/* --- traps on their way --- */

static bool is_trap_pending(pid_t tid)
{
	char text[4096];
	const char *at;

	if (dp_text_read(dp_path("/proc/self/task/%d/status", tid).s, text,
			 sizeof(text)) <= 0)
		return false;
	at = strstr(text, "SigPnd:");
	return at && strtoull(at + 7, NULL, 16) >> (SIGTRAP - 1) & 1;
}

/* A thread that was stopped before its signal came has that still to come. */
static void await_traps(void)
{
	struct threads t = { 0 };
	int tries;
	size_t i;

	if (list_more(&t))
		return;
	for (i = 0; i < t.n; i++)
		for (tries = 0; is_trap_pending(t.v[i].tid) && tries < TRIES;
		     tries++)
			usleep(NAP_US);
	free(t.v);
}

/* --- registers --- */

static u64 bits_of(const struct dp_watchpoint *w, u32 slot)
{
	return w->access == DP_WATCH_EXECUTE ?
		       dp_debug_execute(slot) :
		       dp_debug_bits(slot, w->len,
				     w->access == DP_WATCH_ACCESS);
}

static void note(u32 *flag, bool on)
{
	__atomic_store_n(flag, on, __ATOMIC_RELEASE);
}

static void set_tag(u32 n, u64 tag)
{
	__atomic_store_n(&dp_self.arena->control.register_tags[n], (u32)tag,
			 __ATOMIC_RELEASE);
}

/* Someone may kill the child. */
static void clear(u32 n)
{
	struct dp_register_slot *slot = &dp_register_state.slots[n];
	struct dp_register_job job = job_of(DP_REGISTER_CLEAR, n);
	int tries = 0;
	pid_t bad;

	do
		slot->left = sweep(&job, slot->tid, &bad) != 0;
	while (slot->left && ++tries < CLEARS);
}

/* Its traps are told apart from those of others until none is left. */
static void take_out(u32 n)
{
	struct dp_register_slot *slot = &dp_register_state.slots[n];

	note(&slot->given, false);
	clear(n);
	await_traps();
	__atomic_store_n(&dp_register_state.dropped, dp_register_now(),
			 __ATOMIC_RELEASE);
	set_tag(n, 0);
	note(&slot->on, false);
}

static int put_in(u32 n, const struct dp_watchpoint *w, pid_t *bad)
{
	struct dp_register_slot *slot = &dp_register_state.slots[n];
	struct dp_register_job job;
	int err;

	*slot = (struct dp_register_slot){
		.addr = w->addr,
		.bits = bits_of(w, n),
		.tid = w->tid,
	};
	set_tag(n, w->tag);
	note(&slot->on, true);
	note(&slot->given, true);
	job = job_of(DP_REGISTER_SET, n);
	err = sweep(&job, w->tid, bad);
	if (err)
		take_out(n);
	return err;
}

/* Each time that there is a child, whichever slot it is for: a register that is left makes its thread trap. */
static void clear_left(void)
{
	u32 n;

	for (n = 0; n < DP_REGISTERS; n++)
		if (dp_register_state.slots[n].left)
			clear(n);
}

static int choose(const struct dp_watchpoint *w, u32 *n, pid_t *bad)
{
	int err = -ENOSPC;

	clear_left();
	for (*n = 0; *n < DP_REGISTERS && err == -ENOSPC; ++*n) {
		struct dp_register_slot *slot = &dp_register_state.slots[*n];

		if (!slot->on && !slot->left)
			err = put_in(*n, w, bad);
	}
	--*n;
	return err;
}

/* --- whether there can be any --- */

static u64 number_in(const char *path, const char *name)
{
	char text[4096];
	const char *at = text;

	if (dp_text_read(path, text, sizeof(text)) <= 0)
		return 0;
	if (name)
		at = strstr(text, name);
	return at ? strtoull(at + (name ? strlen(name) : 0), NULL, 10) : 0;
}

static int prepare(struct dp_diag *diag)
{
	struct dp_register_state *state = &dp_register_state;
	struct dp_arena_control *c = &dp_self.arena->control;

	if (state->owner != getpid()) {
		dp_register_anew();
		state->owner = getpid();
	}
	if (!state->stack) {
		char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1,
				   0);

		if (stack == MAP_FAILED)
			return dp_diag_set(diag, -ENOMEM, "out of memory");
		state->stack = stack;
	}
	state->named = number_in("/proc/sys/kernel/yama/ptrace_scope", NULL) ==
		       1;
	__atomic_store_n(&c->register_which, (u64)dp_register_which,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&c->thread_begins, (u64)dp_register_thread_begins,
			 __ATOMIC_RELEASE);
	return 0;
}

/* Watches a word of ours for a moment, and looks whether that has trapped. */
static int try_one(bool *works, u32 *n, pid_t *bad)
{
	static volatile u64 word __attribute__((aligned(8)));
	const struct dp_watchpoint w = { .addr = (u64)&word,
					 .len = sizeof(word),
					 .tid = gettid() };
	struct dp_register_job job = { .what = DP_REGISTER_HIT };
	int err = choose(&w, n, bad);

	if (err)
		return err;
	word = 1;
	err = sweep(&job, w.tid, bad);
	*works = job.hit >> *n & 1;
	take_out(*n);
	dp_register_state.dropped = 0;
	return err;
}

static int refuse(const struct dp_watchpoint *w, int err, pid_t bad,
		  struct dp_diag *diag)
{
	u64 tracer = number_in(dp_path("/proc/self/task/%d/status", bad).s,
			       "TracerPid:");

	if (err == -ENOSPC)
		return dp_watch_taken(getpid(), w->name, diag);
	if (err == -EPERM && tracer)
		return dp_diag_set(
			diag, -EBUSY,
			"%s: process %llu traces thread %d, as a debugger or strace does; without perf events a debug register is set by ptrace(2), for which a thread has one tracer at a time",
			w->name, (unsigned long long)tracer, bad);
	if (err == -EPERM)
		return dp_diag_set(
			diag, err,
			"%s: the kernel lets this process have no perf events (kernel.perf_event_paranoid, CAP_PERFMON), and no child that traces it either (kernel.yama.ptrace_scope, a filter, or the child was killed)",
			w->name);
	if (err == -EAGAIN)
		return dp_diag_set(
			diag, err,
			"%s: thread %d does not stop, as in vfork(2); try again",
			w->name, bad);
	if (err == -ESRCH)
		return dp_diag_set(diag, err, "there is no thread %d", w->tid);
	return dp_diag_set(diag, err, "%s cannot be watched: %s", w->name,
			   strerror(-err));
}

/* Return: 0; 1: debug registers never trap here; a negative errno */
static int are_useless(u32 *n, pid_t *bad)
{
	static bool work;
	int err = work ? 0 : try_one(&work, n, bad);

	return err ? err : !work;
}

static int take(const struct dp_watchpoint *w, u32 *n, pid_t *bad)
{
	int err;

	if (!dp_register_lock(WAIT_MS))
		return -EAGAIN;
	err = are_useless(n, bad);
	if (!err)
		err = choose(w, n, bad);
	dp_register_unlock();
	return err;
}

int dp_own_registers_take(const struct dp_watchpoint *w, u32 *n,
			  struct dp_diag *diag)
{
	pid_t bad = 0;
	int err = prepare(diag);

	if (err)
		return err;
	err = take(w, n, &bad);
	if (err > 0)
		return dp_watch_useless(diag);
	return err ? refuse(w, err, bad, diag) : 0;
}

void dp_own_registers_mute(u32 n)
{
	if (dp_self.arena)
		set_tag(n, 0);
}

void dp_own_registers_drop(u32 n)
{
	if (!dp_register_lock(WAIT_MS)) {
		dp_own_registers_mute(n);
		return;
	}
	take_out(n);
	clear_left();
	dp_register_unlock();
}

u64 dp_own_registers_lost(void)
{
	return __atomic_load_n(&dp_register_state.lost, __ATOMIC_RELAXED);
}

/* Threads of which nothing is known */
static void keep_unknown(struct threads *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++)
		if (!dp_register_is_known(t->v[i].tid))
			t->v[n++] = t->v[i];
	t->n = n;
}

static void look_for_bare(struct threads *t)
{
	struct dp_register_job job = { 0 };
	pid_t bad;
	size_t i;

	keep_unknown(t);
	dp_register_all(&job);
	if (!t->n || !job.control)
		return;
	run(&job, t, 0, &bad);
	for (i = 0; i < t->n; i++) {
		if (t->v[i].err <= 0)
			continue;
		dp_register_state.bare++;
		dp_register_know(-t->v[i].tid);
	}
}

u64 dp_own_registers_bare(void)
{
	struct threads t = { 0 };

	if (!list_more(&t) && dp_register_lock(WAIT_MS)) {
		look_for_bare(&t);
		dp_register_unlock();
	}
	free(t.v);
	return __atomic_load_n(&dp_register_state.bare, __ATOMIC_RELAXED);
}
