/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control: the half of the engine that decides.
 *
 * One run, in this order, each step all or nothing:
 *
 *   create ─► add… ─► layout ─► place ─► build ─► arm ─► … ─► disarm ─► destroy
 *             sites   sizes     pool     copies   bytes
 *                               addresses tables
 *
 * Context of every function: control half, may sleep, one thread at a time per
 * engine. Errors are negative errnos; a @why is a static phrase.
 */
#ifndef DP_CONTROL_H
#define DP_CONTROL_H

#include "port_types.h"
#include "engine/insn/region.h"
#include "engine/layout.h"
#include "engine/control/target.h"

struct dp_engine;

/** dp_engine_create() - an engine without sites. Return: 0 or -ENOMEM. */
int dp_engine_create(struct dp_engine **engine);

/** dp_engine_destroy() - free it; disarms nothing. NULL is fine. */
void dp_engine_destroy(struct dp_engine *engine);

/**
 * dp_engine_add() - put a probe on an instruction
 * @addr: address of the instruction in the target
 * @code: bytes found there
 * @size: how many of them, up to 15 are looked at
 * @probe: number of the new probe, from 0
 * @why: on failure, the reason, or NULL
 *
 * Several probes may share an address.
 * Return: 0; -EINVAL the instruction cannot run out of line; -EILSEQ it is
 * none; -EBUSY a breakpoint is there; -ENOMEM.
 */
int dp_engine_add(struct dp_engine *engine, u64 addr, const u8 *code,
		  size_t size, u32 *probe, const char **why);

/** enum dp_arming - how jumps get into text */
enum dp_arming {
	DP_ARM_INTERIOR, /* breakpoints stay inside; nobody is held */
	DP_ARM_QUIESCE, /* everybody is stopped for a moment */
	DP_ARM_TRAP, /* no jumps at all */
};

/** dp_engine_set_arming() - before the layout; else it is the default */
void dp_engine_set_arming(struct dp_engine *engine, enum dp_arming arming);
#define DP_ARM_DEFAULT DP_ARM_INTERIOR

/**
 * dp_engine_set_silent() - the hit half must not make system calls, nor raise
 * signals
 *
 * All probes are jumps then, written while nobody runs (DP_ARM_QUIESCE), and there
 * are no hooks. Before any probe is added.
 */
void dp_engine_set_silent(struct dp_engine *engine);
/** dp_engine_may_jump() - is the probe not a breakpoint for certain?
 *  @why: if it is, a static phrase */
bool dp_engine_may_jump(const struct dp_engine *engine, u32 probe,
			const char **why);

/** dp_engine_drop() - take a probe back. Before the layout. */
void dp_engine_drop(struct dp_engine *engine, u32 probe);

/**
 * struct dp_ground - the function around a probe
 * @start: its address
 * @code: its bytes, and some behind it: @size in all, @function of them its own
 * @room: bytes from the probe's address on that a jump may displace: to the end
 *        of the function, and over padding behind it
 * @entries: where its branches go
 */
struct dp_ground {
	u64 start;
	const u8 *code;
	size_t size, function;
	size_t room;
	struct dp_entries entries;
};

/**
 * dp_engine_allow_jump() - the probe may be a jump, if its ground allows it
 *
 * Without it the probe is a breakpoint. Before the layout.
 */
void dp_engine_allow_jump(struct dp_engine *engine, u32 probe,
			  const struct dp_ground *ground);

/**
 * dp_engine_lead() - have the jump of a probe begin before it
 * @addr: of an instruction from which on everybody comes to the probe's, whose
 *        end is DP_JUMP_SIZE bytes behind it
 * @code: bytes found there; @size: how many
 *
 * For the end of a function, behind which others arrive: each of them would be
 * sent on by a breakpoint. Where it cannot be, nothing changes. Before the layout.
 */
void dp_engine_lead(struct dp_engine *engine, u64 addr, const u8 *code,
		    size_t size);

/** dp_engine_forbid_jump() - a probe shall be a breakpoint, because of @why */
void dp_engine_forbid_jump(struct dp_engine *engine, u32 probe,
			   const char *why);

/**
 * dp_engine_set_rseq() - every thread has a struct rseq registered
 * @offset: of it from the thread pointer
 * @signature: that it was registered with
 *
 * Then detours count by themselves. Before the build.
 */
