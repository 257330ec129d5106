/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * world: a process in memory, for the hit half.
 *
 * The hit half runs as it is, linked with this: an arena that a test fills as control
 * would, and a kernel that has text, threads, signal masks and actions, signals that wait,
 * and memory that may be bad. Nothing here depends on time or on the machine; what the
 * test does is all that happens. One test at a time, in one thread.
 */
#ifndef DP_FAKE_WORLD_H
#define DP_FAKE_WORLD_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/layout/base.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "engine/layout/ring.h"

/* --- the arena, as control prepares it --- */

#define DP_FAKE_SITES 16
#define DP_FAKE_PROBES 32
#define DP_FAKE_CONTEXTS 4
#define DP_FAKE_SLOTS 8

/** dp_fake_begin() - a new world: an empty arena, one process of one thread with the id
 *  DP_FAKE_PID, our actions in force for @caught signals */
void dp_fake_begin(u32 caught);

/** dp_fake_room() - @size bytes of the arena, zero. Return: their offset in it */
u32 dp_fake_room(u32 size);

/** dp_fake_site() - site number @i: armed with a breakpoint, its copy at dp_fake_copy() */
struct dp_site_entry *dp_fake_site(u32 i, u64 addr);
/** dp_fake_copy() - address of a site's copy */
u64 dp_fake_copy(u32 i);
/** dp_fake_index() - let an address lead to a site as well */
void dp_fake_index(u64 addr, u32 site);

/** dp_fake_probe() - probe number @i, enabled, the last of its site's;
 *  @kind: enum dp_kind */
struct dp_probe_entry *dp_fake_probe(u32 i, u32 site, u8 kind);
/** dp_fake_program() - give it a program of @len bytes of code */
void dp_fake_program(u32 probe, const u8 *code, u32 len);
/** dp_fake_instances() - one more table of instances, with @lines lines, a power of two, and room for
 *  @staged logged bytes in each instance */
void dp_fake_instances(u32 lines, u32 staged);

/** dp_fake_count() - hits of a probe, in all shards */
u64 dp_fake_count(u32 probe);
/** dp_fake_tally() - what has been counted for it by cause */
u64 dp_fake_tally(u32 probe, enum dp_tally what);
/** dp_fake_record() - take the next record out of the ring. Return: valid up to the next
 *  one; NULL: there is none */
const struct dp_record *dp_fake_record(void);

/* --- handlers in C --- */

/* Of a thread's memory of its own, what handlers are told of, in bytes from its pointer */
#define DP_FAKE_SELF 8
#define DP_FAKE_ERRNO 16

/** dp_fake_stacks() - stacks for them */
void dp_fake_stacks(void);
/** dp_fake_theres() - and for those that the tool has put there */
void dp_fake_theres(void);
/** dp_fake_upcalls() - @n places for threads that wait for the tool, which is there. Return:
 *  they are the arena's */
struct dp_upcalls *dp_fake_upcalls(u32 n);
/** dp_fake_tool() - what the tool does whenever a thread wakes it, or waits for it;
 *  NULL: nothing */
void dp_fake_tool(void (*does)(void));

/* As far as tests jump there: nowhere */
#define DP_FAKE_STUBS 0x9000000ull

/** dp_fake_frames() - @n stubs, at DP_FAKE_STUBS, and a frame for each but the first */
struct dp_frames *dp_fake_frames(u32 n);
/** dp_fake_instance_pool() - let a return probe follow @n calls at a time; misses are counted at
 *  its @nmissed */
struct dp_instance_pool *dp_fake_instance_pool(u32 probe, u32 n);

/* --- memory --- */

/** dp_fake_text() - @size bytes, at most 64, of a mapped file at @addr; dp_port_drop()
 *  brings them back there */
void dp_fake_text(u64 addr, const u8 *bytes, u32 size);
/** dp_fake_patch() - what stands there now, in this process's own copy */
void dp_fake_patch(u64 addr, const u8 *bytes, u32 size);
/** dp_fake_byte() - which it is */
u8 dp_fake_byte(u64 addr);
/** dp_fake_bad() - [addr, addr + size) can be neither read nor written */
void dp_fake_bad(u64 addr, u64 size);

/* --- threads and processes --- */

#define DP_FAKE_PID 1000u

/** dp_fake_thread() - go on as thread number @i, from 0, of at most four. Its id is
 *  DP_FAKE_PID + @i. It begins with an empty mask and without an alternate stack. */
void dp_fake_thread(u32 i);
/** dp_fake_altstack() - its alternate stack */
void dp_fake_altstack(u64 sp, u64 size);
/** dp_fake_fork() - go on as the child of fork(2) */
void dp_fake_fork(void);
/** dp_fake_vfork() - go on as a child in the parent's memory; @over: it is over */
void dp_fake_vfork(bool over);
/** dp_fake_mask() - the signals that the kernel blocks for this thread */
u64 dp_fake_mask(void);
/** dp_fake_set_mask() - set them, as a tracer may */
void dp_fake_set_mask(u64 mask);
/** dp_fake_action() - the kernel's action for a signal */
struct dp_kernel_sigaction *dp_fake_action(u32 sig);

/* --- signals --- */

/** struct dp_fake_seen - what the program has noticed
 * @entered: how often a handler of its own has been entered
 * @handler: the last one; @restorer: where that would return to
 * @mask: the signals blocked there; @info: with which it was entered
 * @frame: what the kernel has put on its stack for the last signal
 * @died: the signal that has ended it, or 0
 * @exec_mask, @exec_trap: its mask, and the action of SIGTRAP, as an exec found them
 */
struct dp_fake_seen {
	u32 entered;
	u64 handler, restorer, mask;
	struct dp_siginfo info;
	struct dp_ucontext *frame;
	u32 died;
	u64 exec_mask, exec_trap;
};

extern struct dp_fake_seen dp_fake_seen;

/** dp_fake_regs() - registers of this thread, in the program. Context: no handler of its
 *  runs */
struct dp_mcontext *dp_fake_regs(void);

/** dp_fake_raise() - the processor raises a signal in it. One that is blocked kills. */
void dp_fake_raise(u32 sig, s32 code);

/** dp_fake_breakpoint() - it meets a breakpoint at @pc */
void dp_fake_breakpoint(u64 pc);

/** dp_fake_revive() - it has died, and it has not: for the next try. Our actions are in force
 *  for @caught signals. */
void dp_fake_revive(u32 caught);

/** dp_fake_send() - a signal is sent to it, and comes as soon as it is open */
void dp_fake_send(u32 sig);

/** dp_fake_return() - the handler of the program that runs returns */
void dp_fake_return(void);

/** dp_fake_call() - it makes a system call that is intercepted. Return: the call's result */
s64 dp_fake_call(long nr, u64 a, u64 b, u64 c, u64 d, u64 e);

/**
 * dp_fake_wait() - it makes one that sleeps under a mask of its own, where it stands
 * @site: with @number as of an intercept's; @nr: the call; registers have its arguments
 * @sig: is sent while it sleeps; 0: none is, and it returns 1 at once
 *
 * It has returned then, unless a handler of the program runs: dp_fake_wait_end().
 * Return: the call's result.
 */
s64 dp_fake_wait(struct dp_site_entry *site, u32 nr, u32 sig);
/** dp_fake_wait_end() - that handler has returned */
void dp_fake_wait_end(struct dp_site_entry *site);

#endif
