// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sleep: calls that sleep under a signal mask of their own.
 *
 * sigsuspend, ppoll, pselect, epoll_pwait: the kernel puts a mask of the
 * program's in force for the time of the call, and a handler that runs meanwhile
 * runs under it. It gets a copy without the signals that we catch. What the
 * program believes to be blocked is what its own mask says, until the call
 * returns.
 *
 *   mov $nr, %eax ──► dp_sleep_enter(): the copy, the new belief
 *   syscall           made where it stands, so that unwinders know the place, and
 *                     the agent can leave while it lasts
 *   cmp …, %rax ────► dp_sleep_return(): the old belief
 *
 * Such calls exist to open signals and to sleep in one step. A caught signal
 * that is open in the call only and comes too early, or was held already, must
 * end the sleep; or, where there is something to return at once, stay. So it is
 * made pending in the kernel with every signal blocked up to the call itself,
 * where nothing of the program runs.
 *
 * A handler that leaves by longjmp leaves the call for good: its entry is taken
 * back when the thread makes such a call from the same place or farther out.
 */
#include "engine/hit/hit.h"
#include "port_hit.h"

#define SYSCALL_SIZE 2
/* The agent uses less of the stack; a signal frame is larger. */
#define AGENT_STACK 1000

static u64 owner(void)
{
	return dp_mask_thread() |
	       (dp_hit_who() == DP_WHO_SHARER ? DP_MASK_SHARER : 0);
}

/* The argument that has the mask. */
static u64 *argument(u64 nr, struct dp_mcontext *regs)
{
	switch (nr) {
	case __NR_rt_sigsuspend:
		return &regs->rdi;
	case __NR_ppoll:
		return &regs->r10;
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return &regs->r8;
	case __NR_pselect6:
	case __NR_io_pgetevents:
		return &regs->r9;
	default:
		return NULL;
	}
}

static bool is_pair(u64 nr)
{
	return nr == __NR_pselect6 || nr == __NR_io_pgetevents;
}

/* Return: false if there is none, or the kernel will not take it. */
static bool read_mask(u64 nr, const struct dp_mcontext *regs, u64 arg,
		      u64 *mask)
{
	u64 pair[2] = { arg, nr == __NR_rt_sigsuspend ? regs->rsi :
			     nr == __NR_ppoll	      ? regs->r8 :
							regs->r9 };

	if (!arg || (is_pair(nr) && dp_port_copy_in(pair, arg, sizeof(pair))))
		return false;
	return pair[0] && pair[1] == DP_SIGSET_BYTES &&
	       !dp_mask_get(mask, pair[0]);
}

static void release(struct dp_sleep *s)
{
	__atomic_store_n(&s->thread, 0, __ATOMIC_RELEASE);
}

void dp_sleep_forget(u64 thread)
{
	u32 i;

	for (i = 0; i < DP_SLEEPS; i++)
		if (__atomic_load_n(&dp_private.sleeps[i].thread,
				    __ATOMIC_RELAXED) == thread)
			release(&dp_private.sleeps[i]);
}

static bool same_stack(u64 a, u64 b)
{
	u64 start, size;

	dp_port_altstack(&start, &size);
	return (a - start < size) == (b - start < size);
}

static struct dp_sleep *claim(u64 thread, u64 sp)
{
	struct dp_sleep *s, *got = NULL;
	u64 none;
	u32 i;

