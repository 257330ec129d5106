/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * world: a process in memory, for the hit half.
 *
 * The hit half runs unchanged, linked with an arena that a test fills as control would, and
 * with a kernel. The kernel has text, threads, signal masks and actions, pending signals and
 * bad memory. Nothing depends on time or on the machine; only the test makes things happen.
 * One test at a time, in one thread.
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
#define DP_FAKE_CPUS 2

/** dp_fake_begin() - make a new world: an empty arena, one process of one thread with the id
 *  DP_FAKE_PID, our actions in force for @caught signals */
void dp_fake_begin(u32 caught);

/** dp_fake_room() - take @size zero bytes of the arena. Return: their offset */
u32 dp_fake_room(u32 size);

/** dp_fake_site() - make site @i, armed with a breakpoint; its copy is at dp_fake_copy() */
struct dp_site_entry *dp_fake_site(u32 i, u64 addr);
/** dp_fake_jump() - the jump of a site that dp_fake_site() made */
struct dp_jump *dp_fake_jump(struct dp_site_entry *site);
/** dp_fake_copy() - address of a site's copy */
u64 dp_fake_copy(u32 i);
/** dp_fake_index() - make an address lead to a site, too */
void dp_fake_index(u64 addr, u32 site);

/** dp_fake_probe() - make probe @i, enabled, the last of @site; @kind: enum dp_kind */
struct dp_probe_entry *dp_fake_probe(u32 i, u32 site, u8 kind);
/** dp_fake_program() - give a probe a program of @len bytes of code */
void dp_fake_program(u32 probe, const u8 *code, u32 len);
/** dp_fake_instances() - add a table of instances: @lines lines, a power of two; @staged
 *  logged bytes in each instance */
void dp_fake_instances(u32 lines, u32 staged);
/** dp_fake_blocks() - add @n blocks, a power of two; after dp_fake_instances(). The code that detours
 *  call counts in this world, too: by the real restartable sequences. */
void dp_fake_blocks(u32 n);

/**
 * struct dp_fake_stub - an instance that the port has, with its stub
 * @taken: a call has it; @slot: its return address is the stub's, 0: it is not yet
 * @logged: room for what is logged at the entry
 */
struct dp_fake_stub {
	bool taken;
	u64 slot;
	struct dp_exit_instance instance;
	u8 logged[16];
};

#define DP_FAKE_TRACKED 2

/** dp_fake_stubs() - make instances with stubs, all of them free. Return: their pool, for a probe's @user */
u64 dp_fake_stubs(void);
/** dp_fake_stub() - the @i-th of them */
struct dp_fake_stub *dp_fake_stub(u32 i);

/** dp_fake_streams() - add a stream for each CPU, of @bytes, a power of two. Threads have their real
 *  ids then. */
void dp_fake_streams(u32 bytes);

/** dp_fake_count() - hits of a site, in all shards; dp_fake_count_calls() those of a probe that
 *  tracks calls */
u64 dp_fake_count(u32 site);
u64 dp_fake_count_calls(u32 probe);
/** dp_fake_tally() - hits of a probe that were counted for @what */
u64 dp_fake_tally(u32 probe, enum dp_tally what);
/** dp_fake_record() - take the next record out of the rings, the first CPU's first. Return:
 *  the record, valid until the next call; NULL: they are empty */
const struct dp_record *dp_fake_record(void);

/* --- handlers in C --- */

/* Offsets from the thread pointer: of the address of its struct dp_stack, and of errno */
#define DP_FAKE_SELF 8
#define DP_FAKE_ERRNO 16

/** dp_fake_stacks() - make stacks for handlers */
void dp_fake_stacks(void);
/** dp_fake_theres() - make memory for injected handlers */
void dp_fake_theres(void);
/** dp_fake_upcalls() - make @n places for upcalls, with an owner. Return: in the arena */
struct dp_upcalls *dp_fake_upcalls(u32 n);
/** dp_fake_tool() - call @does whenever a thread wakes the tool, or waits for it; NULL:
 *  nothing */
void dp_fake_tool(void (*does)(void));

/* Address of the stubs. Nothing is mapped there */
#define DP_FAKE_STUBS 0x9000000ull

/** dp_fake_frames() - make @n stubs at DP_FAKE_STUBS, and a frame for each but the first */
struct dp_frames *dp_fake_frames(u32 n);
/** dp_fake_instance_pool() - let a return probe track @n calls at a time; misses count at its
 *  @nmissed */
struct dp_instance_pool *dp_fake_instance_pool(u32 probe, u32 n);

/* --- memory --- */