void dp_engine_set_rseq(struct dp_engine *engine, s32 offset, u32 signature);

/** dp_engine_probed() - is there a probe among @len bytes at @addr, or may there be
 *  one later? */
bool dp_engine_probed(const struct dp_engine *engine, u64 addr, u64 len);

/**
 * dp_engine_add_hook() - watch a system call of libc
 * @addr: address of its "mov $nr, %eax", which leads straight to "syscall"; or of a
 *        call or jump, if @nr goes through other functions
 * @code: DP_REGION_MAX bytes from there
 * @nr: number of the call
 * @watched: it is made where it stands, between two calls of the agent, because
 *           it may return twice on one stack; else the agent makes it
 *
 * The call then passes through the agent (port/user/signals/hook.c, watch.c). Probes on any of
 * these instructions are told from the hook's detour.
 * Return: 0, -ENOMEM.
 */
int dp_engine_add_hook(struct dp_engine *engine, u64 addr, const u8 *code,
		       u32 nr, bool watched);
/** dp_engine_hooked_call() - where the hook at @addr has its last instruction made, which
 *  is the call, and told of before; or, @behind, where that returns to. Return: false if
 *  there is none. */
bool dp_engine_hooked_call(const struct dp_engine *engine, u64 addr,
			   bool behind, u64 *to);

/**
 * struct dp_program_spec - a program as it is inserted
 * @name: of what it probes, for whoever asks later
 * @code: 8-byte words; @starts: where the handlers of its @nr_starts probes begin
 * @nr_lv, @nr_gv: variables it uses, at most 256 each
 * @jmpmax: jumps a hit, at most 65535; @logmax: bytes a record, at most DP_VM_LOG
 * @stack: elements of the RPN stack: 1024 or 32
 *
 * What exceeds a limit is clamped.
 */
struct dp_program_spec {
	const char *name;
	const u8 *code;
	u32 code_len;
	const u32 *starts;
	u32 nr_starts;
	u32 nr_lv, nr_gv;
	u32 jmpmax, logmax, stack;
};

/**
 * dp_engine_add_program() - verify a program and take it in
 * @program: number of the new program, from 0
 * @offset: on failure, where in the code
 * @why: on failure, a static phrase
 *
 * Before the layout. The code is copied.
 * Return: 0; -EINVAL the verifier rejects it; -ENOMEM.
 */
int dp_engine_add_program(struct dp_engine *engine,
			  const struct dp_program_spec *spec, u32 *program,
			  u32 *offset, const char **why);

/** struct dp_binding - how a probe runs a program; see struct dp_probe_entry */
struct dp_binding {
	u32 program;
	u32 start;
	u16 major, minor;
	u32 passcount, maxhits;
	bool logonfault;
};

/** dp_engine_bind() - have a probe run a program. Before the layout. */
void dp_engine_bind(struct dp_engine *engine, u32 probe,
		    const struct dp_binding *binding);

/**
 * dp_engine_follow() - a probe begins visits: calls of the function it is at the
 * entry of
 * @logs: a record is made when one ends: struct dp_leaving, and what the probe's
 *        program has logged. Then some probe has to be bound to a program.
 *
 * Before dp_engine_bind() and the layout. Return: 0; -ENOMEM too many probes.
 */
int dp_engine_follow(struct dp_engine *engine, u32 probe, bool logs);
/** dp_engine_follow_xmm() - what its calls return is in xmm0, not in rax. After
 *  dp_engine_follow(), before the layout. */
void dp_engine_follow_xmm(struct dp_engine *engine, u32 probe);

/**
 * dp_engine_add_exit() - visits end at an instruction
 * @enter: the probe that begins them
 *         DP_NO_GROUP: none; calls that have jumped to this function end here
 * @way: DP_WAY_TAIL, DP_WAY_TAKEN, DP_WAY_SHARED, DP_WAY_ONWARD
 *
 * At this instruction the stack pointer is what it was at the entry.
 * Return: as dp_engine_add().
 */
int dp_engine_add_exit(struct dp_engine *engine, u32 enter, u32 way, u64 addr,
		       const u8 *code, size_t size, u32 *probe,
		       const char **why);

