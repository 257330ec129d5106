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
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define READERS 4096u
/* A stack pointer at most this far above a frame has left the frame, if it is not on a signal's stack */
#define AWAY (8u << 20)
#define CHUNK 65536u

static struct dp_hook_reader readers[READERS] __attribute__((aligned(64)));
static u32 nr_readers;
/* The process whose threads they are. A vfork child looks like a thread of it, and has another number. */
static u32 home;

static u32 own_tid(void)
{
	return (u32)dp_raw(SYS_gettid, 0, 0, 0, 0, 0);
}

static u32 own_pid(void)
{
	return (u32)dp_raw(SYS_getpid, 0, 0, 0, 0, 0);
}

static bool is_dead(u32 tid)
{
	return dp_raw(SYS_tgkill, home, tid, 0, 0, 0) == -ESRCH;
}

/* A thread without a reader may be a vfork child's. */
static bool is_gone(u32 tid)
{
	return dp_raw(SYS_tkill, tid, 0, 0, 0, 0) == -ESRCH;
}

static void free_frames(struct dp_hook_reader *r)
{
	u32 i;

	__atomic_store_n(&r->deep, 0, __ATOMIC_RELEASE);
	for (i = 0; i < DP_HOOK_DEPTH; i++)
		dp_hook_leave(&r->frame[i]);
}

