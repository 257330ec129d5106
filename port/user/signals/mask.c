// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mask: virtual masks, which the program takes for its threads' signal masks.
 *
 * A breakpoint kills a process whose thread has SIGTRAP blocked (or SIGILL, for
 * breakpoints of that kind). So caught signals are never blocked in the kernel: calls that
 * set masks pass through here, and the kernel gets the masks without caught signals. The
 * program gets the results that the kernel would have given. A caught signal that the
 * virtual mask blocks is deferred until the thread unblocks it.
 *
 * Virtual masks count while our actions are in force. Control may be killed between any two
 * steps that set or take away these actions. Meanwhile the kernel's action decides for each
 * signal, because it changes at one moment.
 *
 * A thread is known by its thread pointer, which a fork child keeps; without a thread
 * pointer, by its id.
 */
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "port/user/signals/mask.h"
#include "engine/hit/hit.h"
#include "port/user/signals/trap.h"
#include "port/user/signals/masked_wait.h"
#include "port.h"
#include "port_hit.h"

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1

/* Not inlined: the code needs less room. */
#define APART __attribute__((noinline))

u64 dp_mask_thread(void)
{
	u64 pointer;

	if (dp_arena.control.fsgsbase)
		pointer = dp_raw_thread_pointer();
	else
		pointer = dp_port_thread_pointer();
	return dp_thread_id(pointer, pointer ? 0 : dp_port_tid());
}

u64 dp_mask_whose(void)
{
	return dp_mask_thread() | dp_mask_vm_child();
}

static u32 first_slot(u64 whose)
{
	return dp_mask_slot(whose & ~(u64)DP_MASK_VM_CHILD);
}

static u64 *find(u64 whose)
{
	u32 i = first_slot(whose), n;
	u64 word;

	for (n = 0; n < DP_MASK_PROBES; n++, i = (i + 1) % DP_MASKS) {
		word = __atomic_load_n(&dp_private.masks[i], __ATOMIC_ACQUIRE);
		if ((word & ~DP_MASK_STATE) == whose)
			return &dp_private.masks[i];
		if (!word)
			break;
	}
	return NULL;
}

