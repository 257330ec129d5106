/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * helper: a short-lived process that prepares the probed process.
 *
 * The library carries the helper's program as data. The helper shares neither memory nor
 * libc with the process, so it may stop all threads of the process.
 */
#ifndef DP_HELPER_H
#define DP_HELPER_H

#include <errno.h>
#include <unistd.h>
#include <dprobes/diag.h>
#include "port_types.h"

#define DP_HELPER_ORDERS 0 /* descriptors of the helper */
#define DP_HELPER_ANSWER 1

enum dp_helper_verb {
	DP_HELPER_ATTACH_OWN, /* dp_process_attach_own() */
	DP_HELPER_QUIESCE, /* dp_process_quiesce(); @n numbers follow */
	DP_HELPER_LOOK, /* read registers of thread @n */
	DP_HELPER_HOLD, /* stop all threads but thread @n, until orders end */
};

/** struct dp_helper_order - an order to the helper */
struct dp_helper_order {
	s32 pid; /* of the process */
	u32 verb;
	u32 n; /* most sites; number of sites that follow; a thread */
	u64 arena;
};

/** struct dp_helper_answer - its result */
struct dp_helper_answer {
	s32 err;
	u64 base; /* of the agent; or a thread's stack pointer */
	u64 pc;
	struct dp_diag diag;
};

static inline int dp_helper_move(int fd, void *at, size_t n, bool in)
{
	ssize_t done;

	for (; n; at = (char *)at + done, n -= (size_t)done) {
		done = in ? read(fd, at, n) : write(fd, at, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		else if (done <= 0)
			return -EPIPE;
	}
	return 0;
}

/** dp_helper_put(), dp_helper_get() - transfer all @n bytes. Return: 0; -EPIPE. */
static inline int dp_helper_put(int fd, const void *from, size_t n)
{
	return dp_helper_move(fd, (void *)from, n, false);
}

static inline int dp_helper_get(int fd, void *to, size_t n)
{
	return dp_helper_move(fd, to, n, true);
}

/** struct dp_helper_run - a helper that runs: its descriptors, who started it, the stack for that;
 *  @alone: no other child of ours traces meanwhile */
struct dp_helper_run {
	int fds[5];
	pid_t pid;
	char *stack;
	bool alone;
};

/** dp_helper_open() - run the helper until it has answered; it may go on. dp_helper_close() follows in
 *  any case. Return: as dp_helper_run(). */
int dp_helper_open(struct dp_helper_run *run,
		   const struct dp_helper_order *order, const u32 *which,
		   struct dp_helper_answer *answer, struct dp_diag *diag);
/** dp_helper_close() - wait for its end */
void dp_helper_close(struct dp_helper_run *run);

/**
 * dp_helper_run() - run the helper once
 * @which: the numbers that follow the order, or NULL
 * Context: may sleep; takes no lock.
 * Return: its answer's error, with words in @diag; -EPERM the helper could not be run.
 */
int dp_helper_run(const struct dp_helper_order *order, const u32 *which,
		  struct dp_helper_answer *answer, struct dp_diag *diag);

/* The program's image. */
extern const char dp_helper_start[] __attribute__((visibility("hidden")));
extern const char dp_helper_end[] __attribute__((visibility("hidden")));

#endif
