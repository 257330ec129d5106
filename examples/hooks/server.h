/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* server: its hooks, for itself and for plug-ins. */
#ifndef EXAMPLES_SERVER_H
#define EXAMPLES_SERVER_H

#include <dprobes/hooks.h>

struct request {
	int number, size;
};

/* A request has come: an exit may refuse it. It is answered in so many bytes, which exits may change. It
 * is over. */
USE_HOOK(request_came, const struct request *);
USE_WRITABLE_HOOK(answer_made, int);
USE_HOOK(request_over, const struct request *, int);

#endif
