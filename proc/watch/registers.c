// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registers: watchpoints without the kernel's events, for those who may not have any.
 *
 *     store ─► debug trap ─► SIGTRAP ─► stop: the tool ─┬─ has the hit counted, and drops the signal
 *                                            │          └─ or lets it go on with a tag: the agent
 *                                            └ the tool is dead: the agent drops it
 *
 * A thread that is made has no registers, and stops for the tool before its first instruction. A
 * thread that lives on keeps them when the tool has been killed. So they are set while the agent
 * catches SIGTRAP, and the arena says which they are. Whoever takes the agent out clears them first.
 *
 *     agent ─► noted in the arena ─► set ─► … ─► cleared ─► hits on their way ─► no tracer ─► agent out
 *                       killed here: dp_registers_return(), by the guardian or the next tool ──┘
 */
#include "engine/layout/arena.h"
#include "engine/site/engine.h"
#include "arch/debug.h"
#include "proc/attach/attach.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "proc/ptrace/debug.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/registers.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/tree.h"
#include "proc/tree.h"
#include "proc/watch.h"
#include "proc/watch/guardian.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#define BATCH 256 /* hits of one turn */
#define TURN_MS 20 /* a filter install, or the like, waits no longer */
#define LOADER_MS 1 /* nor a loader event, for so long behind a SIGTRAP: */
#define LOADER_NS 20000000ll
#define END_TRIES 100
#define END_NAP_NS 200000
#define KNOWN 64
#define NO_SLOT DP_REGISTERS
/* sigaction(2); linux/perf_event.h: they are of <signal.h>'s newer versions */
#define HWBKPT 4
#define PERF 6

/* A thread's id as its process knows it */
struct known {
	pid_t tid;
	u32 inside;
};

/** struct dp_watch_registers
 * @slot: of each watchpoint, its register, or NO_SLOT; @addr, @control: of all
 * @own: the engine of an agent that is there for the handler alone
 * @armed: threads that stop get registers; @taken: hits of this turn
 * @status: the process's, open; @turns: the tool waits for hits, so that threads may wait for it
 * @unhandled: SIGTRAP has no handler, for it was forced upon thread @barred, which had it blocked
 * @spent: CPU time of the tool in turns with hits, and @timed: how many these were
 */
struct dp_watch_registers {
	struct dp_traced traced;
	struct dp_process *proc;
	struct dp_tree *tree;
	struct dp_engine *own;
	struct dp_guardian guardian;
	const struct dp_watchpoint *v;
	size_t n;
	u32 slot[DP_WATCHPOINTS_BOTH];
	u64 addr[DP_REGISTERS], control, hits[DP_WATCHPOINTS_BOTH];
	struct dp_watch_taker taker;
	struct known known[KNOWN];
	bool armed, turns, unhandled;
	int status;
	pid_t barred;
	u32 taken;
	u64 bare, spent, timed;
	s64 loader;
};

static struct known *known_of(struct dp_watch_registers *r, pid_t tid)
{
	return &r->known[(u32)tid % KNOWN];
}

static void begin(struct dp_traced *traced, pid_t tid)
{
	struct dp_watch_registers *r = (struct dp_watch_registers *)traced;
	int set;

	if (!r->armed)
		return;
	set = dp_registers_set(tid, r->addr, r->control);
	if (!set)
		return;
	known_of(r, tid)->tid = 0;
	r->bare += set == -ENOSPC;
	dp_kill_point("registers: set");
}

/* Does the process have a handler of SIGTRAP still? The status is of a file that is open. */
static bool is_caught(const struct dp_watch_registers *r)
{
	char text[4096];
	const char *at;
	ssize_t n = pread(r->status, text, sizeof(text) - 1, 0);

	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, "SigCgt:");
	return !at || strtoull(at + 7, NULL, 16) >> (SIGTRAP - 1) & 1;
}

/* The kernel forces the signal of a register. A thread that had blocked SIGTRAP where the agent does not see it
 * has that open now, and the process no handler. */
static void block_again(struct dp_watch_registers *r, pid_t tid)
{
	u64 mask;

	r->barred = 0;
	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(mask), &mask))
		return;
	mask |= 1ull << (SIGTRAP - 1);
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
}

/* Return: the thread stays stopped until there is a handler again. */
static bool waits_for_handler(struct dp_watch_registers *r, pid_t tid)
{
	if (is_caught(r))
		return false;
	r->unhandled = r->traced.full = true;
	if (!r->barred)
		r->barred = tid;
	return r->turns;
}

