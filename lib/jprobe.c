// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jprobe: a handler that is called as the probed function itself would be. */
#include "lib/self.h"
#include "agent/image.h"
#include "engine/layout/site.h"
#include <errno.h>

_Static_assert(sizeof(((struct dp_stack *)0)->words) ==
		       MAX_STACK_SIZE + sizeof(u64),
	       "as many bytes of arguments are copied as is promised");

_Static_assert(!__builtin_offsetof(struct jprobe, kp),
	       "a list of one kind is a list of the other");

static int describe(struct dp_request *r, void *probe)
{
	struct jprobe *jp = probe;

	if (!jp->entry)
		return dp_fail(-EINVAL, "the jprobe has no entry");
	if (jp->kp.offset)
		return dp_fail(
			-EINVAL,
			"a jprobe belongs to the first instruction of a function, and offset is %u",
			jp->kp.offset);
	*r = (struct dp_request){
		.user = { .p = &jp->kp, .kind = 'j' },
		.entry = true,
		.handlers = { .kind = DP_KIND_JPROBE,
			      .single = true,
			      .why = "it has a jprobe",
			      .user = (u64)jp,
			      .pre = (u64)jp->entry,
			      .fault = (u64)jp->kp.fault_handler,
			      .nmissed = (u64)&jp->kp.nmissed },
	};
	return 0;
}

int register_jprobes(struct jprobe **jps, int num)
{
	return dp_probes_register_list((void **)jps, num, describe);
}

void unregister_jprobes(struct jprobe **jps, int num)
{
	/* A struct jprobe begins with its struct kprobe. */
	unregister_kprobes((struct kprobe **)jps, num);
}

DP_SINGLES(jprobe)

void jprobe_return(void)
{
	void (*leave)(void) __attribute__((noreturn));

	leave = (void *)(dp_self.base + dp_agent_jprobe_return);
	leave();
}
