// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sleeps: calls that sleep under a signal mask of their own, seen from outside.
 *
 * engine/hit/sleep.c knows those that began while we were there. A thread that
 * is in one when we come is entered into its table as if it had passed there;
 * one that is in one when we go gets back the register that says where its mask
 * is.
 */
#include "proc/private.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define SLEEPS_AT (DP_PRIVATE_OFFSET + offsetof(struct dp_private, sleeps))

struct dp_sleeps {
	u64 at; /* in the target */
	struct dp_sleep v[DP_SLEEPS];
};

struct dp_sleeps *dp_sleeps_read(const struct dp_process *proc, u64 base)
{
	struct dp_sleeps *sleeps = malloc(sizeof(*sleeps));

	if (!sleeps)
		return NULL;
	sleeps->at = base + SLEEPS_AT;
	if (!dp_process_read(proc, sleeps->at, sleeps->v, sizeof(sleeps->v)))
		return sleeps;
	free(sleeps);
	return NULL;
}

void dp_sleeps_clear(const struct dp_process *proc, struct dp_sleeps *sleeps)
{
	memset(sleeps->v, 0, sizeof(sleeps->v));
	dp_process_write(proc, sleeps->at, sleeps->v, sizeof(sleeps->v));
}

bool dp_sleeps_has(const struct dp_sleeps *sleeps, u64 thread)
{
	size_t i;

	for (i = 0; i < DP_SLEEPS; i++)
		if (sleeps->v[i].thread == thread)
			return true;
	return false;
}

bool dp_sleeps_absent(const struct dp_process *proc, struct dp_sleeps *sleeps)
{
	bool absent = false;
	size_t i, k;

	for (i = 0; i < proc->nr_threads; i++) {
		u64 thread = dp_thread_known(proc, &proc->threads[i]);

		for (k = 0; k < DP_SLEEPS; k++)
			if (sleeps->v[k].thread == thread)
				sleeps->v[k].thread = 0;
	}
	for (k = 0; k < DP_SLEEPS; k++)
		absent |= sleeps->v[k].thread != 0;
	return absent;
}

const struct dp_sleep *dp_sleeps_leave(const struct dp_sleeps *sleeps,
				       const struct dp_caller *c)
{
	u64 *const in[] = { c->rdi, c->r8, c->r9, c->r10 };
	const struct dp_sleep *s;
	u64 offset;
	size_t i;

	for (i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		offset = *in[i] - sleeps->at;
		if (offset >= sizeof(sleeps->v))
			continue;
		s = &sleeps->v[offset / sizeof(*s)];
		if (s->thread != c->thread || *c->pc <= s->call ||
		    *c->pc > s->behind)
			continue;
		*in[i] = s->given;
		return s;
	}
	return NULL;
}

static const struct dp_hooked *hook_around(const struct dp_process *proc,
					   u64 pc)
{
	size_t i;

	for (i = 0; i < proc->nr_hooks; i++) {
		const struct dp_hooked *h = &proc->hooks[i];

		if (pc > h->addr && pc <= h->addr + h->len &&
		    (dp_call_is_any(h->nr) ||
		     (dp_call_sleeps(h->nr) && h->nr & DP_CALL_ENTERS)))
			return h;
	}
	return NULL;
}

/* Which call a thread is in, or about to make; -1: none. Behind the call only one
 * that sleeps is still in it. */
static s64 number_of(const struct dp_hooked *h, const struct dp_caller *c)
{
	s64 ret = (s64)*c->rax;
	bool any = dp_call_is_any(h->nr);
	u64 number = h->nr & DP_CALL_NUMBER;

	if (*c->pc != h->addr + h->len)
		return c->handled ? -1 : any ? ret : (s64)number;
	/* A signal frame does not tell. */
	if (c->handled)
		return ret == -EINTR && !any ? (s64)number : -1;
	return ret == -EINTR || ret == -DP_ERESTARTNOHAND ? c->call : -1;
}

static u64 *mask_register(s64 nr, const struct dp_caller *c)
{
	switch (nr) {
	case SYS_rt_sigsuspend:
		return c->rdi;
	case SYS_ppoll:
		return c->r10;
	case SYS_pselect6:
	case SYS_io_pgetevents:
		return c->r9;
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return c->r8;
	default:
		return NULL;
	}
}

static bool is_pair(s64 nr)
{
	return nr == SYS_pselect6 || nr == SYS_io_pgetevents;
}

static bool read_mask(const struct dp_process *proc, s64 nr, u64 from,
		      u64 *mask)
{
	u64 pair[2] = { from, 0 };

	if (!from ||
	    (is_pair(nr) && dp_process_read(proc, from, pair, sizeof(pair))))
		return false;
	return pair[0] && !dp_process_read(proc, pair[0], mask, sizeof(*mask));
}

static struct dp_sleep *free_one(struct dp_sleeps *sleeps)
{
	size_t i;

	for (i = 0; i < DP_SLEEPS; i++)
		if (!sleeps->v[i].thread)
			return &sleeps->v[i];
	return NULL;
}

/* Writes it at once: a register is about to refer to it. */
static int enter(const struct dp_process *proc, struct dp_sleeps *sleeps,
		 struct dp_sleep *s, u64 *reg)
{
	u64 addr = sleeps->at + (u64)((char *)s - (char *)sleeps->v);

	s->pair[0] = addr + offsetof(struct dp_sleep, mask);
	s->pair[1] = sizeof(s->mask);
	if (dp_process_write(proc, addr, s, sizeof(*s)))
		return -EFAULT;
	*reg = is_pair(s->nr) ? addr + offsetof(struct dp_sleep, pair) :
				s->pair[0];
	return 0;
}

int dp_sleeps_take(const struct dp_process *proc, struct dp_sleeps *sleeps,
		   const struct dp_caller *c, u64 was, u64 real, u64 *believed)
{
	u64 caught = dp_caught_mask(dp_engine_caught(proc->engine));
	const struct dp_hooked *h = hook_around(proc, *c->pc);
	struct dp_sleep *s;
	u64 *reg, mask;
	s64 nr = h ? number_of(h, c) : -1;

	reg = mask_register(nr, c);
	if (!reg || !read_mask(proc, nr, *reg, &mask) ||
	    !((mask & caught) | was)) {
		/* One that is not in it yet is to pass the hook. */
		if (h && h->nr != DP_PLAIN_CALL && *c->pc != h->addr + h->len)
			*c->pc = h->addr;
		return 0;
	}
	s = free_one(sleeps);
	if (!s)
		return -ENOMEM;
	*s = (struct dp_sleep){ .thread = c->thread,
				.mask = mask & ~caught,
				.given = *reg,
				.was = was,
				.real = real & ~caught,
				.sp = *c->sp,
				.call = h->addr,
				.back = h->addr + h->len,
				.behind = h->addr + h->len,
				.closed = !c->handled,
				.nr = (u32)nr };
	*believed = mask & caught;
	if (enter(proc, sleeps, s, reg))
		return -EFAULT;
	/* Into its sleep again. */
	if (!c->handled && *c->pc == s->back) {
		*c->pc -= 2;
		*c->rax = nr;
	}
	return 1;
}
