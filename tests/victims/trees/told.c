// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tells of each call that its compiler instruments, in TOLD.<number of the thread>: its depth and its name. */
#define _GNU_SOURCE
#include "trees.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* longjmp needs to set it. */
__thread int told_depth;
static __thread FILE *out;

UNTOLD void __cyg_profile_func_enter(void *f, void *caller)
{
	char path[4096];
	Dl_info info;

	if (!out) {
		snprintf(path, sizeof(path), "%s.%d", getenv("TOLD"), gettid());
		out = fopen(path, "w");
		setlinebuf(out);
	}
	dladdr(f, &info);
	fprintf(out, "%d %s\n", told_depth++, info.dli_sname);
}

UNTOLD void __cyg_profile_func_exit(void *f, void *caller)
{
	told_depth--;
}