/**
 * dp_engine_add_unwind() - at an instruction a part of the stack is left, with the
 * visits that are on it
 * @way: DP_WAY_UNTIL_CX, DP_WAY_UNTIL_DI
 * Return: as dp_engine_add().
 */
int dp_engine_add_unwind(struct dp_engine *engine, u32 way, u64 addr,
			 const u8 *code, size_t size, u32 *probe);

/**
 * dp_engine_visits_want() - is it time for a further table of visits?
 * Return: bytes that it takes, whole pages; 0: there is room, or there are as many
 * as there can be.
 */
u64 dp_engine_visits_want(const struct dp_engine *engine);
/** dp_engine_visits_grow() - here it is, all zeros: at @addr in the target, and at
 *  @ours here, as long as the engine lives */
void dp_engine_visits_grow(struct dp_engine *engine, u64 addr, void *ours);
/** dp_engine_visits_like() - an engine that takes over from another is to have the same
 *  tables. Before the layout. */
void dp_engine_visits_like(struct dp_engine *engine,
			   const struct dp_engine *of);
/** dp_engine_visits_owed() - bytes of the next table that @of has and @engine, which is
 *  built, has not yet; 0: it has as many. It goes to dp_engine_visits_grow(). */
u64 dp_engine_visits_owed(const struct dp_engine *engine,
			  const struct dp_engine *of);
/** dp_engine_visits_at() - where a table is in the target; 0: there is none */
u64 dp_engine_visits_at(const struct dp_engine *engine, u32 table);

/**
 * dp_engine_watch_linker() - a hidden probe where the dynamic linker tells
 * debuggers of libraries
 * @addr: of _dl_debug_state(); @code: bytes found there
 * @state: address of r_state in _r_debug
 *
 * The last probe that is added. Before the layout. Return: as dp_engine_add().
 */
int dp_engine_watch_linker(struct dp_engine *engine, u64 addr, const u8 *code,
			   size_t size, u64 state, const char **why);
/** dp_engine_arm_linker() - that probe alone, before dp_engine_arm(). Return: as that. */
int dp_engine_arm_linker(struct dp_engine *engine, struct dp_target *target,
			 u64 *bad);
/** dp_engine_set_pending() - name a spec that waits for its library, for those who
 *  list the probes. Before the build. */
void dp_engine_set_pending(struct dp_engine *engine, const char *spec);

/**
 * dp_engine_inherit() - go on counting where another engine has ended
 * @of: of the same process, disarmed; the first probes and programs of @engine are
 *      all of its
 *
 * Between dp_engine_build() and dp_engine_arm().
 */
void dp_engine_inherit(struct dp_engine *engine, const struct dp_engine *of);

/**
 * dp_engine_admit() - may visits begin?
 *
 * From the end of dp_engine_arm() on they may. It is taken back before the sites
 * are disarmed: while only some of them are armed a visit could begin and its end
 * not be seen.
 */
void dp_engine_admit(struct dp_engine *engine, bool may);

/**
 * struct dp_account - what became of the calls of a function that were entered
 * @cut: so many may be missing from the sum: a signal's handler left the agent for
 *       good while they were being counted
 */
struct dp_account {
	u64 returned, tail, unwound, abandoned;
	u64 missed, damaged, cut;
};

/** dp_engine_account() - of the probe @enter */
void dp_engine_account(const struct dp_engine *engine, u32 enter,
		       struct dp_account *account);

struct dp_record_copy;
/**
 * struct dp_visit_copy - a visit that has not ended
 * @index: its place; @serial: and which one there
 * @probe: at whose function
 * @slot: where its return address is; @ret: which one that is, 0: not known
 * @whole: it is neither beginning nor ending
 */
struct dp_visit_copy {
	u32 index, probe;
	u64 serial, slot, ret;
	bool whole;
};

/** dp_engine_visits() - those that are in the tables; safe while the target runs.
 *  Return: how many. */
size_t dp_engine_visits(const struct dp_engine *engine,
			void (*take)(void *arg,
				     const struct dp_visit_copy *visit),
			void *arg);
/** dp_engine_visits_still() - has it not ended since? */
bool dp_engine_visits_still(const struct dp_engine *engine,
			    const struct dp_visit_copy *visit);
