// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* main: of the helper: read an order, obey, answer. */
#include "lib/helper/helper.h"
#include "proc/proc.h"
#include <errno.h>
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

int main(void)
{
	struct dp_helper_order order;
	struct dp_helper_answer answer = { 0 };

	if (transfer(read, DP_HELPER_ORDERS, &order, sizeof(order)))
		return 1;
	answer.err = dp_process_reside(order.pid ? order.pid : getppid(),
				       order.max_sites, &answer.base,
				       &answer.diag);
	return transfer(put, DP_HELPER_ANSWER, &answer, sizeof(answer)) != 0;
}
