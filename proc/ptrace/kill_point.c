// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kill_point: what a kill point does in the product. */
#include "proc/ptrace/process.h"

bool __attribute__((weak)) dp_kill_point_fails(const char *name)
{
	return false;
}

void __attribute__((weak)) dp_kill_point(const char *name)
{
}
