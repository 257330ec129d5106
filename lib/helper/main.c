// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* main: the helper's program: read an order, carry it out, answer. */
#include "lib/helper/helper.h"
#include "proc/attach_other.h"
#include "proc/inspect.h"
#include "proc/facts.h"
#include "sym/list.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void quiesce(const struct dp_helper_order *order,
		    struct dp_helper_answer *answer)
{
	u32 *which = calloc(order->n + 1, sizeof(*which));
	u64 bad;

	answer->err = -ENOMEM;
	if (which &&
	    !dp_helper_get(DP_HELPER_ORDERS, which, order->n * sizeof(*which)))
		answer->err = dp_process_quiesce(order->pid, order->arena, NULL,
						 which, order->n, &bad,
						 &answer->diag);
	free(which);
}

/* PTRACE_INTERRUPT stops the thread for a moment, without a signal. */
static int look(pid_t tid, struct dp_helper_answer *answer)
{
	struct user_regs_struct regs;
	int status, err = -ESRCH;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return -errno;
	if (!ptrace(PTRACE_INTERRUPT, tid, 0, 0) &&
	    waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) &&
	    !ptrace(PTRACE_GETREGS, tid, 0, &regs)) {
		answer->base = regs.rsp;
		answer->pc = regs.rip;
		err = 0;
		/* A signal that has stopped the thread is delivered. */
		if (status >> 16 != PTRACE_EVENT_STOP)
			ptrace(PTRACE_DETACH, tid, 0, WSTOPSIG(status));
	}
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return err;
}

/** struct held - threads that stand still; @signal: one that has been taken from the kernel */
struct held {
	pid_t tid;
	int signal;
};

static int hold_one(pid_t tid, struct held *h)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return errno == ESRCH ? 0 : -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
	    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
		return 0;
	h->tid = tid;
	h->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return 1;
}

/* Such as the first thread, when it has ended before the others */
static bool has_ended(pid_t tid)
{
	char text[512], *state;

	if (dp_text_read(dp_path("/proc/%d/stat", tid).s, text, sizeof(text)) <=
	    0)
		return true;
	state = strrchr(text, ')');
	return state && (state[1] == ' ') && strchr("ZX", state[2]);
}

static bool is_held(const struct held *v, size_t n, pid_t tid)
{
	while (n--)
		if (v[n].tid == tid)
			return true;
	return false;
}

/* Return: how many threads have been found that run; an errno */
static int hold_more(const struct dp_helper_order *order, struct held **v,
		     size_t *n, size_t *room)
{
	DIR *dir = opendir(dp_path("/proc/%d/task", order->pid).s);
	struct held next = { 0 };
	struct dirent *e;
	int found = 0, got = 0;
	pid_t tid;

	if (!dir)
		return -errno;
	while (got >= 0 && (e = readdir(dir))) {
		tid = atoi(e->d_name);
		if (tid <= 0 || tid == (pid_t)order->n ||
		    is_held(*v, *n, tid) || has_ended(tid))
			continue;
		got = hold_one(tid, &next);
		if (got > 0)
			got = dp_list_add(v, n, room, &next, sizeof(next));
		found++;
	}
	closedir(dir);
	return got < 0 ? got : found;
}

/* A thread may make others until it stands still itself. One that cannot be stopped, because it is
 * ending, is found again until it has gone. */
static int hold_all(const struct dp_helper_order *order, struct held **v,
		    size_t *n, size_t *room)
{
	int found;

	do
		found = hold_more(order, v, n, room);
	while (found > 0);
	return found;
}

static int hold(const struct dp_helper_order *order,
		struct dp_helper_answer *answer)
{
	struct held *v = NULL;
	size_t n = 0, room = 0;
	char end;
	int put;

	answer->err = hold_all(order, &v, &n, &room);
	if (answer->err)
		dp_diag_set(&answer->diag, answer->err,
			    "the threads of this process cannot be stopped: %s",
			    strerror(-answer->err));
	put = dp_helper_put(DP_HELPER_ANSWER, answer, sizeof(*answer));
	while (!put && read(DP_HELPER_ORDERS, &end, 1) > 0)
		continue;
	while (n--)
		ptrace(PTRACE_DETACH, v[n].tid, 0, v[n].signal);
	free(v);
	return put != 0;
}

int main(void)
{
	struct dp_helper_order order;
	struct dp_helper_answer answer = { 0 };

	if (dp_helper_get(DP_HELPER_ORDERS, &order, sizeof(order)))
		return 1;
	if (order.verb == DP_HELPER_HOLD)
		return hold(&order, &answer);
	if (order.verb == DP_HELPER_QUIESCE)
		quiesce(&order, &answer);
	else if (order.verb == DP_HELPER_LOOK)
		answer.err = look((pid_t)order.n, &answer);
	else
		answer.err = dp_process_attach_own(order.pid, order.n,
						   &answer.base, &answer.diag);
	return dp_helper_put(DP_HELPER_ANSWER, &answer, sizeof(answer)) != 0;
}