	for (i = 0; i < DP_SLEEPS; i++) {
		s = &dp_private.sleeps[i];
		none = __atomic_load_n(&s->thread, __ATOMIC_RELAXED);
		/* One that was left by longjmp. */
		if (none == thread && s->sp <= sp && same_stack(s->sp, sp)) {
			release(s);
			none = 0;
		}
		if (!got && !none &&
		    __atomic_compare_exchange_n(&s->thread, &none, thread,
						false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			got = s;
	}
	return got;
}

/* Is what stands between the hook and the end of the call as it was? A
 * breakpoint there would be met with everything blocked. */
static bool is_intact(const struct dp_sleep *s)
{
	const u8 *end = (const u8 *)s->back;

	return end[-2] == 0x0f && end[-1] == 0x05 &&
	       (s->back != s->behind || s->back - s->call == 7 ||
		end[-6] == 0x8b);
}

/* Block everything, here and now. */
static void close(struct dp_sleep *s)
{
	u64 all = ~0ull;

	dp_syscall(__NR_rt_sigprocmask, DP_SIG_SETMASK, (u64)&all,
		   (u64)&s->real, DP_SIGSET_BYTES, 0, 0);
	s->closed = 1;
}

static void fill(struct dp_sleep *s, const struct dp_site_entry *site, u64 nr,
		 const struct dp_mcontext *regs)
{
	const struct dp_jump *j = &site->jump;

	s->nr = (u32)nr;
	s->closed = 0;
	s->sp = regs->rsp;
	s->call = site->addr;
	s->detour = j->base;
	s->detour_len = j->len;
	s->behind = s->back = site->addr + dp_call_length(site->number);
	s->stacked = site->number == DP_ANY_CALL;
	if (dp_call_is_any(site->number)) {
		s->behind = site->addr + j->size;
		s->back = j->base + j->insn[j->nr - 1] + SYSCALL_SIZE;
	}
	s->pair[0] = (u64)&s->mask;
	s->pair[1] = DP_SIGSET_BYTES;
	s->serial = __atomic_add_fetch(&dp_private.serial, 1, __ATOMIC_RELAXED);
}

/* syscall(3) loads its last argument from there. */
static u64 *last_argument(const struct dp_mcontext *regs)
{
	return (u64 *)regs->rsp + 1;
}

void dp_sleep_enter(const struct dp_site_entry *site, u64 nr,
		    struct dp_mcontext *regs)
{
	u64 *arg = argument(nr, regs), caught = dp_mask_caught();
	bool stacked = site->number == DP_ANY_CALL;
	struct dp_sleep *s;
	u64 mask, was;

	if (arg && stacked)
		regs->r9 = *last_argument(regs);
	if (!arg || !read_mask(nr, regs, *arg, &mask))
		return;
	was = dp_mask_blocked();
	if (!((was | mask) & caught))
		return;
	s = claim(owner(), regs->rsp);
	if (!s) {
		__atomic_fetch_add(&dp_arena.hit.unmasked, 1, __ATOMIC_RELAXED);
		return;
	}
	fill(s, site, nr, regs);
	s->mask = mask & ~caught;
	s->was = was;
	s->given = *arg;
	*arg = is_pair(nr) ? (u64)s->pair : (u64)&s->mask;
	if (stacked)
		*last_argument(regs) = regs->r9;
	if (was & ~mask && dp_mask_holds() && is_intact(s))
		close(s);
	dp_mask_believe(mask & caught);
}

static struct dp_sleep *at(u64 addr)
{
	u64 offset = addr - (u64)dp_private.sleeps;

	if (offset >= sizeof(dp_private.sleeps))
		return NULL;
	return &dp_private.sleeps[offset / sizeof(struct dp_sleep)];
}

/* By what it has in the register of its mask. */
static struct dp_sleep *find(struct dp_mcontext *regs)
{
	const u64 in[] = { regs->rdi, regs->r10, regs->r8, regs->r9 };
	struct dp_sleep *s;
	u32 i;

	for (i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		s = at(in[i]);
		if (s && *argument(s->nr, regs) == in[i] &&
		    s->thread == owner())
			return s;
	}
	return NULL;
}

void dp_sleep_return(struct dp_mcontext *regs)
{
	struct dp_sleep *s = find(regs);
	bool closed;
	u64 real;

	if (!s || s->sp != regs->rsp)
		return;
	*argument(s->nr, regs) = s->given;
	if (s->stacked && is_pair(s->nr))
		*last_argument(regs) = s->given;
	dp_mask_believe(s->was);
	closed = s->closed;
	real = s->real;
	release(s);
	if (closed)
		dp_port_sigmask(real);
}

struct dp_sleep *dp_sleep_of(struct dp_mcontext *regs)
{
	struct dp_sleep *s = find(regs);

	return s && (regs->rip == s->back || regs->rip == s->behind) &&
			       (s64)regs->rax == -EINTR ?
		       s :
		       NULL;
}

static struct dp_sleep *newest(void)
{
	u64 thread = owner();
	struct dp_sleep *s, *best = NULL;
	u32 i;

	for (i = 0; i < DP_SLEEPS; i++) {
		s = &dp_private.sleeps[i];
		if (__atomic_load_n(&s->thread, __ATOMIC_RELAXED) == thread &&
		    (!best || s->serial > best->serial))
			best = s;
	}
	return best;
}

/* Between the moment when the belief changes and the call, or the call and the
 * moment when it changes back? */
static bool is_beside(const struct dp_sleep *s, const struct dp_mcontext *regs)
{
	u64 pc = regs->rip;

	if (s->sp - regs->rsp >= AGENT_STACK)
		return false;
	return pc - dp_arena.control.base < DP_AGENT_TEXT ||
	       pc - s->call <= s->behind - s->call ||
	       pc - s->detour < s->detour_len;
}

bool dp_sleep_delay(const struct dp_siginfo *info, struct dp_ucontext *uc)
{
	struct dp_sleep *s = newest();

	if (!s || s->closed || !(s->was & DP_SIGMASK(info->signo)) ||
	    !is_beside(s, &uc->mc) || dp_sleep_of(&uc->mc) || !is_intact(s))
		return false;
	/* It waits in the kernel from here on, and up to the call nothing else
	 * comes either. */
	dp_port_sigmask(~0ull);
	s->real = uc->sigmask;
	s->closed = 1;
	uc->sigmask = ~0ull;
	dp_port_requeue(info->signo, info);
	return true;
}

void dp_sleep_again(struct dp_ucontext *uc)
{
	struct dp_sleep *s = dp_sleep_of(&uc->mc);

	if (!s || !is_intact(s))
		return;
	uc->mc.rip -= SYSCALL_SIZE;
	uc->mc.rax = s->nr;
	/* What the call's mask blocks is not to come in between. */
	if (!s->closed)
		s->real = uc->sigmask;
	s->closed = 1;
	uc->sigmask = ~0ull;
}
