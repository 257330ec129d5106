// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * program: one hit of a probe that runs a program.
 *
 *   pass? over? ─► context ─► run ─► nothing logged ──────────────► free
 *                                    instruction will complete ─► commit, free
 *                                    will not ─────────────────► discard, free
 *                                    perhaps ─► pending, until it has
 *
 * At the entry of a function whose calls are tracked, the logged bytes wait in the
 * instance.
 */
#include "engine/hit/program.h"
#include "engine/hit/hit.h"
#include "engine/hit/backtrace.h"
#include "engine/hit/call.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"
#include "engine/instance/exits.h"
#include "engine/ring/aggregate.h"
#include "engine/ring/log.h"
#include "port.h"
#include "engine/vm/vm.h"

static const struct dp_program_entry *program_of(const struct dp_probe_entry *p)
{
	const struct dp_program_entry *programs =
		dp_at(dp_arena.control.program_off);

	return &programs[p->program - 1];
}

/* Count this execution, unless passcount or maxhits forbids it. Without such limits nothing reads
 * the count. */
static bool admit(u32 probe)
{
	struct dp_probe_state *s = dp_probe_state(probe);
	s64 max = dp_probe(probe)->maxhits, n;

	n = __atomic_load_n(&s->count, __ATOMIC_RELAXED);
	if (max >= DP_HITS_UNLIMITED && n >= 0 &&
	    !__atomic_load_n(&s->status, __ATOMIC_RELAXED))
		return true;
	do {
		if (n >= max || __atomic_load_n(&s->status, __ATOMIC_RELAXED)) {
			/* Of returns: the call is in the account already. */
			if (!(dp_probe(probe)->way & DP_WAY_TELLS))
				dp_tally(probe, DP_TALLY_DISABLED);
			return false;
		}
	} while (!__atomic_compare_exchange_n(&s->count, &n, n + 1, false,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	if (n >= 0)
		return true;
	dp_tally(probe, DP_TALLY_PASSED);
	return false;
}

static void resume(struct dp_vm *vm, u16 minor)
{
	u32 program = dp_probe(vm->probe)->program, i;

	for (i = 0; i < dp_arena.control.nr_probes; i++)
		if (dp_probe(i)->program == program &&
		    dp_probe(i)->minor == minor)
			__atomic_fetch_and(&dp_probe_state(i)->status,
					   ~DP_PROBE_SUSPENDED,
					   __ATOMIC_RELAXED);
}

static void aggregate(u32 table, const u64 *first)
{
	if (first)
		dp_aggregate_put(dp_aggregate_table(table), first);
	else
		dp_aggregate_lose(dp_aggregate_table(table));
}

static void give_room(struct dp_context *ctx,
		      const struct dp_program_entry *prog)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_context *first = dp_at(c->context_off);
	u32 heap = dp_probe(ctx->probe)->heap;
	struct dp_vm *vm = &ctx->vm;

	vm->log = dp_at(c->room_off + (u64)(ctx - first) * c->room_stride);
	vm->traces = vm->log + c->log_room;
	vm->heap = vm->traces + c->trace_room;
	vm->tracemax = prog->tracemax;
	vm->heapmax = heap < c->heap_room ? heap : c->heap_room;
	vm->auto_trace = prog->auto_trace;
	vm->globals = c->globals_off ? dp_at(c->globals_off) : NULL;
}

static void prepare(struct dp_context *ctx, const struct dp_hit *hit,
		    struct dp_regs *regs)
{
	const struct dp_probe_entry *p = dp_probe(ctx->probe);
	struct dp_vm *vm = &ctx->vm;
	const struct dp_program_entry *prog = program_of(p);

	vm->code = dp_at(prog->code_off);
	vm->pc = p->start;
	vm->lv = dp_at(prog->lv_off);
	vm->nr_lv = prog->nr_lv;
	vm->gv = dp_at(dp_arena.control.gv_off);
	vm->nr_gv = dp_arena.control.nr_gv;
	vm->stack_mask = prog->stack_mask;
	vm->jmpmax = prog->jmpmax;
	vm->logmax = prog->logmax;
	give_room(ctx, prog);
	vm->ex_mask = (u16)p->ex_mask;
	vm->regs = regs;
	vm->fpstate = hit->fpstate;
	vm->told = hit->before;
	vm->safe_low = hit->low;
	vm->safe_high = hit->high;
	vm->resume = resume;
	vm->external = dp_external_call;
	vm->aggregate = aggregate;
	vm->backtrace = dp_backtrace_take;
	vm->entered = NULL;
	vm->entered_len = 0;
	vm->probe = ctx->probe;
	vm->tid = ctx->tid;
	vm->major = p->major;
	vm->minor = p->minor;
}

static void obey(u32 probe, u8 end)
{
	u32 bit = end == DP_VM_REMOVE  ? DP_PROBE_REMOVED :
		  end == DP_VM_SUSPEND ? DP_PROBE_SUSPENDED :
					 0;

	if (bit)
		__atomic_fetch_or(&dp_probe_state(probe)->status, bit,
				  __ATOMIC_RELAXED);
}

static bool has_record(const struct dp_vm *vm)
{
	return vm->end != DP_VM_ABORT &&
	       (vm->lp || vm->stp || vm->truncated || vm->facility ||
		vm->end == DP_VM_EXCEPTION);
}

/* Return: true if the record waits. */
static bool settle(struct dp_context *ctx, const struct dp_site_entry *site,
		   const struct dp_hit *hit)
{
	enum dp_completes completes = DP_COMPLETES;
	bool held;

	/* A debugger sees the instruction before it has run. */
	if (!dp_probe(ctx->probe)->logonfault &&
	    ctx->vm.facility != DP_FACILITY_DEBUGGER)
		completes = dp_completes(site, hit, ctx->vm.regs);
	switch (completes) {
	case DP_COMPLETES:
		dp_facility_due(ctx, DP_FACILITY_COMMITS);
		held = dp_hold_begin(ctx, hit);
		dp_log_commit(ctx);
		if (held)
			dp_hold_end(ctx);
		return false;
	case DP_COMPLETES_NOT:
		dp_log_discard(ctx);
		return false;
	case DP_COMPLETES_PERHAPS:
		break;
	}
	return true;
}

static bool read_word(const struct dp_hit *hit, u64 at, u64 *word)
{
	if (!dp_hit_knows(hit, at))
		return dp_port_read(word, at, DP_WORD) == DP_WORD;
	*word = *(const u64 *)at;
	return true;
}

/* The thread is at a function's entry. Where it would return to cannot be read: it goes on. */
static void leave(const struct dp_context *ctx, const struct dp_hit *hit)
{
	struct dp_hit *mine = (void *)ctx->hit;
	u64 back = 0;

	if (ctx->vm.end != DP_VM_LEAVE || ctx->instance ||
	    !read_word(hit, hit->sp, &back))
		return;
	dp_hit_put_place(hit, back, hit->sp + DP_WORD);
	mine->left = true;
}

/* On the thread's stack: the frame of a caught signal, which may come, has room nowhere else. */
static void run(struct dp_context *ctx)
{
	const struct dp_hit *hit = (const void *)ctx->hit;
	const struct dp_site_entry *sites = dp_at(dp_arena.control.site_off);

	if (__atomic_load_n(&dp_arena.hit.pending, __ATOMIC_RELAXED))
		dp_pending_abandon(ctx->tid, hit);
	prepare(ctx, hit, dp_hit_regs(hit, &ctx->regs));
	dp_vm_run(&ctx->vm);
	dp_hit_put_regs(hit, ctx->vm.regs);
	leave(ctx, hit);
	obey(ctx->probe, ctx->vm.end);
	if (ctx->instance) {
		ctx->waits = 0;
		if (ctx->vm.end != DP_VM_ABORT)
			dp_exit_instance_fill((void *)ctx->instance, ctx->probe,
					      hit, ctx->vm.log, ctx->vm.lp);
		else
			dp_tally(ctx->probe, DP_TALLY_UNMET);
		return;
	}
	if (!has_record(&ctx->vm)) {
		ctx->waits = 0;
		return;
	}
	/* The record of an exception, of a program that does not log. */
	if (!ctx->serial)
		ctx->serial = ctx->ticks = dp_port_ticks();
	ctx->waits = 0;
	dp_facility_due(ctx, DP_FACILITY_ENDS);
	ctx->waits = settle(ctx, &sites[ctx->site], hit);
}

/* Control disables a probe, waits until no context is claimed, and gives the program's room, and
 * the probe's number, to others. So the probe is looked at once more. */
static struct dp_context *claim(u32 probe, u32 site, const struct dp_hit *hit,
				enum dp_tally *why)
{
	const struct dp_probe_entry *p = dp_probe(probe);
	struct dp_context *ctx = dp_context_claim(hit);

	*why = DP_TALLY_CONTEXT;
	if (!ctx)
		return NULL;
	if (__atomic_load_n(&p->enabled, __ATOMIC_SEQ_CST) && p->program &&
	    p->site == site) {
		ctx->probe = probe;
		ctx->site = site;
		ctx->hit = (u64)hit;
		return ctx;
	}
	dp_context_release(ctx);
	*why = DP_TALLY_DISABLED;
	return NULL;
}

static bool execute(u32 probe, const struct dp_site_entry *site,
		    const struct dp_hit *hit, u64 *serial,
		    struct dp_exit_instance *instance)
{
	struct dp_context *ctx;
	enum dp_tally why;

	if (!admit(probe))
		return false;
	ctx = claim(probe, dp_site_index(site), hit, &why);
	if (!ctx) {
		dp_tally(probe, why);
		dp_program_undo(probe);
		return false;
	}
	/* To read the clock takes longer than many a program. */
	if (!*serial && program_of(dp_probe(probe))->logmax)
		*serial = dp_port_ticks();
	ctx->serial = ctx->ticks = *serial;
	ctx->instance = (u64)instance;
	run(ctx);
	if (ctx->waits)
		dp_context_suspend(ctx);
	else
		dp_context_release(ctx);
	return ctx->waits;
}

bool dp_program_run(u32 probe, const struct dp_site_entry *site,
		    const struct dp_hit *hit, u64 *serial)
{
	return execute(probe, site, hit, serial, NULL);
}

void dp_program_enter(u32 probe, const struct dp_site_entry *site,
		      const struct dp_hit *hit,
		      struct dp_exit_instance *instance)
{
	u64 serial = dp_port_ticks();

	execute(probe, site, hit, &serial, instance);
}

/* Put behind the log what else a record says. Stack traces come between, if there is room. */
static void tell_ending(struct dp_vm *vm)
{
	struct dp_program_ending ending = {
		.major = vm->major,
		.minor = vm->minor,
		.exception = vm->end == DP_VM_EXCEPTION ? vm->exception : 0,
		.facility = vm->facility,
		.flags = (vm->truncated ? DP_RECORD_TRUNCATED : 0) | vm->taken,
		.parm = { vm->parm[0], vm->parm[1] },
	};

	if (vm->stp <= DP_VM_LOG - sizeof(ending) - vm->lp) {
		dp_bytes_copy(vm->log + vm->lp, vm->traces, vm->stp);
		vm->lp += vm->stp;
		ending.traces = vm->stp;
	} else {
		ending.flags |= DP_RECORD_TRUNCATED;
	}
	dp_bytes_copy(vm->log + vm->lp, &ending, sizeof(ending));
	vm->lp += sizeof(ending);
}

/* What a call returns is for its program to look at. */
static void judge(struct dp_context *ctx)
{
	const struct dp_hit *hit = (const void *)ctx->hit;
	const struct dp_probe_entry *p = dp_probe(ctx->probe);
	struct dp_vm *vm = &ctx->vm;

	prepare(ctx, hit, dp_hit_regs(hit, &ctx->regs));
	vm->pc = p->leaves - 1;
	vm->told = ctx->ticks;
	vm->entered = (const void *)ctx->entered;
	vm->entered_len = ctx->entered_len;
	if (!(p->way & DP_WAY_TELLS)) {
		dp_vm_run(vm);
		return;
	}
	if (vm->logmax > DP_VM_LOG - sizeof(struct dp_program_ending))
		vm->logmax = DP_VM_LOG - sizeof(struct dp_program_ending);
	dp_vm_run(vm);
	dp_hit_put_regs(hit, vm->regs);
	obey(ctx->probe, vm->end);
	dp_facility_due(ctx, DP_FACILITY_ENDS);
	dp_facility_due(ctx, DP_FACILITY_COMMITS);
	if (has_record(vm))
		tell_ending(vm);
	else
		vm->end = DP_VM_ABORT;
}

struct dp_context *dp_program_leave(u32 probe, const struct dp_hit *hit,
				    u64 latency, const void *entered, u32 len)
{
	enum dp_tally why;
	struct dp_context *ctx;

	if (dp_probe(probe)->way & DP_WAY_TELLS && !admit(probe))
		return NULL;
	ctx = claim(probe, dp_probe(probe)->site, hit, &why);
	if (ctx) {
		ctx->instance = 0;
		ctx->waits = 0;
		ctx->ticks = latency;
		ctx->entered = (u64)entered;
		ctx->entered_len = len;
		judge(ctx);
	} else if (why == DP_TALLY_CONTEXT) {
		dp_tally(probe, DP_TALLY_UNJUDGED);
	}
	return ctx;
}
