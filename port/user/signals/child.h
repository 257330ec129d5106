/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* child: whose thread it is, and how a fork child leaves. */
#ifndef DP_SIGNALS_CHILD_H
#define DP_SIGNALS_CHILD_H

#include "port_types.h"

#pragma GCC visibility push(hidden)

/** enum dp_who - whose thread is running this */
enum dp_who {
	DP_WHO_OWNER, /* the probed process */
	DP_WHO_SHARER, /* a child in its memory: vfork, CLONE_VM */
	DP_WHO_CHILD, /* a fork child with memory of its own */
};

/** dp_hit_who() - tell them apart. Context: any. */
enum dp_who dp_hit_who(void);

/** dp_hit_is_owners() - the same without asking the kernel, where it is known
 *  that nobody else runs in our memory */
bool dp_hit_is_owners(void);

/**
 * dp_hit_leave() - in a fork child, take all patches out of its text
 *
 * Gives the patched pages back to the page cache, and the program its SIGTRAP
 * action and its signal masks. Only where control found that nobody else had
 * changed the pages.
 * @mask: where the thread's mask is that will be in force, NULL: it is already
 * Return: true if the child's text is the program's own again.
 */
bool dp_hit_leave(u64 *mask);

/** dp_hit_leave_text() - its first half: nothing but the text. Return: as above. */
bool dp_hit_leave_text(void);
/** dp_hit_leave_signals() - its second half: actions and masks */
void dp_hit_leave_signals(u64 *mask);

#pragma GCC visibility pop

#endif
