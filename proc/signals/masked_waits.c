// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * masked_waits: the agent's table of masked waits, as the tool reads and changes it.
 *
 * port/user/signals/masked_wait.c enters the waits that begin while the agent is attached. At
 * attach the tool enters threads that are in a masked wait already. At detach a thread in a
 * masked wait gets back the register that points to its mask.
 */
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/site/engine.h"
#include "arch/uregs.h"
#include "port_calls.h"
#include "proc/code/intercepts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/signals/masked_waits.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct dp_masked_waits {
	u64 at; /* address in the target */
	struct dp_masked_wait v[DP_MASKED_WAITS];
};

struct dp_masked_waits *dp_masked_waits_read(const struct dp_process *proc,
					     u64 base)
{
	struct dp_masked_waits *waits = malloc(sizeof(*waits));

	if (!waits)
		return NULL;
	waits->at = base + DP_PRIVATE_AT(masked_waits);
	if (!dp_process_read(proc, waits->at, waits->v, sizeof(waits->v)))
		return waits;
	free(waits);
	return NULL;
}

static bool is_held(const struct dp_process *proc, u64 thread)
{
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (dp_thread_known(proc, &proc->threads[i]) == thread)
			return true;
	return false;
}

void dp_masked_waits_clear(const struct dp_process *proc,
			   struct dp_masked_waits *waits)
{
	static const struct dp_masked_wait none;
	u64 unknowns = 0;
	u32 i;

	for (i = 0; i < DP_MASKED_WAITS; i++) {
		struct dp_masked_wait *s = &waits->v[i];

		if (!s->thread)
			continue;
		if (!is_held(proc, s->thread)) {
			unknowns += s->unknown;
			continue;
		}
		*s = none;
		dp_process_write(proc, waits->at + i * sizeof(none), &none,
				 sizeof(none));
	}
	dp_process_write(proc,
			 waits->at - DP_PRIVATE_AT(masked_waits) +
				 DP_PRIVATE_AT(unknowns),
			 &unknowns, sizeof(unknowns));
}

/* Threads that are not stopped claim the first free entry meanwhile: the tool takes the last.
 * Return: NULL: there is none. */
static struct dp_masked_wait *free_entry(struct dp_masked_waits *waits)
{
	size_t i = DP_MASKED_WAITS;

	while (i-- > 0)
		if (!waits->v[i].thread)
			return &waits->v[i];
	return NULL;
}

bool dp_masked_waits_has(const struct dp_masked_waits *waits, u64 thread)
{
	size_t i;

	for (i = 0; i < DP_MASKED_WAITS; i++)
		if (waits->v[i].thread == thread)
			return true;
	return false;
}

bool dp_masked_waits_absent(const struct dp_process *proc,
			    const struct dp_masked_waits *waits)
{
	size_t i;

	for (i = 0; i < DP_MASKED_WAITS; i++)
		if (waits->v[i].thread && !is_held(proc, waits->v[i].thread))
			return true;
	return false;
}

static u64 address_of(const struct dp_masked_waits *waits,
		      const struct dp_masked_wait *s)
{
	return waits->at + (u64)((const char *)s - (const char *)waits->v);
}

/* Return: address of the entry's mask, which is used in place of the program's. */
static u64 copy_of(const struct dp_masked_waits *waits,
		   const struct dp_masked_wait *s)
{
	return address_of(waits, s) +
	       (dp_wait_is_pair(s->nr) ? offsetof(struct dp_masked_wait, pair) :
					 offsetof(struct dp_masked_wait, mask));
}

/* Look for @copy in the registers and on the stack of a function that makes the call for its
 * caller; @really: put the program's pointer back. Return: is @copy there? */
static bool replace(const struct dp_process *proc, const struct dp_caller *c,
		    const struct dp_masked_wait *s, u64 copy, bool really)
{
	bool there = false;
	u64 word, at;
	size_t i;

	for (i = 0; i < DP_CALLER_ARGS + DP_CALLER_OTHERS; i++) {
		u64 *reg = i < DP_CALLER_ARGS ? c->args[i] :
						c->others[i - DP_CALLER_ARGS];

		if (*reg != copy)
			continue;
		there = true;
		if (really)
			*reg = s->given;
	}
	for (at = *c->sp; at <= s->sp; at += sizeof(word)) {
		if (dp_process_read(proc, at, &word, sizeof(word)) ||
		    word != copy)
			continue;
		there = true;
		if (really)
			dp_process_write(proc, at, &s->given, sizeof(word));
	}
	return there;
}

