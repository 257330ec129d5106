// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aside: a child of the library's, whose hits are not the program's. */
#define DP_NO_MODULE_NOTE
#include "lib/aside.h"
#include "lib/self.h"
#include "proc/child.h"

/* Where we are probed ourselves, hits of the child are none of ours. */
static void say_sharer(u32 n)
{
	if (dp_self.arena)
		__atomic_fetch_add(&dp_self.arena->hit.sharers, n,
				   __ATOMIC_SEQ_CST);
}

int dp_aside(void (*work)(void *arg), void *arg)
{
	const struct dp_child child = { .work = work, .arg = arg };
	int err;

	say_sharer(1);
	err = dp_child_run(&child);
	say_sharer(-1u);
	return err;
}