static u32 inside_of(struct dp_watch_registers *r, pid_t tid)
{
	struct known *k = known_of(r, tid);
	struct dp_status st;

	if (k->tid != tid) {
		if (dp_status_read(r->proc->pid, tid, &st))
			return 0;
		*k = (struct known){ tid, st.ns_pid };
	}
	return k->inside;
}

static u32 count(struct dp_watch_registers *r, u32 registers)
{
	u32 i, which = 0;

	for (i = 0; i < r->n; i++)
		if (registers >> r->slot[i] & 1) {
			r->hits[i]++;
			which |= 1u << i;
		}
	return which;
}

/* What the agent itself accesses, for a program at a watchpoint, is no hit. */
static bool is_agents(const struct dp_watch_registers *r, u64 pc)
{
	return pc - r->proc->base < DP_AGENT_TEXT;
}

/* As the kernel sends it for an event. Several watchpoints that one instruction hits raise one signal. */
static int tag(const struct dp_watch_registers *r, pid_t tid, siginfo_t *info,
	       u32 which)
{
	u64 *fields = (u64 *)&info->si_addr;

	fields[1] = r->v[__builtin_ctz(which)].tag;
	fields[2] = 0;
	info->si_code = PERF;
	return ptrace(PTRACE_SETSIGINFO, tid, 0, info) ? 0 : SIGTRAP;
}

/* @info: of a trap with a program's single step that is to go on, too, or NULL */
static int hit(struct dp_watch_registers *r, pid_t tid, u64 pc, u32 registers,
	       siginfo_t *info)
{
	struct dp_watch_hit h = { .pc = pc };

	if (is_agents(r, pc))
		return 0;
	h.which = count(r, registers);
	r->traced.full = ++r->taken >= BATCH;
	if (!h.which)
		return 0;
	if (r->v->tag)
		return info ? tag(r, tid, info, h.which) : 0;
	h.tid = inside_of(r, tid);
	r->traced.full |= r->taker.take(r->taker.arg, &h);
	return 0;
}

static bool has_ours(const struct dp_watch_registers *r, u32 registers)
{
	u32 i, ours = 0;

	for (i = 0; i < r->n; i++)
		ours |= 1u << r->slot[i];
	return registers & ours;
}

/* A trap of a debugger's register that has stayed is the program's, and so is one of its single steps. */
static int trap(struct dp_traced *traced, pid_t tid)
{
	struct dp_watch_registers *r = (struct dp_watch_registers *)traced;
	siginfo_t info;
	u32 registers;

	if (ptrace(PTRACE_GETSIGINFO, tid, 0, &info) ||
	    (info.si_code != HWBKPT && info.si_code != TRAP_TRACE))
		return SIGTRAP;
	if (waits_for_handler(r, tid))
		return -1;
	registers = dp_registers_hit(tid);
	if (!has_ours(r, registers))
		return SIGTRAP;
	dp_kill_point("registers: hit");
	if (info.si_code != HWBKPT) {
		hit(r, tid, (u64)info.si_addr, registers, NULL);
		return SIGTRAP;
	}
	if (!r->unhandled && tid != r->barred)
		return hit(r, tid, (u64)info.si_addr, registers, &info);
	hit(r, tid, (u64)info.si_addr, registers, NULL);
	if (tid == r->barred)
		block_again(r, tid);
	return 0;
}

static int cannot_handle(const struct dp_process *proc, const char *name,
			 const char *why, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"%s: process %d can be watched by perf events alone, which are not permitted here (kernel.perf_event_paranoid, CAP_PERFMON): without them a trap is a signal, which it cannot have: %s",
		name, proc->pid, why);
}

/* An agent without probes: it catches SIGTRAP, and keeps the program from blocking it. */
static int put_agent(struct dp_watch_registers *r, struct dp_diag *diag)
{
	if (dp_process_engine(r->proc))
		return 0;
	if (dp_engine_create(&r->own))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	return dp_process_install(r->proc, r->own, diag);
}

static int follow(struct dp_watch_registers *r, struct dp_diag *diag)
{
	int err = dp_tree_open(&r->tree);

	if (!err) {
		dp_tree_alone(r->tree, &r->traced);
		r->proc->traced = &r->traced;
		err = dp_tree_add(r->tree, r->proc);
	}
	return err ? dp_diag_set(diag, err, "process %d cannot be traced: %s",
				 r->proc->pid, strerror(-err)) :
		     0;
}

