/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * returned: calls whose return address is a stub's; shared with entry.S.
 *
 *     entry: the return address ─► struct dp_kernel_call; a stub's address ─► the stack
 *     ret ─► stub ─► dp_kernel_return(): the handler ─► the return address
 *
 * Each call that is followed has a stub of its own. So the stub says which call it is, whatever the task, the CPU
 * and the stack are; and the second probe of a function finds the first one's stub as its return address.
 *
 * Where the kernel has lists of return addresses (node.h), its trampoline stands in for all stubs:
 *
 *     entry: the return address ─► the task's list; the trampoline's address ─► the stack
 *     ret ─► trampoline ─► dp_kernel_listed(): the handler ─► the return address
 */
#ifndef DP_KERNEL_RETURNED_H
#define DP_KERNEL_RETURNED_H

#define DP_KERNEL_STUBS 8192
/* Bytes */
#define DP_KERNEL_STUB_BYTES 8

#ifndef __ASSEMBLY__

#include "arch/arch.h"
#include "port/kernel/node.h"
#include "port_types.h"

/**
 * struct dp_kernel_call - a call that may be followed
 * @back: where it returns to, perhaps another stub; not of one that is in a list
 * @handler: as long as the probe is there: the call has returned. No other handler runs on the CPU
 * @hits: the handler is none in C but of the hit half: it runs in a hit, and in none within a hit
 * @missed: the handler was to be called, and another one runs
 *
 * Context of both: as the function's return, with preemption off.
 */
struct dp_kernel_call {
	u64 back;
	void (*handler)(struct dp_kernel_call *call, struct dp_regs *regs);
	void (*missed)(struct dp_kernel_call *call);
	bool hits;
};

/** dp_kernel_calls - of each stub. A stub whose entry is not NULL may be returned to. */
extern struct dp_kernel_call *dp_kernel_calls[DP_KERNEL_STUBS];

extern const char dp_kernel_stubs_begin[];

/** dp_kernel_stub() - address of a stub */
static inline u64 dp_kernel_stub(u32 number)
{
	return (u64)dp_kernel_stubs_begin + number * DP_KERNEL_STUB_BYTES;
}

/** dp_kernel_home_of() - dp_kernel_home(), of a stub's address or the trampoline's */
u64 dp_kernel_home_of(u64 back);

/** dp_kernel_home() - the probed code's own return address, for which stubs and the trampoline may stand
 *  Context: the stack it is on is the caller's */
static inline u64 dp_kernel_home(u64 back)
{
	return likely(back - (u64)dp_kernel_stubs_begin >=
			      DP_KERNEL_STUBS * DP_KERNEL_STUB_BYTES &&
		      back != dp_node_trampoline) ?
		       back :
		       dp_kernel_home_of(back);
}
/** dp_kernel_listed() - the trampoline calls it; its data are struct dp_kernel_call */
void dp_kernel_listed(DP_COMPAT_RETURNED);

#endif
#endif
