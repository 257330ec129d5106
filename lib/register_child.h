/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * register_child: a child of the process that traces some of its threads for a moment.
 *
 * Context of every function, unless it says otherwise: any thread, also one that libc does not know, and
 * in a signal handler; no function of libc is called, and no vector register is used.
 */
#ifndef DP_REGISTER_CHILD_H
#define DP_REGISTER_CHILD_H

#include "engine/layout/arena.h"
#include "port_types.h"

enum dp_register_what {
	DP_REGISTER_SET, /* those of @control, unless they are set already */
	DP_REGISTER_CLEAR, /* those that are as they were set */
	DP_REGISTER_HIT, /* @hit: which have made the thread trap; then none has */
};

/** struct dp_register_thread - @err: 1 it has been changed; 0 it was so already; -ENOSPC a debugger has
 *  that register; -EPERM it cannot be traced; -EAGAIN it does not stop; -ESRCH it has ended */
struct dp_register_thread {
	s32 tid, err;
};

/** struct dp_register_job - what the child does, with @n threads one after the other
 *  @addr, @control: by register, and their bits
 *  @done: the child has come to its end; @go: its process lets it trace */
struct dp_register_job {
	enum dp_register_what what;
	struct dp_register_thread *threads;
	u32 n;
	u64 addr[DP_REGISTERS], control;
	u32 hit, done, go;
	s32 parent;
};

/** struct dp_register_slot - a debug register that the process uses
 *  @tid: of that thread alone; 0: of all
 *  @given: threads that begin get it; @on: its traps may come; @left: it may be set in some thread, which
 *  did not stop */
struct dp_register_slot {
	u64 addr, bits;
	s32 tid;
	u32 given, on, left;
};

/**
 * struct dp_register_state - of this process; changed by whoever holds dp_register_lock()
 * @stack: of the child; @named: the kernel lets a process trace its parent only where the parent says so
 * @known: by the last bits of their ids, threads that have been given the registers; negative: which were
 * found without
 * @dropped: when a slot was dropped, in nanoseconds of CLOCK_MONOTONIC; 0: never
 * @lost: traps of which it is not known what has raised them; @bare: threads that have begun without
 */
struct dp_register_state {
	struct dp_register_slot slots[DP_REGISTERS];
	s32 owner;
	char *stack;
	bool named;
	s32 known[4096];
	u64 dropped, lost, bare;
};

extern struct dp_register_state dp_register_state
	__attribute__((visibility("hidden")));

/** dp_register_lock() - @ms: wait so long. Return: false: not in time, or the calling thread has it. */
bool dp_register_lock(u32 ms);
void dp_register_unlock(void);
/** dp_register_anew() - in a fork child: no register, no lock */
void dp_register_anew(void);
/** dp_register_run() - have a child do it, and wait for its end. Context: the lock is held.
 *  Return: 0: see each thread's @err; -EPERM there could be no child, or it was killed. */
int dp_register_run(struct dp_register_job *job);
/** dp_register_all() - of all slots those that threads which begin get; @control is 0 if there are none */
void dp_register_all(struct dp_register_job *job);
/** dp_register_know(), dp_register_is_known() - that a thread has been given the registers; negative: it was
 *  found without, and given them */
void dp_register_know(s32 tid);
bool dp_register_is_known(s32 tid);
u64 dp_register_now(void);

/* For the agent: see struct dp_arena_control. */
u32 dp_register_which(void);
void dp_register_thread_begins(u32 sure);

#endif