static u64 bits_of(const struct dp_watchpoint *w, u32 slot)
{
	return w->access == DP_WATCH_EXECUTE ?
		       dp_debug_execute(slot) :
		       dp_debug_bits(slot, w->len,
				     w->access == DP_WATCH_ACCESS);
}

/* Choose registers that no thread has in use: a debugger that was killed may have left some. */
static int choose(struct dp_watch_registers *r, size_t first,
		  struct dp_diag *diag)
{
	const struct dp_process *proc = r->proc;
	u64 used = 0, control;
	u32 slot = 0;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (!dp_registers_control(proc->threads[i].tid, &control))
			used |= control;
	for (i = first; i < r->n; i++, slot++) {
		while (slot < DP_REGISTERS &&
		       (used | r->control) & dp_debug_mask(slot))
			slot++;
		if (slot >= DP_REGISTERS)
			return dp_watch_taken(proc->pid, r->v[i].name, diag);
		r->slot[i] = slot;
		r->hits[i] = 0;
		r->addr[slot] = r->v[i].addr;
		r->control |= bits_of(&r->v[i], slot);
	}
	return 0;
}

/* For the tool that comes if this one is killed; and for the handler */
static void note(const struct dp_watch_registers *r)
{
	struct dp_arena_control *c = &dp_process_arena(r->proc)->control;
	u32 i;

	for (i = 0; i < DP_REGISTERS; i++)
		c->registers[i] = r->addr[i];
	__atomic_store_n(&c->register_traps, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&c->register_control, r->control, __ATOMIC_RELEASE);
	dp_kill_point("registers: noted");
}

/* @control: of those that are new */
static int set_all(struct dp_watch_registers *r, u64 control,
		   struct dp_diag *diag)
{
	const struct dp_process *proc = r->proc;
	int err = 0;
	size_t i;

	for (i = 0; i < proc->nr_threads && err >= 0; i++) {
		err = dp_registers_set(proc->threads[i].tid, r->addr, control);
		dp_kill_point("registers: set");
		if (err == -ESRCH)
			err = 0;
	}
	if (err >= 0)
		return 0;
	if (err == -ENOSPC)
		return dp_watch_taken(proc->pid, r->v[r->n - 1].name, diag);
	return dp_diag_set(
		diag, err,
		"%s cannot be watched: the kernel sets no debug register of a thread of process %d: %s",
		r->v->name, proc->pid, strerror(-err));
}

/* Clear those of @control in all threads. */
static void clear(const struct dp_watch_registers *r, u64 control)
{
	size_t i;

	for (i = 0; i < r->proc->nr_threads; i++) {
		dp_registers_clear(r->proc->threads[i].tid, r->addr, control);
		dp_kill_point("registers: dropped");
	}
}

/* Those from @first on go; they are cleared before that is noted. */
static void take_back(struct dp_watch_registers *r, size_t first, u64 had)
{
	clear(r, r->control & ~had);
	r->control = had;
	r->n = first;
	note(r);
}

static int arm(struct dp_watch_registers *r, size_t first, struct dp_diag *diag)
{
	u64 had = r->control;
	int err = first && dp_kill_point_fails("registers: more") ?
			  -EAGAIN :
			  dp_registers_hold(r->proc, diag);

	if (err) {
		r->n = first;
		return err;
	}
	err = choose(r, first, diag);
	if (!err) {
		note(r);
		err = set_all(r, r->control & ~had, diag);
	}
	if (err && r->armed)
		take_back(r, first, had);
	r->armed |= !err;
	dp_stop_release(r->proc);
	return err;
}

int dp_watch_registers_open(struct dp_watch_registers **out,
			    struct dp_process *proc,
			    const struct dp_watchpoint *watches, size_t n,
			    const struct dp_watch_taker *taker,
			    struct dp_diag *diag)
{
	struct dp_watch_registers *r = calloc(1, sizeof(*r));
	const char *why = dp_process_permits(proc).no_traps;
	int err;

