// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* main: of the helper: read an order, obey, answer. */
#include "lib/helper/helper.h"
#include "proc/proc.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int transfer(ssize_t (*act)(int fd, void *buf, size_t n), int fd,
		    void *buf, size_t n)
{
	char *at = buf;

	while (n) {
		ssize_t done = act(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -EPIPE;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static ssize_t put(int fd, void *buf, size_t n)
{
	return write(fd, buf, n);
}

static void quiesce(const struct dp_helper_order *order,
		    struct dp_helper_answer *answer)
{
	u32 *which = calloc(order->n + 1, sizeof(*which));
	u64 bad;

	answer->err = -ENOMEM;
	if (which && !transfer(read, DP_HELPER_ORDERS, which,
			       order->n * sizeof(*which)))
		answer->err = dp_process_quiesce(order->pid, order->arena,
						 which, order->n, &bad,
						 &answer->diag);
	free(which);
}

int main(void)
{
	struct dp_helper_order order;
	struct dp_helper_answer answer = { 0 };

	if (transfer(read, DP_HELPER_ORDERS, &order, sizeof(order)))
		return 1;
	if (order.verb == DP_HELPER_QUIESCE)
		quiesce(&order, &answer);
	else
		answer.err = dp_process_reside(order.pid, order.n, &answer.base,
					       &answer.diag);
	return transfer(put, DP_HELPER_ANSWER, &answer, sizeof(answer)) != 0;
}
