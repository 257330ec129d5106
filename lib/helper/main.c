// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* main: the helper's program: read an order, carry it out, answer. */
#include "lib/helper/helper.h"
#include "proc/attach_other.h"
#include <errno.h>
#include <stdlib.h>
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

int main(void)
{
	struct dp_helper_order order;
	struct dp_helper_answer answer = { 0 };

	if (dp_helper_get(DP_HELPER_ORDERS, &order, sizeof(order)))
		return 1;
	if (order.verb == DP_HELPER_QUIESCE)
		quiesce(&order, &answer);
	else if (order.verb == DP_HELPER_LOOK)
		answer.err = look((pid_t)order.n, &answer);
	else
		answer.err = dp_process_attach_own(order.pid, order.n,
						   &answer.base, &answer.diag);
	return dp_helper_put(DP_HELPER_ANSWER, &answer, sizeof(answer)) != 0;
}
