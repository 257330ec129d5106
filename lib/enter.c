// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * enter: begin and end of every call into the library.
 *
 * A fork child has neither probes nor an engine, and may make its own.
 *
 * Lock: "the library" (DESIGN.md, Locks).
 */
#include "lib/self.h"
#include "lib/enter.h"
#include "lib/chart.h"
#include "lib/frames.h"
#include "lib/landing.h"
#include "port_raw.h"
#include "engine/site/engine.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Threads have the lock in the order in which they have come. A mutex would go to a thread that calls
 * all the time again and again, before one that waits has woken up. */
static struct {
	u32 next, serves;
} lock;
static __thread int saved_errno, saved_cancel;
static __thread u64 saved_mask;

static void take_lock(void)
{
	u32 mine = __atomic_fetch_add(&lock.next, 1, __ATOMIC_SEQ_CST), now;

	while ((now = __atomic_load_n(&lock.serves, __ATOMIC_SEQ_CST)) != mine)
		dp_raw(SYS_futex, (long)&lock.serves, FUTEX_WAIT_PRIVATE, now,
		       0, 0);
}

static void drop_lock(void)
{
	u32 next = __atomic_add_fetch(&lock.serves, 1, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&lock.next, __ATOMIC_SEQ_CST) != next)
		dp_raw(SYS_futex, (long)&lock.serves, FUTEX_WAKE_PRIVATE,
		       INT_MAX, 0, 0);
}

/* In a fork child, which has only this thread: restore the return addresses of its
 * tracked calls, and the original code. */
static void leave_parent(void)
{
	struct dp_stack *mine = dp_self_stack();
	struct dp_frame *f;

	if (!dp_self.engine || !dp_self.arena || dp_text_open(&dp_self.text))
		return;
	for (f = mine ? (void *)mine->frames : NULL; f; f = (void *)f->next) {
		if (dp_frame_is_there(f))
			*(u64 *)f->slot = f->ret_addr;
		dp_frame_leave(f);
	}
	if (mine)
		mine->frames = 0;
	dp_live_leave(dp_self.engine, &dp_self.text.target);
	dp_text_close(&dp_self.text);
}

/* In a fork child: drop the parent's engine and probes. */
static void begin_anew(void)
{
	leave_parent();
	dp_self_stack_addr = 0;
	free(dp_self.users);
	dp_engine_destroy(dp_self.engine);
	dp_self = (struct dp_self){ .symbols = dp_self.symbols,
				    .owner = getpid() };
	dp_self_settle_anew();
	dp_pools_anew();
	dp_landings_anew();
}

/* A CLONE_VM child, whose changes would be its parent's. */
bool dp_self_is_borrowed(void)
{
	u64 base = __atomic_load_n(&dp_self.base, __ATOMIC_ACQUIRE);
	const struct dp_wipe *wipe = (void *)(base + DP_WIPE_OFFSET);

	return base && wipe->owner &&
	       wipe->owner != (u32)dp_raw(SYS_getpid, 0, 0, 0, 0, 0);
}

int dp_self_begin_bare(void)
{
	if (dp_self_in_handler())
		return dp_fail(-EAGAIN,
			       "probes cannot be changed from a handler");
	if (dp_self_is_borrowed())
		return dp_fail(
			-EAGAIN,
			"a vfork child cannot change the probes of its parent");
	dp_self_enter(&saved_mask);
	saved_errno = errno;
	dp_diag_clear(dp_last());
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_cancel);
	take_lock();
	if (dp_self.owner != getpid())
		begin_anew();
	return 0;
}

/* Bring names and addresses up to date. */
int dp_self_begin_names(void)
{
	int err = dp_self_begin_bare(), changed = 0;

	if (err)
		return err;
	if (!dp_self.symbols)
		err = dp_symbol_map_open(&dp_self.symbols, dp_last());
	else
		changed = dp_symbol_map_refresh(dp_self.symbols, dp_last());
	if (changed < 0)
		err = changed;
	dp_self.changed |= changed > 0;
	if (err)
		dp_self_end();
	return err;
}

/* Bring the engine up to date before anything else. */
static int catch_up(void)
{
	int err = dp_text_open(&dp_self.text);

	if (err)
		return dp_fail(err,
			       "/proc/thread-self/mem cannot be opened: %s",
			       strerror(-err));
	dp_probes_notice_gone();
	if (__atomic_exchange_n(&dp_self.switched_off, false, __ATOMIC_ACQ_REL))
		dp_probes_sweep();
	dp_report_collect();
	return 0;
}

int dp_self_begin_any(void)
{
	int err = dp_self_begin_names();

	if (err || !dp_self.engine)
		return err;
	err = catch_up();
	if (err)
		dp_self_end();
	return err;
}

int dp_self_begin(bool make)
{
	int err;

	if (make && !dp_self_is_borrowed() && !dp_self_in_handler())
		dp_charts_open();
	err = dp_self_begin_any();
	if (err || dp_self.engine)
		return err;
	err = make ? dp_self_make() : -ESRCH;
	if (!err)
		err = catch_up();
	if (err)
		dp_self_end();
	return err;
}

int dp_self_begin_look(void)
{
	int err = dp_self_begin_names();

	if (!err && !dp_self.engine) {
		dp_self_end();
		err = -ESRCH;
	}
	return err;
}

static void leave(void *unused)
{
	dp_self_leave(saved_mask);
}

void dp_self_end(void)
{
	if (dp_self.text.mem > 0)
		dp_text_close(&dp_self.text);
	drop_lock();
	errno = saved_errno;
	/* pthread_setcancelstate() may end the thread at once, outside the library. */
	pthread_cleanup_push(leave, NULL);
	pthread_setcancelstate(saved_cancel, NULL);
	pthread_cleanup_pop(1);
	dp_report_deliver();
}

bool dp_self_try(void)
{
	u32 serves = __atomic_load_n(&lock.serves, __ATOMIC_SEQ_CST);

	return __atomic_compare_exchange_n(&lock.next, &serves, serves + 1,
					   false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

void dp_self_try_end(void)
{
	drop_lock();
}

bool dp_self_busy(void)
{
	return __atomic_load_n(&lock.next, __ATOMIC_SEQ_CST) !=
	       __atomic_load_n(&lock.serves, __ATOMIC_SEQ_CST);
}

static void lock_before_fork(void)
{
	dp_self_enter(&saved_mask);
	take_lock();
	dp_self_say(false);
}

static void unlock_after_fork(void)
{
	dp_self_say(true);
	drop_lock();
	dp_self_leave(saved_mask);
}

static void unlock_in_child(void)
{
	dp_report_in_child();
	dp_notes_in_child();
	leave_parent();
	/* The threads that waited are not there. */
	lock.next = lock.serves;
	dp_self_leave(saved_mask);
}

static void __attribute__((constructor)) watch_forks(void)
{
	dp_self.owner = getpid();
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_in_child);
}