/** dp_engine_visit_record() - the record of a visit that is found to be over:
 *  DP_LEFT_ABANDONED, now */
void dp_engine_visit_record(const struct dp_engine *engine,
			    const struct dp_visit_copy *visit,
			    struct dp_record_copy *record);

/** dp_engine_set_tid_offset() - how far behind a thread's pointer its id is;
 *  where that is not known, the kernel is asked. Before the build. */
void dp_engine_set_tid_offset(struct dp_engine *engine, u32 offset);

/** struct dp_pool_need - a pool that has to be placed */
struct dp_pool_need {
	u64 low, high; /* everything it must reach lies in between */
	u64 size; /* bytes, whole pages */
	u64 file_offset; /* of what is mapped there, and in dp_mapping.file */
	u64 addr; /* set by dp_engine_place() or the caller */
};

/** struct dp_layout_need - what has to be mapped */
struct dp_layout_need {
	u64 arena_size; /* bytes, whole pages */
	u64 file_size; /* of each of the files */
	u32 own_off, private_off, tables_off; /* parts: see struct dp_arena_control */
	u32 nr_pools;
	struct dp_pool_need pools[DP_MAX_POOLS];
};

/**
 * dp_engine_layout() - how much memory the sites need, and where about
 * @shards: counter shards wanted, a power of two; fewer are taken where there
 *          are very many probes
 * Return: the needs, owned by the engine; NULL when the sites lie so far apart
 * that DP_MAX_POOLS pools do not serve them.
 */
struct dp_layout_need *dp_engine_layout(struct dp_engine *engine, u32 shards);

/** struct dp_hole - unmapped addresses [start, end) */
struct dp_hole {
	u64 start, end;
	bool above_heap; /* begins where the heap would grow */
	bool ours; /* mapped by us, and only for landings */
};

/**
 * dp_engine_place() - choose an address for each pool
 * @holes: ascending
 *
 * Source: user-space rules: within 2 GB of all that a copy refers to; not
 * right above the heap while there is another place.
 * Return: 0; -ENOMEM there is no room in reach.
 */
int dp_engine_place(struct dp_engine *engine, const struct dp_hole *holes,
		    size_t n);

/** struct dp_mapping - where things are, in the tool and in the target */
struct dp_mapping {
	void *file; /* as the region is laid out, in the tool: arena, pools' code */
	u64 base; /* address of the agent's text in the target */
	u64 hook_entry; /* address of dp_hook_entry in the target */
	u64 detour_entry; /* and of dp_detour_entry */
	u32 owner; /* the target's pid, in its own namespace */
	u32 tool;
	bool fsgsbase; /* rdfsbase can be used */
	bool small_stacks; /* there is hardly any room where calls are made */
	u32 forbidden; /* calls that must not be made: bits of port_calls.h */
	u64 tool_start;
};

/**
 * dp_engine_build() - make the copies and the tables
 *
 * Nothing in the target refers to them yet.
 * Return: 0; -ENOMEM a copy does not reach what it refers to.
 */
int dp_engine_build(struct dp_engine *engine, const struct dp_mapping *map);

/**
 * dp_engine_fork() - the engine for a process that a fork has made of the target
 * @map: its own file, its parent's base
 * @was, @is: the id of the thread that forked, and what it is in the child
 *
 * Copies and tables are the same, byte for byte, and the sites are armed. What has
 * been counted and recorded is the parent's. For what the thread was in the middle of
 * see dp_engine_fork_contexts() and dp_engine_fork_visits().
 * Return: 0; -ENOMEM; -EOPNOTSUPP where probes come and go (dp_engine_reside()): those
 * of Kprobes and Uprobes are the process's for which they were registered, and no
 * child's.
 */
int dp_engine_fork(const struct dp_engine *engine, const struct dp_mapping *map,
		   u32 was, u32 is, struct dp_engine **child);

/**
 * dp_engine_fork_contexts() - a hit that the thread was in the middle of when it forked
 * goes on in the child; those of its parent's other threads do not
 * @target: the child, stopped
 */
void dp_engine_fork_contexts(struct dp_engine *child, struct dp_target *target,
			     u32 was, u32 is);

