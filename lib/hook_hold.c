// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_hold: all other threads stand still while an exit runs.
 *
 * The helper stops them. If the helper is killed, the kernel lets them go on. One exit at a time: two
 * threads would stop each other.
 */
#include "lib/hook.h"
#include "lib/helper/helper.h"
#include "port_raw.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0: free; 1: held; 2: held, and threads wait */
static u32 lock;
static u32 owner, depth;
static struct dp_helper_run run;

static void wait_for_lock(void)
{
	while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE))
		dp_raw(SYS_futex, (long)&lock, FUTEX_WAIT_PRIVATE, 2, 0, 0);
}

static void drop_lock(void)
{
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2)
		dp_raw(SYS_futex, (long)&lock, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

bool dp_hook_hold(void)
{
	u32 tid = (u32)dp_raw(SYS_gettid, 0, 0, 0, 0, 0), free = 0;
	struct dp_helper_order order = { .verb = DP_HELPER_HOLD, .n = tid };
	struct dp_helper_answer answer = { 0 };
	struct dp_diag diag;

	if (__atomic_load_n(&owner, __ATOMIC_RELAXED) == tid) {
		depth++;
		return true;
	}
	if (!__atomic_compare_exchange_n(&lock, &free, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		wait_for_lock();
	order.pid = getpid();
	if (dp_helper_open(&run, &order, NULL, &answer, &diag)) {
		dp_helper_close(&run);
		drop_lock();
		return false;
	}
	depth = 1;
	__atomic_store_n(&owner, tid, __ATOMIC_RELAXED);
	return true;
}

void dp_hook_release(void)
{
	if (--depth)
		return;
	__atomic_store_n(&owner, 0, __ATOMIC_RELAXED);
	dp_helper_close(&run);
	drop_lock();
}

void dp_hook_hold_anew(void)
{
	lock = owner = depth = 0;
}
