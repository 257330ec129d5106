// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* returned: functions with return probes have returned to their stubs. */
#include "port/kernel/returned.h"
#include "engine/hit/call.h"
#include "port/kernel/cpu.h"
#include "port/kernel/followed.h"
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

static bool is_trampoline(u64 back)
{
	return back && back == dp_node_trampoline;
}

/* The kernel's own return probes may be among these. */
u64 dp_kernel_home_of(u64 back)
{
	const struct llist_node *at = NULL;
	const struct dp_kernel_call *call = call_of(back);

	for (; call || is_trampoline(back); call = call_of(back))
		back = call ? call->back : dp_node_next(&at);
	return back;
}

void dp_kernel_return(struct dp_kernel_returned *at);

/* Unwinders know the way when both are there. */
static void tell_unwinders(struct dp_kernel_returned *at, u64 back)
{
	WRITE_ONCE(at->regs.sp, (u64)(at + 1));
	WRITE_ONCE(at->regs.ip, dp_kernel_home(back));
}

typedef void handler_fn(struct dp_kernel_call *call, struct dp_regs *regs);

/** struct end - of a call, while its handler runs */
struct end {
	struct dp_kernel_call *call;
	struct dp_regs *regs;
	handler_fn *handler;
};

static u32 run(void *arg)
{
	struct end *end = arg;

	end->handler(end->call, end->regs);
	return 0;
}

/* In a hit, which an interrupt's call does not share with what it has interrupted */
static bool call_within(struct end *end)
{
	struct dp_stack *stack;
	u8 outer;

	if (dp_kernel_handles())
		return false;
	outer = dp_kernel_enter();
	stack = dp_stack_known();
	dp_call_busy(end, run, stack);
	dp_kernel_leave(outer);
	return true;
}

/* As a site's hit */
static bool call_hit(const struct end *end)
{
	u8 outer = dp_kernel_enter();
	bool is = dp_hit_is_owners();

	if (is)
		end->handler(end->call, end->regs);
	dp_kernel_leave(outer);
	return is;
}

/* With a state on the stack, which the compiler guards: it costs too much for most calls. */
static noinline bool call_apart(struct dp_kernel_call *call,
				struct dp_regs *regs, handler_fn *handler)
{
	struct end end = { call, regs, handler };

	return call->hits ? call_hit(&end) : call_within(&end);
}

/* Without a probe there may be no state for handlers any more. Who takes the probe away waits for those that have
 * seen it. */
static __always_inline void call_handler(struct dp_kernel_call *call,
					 struct dp_regs *regs)
{
	handler_fn *handler = READ_ONCE(call->handler);

	if (unlikely(!handler))
		return;
	if (!call->hits && dp_kernel_handle()) {
		handler(call, regs);
		dp_kernel_handled();
	} else if (!call_apart(call, regs, handler)) {
		call->missed(call);
	}
}

static struct dp_followed *followed_of(struct dp_kernel_call *call)
{
	return container_of(call, struct dp_followed, call);
}

/* Preemption is off. */
void dp_kernel_listed(DP_COMPAT_RETURNED)
{
	call_handler(data, (struct dp_regs *)regs);
	dp_followed_returned(followed_of(data));
}

/* What a handler does to ip and sp has no effect. */
void dp_kernel_return(struct dp_kernel_returned *at)
{
	struct dp_kernel_call *call;

	preempt_disable_notrace();
	call = call_of(at->back - 1);
	tell_unwinders(at, call->back);
	call_handler(call, &at->regs);
	at->back = call->back;
	dp_followed_returned(followed_of(call));
	dp_kernel_preempt_on();
}
