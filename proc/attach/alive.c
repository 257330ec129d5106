// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * alive: how a target finds out that the tool has ended.
 *
 * The tool's thread holds a futex in each arena, and has it in its robust list. However
 * the thread ends, the kernel marks the futex at once (get_robust_list(2)). No thread
 * waits for it; the hit half reads it where it is about to do more than count.
 *
 * Only the tool can write the memory that holds the links of the list.
 */
#include "proc/attach/attach.h"
#include "sym/list.h"
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct robust_list_head head;
static struct dp_arena_control **held;
static size_t nr_held, cap_held;

static void link_all(void)
{
	struct robust_list *last = &head.list;
	size_t i;

	for (i = 0; i < nr_held; i++) {
		last->next = (struct robust_list *)&held[i]->tool_link;
		last = last->next;
	}
	last->next = &head.list;
}

static bool register_list(void)
{
	if (head.futex_offset)
		return true;
	head.list.next = &head.list;
	head.futex_offset =
		(long)offsetof(struct dp_arena_control, tool_futex) -
		(long)offsetof(struct dp_arena_control, tool_link);
	return !syscall(SYS_set_robust_list, &head, sizeof(head));
}

void dp_alive_enter(struct dp_arena_control *control)
{
	if (dp_list_reserve(&held, nr_held + 1, &cap_held, sizeof(*held)) ||
	    !register_list())
		return;
	__atomic_store_n(&control->tool_futex, (u32)gettid(), __ATOMIC_RELEASE);
	held[nr_held++] = control;
	link_all();
}

void dp_alive_end(struct dp_arena_control *control)
{
	size_t i;

	for (i = 0; i < nr_held && held[i] != control; i++)
		continue;
	if (i == nr_held)
		return;
	held[i] = held[--nr_held];
	link_all();
	__atomic_or_fetch(&control->tool_futex, DP_TOOL_DIED, __ATOMIC_RELEASE);
}