/**
 * dp_engine_fork_visits() - the child returns from what its parent was in, too
 * @holds: is this the word at @slot of the child's memory?
 *
 * When it has as many tables: dp_engine_visits_owed(). These are DP_TALLY_BROUGHT.
 */
void dp_engine_fork_visits(struct dp_engine *child, const struct dp_engine *of,
			   u32 was, u32 is,
			   bool (*holds)(void *arg, u64 slot, u64 word),
			   void *arg);

/** dp_engine_need() - what dp_engine_layout() said, with the addresses */
const struct dp_layout_need *dp_engine_need(const struct dp_engine *engine);

/**
 * dp_engine_table() - what belongs at DP_TABLE_OFFSET
 * @words: addresses of the counters of each CPU in turn; DP_MAX_SHARDS at most
 * @n: how many
 * Return: false if detours do not count by themselves.
 */
bool dp_engine_table(const struct dp_engine *engine, u64 *words, u32 *n);

/**
 * dp_engine_reside() - the engine is for a process that probes itself
 * @max_sites: addresses that it will probe at most, in all
 *
 * Before the layout. It is built with its hooks alone, and grows later: live.h.
 */
void dp_engine_reside(struct dp_engine *engine, u32 max_sites);

/**
 * dp_engine_ask() - its probes' handlers run in the tool: DP_KIND_ASK
 * @n: threads that can wait for one at once; others wait for these
 *
 * After dp_engine_reside(), which then means another process than our own.
 */
void dp_engine_ask(struct dp_engine *engine, u32 n);

/** dp_engine_caught() - how many signals the hit half has to catch: the first
 *  so many of dp_caught(). After the build. */
u32 dp_engine_caught(const struct dp_engine *engine);

/** dp_engine_arena() - the shared memory in the tool; NULL before the build */
struct dp_arena *dp_engine_arena(const struct dp_engine *engine);

/**
 * dp_engine_arm_hooks() - patch the hooked system calls
 * Return: 0; -EBUSY the text is not what it was; a write error. Nothing stays
 * armed on failure.
 */
int dp_engine_arm_hooks(struct dp_engine *engine, struct dp_target *target);

/**
 * dp_engine_arm() - put a breakpoint at every site
 * @bad: on failure the address concerned, or NULL
 * Return: as above; on failure every site is disarmed again.
 */
int dp_engine_arm(struct dp_engine *engine, struct dp_target *target, u64 *bad);

/** dp_engine_want() - is the site of a probe to be armed? All are at first. */
void dp_engine_want(struct dp_engine *engine, u32 probe, bool wanted);

/**
 * dp_engine_apply() - arm the sites that are wanted, disarm the others
 *
 * In one batch, after the first dp_engine_arm().
 * Return: as dp_engine_arm(), but what is done stays done.
 */
int dp_engine_apply(struct dp_engine *engine, struct dp_target *target,
		    u64 *bad);

/**
 * dp_engine_disturbed() - has somebody else put breakpoints where jumps of ours begin, or
 * taken them away again?
 *
 * To be asked now and then: while a breakpoint of the kernel's stands there the process
 * is right, and after that has gone it would not be. Threads run.
 */
bool dp_engine_disturbed(const struct dp_engine *engine,
			 struct dp_target *target);
/**
 * dp_engine_yield() - give way to them, and come back
 * @tell: called for each site that has given way, and for each that is armed again
 * Return: 0; an error of writing.
 */
int dp_engine_yield(struct dp_engine *engine, struct dp_target *target,
		    void (*tell)(void *arg, u64 addr, bool away), void *arg);

/** dp_engine_strays() - how often somebody came to the middle of a jump: each
 *  time costs a trap */
u64 dp_engine_strays(const struct dp_engine *engine);

/** dp_engine_gone() - sites whose code was not there any more when they were disarmed */
size_t dp_engine_gone(const struct dp_engine *engine);
/** dp_engine_is_gone() - is the site of a probe one of them? */
bool dp_engine_is_gone(const struct dp_engine *engine, u32 probe);
/** dp_engine_set_gone() - the code of a probe that has been added is not there: it is
 *  known, and never armed. Before the build. */
