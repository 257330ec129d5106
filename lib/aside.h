/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aside: what a process does that the program must not be seen to do. */
#ifndef DP_LIB_ASIDE_H
#define DP_LIB_ASIDE_H

/**
 * dp_aside() - call @work(@arg) in a child that shares our memory and files
 *
 * Who traces gets SIGCHLD, and any wait() of his process sees whom he stops: here
 * that is somebody who has no handler and waits for nobody else. The calling thread
 * sleeps meanwhile, so @work runs in its place, and may use all that it may, locks
 * included; but its process id is another.
 * Context: may sleep. Return: 0; -ENOMEM, -EAGAIN: it was not called; -EINTR
 * somebody has killed the child.
 */
int dp_aside(void (*work)(void *arg), void *arg);

#endif
