// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* clock: the hit half's clock, for the control half. */
#include "port.h"
#include "port_hit.h"

u64 dp_port_clock(void)
{
	return dp_port_ticks();
}