void dp_engine_set_gone(struct dp_engine *engine, u32 probe);
/** dp_engine_late() - how often libraries were in place and nobody looked in time */
u32 dp_engine_late(const struct dp_engine *engine);
/** dp_engine_of_children() - hits by others in the target's memory: vfork */
u64 dp_engine_of_children(const struct dp_engine *engine);

/** dp_engine_is_quiesced() - is dp_engine_arm() to be called while nobody runs? */
bool dp_engine_is_quiesced(const struct dp_engine *engine);
/**
 * dp_engine_inside() - is an address inside what a jump will replace?
 * @to: where a thread that is there goes on instead
 */
bool dp_engine_inside(const struct dp_engine *engine, u64 addr, u64 *to);

/** dp_engine_hits() - hits of a probe so far; readable while it runs */
u64 dp_engine_hits(const struct dp_engine *engine, u32 probe);
/** dp_engine_tally() - what became of the hits and records of a probe */
u64 dp_engine_tally(const struct dp_engine *engine, u32 probe,
		    enum dp_tally what);
/**
 * dp_engine_middle() - traps in the middle of a jump that are due to a probe's site
 *
 * Of a site that is inside another's jump: threads that came to it by a branch, which
 * are hits. Of one that begins a jump: threads that came to an instruction in it where
 * there is no site; these are none. Probes of one site have the same. Exact.
 */
u64 dp_engine_middle(const struct dp_engine *engine, u32 probe);
/** dp_engine_is_covered() - is its site inside the jump of another one? */
bool dp_engine_is_covered(const struct dp_engine *engine, u32 probe);

/** struct dp_record_copy - a record, out of the target's reach */
struct dp_record_copy {
	struct dp_record head;
	u8 data[sizeof(struct dp_leaving) + DP_VM_LOG];
};

/**
 * dp_engine_records() - take what is in the rings
 * @take: called for each record, in the order of its ring
 * @ended: nobody writes any more: what is half written is torn
 *
 * The target can write anything there; what does not make sense is dropped and
 * counted as torn.
 * Return: how many were taken.
 */
size_t dp_engine_records(struct dp_engine *engine,
			 void (*take)(void *arg,
				      const struct dp_record_copy *record),
			 void *arg, bool ended);
/** dp_engine_records_stuck() - does a ring wait for a record behind which a quarter of
 *  it has been taken? Whoever began it may have been taken away for good. */
bool dp_engine_records_stuck(const struct dp_engine *engine);
/** dp_engine_records_settled() - nobody is writing just now: what is half written is
 *  torn */
void dp_engine_records_settled(struct dp_engine *engine);
/** dp_engine_ticks() - the clock that records are stamped with, now */
u64 dp_engine_ticks(void);
/** dp_engine_torn() - records that were dropped so far */
u64 dp_engine_torn(const struct dp_engine *engine);

/**
 * dp_engine_settle() - discard records of threads that have ended before their
 *                      instruction completed
 * @target: where they were; @alive: is a thread still there?
 */
void dp_engine_settle(struct dp_engine *engine, struct dp_target *target,
		      bool (*alive)(void *arg, u32 tid), void *arg);
/** dp_engine_settle_all() - the process has ended, or is not probed any more: of all */
void dp_engine_settle_all(struct dp_engine *engine);

/** dp_engine_local() - value of a variable; 0 past the end */
u64 dp_engine_local(const struct dp_engine *engine, u32 program, u32 index);
u64 dp_engine_global(const struct dp_engine *engine, u32 index);
/** dp_engine_globals() - how many there are */
u32 dp_engine_globals(const struct dp_engine *engine);

u64 dp_engine_missed(const struct dp_engine *engine, u32 probe);
/** dp_engine_mode() - "jump" or "trap"; dp_engine_reason() why not "jump" */
const char *dp_engine_mode(const struct dp_engine *engine, u32 probe);
const char *dp_engine_reason(const struct dp_engine *engine, u32 probe);
/** dp_engine_sites() - addresses probed, hooks not counted */
size_t dp_engine_sites(const struct dp_engine *engine);
/** dp_engine_jumps() - those of them that are armed with a jump */
size_t dp_engine_jumps(const struct dp_engine *engine);
/** dp_engine_site() - address of the i-th site, hooks included; 0 past the end */
u64 dp_engine_site(const struct dp_engine *engine, size_t i);

#endif
