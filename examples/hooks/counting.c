// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counting: a plug-in of the server that counts requests and bytes, and tells at the end. */
#include "server.h"
#include <stdbool.h>
#include <stdio.h>

static long requests, bytes;

static int count(struct gkh_hook *h, struct gkh_args *a,
		 const struct request *r, int n)
{
	__atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&bytes, n, __ATOMIC_RELAXED);
	return GKH_CONTINUE;
}

GKH_EXIT(count_exit, request_over, count);

static struct gkh_rec rec = { .hook_name = "request_over",
			      .exit = count_exit,
			      .count = GKH_COUNT(request_over),
			      .exit_name = "counting",
			      .proc_writable = true };

static void __attribute__((constructor)) begin(void)
{
	if (gkh_register(&rec) || gkh_arm(&rec))
		fprintf(stderr, "counting: the server has no such hook\n");
}

static void __attribute__((destructor)) end(void)
{
	gkh_deregister(&rec);
	fprintf(stderr, "counting: %ld requests, %ld bytes\n", requests, bytes);
}
