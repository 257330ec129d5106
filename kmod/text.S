/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text: room for copies and detours, in the module's own text: executable, within reach of the
 * kernel's, and known to it as text of a module. It is written as all text is.
 */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>
#include "kmod/pool.h"

	.text
	.balign 4096
SYM_CODE_START(dp_kmod_pool)
	UNWIND_HINT_EMPTY
	.fill DP_KMOD_POOL, 1, 0xcc
SYM_CODE_END(dp_kmod_pool)
