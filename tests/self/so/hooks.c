// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hooks: a library with a hook of its own, a place of the program's hook, and an exit of that. */
#include "tests/self/hooks.h"

DECLARE_HOOK(of_library, int);

int library_run(int n);
unsigned int library_seen(void);
struct gkh_rec *library_rec(void);

int library_run(int n)
{
	HOOK_RET(of_library, n);
	return n;
}

unsigned int library_seen(void)
{
	return run_inline();
}

static int see(struct gkh_hook *h, struct gkh_args *a, unsigned int *bits)
{
	*bits |= 0x100;
	return GKH_CONTINUE;
}

GKH_EXIT(see_exit, seen, see);

struct gkh_rec *library_rec(void)
{
	static struct gkh_rec rec = { .hook_name = "seen",
				      .exit = see_exit,
				      .exit_name = "library" };

	return &rec;
}
