/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* child: a child in our memory, which traces in place of the calling thread. */
#ifndef DP_CHILD_H
#define DP_CHILD_H

#include <stdbool.h>

/**
 * struct dp_child - what it is to do
 * @work: what it calls, with @arg
 * @name: what it is called in /proc, for the next tool; NULL: as its parent
 * @outlives: it goes on to the end of @work if the parent is killed; else it is killed,
 *            too, and does not begin if it comes too late
 */
struct dp_child {
	void (*work)(void *arg);
	void *arg;
	const char *name;
	bool outlives;
};

/**
 * dp_child_run() - have the work done by a child that shares our memory and files
 *
 * A process that traces gets SIGCHLD, and any wait() of its threads sees what it stops. The
 * child has no handler and waits for nothing else; and a tool that is killed does not end
 * in the middle of what the child does. The calling thread sleeps meanwhile, so the work may
 * use all that the thread may, locks included; but the child's process id is another.
 *
 * The one thing that such a child cannot do is stop the process whose memory it shares:
 * for that lib/helper.c executes an image of its own.
 *
 * Context: may sleep. Makes system calls by no function of libc that a probe could be on.
 * Return: 0; -ENOMEM, -EAGAIN: the work was not begun; -EINTR: the child has been killed.
 */
int dp_child_run(const struct dp_child *child);

#endif
