// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* limiting: a plug-in of the server that refuses large requests, and shortens answers. */
#include "server.h"
#include <stdio.h>

#define LARGEST 7
#define LONGEST 6

static int refuse(struct gkh_hook *h, struct gkh_args *a,
		  const struct request *r)
{
	if (r->size <= LARGEST)
		return GKH_CONTINUE;
	*a->ret = 0;
	return GKH_RETURN;
}

GKH_EXIT(refuse_exit, request_came, refuse);

static int shorten(struct gkh_hook *h, struct gkh_args *a, int *bytes)
{
	if (*bytes > LONGEST)
		*bytes = LONGEST;
	return GKH_CONTINUE;
}

GKH_EXIT(shorten_exit, answer_made, shorten);

static struct gkh_rec shortening = { .hook_name = "answer_made",
				     .exit = shorten_exit,
				     .count = GKH_COUNT(answer_made),
				     .exit_name = "shorten" };
/* Both are armed at one moment: no request is refused, or its answer shortened, without the other. */
static struct gkh_rec refusing = { .next = &shortening,
				   .hook_name = "request_came",
				   .exit = refuse_exit,
				   .count = GKH_COUNT(request_came),
				   .flags = GKH_FIRST,
				   .exit_name = "refuse" };

static void __attribute__((constructor)) begin(void)
{
	if (gkh_register(&refusing) || gkh_arm(&refusing))
		fprintf(stderr, "limiting: the server has no such hooks\n");
}

static void __attribute__((destructor)) end(void)
{
	gkh_deregister(&refusing);
}
