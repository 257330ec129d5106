// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* step: what a protocol step does in the product. */
#include "proc/ptrace/process.h"

bool __attribute__((weak)) dp_step_fails(const char *name)
{
	return false;
}

void __attribute__((weak)) dp_step(const char *name)
{
}