	*out = r;
	if (!r)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	r->traced = (struct dp_traced){ .begin = begin, .trap = trap };
	r->proc = proc;
	r->v = watches;
	r->n = n;
	if (taker)
		r->taker = *taker;
	r->status = open(dp_path("/proc/%d/status", proc->pid).s,
			 O_RDONLY | O_CLOEXEC);
	if (why)
		return cannot_handle(proc, watches->name, why, diag);
	if (!dp_debug_works())
		return dp_debug_useless(diag);
	err = put_agent(r, diag);
	if (!err) {
		dp_guardian_open(&r->guardian, proc->pid);
		err = follow(r, diag);
	}
	return err ? err : arm(r, 0, diag);
}

static int over(const struct dp_watch_registers *r, struct dp_diag *diag)
{
	return dp_diag_set(diag, -ESRCH,
			   "process %d has ended, or executes another program",
			   r->proc->pid);
}

int dp_watch_registers_more(struct dp_watch_registers *r, size_t n,
			    struct dp_diag *diag)
{
	size_t first = r->n;

	if (!r->tree)
		return over(r, diag);
	r->n = n;
	return arm(r, first, diag);
}

/* The bits of a watchpoint's register in the control register */
static u64 bits_set(const struct dp_watch_registers *r, u32 watch)
{
	return r->slot[watch] == NO_SLOT ?
		       0 :
		       r->control & dp_debug_mask(r->slot[watch]);
}

/* A hit for which a thread has not stopped yet is counted for the watchpoint that had the register. */
static void take_hits(struct dp_watch_registers *r, const bool *go,
		      size_t first)
{
	u32 k, ours = 0;
	size_t i;

	for (k = 0; k < first; k++)
		if (go[k])
			ours |= 1u << r->slot[k];
	for (i = 0; i < r->proc->nr_threads; i++)
		count(r, dp_registers_take(r->proc->threads[i].tid, ours));
}

static u64 bits_that_go(const struct dp_watch_registers *r, const bool *go)
{
	u64 bits = 0;
	u32 i;

	for (i = 0; i < r->n; i++)
		if (go[i])
			bits |= bits_set(r, i);
	return bits;
}

/* @was: as it was before those that go were cleared, which left the bits @kept */
static void put_back(struct dp_watch_registers *r,
		     const struct dp_watch_registers *was, u64 kept)
{
	take_back(r, was->n, kept);
	memcpy(r->addr, was->addr, sizeof(r->addr));
	r->control = was->control;
	note(r);
	set_all(r, r->control & ~kept, NULL);
}

/* A tool that is killed leaves what the arena notes. So what goes is cleared before that is noted, and
 * what comes is noted before it is set. */
int dp_watch_registers_swap(struct dp_watch_registers *r, const bool *go,
			    size_t n, struct dp_diag *diag)
{
	const struct dp_watch_registers was = *r;
	u64 bits = bits_that_go(r, go), kept = r->control & ~bits;
	int err;
	u32 i;

	if (!r->tree)
		return over(r, diag);
	clear(r, bits);
	take_hits(r, go, r->n);
	r->control = kept;
	note(r);
	r->n = n;
	err = choose(r, was.n, diag);
	if (!err) {
		note(r);
		err = set_all(r, r->control & ~kept, diag);
	}
	if (err)
		put_back(r, &was, kept);
	for (i = 0; i < was.n && !err; i++)
		if (go[i])
			r->slot[i] = NO_SLOT;
	return err;
}

static void forget(struct dp_watch_registers *r, u32 watch)
{
	u32 i;

	r->control &= ~bits_set(r, watch);
	r->n--;
	for (i = watch; i < r->n; i++) {
		r->slot[i] = r->slot[i + 1];
		r->hits[i] = r->hits[i + 1];
	}
}

int dp_watch_registers_drop(struct dp_watch_registers *r, u32 watch)
{
	struct dp_process *proc = r->proc;
	u64 bits = watch < r->n ? bits_set(r, watch) : 0;
	bool set = bits && r->tree;
	int err = watch < r->n ? 0 : -ENOENT;

	if (!err && set)
		err = dp_kill_point_fails("registers: drop") ?
			      -EAGAIN :
			      dp_registers_hold(proc, NULL);
	if (err)
		return err;
	if (set)
		clear(r, bits);
	forget(r, watch);
	if (!set)
		return 0;
	note(r);
	dp_stop_release(proc);
	return 0;
}

/* It is traced no more. Threads that are stopped are let go by the next dp_stop_release(). */
static void leave_tree(struct dp_watch_registers *r)
{
	dp_tree_drop(r->tree, r->proc, true);
	r->proc->tree = NULL;
	r->proc->traced = NULL;
	dp_tree_close(r->tree);
	r->tree = NULL;
}

