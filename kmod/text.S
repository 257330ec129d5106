/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text: room for copies and detours, in the module's own text: executable, within reach of the
 * kernel's, and known to it as text of a module. It is written as all text is.
 */
#include <linux/linkage.h>
#include "kmod/pool.h"
#include "port/kernel/compat.h"

	.text
	.balign 4096
SYM_CODE_START(dp_kmod_pool)
	DP_UNWIND_END
	ANNOTATE_NOENDBR
	.fill DP_KMOD_POOL, 1, 0xcc
SYM_CODE_END(dp_kmod_pool)
	/* What reads code for its frames sees that nothing goes on behind it. */
	ud2
