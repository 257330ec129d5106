/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* frames: what walks of stacks have to know of the agent, in which a signal may interrupt threads. */
#ifndef DP_PROC_FRAMES_H
#define DP_PROC_FRAMES_H

#include "port_types.h"

/**
 * struct dp_agent_frames - the agent's .eh_frame
 * @data, @len: its bytes, as they would be at address @vaddr if the agent were at 0
 * @text: bytes of the agent
 */
struct dp_agent_frames {
	const void *data;
	u32 len, vaddr, text;
};

/** dp_attach_frames() - of the agent that this tool brings into processes */
struct dp_agent_frames dp_attach_frames(void);

#endif