static bool is_through(const struct dp_process *proc,
		       const struct dp_masked_waits *waits,
		       const struct dp_caller *c,
		       const struct dp_masked_wait *s, bool really)
{
	u64 back;

	if (!s->through || s->thread != c->thread)
		return false;
	if (*c->pc - s->behind < DP_THROUGH_TAIL)
		return *c->sp - s->sp < DP_THROUGH_TAIL;
	if (*c->pc == s->call) /* behind its intercept, about to call */
		return *c->sp == s->sp &&
		       replace(proc, c, s, copy_of(waits, s), really);
	return s->sp - *c->sp - 1 < DP_THROUGH_STACK &&
	       !dp_process_read(proc, s->sp - sizeof(back), &back,
				sizeof(back)) &&
	       back == s->behind &&
	       replace(proc, c, s, copy_of(waits, s), really);
}

static bool is_unknown(const struct dp_caller *c,
		       const struct dp_masked_wait *s)
{
	return s->unknown && s->thread == c->thread && s->sp == *c->sp &&
	       (*c->pc == s->behind || *c->pc == s->back);
}

/* The caller is between its intercept and the end of the call. The pc may be that of the
 * intercept itself. */
static struct dp_masked_wait *find(const struct dp_process *proc,
				   struct dp_masked_waits *waits,
				   const struct dp_caller *c, bool really)
{
	struct dp_masked_wait *s;
	u64 offset;
	int i;

	for (i = 0; i < DP_MASKED_WAITS; i++)
		if (is_unknown(c, &waits->v[i]) ||
		    is_through(proc, waits, c, &waits->v[i], really))
			return &waits->v[i];
	for (i = 0; i < DP_CALLER_ARGS; i++) {
		offset = *c->args[i] - waits->at;
		if (offset >= sizeof(waits->v))
			continue;
		s = &waits->v[offset / sizeof(*s)];
		if (dp_wait_argument(s->nr) != i || s->through ||
		    s->thread != c->thread || *c->pc < s->call ||
		    *c->pc > s->behind)
			continue;
		if (really)
			*c->args[i] = s->given;
		return s;
	}
	return NULL;
}

const struct dp_masked_wait *dp_masked_waits_find(const struct dp_process *proc,
						  struct dp_masked_waits *waits,
						  const struct dp_caller *c,
						  bool really)
{
	return find(proc, waits, c, really);
}

static const struct dp_intercept *
intercept_around(const struct dp_process *proc, u64 pc)
{
	size_t i;

	for (i = 0; i < proc->nr_intercepts; i++) {
		const struct dp_intercept *h = &proc->intercepts[i];

		if (pc > h->addr && pc <= h->addr + h->len &&
		    (dp_call_is_any(h->nr) ||
		     (dp_call_is_masked_wait(h->nr) && h->nr & DP_CALL_ENTERS)))
			return h;
	}
	return NULL;
}

/* Return: the call that a thread is in or about to make; -1: none. A pc behind the call counts
 * only if the call was interrupted in its sleep. */
static s64 number_of(const struct dp_intercept *h, const struct dp_caller *c)
{
	s64 ret = (s64)*c->ret;
	bool any = dp_call_is_any(h->nr);
	u64 number = h->nr & DP_CALL_NUMBER;

	if (*c->pc != h->addr + h->len)
		return c->handled ? -1 : any ? ret : (s64)number;
	/* A signal frame does not tell the number of the call. */
	if (c->handled)
		return ret == -EINTR && !any ? (s64)number : -1;
	return ret == -EINTR || ret == -DP_ERESTARTNOHAND ? c->call : -1;
}

static u64 *mask_register(s64 nr, const struct dp_caller *c)
{
	int n = dp_wait_argument((u64)nr);

	return n < 0 ? NULL : c->args[n];
}

static bool read_mask(const struct dp_process *proc, s64 nr, u64 from,
		      u64 *mask)
{
	u64 pair[2] = { from, 0 };

	if (!from || (dp_wait_is_pair(nr) &&
		      dp_process_read(proc, from, pair, sizeof(pair))))
		return false;
	return pair[0] && !dp_process_read(proc, pair[0], mask, sizeof(*mask));
}

/* Write an entry to the target and point @reg to its mask. */
static int enter(const struct dp_process *proc, struct dp_masked_waits *waits,
		 struct dp_masked_wait *s, u64 *reg)
{
	u64 addr = address_of(waits, s);

