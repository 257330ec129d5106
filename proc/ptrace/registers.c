// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registers: debug registers of threads, set and cleared by ptrace(2).
 *
 * They are a thread's own: a thread that it makes has none, nor has a fork child, whatever the
 * control register seems to say there, and an exec clears them. They outlive the tracer. A register is ours if it has the address and the bits
 * that were written. Any other one is a debugger's.
 */
#include "proc/ptrace/registers.h"
#include "arch/debug.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <sys/ptrace.h>

static int peek(pid_t tid, u64 at, u64 *value)
{
	errno = 0;
	*value = (u64)ptrace(PTRACE_PEEKUSER, tid, at, 0);
	return -errno;
}

static int poke(pid_t tid, u64 at, u64 value)
{
	return ptrace(PTRACE_POKEUSER, tid, at, value) ? -errno : 0;
}

/* Of a new thread the control register shows its maker's bits, and the registers are not set. */
int dp_registers_control(pid_t tid, u64 *control)
{
	u64 addr;
	int err = peek(tid, DP_DEBUG_CONTROL, control);
	u32 n;

	for (n = 0; n < DP_REGISTERS && !err; n++) {
		err = peek(tid, dp_debug_at(n), &addr);
		if (!addr)
			*control &= ~dp_debug_mask(n);
	}
	return err;
}

static u64 mask_of(u64 control)
{
	u64 mask = 0;
	u32 n;

	for (n = 0; n < DP_REGISTERS; n++)
		if (control & dp_debug_mask(n))
			mask |= dp_debug_mask(n);
	return mask;
}

static int write_all(pid_t tid, const u64 addr[DP_REGISTERS], u64 control,
		     u64 others)
{
	int err = 0;
	u32 n;

	for (n = 0; n < DP_REGISTERS && !err; n++)
		if (control & dp_debug_mask(n))
			err = poke(tid, dp_debug_at(n), addr[n]);
	return err ? err : poke(tid, DP_DEBUG_CONTROL, control | others);
}

int dp_registers_set(pid_t tid, const u64 addr[DP_REGISTERS], u64 control)
{
	u64 now, mask = mask_of(control);
	int err = dp_registers_control(tid, &now);

	if (err || (now & mask) == control)
		return err;
	if (now & mask)
		return -ENOSPC;
	err = write_all(tid, addr, control, now);
	return err ? err : 1;
}

/* Return: the bits of register @n, if it is as it was set */
static u64 own_bits(pid_t tid, u32 n, const u64 addr[DP_REGISTERS], u64 control,
		    u64 now)
{
	u64 mask = dp_debug_mask(n), at;

	if (!(control & mask) || (now & mask) != (control & mask) ||
	    peek(tid, dp_debug_at(n), &at) || at != addr[n])
		return 0;
	return mask;
}

void dp_registers_clear(pid_t tid, const u64 addr[DP_REGISTERS], u64 control)
{
	u64 now, ours = 0;
	u32 n;

	if (dp_registers_control(tid, &now))
		return;
	for (n = 0; n < DP_REGISTERS; n++)
		ours |= own_bits(tid, n, addr, control, now);
	if (!ours)
		return;
	poke(tid, DP_DEBUG_CONTROL, now & ~ours);
	for (n = 0; n < DP_REGISTERS; n++)
		if (ours & dp_debug_mask(n))
			poke(tid, dp_debug_at(n), 0);
}

/* Before Linux 5.10 the bits of earlier traps stay. */
u32 dp_registers_hit(pid_t tid)
{
	u64 hit;

	if (peek(tid, DP_DEBUG_STATUS, &hit))
		return 0;
	poke(tid, DP_DEBUG_STATUS, 0);
	return (u32)hit & ((1u << DP_REGISTERS) - 1);
}

u32 dp_registers_take(pid_t tid, u32 which)
{
	u64 hit;

	if (peek(tid, DP_DEBUG_STATUS, &hit) || !(hit & which))
		return 0;
	poke(tid, DP_DEBUG_STATUS, hit & ~(u64)which);
	return (u32)hit & which;
}

int dp_registers_hold(struct dp_process *proc, struct dp_diag *diag)
{
	return dp_stop_alone(proc, diag) ?: dp_stop_rest(proc, diag);
}

int dp_registers_return(struct dp_process *proc,
			const struct dp_arena_control *arena,
			struct dp_diag *diag)
{
	int err;
	size_t i;

	if (!arena->register_control)
		return 0;
	err = dp_registers_hold(proc, diag);
	if (err)
		return err;
	for (i = 0; i < proc->nr_threads; i++) {
		dp_registers_clear(proc->threads[i].tid, arena->registers,
				   arena->register_control);
		dp_kill_point("registers: cleared");
	}
	dp_stop_release(proc);
	return 0;
}
