// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * dispatch: a thread runs through an armed hook, and calls its exits.
 *
 * No lock, no allocation, no call of libc: a hook may be in malloc(3), or in a signal handler. An exit
 * may leave by longjmp(3) or an exception. Its frame is then dropped when the thread, or control, finds
 * that the thread's stack has shrunk past it.
 */
#include "engine/hook/hook.h"

const struct dp_hook_world *dp_hook_world;
u64 dp_hook_epoch;
u32 dp_hook_disarmed;
struct dp_hook_lone dp_hook_lones[DP_HOOK_LONES];
u32 dp_hook_nr_lones;
u32 dp_hook_others;
u64 dp_hook_unheld;
__thread struct dp_hook_reader *dp_hook_self;
__thread struct dp_hook_reader *dp_hook_fast;
__thread u32 dp_hook_alone;

static u32 taken_frames(const struct dp_hook_reader *r)
{
	u32 n = DP_HOOK_DEPTH;

	while (n && !r->frame[n - 1].sp)
		n--;
	return n;
}

/* Frames that have been left otherwise than by return are free again, the innermost first. */
u32 dp_hook_inside(struct dp_hook_reader *r, u64 here)
{
	u32 n = taken_frames(r);

	while (n && dp_hook_world->left(&r->frame[n - 1], here)) {
		__atomic_store_n(&r->deep, 0, __ATOMIC_RELEASE);
		dp_hook_leave(&r->frame[n - 1]);
		n = taken_frames(r);
	}
	return n + r->deep;
}

void dp_hook_quiet(struct dp_hook_reader *r, bool on)
{
	if (on)
		r->quiet++;
	else if (r->quiet)
		r->quiet--;
	dp_hook_fast = r->quiet || !r->counts ? NULL : r;
}

static const struct dp_hook_list *list_of(const struct gkh_hook *h)
{
	const struct dp_hook_list *list =
		__atomic_load_n(&h->list, __ATOMIC_ACQUIRE);

	if (list &&
	    list->since > __atomic_load_n(&dp_hook_epoch, __ATOMIC_ACQUIRE))
		list = __atomic_load_n(&list->older, __ATOMIC_ACQUIRE);
	return list;
}

/* Without signals: a handler's exit would wait for what this thread is taking. */
static bool hold(void)
{
	bool held;
	u64 mask;

	dp_hook_world->block(&mask);
	held = dp_hook_world->hold();
	dp_hook_world->unblock(mask);
	return held;
}

static void release(void)
{
	u64 mask;

	dp_hook_world->block(&mask);
	dp_hook_world->release();
	dp_hook_world->unblock(mask);
}

/* Between hold() and release() nobody else decides whether the exit is armed. */
static __attribute__((noinline)) int call_held(struct gkh_rec *rec,
					       struct gkh_args *a)
{
	int rc = GKH_CONTINUE;

	if (!hold()) {
		__atomic_fetch_add(&dp_hook_unheld, 1, __ATOMIC_RELAXED);
		return rc;
	}
	if (dp_hook_is_armed(rec))
		rc = rec->exit(rec->hook, a);
	release();
	return rc;
}

static __attribute__((noinline)) int call_with(struct gkh_rec *rec,
					       struct gkh_args *a)
{
	u64 mask = 0;
	int rc;

	if (rec->flags & GKH_DISABLE_IRQS)
		dp_hook_world->block(&mask);
	if (rec->flags & GKH_STOP_CPUS)
		rc = call_held(rec, a);
	else
		rc = rec->exit(rec->hook, a);
	if (rec->flags & GKH_DISABLE_IRQS)
		dp_hook_world->unblock(mask);
	return rc;
}

static __attribute__((noinline)) void
note_disarmed(struct gkh_hook *h, const struct dp_hook_list *list)
{
	u32 i;

	__atomic_store_n(&dp_hook_disarmed, 1, __ATOMIC_RELEASE);
	for (i = 0; i < list->n; i++)
		if (dp_hook_is_armed(list->rec[i]))
			return;
	dp_hook_world->idle(h);
}

#define ODD (GKH_ARMED | GKH_DISABLE_IRQS | GKH_STOP_CPUS)

/* Not armed any more, or with entry conditions */
static __attribute__((noinline)) int call_odd(struct gkh_rec *rec,
					      struct gkh_args *a, u32 flags)
{
	return flags & GKH_ARMED ? call_with(rec, a) : GKH_CONTINUE;
}

static inline __attribute__((always_inline)) int
call_all(struct gkh_hook *h, const struct dp_hook_list *list,
	 struct gkh_args *a)
{
	u32 i, n = list->n, flags, less = 0;
	int rc = GKH_CONTINUE;

	for (i = 0; i < n && rc == GKH_CONTINUE; i++) {
		struct gkh_rec *rec = list->rec[i];

		flags = __atomic_load_n(&rec->flags, __ATOMIC_RELAXED);
		a->rec = rec;
		if (__builtin_expect((flags & ODD) == GKH_ARMED, 1))
			rc = rec->exit(h, a);
		else
			rc = call_odd(rec, a, flags);
		less |= ~__atomic_load_n(&rec->flags, __ATOMIC_RELAXED);
	}
	if (__builtin_expect(less & GKH_ARMED, 0))
		note_disarmed(h, list);
	return rc;
}

static void give_back(struct dp_hook_lone *l)
{
	dp_hook_leave(&l->frame);
	__atomic_store_n(&l->owner, 0, __ATOMIC_SEQ_CST);
}