	s->pair[0] = addr + offsetof(struct dp_masked_wait, mask);
	s->pair[1] = sizeof(s->mask);
	if (dp_process_write(proc, addr, s, sizeof(*s)))
		return -EFAULT;
	*reg = copy_of(waits, s);
	return 0;
}

/**
 * struct place - where a thread is, in or near a call
 * @intercept: of the call; @nr: the call's number, -1: the thread is in none
 * @sp: the thread's stack pointer at the intercept
 */
struct place {
	const struct dp_intercept *intercept;
	s64 nr;
	u64 sp;
};

/* Of a caller at a call by way of musl's __syscall_cp, or just behind: is it behind? */
static bool is_behind(const struct dp_process *proc, const struct dp_caller *c)
{
	return *c->pc != proc->points.direct_call &&
	       *c->pc != proc->points.last_call;
}

/* number_of() for a call by way of musl's __syscall_cp: @c is at the call or just behind. */
static s64 number_through(const struct dp_process *proc,
			  const struct dp_intercept *h,
			  const struct dp_caller *c)
{
	s64 nr = h->nr & DP_CALL_NUMBER, ret = (s64)*c->ret;

	if (!is_behind(proc, c))
		return ret == nr ? nr : -1;
	if (ret != -EINTR && (c->handled || ret != -DP_ERESTARTNOHAND))
		return -1;
	return c->handled || c->call == nr ? nr : -1;
}

static struct place place_of(const struct dp_process *proc,
			     const struct dp_caller *c)
{
	struct place p = { .nr = -1, .sp = *c->sp };
	u64 below;

	p.intercept = dp_points_at(proc, *c->pc, *c->sp, &below);
	if (p.intercept) {
		p.nr = number_through(proc, p.intercept, c);
		p.sp = below;
		return p;
	}
	p.intercept = intercept_around(proc, *c->pc);
	if (p.intercept)
		p.nr = number_of(p.intercept, c);
	return p;
}

static struct dp_masked_wait masked_wait_at(const struct dp_process *proc,
					    const struct place *p,
					    const struct dp_caller *c)
{
	bool through = dp_call_goes_through(p->intercept->nr);
	bool touched = through && dp_points_touched(proc, p->intercept);
	u64 behind = p->intercept->addr + p->intercept->len;

	return (struct dp_masked_wait){ .thread = c->thread,
					.sp = p->sp,
					.call = p->intercept->addr,
					.back = through ? 0 : behind,
					.behind = behind,
					.closed = !c->handled && !touched,
					.nr = (u32)p->nr,
					.through = through,
					.touched = touched };
}

struct dp_kernel_wait dp_masked_waits_seen(const struct dp_masked_wait *s,
					   u64 caught)
{
	return (struct dp_kernel_wait){ .thread = s->thread,
					.sp = s->sp,
					.back = s->back,
					.behind = s->behind,
					.mask = s->mask | caught,
					.nr = s->nr,
					.through = s->through };
}

bool dp_masked_waits_in_kernel(const struct dp_process *proc,
			       const struct dp_caller *c,
			       struct dp_kernel_wait *in_kernel)
{
	struct place p = place_of(proc, c);
	u64 *reg = mask_register(p.nr, c), mask;
	struct dp_masked_wait wait;

	if (!reg || !read_mask(proc, p.nr, *reg, &mask))
		return false;
	wait = masked_wait_at(proc, &p, c);
	wait.mask = mask;
	*in_kernel = dp_masked_waits_seen(&wait, 0);
	return true;
}

/* A thread that has not made its call yet goes back to the intercept. */
static void pass_intercept(const struct place *p, const struct dp_caller *c)
{
	const struct dp_intercept *h = p->intercept;

	if (h && !dp_call_goes_through(h->nr) && h->nr != DP_PLAIN_CALL &&
	    *c->pc != h->addr + h->len)
		*c->pc = h->addr;
}

/* Make an interrupted call again: point the pc to the "syscall". */
static void make_again(const struct dp_process *proc,
		       const struct dp_masked_wait *s,
		       const struct dp_caller *c)
{
	bool behind = s->through ? is_behind(proc, c) : *c->pc == s->back;

	if (c->handled || !behind)
		return;
	*c->pc -= 2;
	*c->ret = s->nr;
}

/* Move the pc into the intercept's detour, as a return to the program would not be seen. */
static int move_into_intercept(const struct dp_process *proc,
			       const struct place *p, const struct dp_caller *c)
{
	if (!dp_engine_intercepted_call(proc->engine, p->intercept->addr, false,
					c->pc))
		return -EAGAIN;
	*c->ret = (u64)p->nr;
	return 0;
}