static s64 turn_ms(const struct dp_watch_registers *r, int ms)
{
	int most = dp_now_ns() < r->loader ? LOADER_MS : TURN_MS;

	return ms < most ? ms : most;
}

/* CPU time of this thread, in ns */
static u64 used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static enum dp_tree_what turn(struct dp_watch_registers *r, int ms,
			      struct dp_tree_event *event)
{
	u64 began = used();
	enum dp_tree_what what;

	r->taken = 0;
	r->traced.full = false;
	r->turns = true;
	what = dp_tree_next(r->tree, (int)turn_ms(r, ms), event);
	r->turns = false;
	if (r->taken) {
		r->spent += used() - began;
		r->timed += r->taken;
	}
	if (dp_tree_trapped(r->tree))
		r->loader = dp_now_ns() + LOADER_NS;
	return what;
}

/* The thread for whose call it is done may be the one that waits. */
static void handle_again(struct dp_watch_registers *r)
{
	if (dp_live_trap_again(r->proc))
		return;
	r->unhandled = false;
	dp_kill_point("registers: handled again");
}

bool dp_watch_registers_wait(struct dp_watch_registers *r, int ms)
{
	struct dp_tree_event event;
	enum dp_tree_what what;

	if (!r->tree)
		return true;
	what = turn(r, ms, &event);
	if (r->unhandled && what == DP_TREE_NOTHING)
		handle_again(r);
	if (what == DP_TREE_EXECED)
		ptrace(PTRACE_DETACH, event.pid, 0, 0);
	if (what == DP_TREE_EXECED || what == DP_TREE_EXITED) {
		leave_tree(r);
		dp_guardian_dismiss(&r->guardian);
	}
	return !r->tree;
}

u64 dp_watch_registers_count(const struct dp_watch_registers *r, u32 watch)
{
	return r->hits[watch];
}

u64 dp_watch_registers_bare(const struct dp_watch_registers *r)
{
	return r->bare;
}

u64 dp_watch_registers_cost(const struct dp_watch_registers *r)
{
	return r->timed ? r->spent / r->timed : 0;
}

static bool is_over(const struct dp_watch_registers *r)
{
	return r->proc->exited || r->proc->execed[0];
}

/* A thread that was stopped before its signal came has that still to come. */
static bool any_trap_waits(const struct dp_process *proc)
{
	struct dp_status st;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (!dp_status_read(proc->pid, proc->threads[i].tid, &st) &&
		    st.pending >> (SIGTRAP - 1) & 1)
			return true;
	return false;
}

/* Return: 1 once more; 0 no thread is traced any more; a negative errno. */
static int let_all_go(struct dp_watch_registers *r, bool last)
{
	int err;

	r->traced.full = false;
	dp_tree_pass(r->tree);
	if (is_over(r))
		return 0;
	err = dp_registers_hold(r->proc, NULL);
	if (err)
		return err;
	if (any_trap_waits(r->proc) && !last) {
		dp_stop_release(r->proc);
		dp_nap(END_NAP_NS);
		return 1;
	}
	leave_tree(r);
	dp_stop_release(r->proc);
	return 0;
}

static int clear_all(struct dp_watch_registers *r)
{
	struct dp_arena_control *c = &dp_process_arena(r->proc)->control;
	int err = dp_registers_return(r->proc, c, NULL);

	if (!err)
		__atomic_store_n(&c->register_control, 0, __ATOMIC_RELEASE);
	return err;
}

int dp_watch_registers_end(struct dp_watch_registers *r)
{
	int err, tries = 0;

	if (!r || !r->tree) {
		if (r)
			dp_guardian_dismiss(&r->guardian);
		return 0;
	}
	r->armed = false;
	dp_tree_pass(r->tree);
	err = is_over(r) ? 0 : clear_all(r);
	if (!err && !is_over(r))
		do
			err = let_all_go(r, ++tries == END_TRIES);
		while (err > 0);
	dp_kill_point("registers: let go");
	if (r->tree)
		leave_tree(r);
	err = is_over(r) ? 0 : err;
	/* Where registers are left it tries again when the tool has ended. */
	if (!err)
		dp_guardian_dismiss(&r->guardian);
	return err;
}

void dp_watch_registers_close(struct dp_watch_registers *r)
{
	if (!r)
		return;
	dp_engine_destroy(r->own);
	if (r->status >= 0)
		close(r->status);
	free(r);
}