/** dp_fake_text() - map @size bytes, at most 64, of a file at @addr; dp_port_drop() restores
 *  them */
void dp_fake_text(u64 addr, const u8 *bytes, u32 size);
/** dp_fake_patch() - write to the process's private copy of text */
void dp_fake_patch(u64 addr, const u8 *bytes, u32 size);
/** dp_fake_byte() - the byte at @addr */
u8 dp_fake_byte(u64 addr);
/** dp_fake_bad() - make [addr, addr + size) neither readable nor writable */
void dp_fake_bad(u64 addr, u64 size);

/* --- threads and processes --- */

#define DP_FAKE_PID 1000u

/** dp_fake_thread() - go on as thread @i, from 0, of at most four. The thread's id is
 *  DP_FAKE_PID + @i. It begins with an empty mask and without an alternate stack. */
void dp_fake_thread(u32 i);
/** dp_fake_cpu() - go on at CPU @cpu, which the world begins with at 0 */
void dp_fake_cpu(u32 cpu);
/** dp_fake_altstack() - set the current thread's alternate stack */
void dp_fake_altstack(u64 sp, u64 size);
/** dp_fake_fork() - go on as the child of fork(2) */
void dp_fake_fork(void);
/** dp_fake_vfork() - go on as a CLONE_VM child; @over: as its parent again */
void dp_fake_vfork(bool over);
/** dp_fake_mask() - the kernel's signal mask of this thread */
u64 dp_fake_mask(void);
/** dp_fake_set_mask() - set the kernel's mask, as a tracer may */
void dp_fake_set_mask(u64 mask);
/** dp_fake_action() - the kernel's action for a signal */
struct dp_kernel_sigaction *dp_fake_action(u32 sig);

/* --- signals --- */

/** struct dp_fake_seen - what the program has noticed
 * @entered: how often one of its handlers has been entered
 * @handler: the last handler entered; @restorer: where that handler returns to
 * @mask: signals blocked in the handler; @info: its siginfo
 * @frame: context of the signal frame of the last signal
 * @died: the signal that has ended the program, or 0
 * @exec_mask, @exec_trap, @exec_ill: the thread's mask, and the actions of SIGTRAP and SIGILL,
 *         at the last exec
 * @exec_waits: was SIGTRAP pending in the kernel then?
 * @unlocked, @unlocked_size: what was last made writable
 * @sp: where the stack was at the last system call
 * @queued: the signals blocked when a thread last sent itself one
 */
struct dp_fake_seen {
	u32 entered;
	u32 barriers, no_barriers; /* of all threads; there can be none */
	u64 handler, restorer, mask;
	struct dp_siginfo info;
	struct dp_ucontext *frame;
	u32 died;
	u64 exec_mask, exec_trap, exec_ill;
	bool exec_waits;
	u64 unlocked, unlocked_size;
	u64 sp, queued;
};

extern struct dp_fake_seen dp_fake_seen;

/** dp_fake_regs() - this thread's registers. Context: no handler of the program runs */
struct dp_mcontext *dp_fake_regs(void);

/** dp_fake_raise() - the processor raises a signal in this thread; a blocked one kills */
void dp_fake_raise(u32 sig, s32 code);

/** dp_fake_watched() - this thread has accessed watched data, and the kernel's event bears @tag */
void dp_fake_watched(u64 tag, bool late);

/** dp_fake_breakpoint() - this thread meets a breakpoint at @pc */
void dp_fake_breakpoint(u64 pc);

/** dp_fake_revive() - let a program that has died live again, with our actions in force for
 *  @caught signals, an empty mask and no pending signals */
void dp_fake_revive(u32 caught);

/** dp_fake_send() - send this thread a signal, which comes as soon as it is not blocked */
void dp_fake_send(u32 sig);

/** dp_fake_return() - the program's handler returns */
void dp_fake_return(void);

/** dp_fake_call() - make an intercepted system call. Return: the call's result */
s64 dp_fake_call(long nr, u64 a, u64 b, u64 c, u64 d, u64 e);

/**
 * dp_fake_wait() - make a masked wait
 * @site: of the intercept, with @number set; @nr: the call; registers have its arguments
 * @sig: sent while the thread sleeps; 0: none is, and the call returns 1 at once
 *
 * The call has returned afterwards, unless a handler of the program runs: then
 * dp_fake_wait_end() has to be called. Return: the call's result.
 */
s64 dp_fake_wait(struct dp_site_entry *site, u32 nr, u32 sig);
/** dp_fake_wait_end() - let that handler, if any, and the masked wait return */
void dp_fake_wait_end(struct dp_site_entry *site);

#endif
