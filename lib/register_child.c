// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * register_child: a child of the process that traces some of its threads for a moment.
 *
 *     thread ─► clone(CLONE_VM) ─► child: seize, interrupt ─► debug registers ─► detach, of each thread ─► exit
 *        └───────── waits ──────────────────────────────────────────────────────────────────────────┘
 *
 * Debug registers outlive a detach. Nothing traces the process before and after. The child has the memory
 * of the process, a stack of its own, and no debug register. It sends its parent no signal. The kernel
 * kills it with the thread that has made it.
 *
 * Three callers: the library, which sets and clears a register in all threads; a thread that begins, which
 * has none; and the agent, in a thread that has trapped while it has several. The last two may be
 * anywhere in the program, with any thread pointer.
 *
 * Lock: its own, below the library's. It also keeps the helper away, which traces the same threads.
 */
#include "lib/register_child.h"
#include "arch/debug.h"
#include "port_raw.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/ptrace.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define STACK 65536
#define NAP_NS 100000
#define STOPS 5000 /* naps until a thread has to have stopped, */
#define YIELDS 20 /* behind so many turns without */
#define SEIZES 400 /* as another tracer of ours may be there for a moment */
#define WAIT_MS 5000 /* for the lock: it goes to any of those that wait */
#define NAMES 100000
#define PLAIN_NS 1000000000ull
#define KNOWN (sizeof(dp_register_state.known) / sizeof(s32))

struct dp_register_state dp_register_state;
static u32 lock; /* the thread that has it */

static s32 thread(void)
{
	return (s32)dp_raw(SYS_gettid, 0, 0, 0, 0, 0);
}

static void nap(void)
{
	const struct timespec t = { 0, NAP_NS };

	dp_raw(SYS_nanosleep, (long)&t, 0, 0, 0, 0);
}

