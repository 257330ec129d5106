// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stack_scan: copy a thread's stack. */
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "sym/sym.h"
#include <errno.h>
#include <stdlib.h>

#define STACK_MAX (8u << 20)

int dp_stack_scan_read(const struct dp_process *proc,
		       const struct dp_maps *maps, u64 sp,
		       struct dp_stack_scan *words)
{
	const struct dp_map *m = dp_maps_find(maps, sp);
	u64 size;

	if (!m)
		return -ENOENT;
	words->at = sp & ~7ull;
	size = m->end - words->at;
	size = size < STACK_MAX ? size : STACK_MAX;
	words->n = size / sizeof(*words->v);
	words->v = malloc(size);
	if (!words->v)
		return -ENOMEM;
	if (!dp_process_read(proc, words->at, words->v, size))
		return 0;
	free(words->v);
	return -EFAULT;
}
