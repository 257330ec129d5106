// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stacks: of what hits the kernel's probes, with the names that /proc/kallsyms has. */
#include "tracer/stacks.h"
#include "tracer/system/session.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Programs for files have no stacks: what they ask for is refused. */
static int walk(struct dp_source *source)
{
	const struct dp_system_session *s = dp_system_of(source);

	return s->device.info.flags & DP_DEVICE_ADDRESSES ? 0 : -EPERM;
}

static enum dp_backtrace_end end_of(u32 end)
{
	switch (end) {
	case DP_DEVICE_STACK_COMPLETE:
		return DP_END_COMPLETE;
	case DP_DEVICE_STACK_UNKNOWN:
		return DP_END_UNKNOWN;
	case DP_DEVICE_STACK_DEEP:
		return DP_END_DEEP;
	default:
		return DP_END_NONE;
	}
}

/* As the frames of a process, of whose addresses the lower bits alone are kept; name() has them whole again. */
static u32 get(const struct dp_source *source, u32 number,
	       u64 frames[DP_BACKTRACE_FRAMES], enum dp_backtrace_end *end)
{
	struct dp_device_stack stack = { .frames = (u64)frames,
					 .number = number,
					 .nr = DP_BACKTRACE_FRAMES };
	u32 i;

	*end = DP_END_NONE;
	if (dp_system_device_stack(&dp_system_of(source)->device, &stack))
		return 0;
	*end = end_of(stack.end);
	for (i = 0; i < stack.nr; i++)
		frames[i] = (frames[i] & (DP_BACKTRACE_EXACT - 1)) |
			    (stack.exact[i / 64] >> i % 64 & 1 ?
				     DP_BACKTRACE_EXACT :
				     0);
	return stack.nr;
}

static struct dp_modules *modules(const struct dp_source *source)
{
	return NULL;
}

/* "function+0x12 [module]" */
static void name(const struct dp_source *source, u64 frame, bool back,
		 struct dp_named_frame *to)
{
	u64 addr = frame | ~(DP_BACKTRACE_EXACT - 1);
	struct dp_system_place p;
	int n;

	if (!dp_system_symbol_at(&dp_system_of(source)->symbols, addr - back,
				 &p)) {
		if (asprintf(&to->text, "0x%lx", addr) < 0)
			to->text = NULL;
		to->function = strdup("[unknown]");
		return;
	}
	p.offset += back;
	n = p.offset ? asprintf(&to->text, "%s+0x%lx%s%s%s", p.name, p.offset,
				*p.module ? " [" : "", p.module,
				*p.module ? "]" : "") :
		       asprintf(&to->text, "%s%s%s%s", p.name,
				*p.module ? " [" : "", p.module,
				*p.module ? "]" : "");
	if (n < 0)
		to->text = NULL;
	to->function = strdup(p.name);
}

const struct dp_source_stacks dp_system_stacks = {
	.walk = walk,
	.get = get,
	.modules = modules,
	.name = name,
};