/* Will a handler return to the end of an interrupted call whose number is not known? */
static bool returns_unknown(const struct place *p, const struct dp_caller *c)
{
	return c->handled && p->intercept && dp_call_is_any(p->intercept->nr) &&
	       *c->pc == p->intercept->addr + p->intercept->len &&
	       (s64)*c->ret == -EINTR;
}

/* Enter a wait of unknown number: a handler's return ends its virtual mask, and must be seen. */
static int take_unknown(const struct dp_process *proc,
			struct dp_masked_waits *waits, const struct place *p,
			const struct dp_caller *c, u64 was)
{
	u64 count, at = proc->base + DP_PRIVATE_AT(unknowns), back = *c->pc;
	struct dp_masked_wait *s = free_entry(waits);

	if (!s || dp_process_read(proc, at, &count, sizeof(count)) ||
	    (p->intercept->nr == DP_PLAIN_CALL &&
	     !dp_engine_intercepted_call(proc->engine, p->intercept->addr, true,
					 &back)))
		return s ? -EAGAIN : 0;
	count++;
	*s = masked_wait_at(proc, p, c);
	s->nr = 0;
	s->was = was;
	s->back = back;
	s->unknown = 1;
	if (dp_process_write(proc, address_of(waits, s), s, sizeof(*s)) ||
	    dp_process_write(proc, at, &count, sizeof(count)))
		return -EFAULT;
	*c->pc = back;
	return DP_MASKED_WAIT_OPEN;
}

/* A wait that the agent has seen begin before its actions were in force: of the mask outside
 * the call it knows what was virtual. Return: as dp_masked_waits_take() */
static int take_seen(const struct dp_process *proc,
		     struct dp_masked_waits *waits, struct dp_masked_wait *s,
		     const struct dp_caller *c, u64 real, u64 *virtual_mask)
{
	u64 caught = dp_caught_mask(dp_engine_caught(proc->engine)), mask;

	if (!read_mask(proc, s->nr, s->given, &mask))
		return -EFAULT;
	if (s->closed)
		real = s->real;
	else
		s->closed = !c->handled && !s->touched;
	s->mask = mask & ~caught;
	s->was |= real & caught;
	s->real = real & ~caught;
	*virtual_mask = mask & caught;
	if (dp_process_write(proc, address_of(waits, s), s, sizeof(*s)))
		return -EFAULT;
	make_again(proc, s, c);
	return s->closed ? DP_MASKED_WAIT_CLOSED : DP_MASKED_WAIT_OPEN;
}

int dp_masked_waits_take(const struct dp_process *proc,
			 struct dp_masked_waits *waits,
			 const struct dp_caller *c, u64 was, u64 real,
			 u64 *virtual_mask)
{
	u64 caught = dp_caught_mask(dp_engine_caught(proc->engine)), mask;
	struct place p = place_of(proc, c);
	u64 *reg = mask_register(p.nr, c);
	struct dp_masked_wait *s = find(proc, waits, c, false);

	if (s && !s->unknown)
		return take_seen(proc, waits, s, c, real, virtual_mask);
	if ((was | *virtual_mask) && returns_unknown(&p, c))
		return take_unknown(proc, waits, &p, c, was);
	if (!reg || !read_mask(proc, p.nr, *reg, &mask) ||
	    !((mask & caught) | was)) {
		pass_intercept(&p, c);
		return 0;
	}
	if (p.intercept->nr == DP_PLAIN_CALL)
		return move_into_intercept(proc, &p, c);
	s = free_entry(waits);
	if (!s)
		return -ENOMEM;
	*s = masked_wait_at(proc, &p, c);
	s->mask = mask & ~caught;
	s->given = *reg;
	s->was = was;
	s->real = real & ~caught;
	*virtual_mask = mask & caught;
	if (enter(proc, waits, s, reg))
		return -EFAULT;
	make_again(proc, s, c);
	return s->closed ? DP_MASKED_WAIT_CLOSED : DP_MASKED_WAIT_OPEN;
}

u64 dp_thread_known(const struct dp_process *proc, const struct dp_thread *t)
{
	struct dp_status st = { 0 };

	if (!dp_uregs_thread(&t->regs))
		dp_status_read(proc->pid, t->tid, &st);
	return dp_thread_id(dp_uregs_thread(&t->regs), st.ns_pid);
}
