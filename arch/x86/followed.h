/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* followed: a detour that calls a followed handler. */
#ifndef DP_X86_FOLLOWED_H
#define DP_X86_FOLLOWED_H

#include "arch/x86/emit.h"
#include "engine/insn/detour.h"

/** dp_followed_head() - encode what stands before the first instruction */
void dp_followed_head(struct dp_out *o, const struct dp_detour_spec *spec,
		      struct dp_detour *detour);

#endif
