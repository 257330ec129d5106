// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* returned: functions with return probes have returned to their stubs. */
#include "port/kernel/returned.h"
#include "engine/hit/call.h"
#include "port/kernel/hit.h"
#include <linux/preempt.h>

struct dp_kernel_call *dp_kernel_calls[DP_KERNEL_STUBS];

/**
 * struct dp_kernel_returned - what entry.S makes of a return to a stub
 * @back: behind the call in the stub; replaced by where the thread goes on
 */
struct dp_kernel_returned {
	struct dp_regs regs;
	u64 back;
};

/* Return: NULL: it is no stub. */
static struct dp_kernel_call *call_of(u64 stub)
{
	u64 number = (stub - (u64)dp_kernel_stubs_begin) / DP_KERNEL_STUB_BYTES;

	return stub >= (u64)dp_kernel_stubs_begin && number < DP_KERNEL_STUBS ?
		       READ_ONCE(dp_kernel_calls[number]) :
		       NULL;
}

u64 dp_kernel_home(u64 back)
{
	const struct dp_kernel_call *call = call_of(back);

	for (; call; call = call_of(back))
		back = call->back;
	return back;
}

void dp_kernel_return_begin(struct dp_kernel_returned *at);
void dp_kernel_return(struct dp_kernel_returned *at);

/* From here on unwinders know the way. */
void dp_kernel_return_begin(struct dp_kernel_returned *at)
{
	at->regs.ip = dp_kernel_home(call_of(at->back - 1)->back);
	at->regs.sp = (u64)(at + 1);
}

/** struct end - of a call, while its handler runs */
struct end {
	struct dp_kernel_call *call;
	struct dp_regs *regs;
};

static u32 run(void *arg)
{
	struct end *end = arg;
	void (*handler)(struct dp_kernel_call *, struct dp_regs *) =
		READ_ONCE(end->call->handler);

	if (handler)
		handler(end->call, end->regs);
	return 0;
}

/* Without a probe there may be no state for handlers any more. Who takes the probe away waits for those that have
 * seen it. */
static bool call_handler(struct dp_kernel_call *call, struct dp_regs *regs)
{
	struct end end = { call, regs };
	struct dp_stack *stack;

	if (!READ_ONCE(call->handler))
		return true;
	stack = dp_stack_known();
	if (dp_stack_nested(stack, regs->sp))
		return false;
	dp_call_busy(&end, run, stack);
	return true;
}

/* What a handler does to ip and sp has no effect. */
void dp_kernel_return(struct dp_kernel_returned *at)
{
	struct dp_kernel_call *call;
	bool called;
	u8 outer;

	preempt_disable_notrace();
	outer = dp_kernel_enter();
	call = call_of(at->back - 1);
	called = call_handler(call, &at->regs);
	at->back = call->back;
	call->over(call, !called);
	dp_kernel_leave(outer);
	dp_kernel_preempt();
}
