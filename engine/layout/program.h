/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program: a verified probe program in the arena. */
#ifndef DP_LAYOUT_PROGRAM_H
#define DP_LAYOUT_PROGRAM_H

#include "port_types.h"

#define DP_PROGRAM_NAME 48

/** struct dp_program_entry - a verified program; control owns it */
struct dp_program_entry {
	u32 code_off, code_len;
	u32 lv_off, nr_lv;
	u32 jmpmax, logmax, stack_mask;
	u32 pad;
	char name[DP_PROGRAM_NAME];
};

#endif
