// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fragment: names of the cold pieces that compilers cut off functions. */
#include <string.h>
#include "sym/sym.h"

bool dp_symbol_is_fragment(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && cold != name &&
	       (!cold[5] ||
		(cold[5] == '.' && cold[6] >= '0' && cold[6] <= '9'));
}
