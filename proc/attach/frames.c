// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frames: what walks of stacks have to know of the agent. */
#include "agent/image.h"
#include "proc/frames.h"

struct dp_agent_frames dp_attach_frames(void)
{
	return (struct dp_agent_frames){ dp_agent_frames, dp_agent_frames_size,
					 dp_agent_frames_at,
					 dp_agent_image_size };
}
