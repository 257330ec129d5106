/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port: what the engine asks of its world. A specification, no code.
 *
 * One port is linked into an image, chosen by include path and link line:
 * port_types.h and port_hit.h come from port/<world>/, the functions below
 * from its objects.
 *
 * port_types.h   u8 … u64, s32, s64, bool, size_t, errno values.
 * port_hit.h     inlines for the hit half; no libc, no lock, no allocation:
 *   dp_port_cpu()       number of a CPU this thread ran on a moment ago
 *   dp_port_pid()       process id in the target's own namespace
 *   dp_port_copy_in()   read program memory; -EFAULT, never a fault
 *   dp_port_copy_out()  write program memory; -EFAULT, never a fault
 *   dp_port_read()      read program memory up to the first bad address
 *   dp_port_writable()  could it be written? Writes nothing
 *   dp_port_thread_pointer(), dp_port_gs_base()  of this thread
 *   dp_port_altstack(), dp_port_set_altstack()  this thread's alternate signal
 *                       stack
 *   dp_port_thread_lives()  is a thread of this process still there?
 *   dp_port_unlock()    make reserved memory usable
 *   dp_port_tid()       thread id in the target's own namespace
 *   dp_port_ticks()     the clock that all CPUs share, in its own unit
 *   dp_port_sigaction() set a signal's action, bypassing our own hook
 *   dp_port_sigmask()   set the thread's signal mask; dp_port_swap_sigmask() tells
 *                       what it was
 *   dp_port_requeue()   queue a signal with its siginfo to this thread
 *   dp_port_wait()      until a word is not what it was, or it is time;
 *                       dp_port_wake() ends that
 *   dp_port_drop()      give private copies of text pages back
 */
#ifndef DP_PORT_H
#define DP_PORT_H

#include "port_types.h"

/**
 * dp_port_alloc() - zeroed memory for the control half
 * @size: bytes, more than 0
 * Context: may sleep. Return: memory, or NULL when there is none.
 */
void *dp_port_alloc(size_t size);

/**
 * dp_port_resize() - move an allocation to a new size; new bytes are undefined
 * Return: the memory; NULL when there is none, and then @mem is as it was.
 */
void *dp_port_resize(void *mem, size_t size);

/** dp_port_clock() - dp_port_ticks(), for the control half */
u64 dp_port_clock(void);

/** dp_port_free() - give memory back; NULL is fine */
void dp_port_free(void *mem);

#endif