bool dp_hook_inside_lone(u64 here)
{
	struct dp_hook_lone *l = dp_hook_lones;
	u32 i, n = dp_hook_alone, tid;

	/* A constructor may come before the world's, where the library is linked in. */
	if (!dp_hook_world)
		return false;
	tid = dp_hook_world->tid();
	for (i = 0; i < dp_hook_nr_lones; i++, l++) {
		if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != tid ||
		    !l->frame.sp)
			continue;
		if (dp_hook_world->left(&l->frame, here))
			give_back(l);
		else
			n++;
	}
	return n;
}

static void raise_nr(u32 n)
{
	u32 nr = __atomic_load_n(&dp_hook_nr_lones, __ATOMIC_RELAXED);

	while (nr < n &&
	       !__atomic_compare_exchange_n(&dp_hook_nr_lones, &nr, n, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		continue;
}

static struct dp_hook_lone *take_lone(u64 here)
{
	u32 tid = dp_hook_world->tid(), i, free;

	dp_hook_inside_lone(here);
	for (i = 0; i < DP_HOOK_LONES; i++) {
		free = 0;
		if (__atomic_compare_exchange_n(&dp_hook_lones[i].owner, &free,
						tid, false, __ATOMIC_SEQ_CST,
						__ATOMIC_RELAXED)) {
			raise_nr(i + 1);
			return &dp_hook_lones[i];
		}
	}
	return NULL;
}

/* Control looks at the place, as at a reader's frame. */
static int dispatch_lone(struct dp_hook_lone *l, struct gkh_hook *h,
			 struct gkh_args *a)
{
	const struct dp_hook_list *list;
	volatile unsigned long cookie;
	int rc = GKH_CONTINUE;

	dp_hook_enter(&l->frame, &cookie);
	list = list_of(h);
	__atomic_store_n(&l->frame.list, list, __ATOMIC_RELAXED);
	if (list)
		rc = call_all(h, list, a);
	give_back(l);
	return rc;
}

/* Without a reader. Control waits for all that have no place either. */
static __attribute__((noinline)) int dispatch_other(struct gkh_hook *h,
						    struct gkh_args *a)
{
	struct dp_hook_lone *l = take_lone((u64)__builtin_frame_address(0));
	const struct dp_hook_list *list;
	int rc = GKH_CONTINUE;

	if (l)
		return dispatch_lone(l, h, a);
	__atomic_fetch_add(&dp_hook_others, 1, __ATOMIC_SEQ_CST);
	dp_hook_alone++;
	list = list_of(h);
	if (list)
		rc = call_all(h, list, a);
	dp_hook_alone--;
	__atomic_fetch_sub(&dp_hook_others, 1, __ATOMIC_SEQ_CST);
	return rc;
}

static __attribute__((noinline)) void count_first(struct dp_hook_reader *r,
						  struct gkh_hook *h)
{
	if (!r->counts) {
		r->counts = dp_hook_world->counts();
		r->disarmed = note_disarmed;
		dp_hook_fast = r->counts && !r->quiet ? r : NULL;
	}
	if (h->number < DP_HOOK_COUNTED && r->counts)
		dp_hook_add_one(&r->counts[h->number]);
	else
		__atomic_fetch_add((u64 *)&h->priv[1], 1, __ATOMIC_RELAXED);
}

static void count(struct dp_hook_reader *r, struct gkh_hook *h)
{
	if (__builtin_expect(!r->counts || h->number >= DP_HOOK_COUNTED, 0))
		count_first(r, h);
	else
		dp_hook_add_one(&r->counts[h->number]);
}

/* In so many dispatches that there is no frame: control waits until the thread is in fewer. */
static __attribute__((noinline)) int
dispatch_deep(struct dp_hook_reader *r, struct gkh_hook *h, struct gkh_args *a)
{
	const struct dp_hook_list *list;
	u32 deep = r->deep;
	int rc = GKH_CONTINUE;

	__atomic_store_n(&r->deep, deep + 1, __ATOMIC_RELAXED);
	DP_HOOK_KEEP_ORDER();
	list = list_of(h);
	count(r, h);
	if (list)
		rc = call_all(h, list, a);
	__atomic_store_n(&r->deep, deep, __ATOMIC_RELEASE);
	return rc;
}

static int dispatch_in(struct dp_hook_reader *r, struct dp_hook_frame *f,
		       struct gkh_hook *h, struct gkh_args *a)
{
	const struct dp_hook_list *list;
	volatile unsigned long cookie;
	int rc = GKH_CONTINUE;

	dp_hook_enter(f, &cookie);
	list = list_of(h);
	__atomic_store_n(&f->list, list, __ATOMIC_RELAXED);
	count(r, h);
	if (list)
		rc = call_all(h, list, a);
	/* All that are further in have been left, in whatever way. */
	if (__builtin_expect(r->deep, 0))
		__atomic_store_n(&r->deep, 0, __ATOMIC_RELEASE);
	dp_hook_leave(f);
	return rc;
}

int dp_hook_dispatch(struct gkh_hook *h, struct gkh_args *a)
{
	struct dp_hook_reader *r = dp_hook_self;
	u32 depth;

	if (__builtin_expect(!r, 0)) {
		r = dp_hook_world->reader();
		if (!r)
			return dispatch_other(h, a);
	}
	if (__builtin_expect(r->quiet, 0))
		return GKH_CONTINUE;
	depth = dp_hook_inside(r, (u64)__builtin_frame_address(0));
	if (__builtin_expect(depth >= DP_HOOK_DEPTH, 0))
		return dispatch_deep(r, h, a);
	return dispatch_in(r, &r->frame[depth], h, a);
}