static struct dp_hook_reader *take(struct dp_hook_reader *r, u32 from, u32 tid)
{
	if (!__atomic_compare_exchange_n(&r->owner, &from, tid, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return NULL;
	r->quiet = 0;
	free_frames(r);
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
	if (own_pid() != home)
		return NULL;
	tid = own_tid();
	dp_hook_self =
		find(__atomic_load_n(&nr_readers, __ATOMIC_ACQUIRE), tid);
	if (!dp_hook_self)
		dp_hook_self = fresh(tid);
	if (dp_hook_self && dp_hook_self->counts)
		dp_hook_fast = dp_hook_self;
	return dp_hook_self;
}

bool dp_hook_inside_any(void)
{
	struct dp_hook_reader *r = dp_hook_reader();

	if (!r)
		return dp_hook_inside_lone((u64)__builtin_frame_address(0));
	return dp_hook_inside(r, (u64)__builtin_frame_address(0));
}

bool dp_hook_is_running(void)
{
	u32 i;

	for (i = 0; dp_hook_self && i < DP_HOOK_DEPTH; i++)
		if (dp_hook_self->frame[i].sp)
			return true;
	for (i = 0; i < DP_HOOK_LONES && !dp_hook_self; i++)
		if (dp_hook_lones[i].frame.sp &&
		    dp_hook_lones[i].owner == own_tid())
			return true;
	return dp_hook_alone;
}

void dp_hook_readers_anew(void)
{
	struct dp_hook_reader *mine = dp_hook_self;
	u32 i;

	home = own_pid();
	for (i = 0; i < nr_readers; i++)
		if (&readers[i] != mine) {
			readers[i].owner = 0;
			free_frames(&readers[i]);
		}
	if (mine)
		mine->owner = own_tid();
	dp_hook_others = 0;
	for (i = 0; i < DP_HOOK_LONES; i++) {
		dp_hook_leave(&dp_hook_lones[i].frame);
		dp_hook_lones[i].owner = 0;
	}
}

/* The kernel reads the word first, and then refuses what is asked for. */
static bool is_readable(u64 addr)
{
	return dp_raw(SYS_rt_sigprocmask, -1, (long)addr, 0, sizeof(u64), 0) !=
	       -EFAULT;
}

/* A stack may have been unmapped; a frame that has been left is poisoned by AddressSanitizer. */
__attribute__((no_sanitize("address"))) static bool
has_cookie(const struct dp_hook_frame *f, u64 at)
{
	return is_readable(at) &&
	       __atomic_load_n((const u64 *)at, __ATOMIC_RELAXED) ==
		       dp_hook_cookie(f);
}

/* What the kernel saves on a signal's stack ends with the mask; this is what is needed of it. */
struct saved {
	stack_t stack;
	gregset_t regs;
};

/* Has a signal interrupted a thread below @at, which is at @sp on another stack now? */
static bool is_interrupted(const struct saved *s, u64 sp, u64 at)
{
	u64 stack = (u64)s->stack.ss_sp, was = (u64)s->regs[REG_RSP];

	return sp - stack < s->stack.ss_size && at - was < AWAY;
}

/*
 * Look for that on the stack that a thread has. It may go on meanwhile, and unmap its stack, so the kernel
 * reads. Return: true, too, if it cannot.
 */
static bool is_on_other_stack(u64 sp, u64 at)
{
	static u8 bytes[CHUNK + sizeof(struct saved)]; /* the lock is held */
	u64 from, i;
	long n;

	for (from = sp & ~7ull; from - sp < AWAY + 8; from += CHUNK) {
		struct iovec to = { bytes, sizeof(bytes) };
		struct iovec at_sp = { (void *)from, sizeof(bytes) };

		n = dp_raw_call(SYS_process_vm_readv, own_pid(), (long)&to, 1,
				(long)&at_sp, 1, 0);
		for (i = 0; n > 0 && i + sizeof(struct saved) <= (u64)n; i += 8)
			if (is_interrupted((void *)(bytes + i), sp, at))
				return true;
		if (n < (long)sizeof(bytes))
			return false;
	}
	return false;
}

/* Where a thread is now says whether it has left: is its stack pointer above the frame, on the same stack? */
static bool has_left(u32 tid, bool (*is_over)(u32 tid),
		     const struct dp_hook_frame *f)
{
	u64 at = __atomic_load_n(&f->sp, __ATOMIC_ACQUIRE), sp, pc;

	if (!at || is_over(tid) || !has_cookie(f, at) ||
	    dp_self_handler_over(at, true))
		return true;
	return dp_self_where(tid, &sp, &pc) && sp - at - 1 < AWAY &&
	       !is_on_other_stack(sp, at);
}

/*
 * May the thread be in a dispatch that has found @list? Such a dispatch began before all threads were
 * synced; one that takes the frame anew has found another list, or finds one.
 */
static bool frame_uses(u32 tid, bool (*is_over)(u32 tid),
		       struct dp_hook_frame *f, const struct dp_hook_list *list,
		       bool hard)
{
	const struct dp_hook_list *used;

	if (!__atomic_load_n(&f->sp, __ATOMIC_ACQUIRE))
		return false;
	used = __atomic_load_n(&f->list, __ATOMIC_ACQUIRE);
	if (used && (used != list || f->left == list->since))
		return false;
	if (!hard || !has_left(tid, is_over, f))
		return true;
	if (used && __atomic_load_n(&f->list, __ATOMIC_ACQUIRE) == list)
		f->left = list->since;
	return false;
}

static bool reader_uses(struct dp_hook_reader *r,
			const struct dp_hook_list *list, bool hard)
{
	u32 i;

	if (__atomic_load_n(&r->deep, __ATOMIC_ACQUIRE) &&
	    (!hard ||
	     !has_left(r->owner, is_dead, &r->frame[DP_HOOK_DEPTH - 1])))
		return true;
	for (i = 0; i < DP_HOOK_DEPTH; i++)
		if (frame_uses(r->owner, is_dead, &r->frame[i], list, hard))
			return true;
	return false;
}

/* A place of a thread that has gone is free again. */
static bool lone_uses(struct dp_hook_lone *l, const struct dp_hook_list *list,
		      bool hard)
{
	u32 tid = __atomic_load_n(&l->owner, __ATOMIC_SEQ_CST);

	if (!tid)
		return false;
	if (!hard || !is_gone(tid))
		return frame_uses(tid, is_gone, &l->frame, list, hard);
	dp_hook_leave(&l->frame);
	__atomic_store_n(&l->owner, 0, __ATOMIC_SEQ_CST);
	return false;
}

bool dp_hook_in_use(const struct dp_hook_list *list, bool hard)
{
	u32 n = __atomic_load_n(&nr_readers, __ATOMIC_ACQUIRE), i;
	u32 lones = __atomic_load_n(&dp_hook_nr_lones, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&dp_hook_others, __ATOMIC_SEQ_CST))
		return true;
	for (i = 0; i < lones; i++)
		if (lone_uses(&dp_hook_lones[i], list, hard))
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

	if (!has_cookie(f, f->sp) || dp_self_handler_over(f->sp, false))
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
	.tid = own_tid,
	.counts = more_counts,
	.left = is_left,
	.block = block,
	.unblock = unblock,
	.hold = dp_hook_hold,
	.release = dp_hook_release,
	.idle = dp_hook_idle,
};

long dp_hook_fast_at(void)
{
	return dp_hook_from_thread(&dp_hook_fast);
}

static void __attribute__((constructor(101))) say_world(void)
{
	dp_hook_world = &world;
	home = own_pid();
}
