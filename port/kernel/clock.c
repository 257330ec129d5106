// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* clock: the time-stamp counter, not read before earlier loads are done. */
#include "port.h"
#include <asm/msr.h>

u64 dp_port_clock(void)
{
	return rdtsc_ordered();
}
