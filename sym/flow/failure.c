// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* failure: where functions say why they have failed. */
#include "sym/failure.h"
#include "arch/calls.h"
#include "sym/sym.h"

bool dp_failure_errno(struct dp_modules *mods, u64 *word, s64 *offset)
{
	struct dp_symbols found = { 0 };
	u8 code[DP_ERRNO_SIZE] = { 0 };
	size_t i, n = 0;
	u64 at = 0;

	for (i = 0; i < dp_modules_count(mods); i++) {
		if (!dp_symbols_find_in(mods, dp_modules_get(mods, i),
					"__errno_location", &found) &&
		    found.n == 1 && ++n)
			at = found.v[0].addr;
		dp_symbols_free(&found);
	}
	return n == 1 &&
	       dp_modules_read(mods, at, code, sizeof(code)) ==
		       (ssize_t)sizeof(code) &&
	       dp_code_errno(code, at, word, offset);
}
