// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stays: has no exit, and takes a reference to itself when told. */
#include <linux/module.h>

static bool hold;
module_param(hold, bool, 0);

int init_module(void)
{
	if (hold)
		try_module_get(THIS_MODULE);
	return 0;
}

#ifdef WITH_EXIT
void cleanup_module(void)
{
}
#endif
