// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_reader: the threads that run through hooks, and where they are.
 *
 * A thread takes a reader at its first hit, and keeps it. When the thread has ended, another may take it.
 */
#include "lib/hook.h"
#include "port_raw.h"
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READERS 4096u
/* A stack pointer at most this far above a frame has left the frame, if it is not on a signal's stack */
#define AWAY (8u << 20)

static struct dp_hook_reader readers[READERS] __attribute__((aligned(64)));
static u32 nr_readers;

static u32 own_tid(void)
{
	return (u32)dp_raw(SYS_gettid, 0, 0, 0, 0, 0);
}

static bool is_dead(u32 tid)
{
	return dp_raw(SYS_tgkill, dp_raw(SYS_getpid, 0, 0, 0, 0, 0), tid, 0, 0,
		      0) == -ESRCH;
}

static struct dp_hook_reader *take(struct dp_hook_reader *r, u32 from, u32 tid)
{
	if (!__atomic_compare_exchange_n(&r->owner, &from, tid, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return NULL;
	r->quiet = 0;
	__atomic_store_n(&r->depth, 0, __ATOMIC_RELEASE);
	return r;
}

/* One of an ended thread with the same number, a free one, or one of a thread that has ended */
static struct dp_hook_reader *find(u32 n, u32 tid)
{
	struct dp_hook_reader *r;
	u32 i, owner;

	for (i = 0; i < n; i++) {
		owner = __atomic_load_n(&readers[i].owner, __ATOMIC_ACQUIRE);
		if (!owner || owner == tid || is_dead(owner)) {
			r = take(&readers[i], owner, tid);
			if (r)
				return r;
		}
	}
	return NULL;
}

static struct dp_hook_reader *fresh(u32 tid)
{
	u32 n = __atomic_load_n(&nr_readers, __ATOMIC_ACQUIRE);

	while (n < READERS)
		if (__atomic_compare_exchange_n(&nr_readers, &n, n + 1, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return take(&readers[n], 0, tid);
	return NULL;
}

struct dp_hook_reader *dp_hook_reader(void)
{
	u32 tid;

	if (dp_hook_self)
		return dp_hook_self;
	tid = own_tid();
	dp_hook_self =
		find(__atomic_load_n(&nr_readers, __ATOMIC_ACQUIRE), tid);
	if (!dp_hook_self)
		dp_hook_self = fresh(tid);
	return dp_hook_self;
}

bool dp_hook_inside_any(void)
{
	struct dp_hook_reader *r = dp_hook_reader();

	if (!r)
		return dp_hook_alone;
	return r->depth && dp_hook_inside(r, (u64)__builtin_frame_address(0));
}

bool dp_hook_is_running(void)
{
	return dp_hook_alone || (dp_hook_self && dp_hook_self->depth);
}

void dp_hook_readers_anew(void)
{
	struct dp_hook_reader *mine = dp_hook_self;
	u32 i;

	for (i = 0; i < nr_readers; i++)
		if (&readers[i] != mine)
			readers[i].owner = readers[i].depth = 0;
	if (mine)
		mine->owner = own_tid();
	dp_hook_others = 0;
}

/* The kernel reads the word first, and then refuses what is asked for. */
static bool is_readable(u64 addr)
{
	return dp_raw(SYS_rt_sigprocmask, -1, (long)addr, 0, sizeof(u64), 0) !=
	       -EFAULT;
}

/* A stack may have been unmapped. */
static bool has_cookie(const struct dp_hook_frame *f)
{
	return is_readable(f->sp) &&
	       __atomic_load_n((const u64 *)f->sp, __ATOMIC_RELAXED) ==
		       dp_hook_cookie(f->serial);
}

/* Where a thread is now says whether it has left: is its stack pointer above the frame? */
static bool has_left(const struct dp_hook_reader *r,
		     const struct dp_hook_frame *f)
{
	u64 sp, pc;

	if (is_dead(r->owner) || !has_cookie(f))
		return true;
	return dp_self_where(r->owner, &sp, &pc) && sp - f->sp - 1 < AWAY;
}

static bool uses(const struct dp_hook_frame *f, const struct dp_hook_list *list)
{
	const struct dp_hook_list *used =
		__atomic_load_n(&f->list, __ATOMIC_ACQUIRE);

	return used == list || used == DP_HOOK_ENTERING;
}

static bool reader_uses(struct dp_hook_reader *r,
			const struct dp_hook_list *list, bool hard)
{
	u32 depth = __atomic_load_n(&r->depth, __ATOMIC_ACQUIRE), i;
	struct dp_hook_frame *f;
	u64 serial;

	if (depth > DP_HOOK_DEPTH)
		return true;
	for (i = 0; i < depth; i++) {
		f = &r->frame[i];
		serial = __atomic_load_n(&f->serial, __ATOMIC_ACQUIRE);
		if (f->left == serial || !uses(f, list))
			continue;
		if (!hard || !has_left(r, f) ||
		    __atomic_load_n(&f->serial, __ATOMIC_ACQUIRE) != serial)
			return true;
		f->left = serial;
	}
	return false;
}

bool dp_hook_in_use(const struct dp_hook_list *list, bool hard)
{
	u32 n = __atomic_load_n(&nr_readers, __ATOMIC_ACQUIRE), i;

	if (__atomic_load_n(&dp_hook_others, __ATOMIC_SEQ_CST))
		return true;
	for (i = 0; i < n; i++)
		if (readers[i].owner && reader_uses(&readers[i], list, hard))
			return true;
	return false;
}

u64 dp_hook_count(u32 number)
{
	u32 n = __atomic_load_n(&nr_readers, __ATOMIC_ACQUIRE), i;
	const u64 *counts;
	u64 sum = 0;

	for (i = 0; i < n && number < DP_HOOK_COUNTED; i++) {
		counts = __atomic_load_n(&readers[i].counts, __ATOMIC_ACQUIRE);
		if (counts)
			sum += __atomic_load_n(&counts[number],
					       __ATOMIC_RELAXED);
	}
	return sum;
}

static u64 *more_counts(void)
{
	long p = dp_raw_call(SYS_mmap, 0, DP_HOOK_COUNTED * sizeof(u64),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, (u64)-1, 0);

	return p < 0 && p > -4096 ? NULL : (u64 *)p;
}

/* On a signal's stack only frames of the same stack are known by their places to be left. */
static bool is_left(const struct dp_hook_frame *f, u64 here)
{
	stack_t s = { .ss_flags = SS_DISABLE };

	if (!has_cookie(f))
		return true;
	if (f->sp > here)
		return false;
	dp_raw(SYS_sigaltstack, 0, (long)&s, 0, 0, 0);
	if (s.ss_flags & SS_ONSTACK)
		return f->sp - (u64)s.ss_sp < s.ss_size;
	return here - f->sp < AWAY;
}

static void block(u64 *mask)
{
	u64 most = ~DP_LET_THROUGH;

	dp_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&most, (long)mask,
	       sizeof(most), 0);
}

/* Only what has been blocked; see dp_self_leave() */
static void unblock(u64 mask)
{
	u64 ours = ~DP_LET_THROUGH & ~mask;

	dp_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, 0, sizeof(ours),
	       0);
}

static const struct dp_hook_world world = {
	.reader = dp_hook_reader,
	.counts = more_counts,
	.left = is_left,
	.block = block,
	.unblock = unblock,
	.hold = dp_hook_hold,
	.release = dp_hook_release,
	.idle = dp_hook_idle,
};

static void __attribute__((constructor(101))) say_world(void)
{
	dp_hook_world = &world;
}