bool dp_register_lock(u32 ms)
{
	const struct timespec t = { 0, 1000000 };
	u32 me = (u32)thread(), had;

	for (;; ms--) {
		had = 0;
		if (__atomic_compare_exchange_n(&lock, &had, me, false,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		if (had == me || !ms)
			return false;
		dp_raw(SYS_futex, (long)&lock, FUTEX_WAIT_PRIVATE, had,
		       (long)&t, 0);
	}
}

void dp_register_unlock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	dp_raw(SYS_futex, (long)&lock, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

void dp_register_anew(void)
{
	u32 n;

	for (n = 0; n < DP_REGISTERS; n++)
		dp_register_state.slots[n] = (struct dp_register_slot){ 0 };
	for (n = 0; n < KNOWN; n++)
		dp_register_state.known[n] = 0;
	dp_register_state.dropped = 0;
	dp_register_state.lost = dp_register_state.bare = 0;
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* --- in the child --- */

static int trace(long request, s32 tid, u64 addr, u64 data)
{
	return (int)dp_raw(SYS_ptrace, request, tid, (long)addr, (long)data, 0);
}

static int peek(s32 tid, u64 at, u64 *value)
{
	return trace(PTRACE_PEEKUSR, tid, at, (u64)value);
}

static int poke(s32 tid, u64 at, u64 value)
{
	return trace(PTRACE_POKEUSR, tid, at, value);
}

/* Of a new thread the control register shows its maker's bits, and the registers are not set. */
static int control_of(s32 tid, u64 *control)
{
	int err = peek(tid, DP_DEBUG_CONTROL, control);
	u64 addr;
	u32 n;

	for (n = 0; n < DP_REGISTERS && !err; n++) {
		err = peek(tid, dp_debug_at(n), &addr);
		if (!addr)
			*control &= ~dp_debug_mask(n);
	}
	return err;
}

/* Has the register this address and these bits? */
static bool is_as_set(s32 tid, const struct dp_register_job *job, u32 n,
		      u64 now)
{
	u64 mask = dp_debug_mask(n), addr;

	return (now & mask) == (job->control & mask) &&
	       !peek(tid, dp_debug_at(n), &addr) && addr == job->addr[n];
}

/* One that the register has raised before it was given this address is not told as a trap of that. */
static void forget_trap(s32 tid, u32 n)
{
	u64 bits;

	if (!peek(tid, DP_DEBUG_STATUS, &bits) && bits >> n & 1)
		poke(tid, DP_DEBUG_STATUS, bits & ~(1ull << n));
}

static int set(s32 tid, const struct dp_register_job *job, u32 n)
{
	u64 now, mask = dp_debug_mask(n);
	int err = control_of(tid, &now);

	if (err || is_as_set(tid, job, n, now))
		return err;
	if (now & mask)
		return -ENOSPC;
	err = poke(tid, dp_debug_at(n), job->addr[n]);
	if (!err)
		err = poke(tid, DP_DEBUG_CONTROL, now | (job->control & mask));
	if (err)
		poke(tid, dp_debug_at(n), 0);
	else
		forget_trap(tid, n);
	return err ? err : 1;
}

static int clear(s32 tid, const struct dp_register_job *job, u32 n)
{
	u64 now;
	int err = control_of(tid, &now);

	if (err || !is_as_set(tid, job, n, now))
		return err;
	err = poke(tid, DP_DEBUG_CONTROL, now & ~dp_debug_mask(n));
	if (!err)
		poke(tid, dp_debug_at(n), 0);
	return err ? err : 1;
}

static int each(struct dp_register_job *job, s32 tid)
{
	bool sets = job->what == DP_REGISTER_SET;
	int err = 0, got;
	u32 n;

	for (n = 0; n < DP_REGISTERS; n++) {
		if (!(job->control & dp_debug_mask(n)))
			continue;
		got = sets ? set(tid, job, n) : clear(tid, job, n);
		err = err < 0 ? err : got ? got : err;
	}
	return err;
}

/* Before Linux 5.10 the bits of earlier traps stay. */
static int hit(struct dp_register_job *job, s32 tid)
{
	u64 bits;
	int err = peek(tid, DP_DEBUG_STATUS, &bits);

	if (!err)
		poke(tid, DP_DEBUG_STATUS, 0);
	job->hit = err ? 0 : (u32)bits & ((1u << DP_REGISTERS) - 1);
	return err;
}

static int seize(s32 tid)
{
	int err, i;

	for (i = 0;
	     (err = trace(PTRACE_SEIZE, tid, 0, 0)) == -EPERM && i < SEIZES;
	     i++)
		nap();
	return err ? err : trace(PTRACE_INTERRUPT, tid, 0, 0);
}

/* A thread in vfork(2) does not stop until its child lets it. */
static int await(s32 tid, int *status)
{
	long got;
	int i;

	for (i = 0; i < STOPS; i++) {
		got = dp_raw(SYS_wait4, tid, (long)status, __WALL | WNOHANG, 0,
			     0);
		if (got == tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && got != -EINTR)
			return -ESRCH;
		if (i < YIELDS)
			dp_raw(SYS_sched_yield, 0, 0, 0, 0, 0);
		else
			nap();
	}
	return -EAGAIN;
}

static int handle(struct dp_register_job *job, s32 tid)
{
	int status = 0, err = seize(tid);

	if (!err)
		err = await(tid, &status);
	if (err)
		return err;
	err = job->what == DP_REGISTER_HIT ? hit(job, tid) : each(job, tid);
	/* A signal that has stopped the thread is delivered. */
	trace(PTRACE_DETACH, tid, 0,
	      status >> 16 == PTRACE_EVENT_STOP ? 0 : (u64)WSTOPSIG(status));
	return err;
}

static void await_name(const struct dp_register_job *job)
{
	u32 i;

	for (i = 0; !__atomic_load_n(&job->go, __ATOMIC_ACQUIRE) && i < NAMES;
	     i++)
		dp_raw(SYS_sched_yield, 0, 0, 0, 0, 0);
}

static void live(void *arg)
{
	struct dp_register_job *job = arg;
	u32 i;

	dp_raw(SYS_prctl, PR_SET_PDEATHSIG, 9, 0, 0, 0);
	if (dp_raw(SYS_getppid, 0, 0, 0, 0, 0) == job->parent) {
		await_name(job);
		for (i = 0; i < job->n; i++)
			job->threads[i].err = handle(job, job->threads[i].tid);
		__atomic_store_n(&job->done, 1, __ATOMIC_RELEASE);
	}
	dp_raw(SYS_exit_group, 0, 0, 0, 0, 0);
}

/* --- in the process --- */

/* The program may have a signal handler that waits for any child: then this one is none any more. */
int dp_register_run(struct dp_register_job *job)
{
	const struct dp_register_state *state = &dp_register_state;
	u64 most = ~(1ull << 4),
	    mask; /* SIGTRAP stays open: a trap is forced */
	long pid;

	job->done = job->go = job->hit = 0;
	job->parent = (s32)dp_raw(SYS_getpid, 0, 0, 0, 0, 0);
	dp_raw(SYS_rt_sigprocmask, 0, (long)&most, (long)&mask, sizeof(mask),
	       0);
	pid = dp_raw_clone(CLONE_VM, state->stack + STACK, live, job);
	if (pid > 0 && state->named)
		dp_raw(SYS_prctl, PR_SET_PTRACER, pid, 0, 0, 0);
	__atomic_store_n(&job->go, 1, __ATOMIC_RELEASE);
	while (pid > 0 && dp_raw(SYS_wait4, pid, 0, __WALL, 0, 0) == -EINTR)
		continue;
	if (pid > 0 && state->named)
		dp_raw(SYS_prctl, PR_SET_PTRACER, 0, 0, 0, 0);
	most &= ~mask;
	dp_raw(SYS_rt_sigprocmask, 1, (long)&most, 0, sizeof(most), 0);
	return __atomic_load_n(&job->done, __ATOMIC_ACQUIRE) ? 0 : -EPERM;
}

static s32 *known_of(s32 tid)
{
	return &dp_register_state.known[(u32)(tid < 0 ? -tid : tid) % KNOWN];
}

void dp_register_know(s32 tid)
{
	__atomic_store_n(known_of(tid), tid, __ATOMIC_RELAXED);
}

bool dp_register_is_known(s32 tid)
{
	s32 known = __atomic_load_n(known_of(tid), __ATOMIC_RELAXED);

	return known == tid || known == -tid;
}

u64 dp_register_now(void)
{
	struct timespec t = { 0 };

	dp_raw(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

void dp_register_all(struct dp_register_job *job)
{
	const struct dp_register_slot *slot = dp_register_state.slots;
	u32 n;

	job->what = DP_REGISTER_SET;
	job->control = 0;
	for (n = 0; n < DP_REGISTERS; n++) {
		if (!slot[n].given || slot[n].tid)
			continue;
		job->addr[n] = slot[n].addr;
		job->control |= slot[n].bits;
	}
}

static void add(u64 *count, u64 n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* The library may have found it without registers before it came here. */
static void give(s32 tid)
{
	struct dp_register_thread me = { .tid = tid };
	struct dp_register_job job = { .threads = &me, .n = 1 };
	bool found = __atomic_load_n(known_of(tid), __ATOMIC_RELAXED) == -tid;

	dp_register_all(&job);
	if (found)
		add(&dp_register_state.bare, -1ull);
	if (!job.control || (!dp_register_run(&job) && me.err >= 0))
		dp_register_know(tid);
	else
		add(&dp_register_state.bare, 1);
}

void dp_register_thread_begins(u32 sure)
{
	s32 me = thread();

	if (!sure && dp_register_is_known(me))
		return;
	if (!dp_register_lock(WAIT_MS)) {
		add(&dp_register_state.bare, 1);
		return;
	}
	give(me);
	dp_register_unlock();
}

/* Return: the slots that the thread may have. */
static u32 candidates(s32 tid)
{
	const struct dp_register_slot *slot = dp_register_state.slots;
	u32 n, found = 0;

	for (n = 0; n < DP_REGISTERS; n++)
		if (__atomic_load_n(&slot[n].on, __ATOMIC_ACQUIRE) &&
		    (!slot[n].tid || slot[n].tid == tid))
			found |= 1u << n;
	return found;
}

/* A thread that did not stop may have a register that was dropped: its trap is not the program's. */
static u32 ever_used(void)
{
	u32 n, found = 0;

	for (n = 0; n < DP_REGISTERS; n++)
		if (dp_register_state.slots[n].bits)
			found |= 1u << n;
	return found;
}

static bool ask(struct dp_register_thread *me, u32 *hit)
{
	struct dp_register_job job = { .what = DP_REGISTER_HIT,
				       .threads = me,
				       .n = 1 };
	bool good;

	if (!dp_register_lock(WAIT_MS))
		return false;
	good = !dp_register_run(&job) && !me->err;
	dp_register_unlock();
	*hit = job.hit;
	return good;
}

/* A thread may have trapped before one was dropped, and have come no further. */
static bool is_plain(u32 may)
{
	u64 dropped =
		__atomic_load_n(&dp_register_state.dropped, __ATOMIC_ACQUIRE);

	return !(may & (may - 1)) &&
	       (!dropped || dp_register_now() - dropped > PLAIN_NS);
}

u32 dp_register_which(void)
{
	struct dp_register_thread me = { .tid = thread() };
	u32 hit, may = candidates(me.tid);

	if (!may || is_plain(may))
		return may;
	if (!ask(&me, &hit)) {
		add(&dp_register_state.lost, 1);
		return 0;
	}
	return hit & may		   ? hit & may :
	       hit && !(hit & ever_used()) ? DP_REGISTERS_FOREIGN :
					     0;
}
