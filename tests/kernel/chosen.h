/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* chosen: functions that the guest's work comes to. */
#ifndef DP_KERNEL_CHOSEN_H
#define DP_KERNEL_CHOSEN_H

#include <linux/types.h>

/** dp_chosen_find() - have all functions probed for a while, in turns, while the work goes on
 *  @list: their addresses; @traced: only those at whose entry ftrace can be. Return: how many of @most have had hits */
unsigned int dp_chosen_find(unsigned long *list, unsigned int most,
			    bool traced);

#endif