/* A slot whose thread has no state may be taken. */
static u64 *make(u64 whose)
{
	u32 i = first_slot(whose), n;
	u64 word;

	for (n = 0; n < DP_MASK_PROBES; n++, i = (i + 1) % DP_MASKS) {
		u64 *slot = &dp_private.masks[i];

		word = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if (!(word & DP_MASK_STATE) &&
		    __atomic_compare_exchange_n(slot, &word, whose, false,
						__ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

/* Return: false if there is no room. */
static bool change(u64 whose, u64 set, u64 clear)
{
	u64 *slot, word;

	/* A slot without bits may become another thread's at any time. */
	for (;;) {
		slot = find(whose);
		if (!slot && !set)
			return true;
		if (!slot)
			slot = make(whose);
		if (!slot)
			return false;
		word = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if ((word & ~DP_MASK_STATE) == whose &&
		    __atomic_compare_exchange_n(
			    slot, &word, (word & ~clear) | set, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
}

static u64 bits_of(u64 whose)
{
	u64 *slot = find(whose);
	u64 word = slot ? __atomic_load_n(slot, __ATOMIC_RELAXED) : 0;

	return (word & ~DP_MASK_STATE) == whose ? word & DP_MASK_BITS : 0;
}

u64 dp_mask_vm_child(void)
{
	return dp_hit_who() == DP_WHO_VM_CHILD ? DP_MASK_VM_CHILD : 0;
}

bool dp_mask_catches(u32 k)
{
	struct dp_kernel_sigaction now;

	if (__atomic_load_n(&dp_private.in_force, __ATOMIC_RELAXED))
		return true;
	/* Where a filter forbids the question, our action counts as in force. */
	return dp_syscall(__NR_rt_sigaction, dp_caught(k), 0, &now,
			  DP_SIGSET_BYTES) ||
	       dp_trap_inside(now.handler);
}

u64 dp_mask_caught(void)
{
	u64 mask = 0;
	u32 k;

	if (__atomic_load_n(&dp_private.in_force, __ATOMIC_RELAXED))
		return dp_caught_mask(dp_arena.control.nr_caught);
	for (k = 0; k < dp_arena.control.nr_caught; k++)
		if (dp_mask_catches(k))
			mask |= DP_SIGMASK(dp_caught(k));
	return mask;
}

u64 dp_mask_blocked(void)
{
	return dp_mask_of_bits(bits_of(dp_mask_whose()));
}

static APART void requeue(struct dp_deferred *h)
{
	u64 info[16];

	/* Its handler may run at once, and look here. */
	dp_bytes_copy(info, h->info, sizeof(info));
	__atomic_store_n(&h->thread, 0, __ATOMIC_RELEASE);
	dp_port_requeue((int)(u32)info[0], info);
}

/* Requeue the deferred signals in @mask; with @drop, forget them. Return: has the thread
 * others? */
static APART bool release(u64 whose, u64 mask, bool drop)
{
	bool others = false;
	u32 i;

	for (i = 0; i < DP_DEFERRED; i++) {
		struct dp_deferred *h = &dp_private.deferred[i];
		u32 sig = (u32)h->info[0];

		if (__atomic_load_n(&h->thread, __ATOMIC_ACQUIRE) != whose)
			continue;
		if (!(DP_SIGMASK(sig) & mask))
			others = true;
		else if (drop)
			__atomic_store_n(&h->thread, 0, __ATOMIC_RELEASE);
		else
			requeue(h);
	}
	return others;
}

/* Let the deferred signals in @mask come. Handlers that run meanwhile may defer others. */
static void let_go(u64 whose, u64 mask)
{
	change(whose, 0, DP_MASK_DEFERRED);
	if (release(whose, mask, false))
		change(whose, DP_MASK_DEFERRED, 0);
}

/* Forget the virtual mask and the deferred signals of a thread that begins or ends. */
static APART void begin_anew(u64 whose, u64 blocked)
{
	change(whose, blocked, DP_MASK_STATE);
	release(whose, ~0ull, true);
}

bool dp_mask_enter_virtual(u64 mask)
{
	return change(dp_mask_whose(), dp_mask_bits_of(mask), DP_MASK_BLOCKED);
}

bool dp_mask_set_virtual(u64 mask)
{
	u64 whose = dp_mask_whose(), had = bits_of(whose);

	if (!dp_mask_enter_virtual(mask))
		return false;
	/* Asked only now: until the mask changed, signals were deferred. */
	if (bits_of(whose) & DP_MASK_DEFERRED)
		let_go(whose, dp_mask_of_bits(had) & ~mask);
	return true;
}

void dp_mask_let_come(u64 real)
{
	u64 whose = dp_mask_whose(), bits = bits_of(whose);
	u64 blocked = dp_mask_of_bits(bits) | dp_marks_blocked(real);

	if (bits & DP_MASK_DEFERRED)
		let_go(whose, ~blocked);
}

bool dp_mask_defers(void)
{
	return bits_of(dp_mask_whose()) & DP_MASK_DEFERRED;
}

void dp_mask_lend(void)
{
	u64 thread = dp_mask_thread();

	begin_anew(thread | DP_MASK_VM_CHILD,
		   bits_of(thread) & DP_MASK_BLOCKED);
}

static bool owner_ignores(u32 k)
{
	struct dp_kernel_sigaction action;

	dp_action_get(k, &action);
	return action.handler == DP_SIG_IGN;
}

void dp_mask_set_ignored(u32 k, bool ignored)
{
	u64 bit = dp_mask_differs_bit(k);

	change(dp_mask_thread() | DP_MASK_VM_CHILD,
	       ignored != owner_ignores(k) ? bit : 0, bit);
}

bool dp_mask_ignores(u32 k)
{
	bool differs = bits_of(dp_mask_whose()) & dp_mask_differs_bit(k);

	return owner_ignores(k) != differs;
}

/* Like the kernel, keep the first signal of each number only. */
static bool is_deferred(u64 whose, u32 sig)
{
	u32 i;

	for (i = 0; i < DP_DEFERRED; i++)
		if (__atomic_load_n(&dp_private.deferred[i].thread,
				    __ATOMIC_ACQUIRE) == whose &&
		    (u32)dp_private.deferred[i].info[0] == sig)
			return true;
	return false;
}

bool dp_mask_defer(const struct dp_siginfo *info)
{
	u64 whose = dp_mask_whose(), none;
	u32 i;

	if (is_deferred(whose, (u32)info->signo))
		return true;
	for (i = 0; i < DP_DEFERRED; i++) {
		struct dp_deferred *h = &dp_private.deferred[i];

		none = 0;
		/* An incomplete entry belongs to no thread: 1 is none's id. */
		if (!__atomic_compare_exchange_n(&h->thread, &none, 1, false,
						 __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		dp_bytes_copy(h->info, info, sizeof(h->info));
		__atomic_store_n(&h->thread, whose, __ATOMIC_RELEASE);
		/* The thread has a slot: the virtual mask blocks the signal. */
		return change(whose, DP_MASK_DEFERRED, 0);
	}
	return false;
}

void dp_mask_defer_none(void)
{
	release(dp_mask_thread(), ~0ull, true);
}

/* Nearly all masks are on the stack, where a load cannot fail. */
static bool on_stack(u64 addr, u64 size)
{
	u64 sp = (u64)__builtin_frame_address(0);

	return addr >= sp && ((addr + size - 1) ^ sp) < DP_PAGE;
}

int dp_mask_get(u64 *mask, u64 from)
{
	if (!on_stack(from, sizeof(*mask)))
		return dp_port_copy_in(mask, from, sizeof(*mask));
	dp_bytes_copy(mask, (const void *)from, sizeof(*mask));
	return 0;
}

static int put(u64 to, const u64 *mask)
{
	if (!on_stack(to, sizeof(*mask)))
		return dp_port_copy_out(to, mask, sizeof(*mask));
	dp_bytes_copy((void *)to, mask, sizeof(*mask));
	return 0;
}

u64 dp_mask_after(u64 how, u64 mask, u64 was)
{
	switch (how) {
	case SIG_BLOCK:
		return was | mask;
	case SIG_UNBLOCK:
		return was & ~mask;
	default:
		return mask;
	}
}

/* While our actions come or go, the kernel's mask counts: it gets what the virtual mask has.
 * There are no breakpoints then. */
static s64 procmask_really(u64 how, u64 set, u64 old)
{
	if (dp_mask_blocked() || dp_marks_here()) {
		dp_mask_real(true);
		dp_mask_set_virtual(0);
	}
	return dp_syscall(__NR_rt_sigprocmask, how, set, old, DP_SIGSET_BYTES);
}

static s64 tell(u64 old, u64 before)
{
	return old && put(old, &before) ? -EFAULT : 0;
}

s64 dp_mask_procmask(u64 how, u64 set, u64 old)
{
	u64 caught = dp_mask_caught(), was = dp_mask_blocked(), will = was;
	u64 mask = 0, before;
	s64 ret;

	if (!dp_private.in_force)
		return procmask_really(how, set, old);
	if (set && dp_mask_get(&mask, set))
		return -EFAULT;
	dp_marks_see_mask(mask);
	if ((!set || how <= DP_SIG_SETMASK) &&
	    dp_marks_procmask(set ? &mask : NULL, how, &before))
		return tell(old, before);
	if (set && how <= DP_SIG_SETMASK)
		will = dp_mask_after(how, mask, was) & caught;
	/* Handlers of signals that the kernel unblocks run before its call has returned, and
	 * under the mask that this one sets. */
	if (will != was && !dp_mask_enter_virtual(will))
		/* A thread without room in the table has no virtual mask: the kernel has to
		 * block the signals. */
		__atomic_fetch_add(&dp_arena.hit.unmasked, 1, __ATOMIC_RELAXED);
	else if (how != SIG_UNBLOCK)
		mask &= ~caught;
	ret = dp_syscall(__NR_rt_sigprocmask, how, set ? &mask : NULL, &before,
			 DP_SIGSET_BYTES);
	if (ret)
		return ret;
	dp_mask_let_come(0);
	return tell(old, dp_marks_trap_shown(before) | was);
}

s64 dp_mask_pending(u64 set, u64 size)
{
	u64 whose = dp_mask_whose(), mask;
	s64 ret = dp_syscall(__NR_rt_sigpending, set, size);
	u32 i;

	if (ret || size != DP_SIGSET_BYTES ||
	    !(bits_of(whose) & DP_MASK_DEFERRED))
		return ret;
	if (dp_mask_get(&mask, set))
		return -EFAULT;
	for (i = 0; i < DP_DEFERRED; i++)
		if (__atomic_load_n(&dp_private.deferred[i].thread,
				    __ATOMIC_ACQUIRE) == whose)
			mask |= DP_SIGMASK((u32)dp_private.deferred[i].info[0]);
	return put(set, &mask) ? -EFAULT : 0;
}

void dp_mask_pass_on(u64 whose)
{
	dp_masked_wait_forget(whose);
	begin_anew(whose, dp_mask_bits_of(dp_mask_blocked()));
}

void dp_mask_begin(u64 mask)
{
	begin_anew(dp_mask_whose(), dp_mask_bits_of(mask));
}

void dp_mask_forget(void)
{
	u64 whose = dp_mask_whose();

	dp_masked_wait_forget(whose);
	begin_anew(whose, 0);
}

void dp_mask_real(bool real)
{
	u64 whose = dp_mask_whose(), mask = dp_mask_of_bits(bits_of(whose));

	if (real)
		dp_port_swap_sigmask(dp_marks_plain(dp_marks_real()) | mask);
	else
		dp_port_swap_sigmask(dp_marks_of(dp_marks_real(), mask));
	/* The kernel has them wait, now that it blocks them and none is deferred any more. */
	if (real && bits_of(whose) & DP_MASK_DEFERRED)
		let_go(whose, ~0ull);
}

void dp_mask_give_back(u64 *mask)
{
	dp_mask_give_back_actions();
	dp_masked_wait_give_back();
	if (mask)
		*mask = dp_marks_plain(*mask) | dp_mask_blocked();
	else
		dp_mask_real(true);
}
