/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hooks: a thread runs through an armed one, in the program's own code.
 *
 * Nearly always a thread needs no library for that: it takes the frame that the library has given it,
 * and calls each exit of the hook's list. Whatever is not so plain is the dispatcher's.
 *
 *   fs:[hook->fast] ─► reader ─► frame[0]: the word on the stack, the list
 *   hook->list ─► list ─► rec, rec, …
 *
 * All of this is shared with the library: DP_HOOK_MODULE_ABI says in which version.
 */
#ifndef DPROBES_HOOK_RUN_H
#define DPROBES_HOOK_RUN_H

#include <dprobes/hook_types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DP_HOOK_DEPTH 8
#define DP_HOOK_COUNTED 512

#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
/**
 * struct dp_hook_list - armed exits of a hook, in order. A thread that runs through it writes nothing to it
 * @n: exits
 * @plain: as @n, when it is valid for all threads, and its exits have no entry conditions; else 0
 * @since: the first epoch in which it is valid
 * @older: valid before; NULL: no thread looks at it any more
 * @retired: the next of those that wait until no thread uses them
 */
struct dp_hook_list {
	unsigned int n, plain;
	unsigned long since;
	struct dp_hook_list *older;
	struct dp_hook_list *retired;
	__extension__ struct gkh_rec *rec[];
};
#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic pop
#endif

/**
 * struct dp_hook_frame - a dispatch that a thread is in
 * @sp: address of a word on the thread's stack, which has dp_hook_cookie() as long as the dispatch
 *   goes on; 0: the frame is free. One store takes a frame: a signal handler finds it taken, or free
 * @list: in use; NULL: the thread is looking for it, or the frame is free. It may be one that is not
 *   there any more, so it is compared only
 * @left: @since of a list; control has found that the thread has left the dispatch with that @list
 *   otherwise than by return
 */
struct dp_hook_frame {
	unsigned long sp;
	const struct dp_hook_list *list;
	unsigned long left;
};

/**
 * struct dp_hook_reader - a thread
 * @frame: of the dispatches that it is in, the outermost first
 * @counts: hits of this thread and its predecessors, by number of the hook; NULL: none yet
 * @disarmed: an exit of @list has disarmed itself
 * @owner: its thread id
 * @deep: how many dispatches there are behind those in frames
 * @quiet: it is in the library: its hits call nobody
 */
struct dp_hook_reader {
	struct dp_hook_frame frame[DP_HOOK_DEPTH];
	unsigned long *counts;
	void (*disarmed)(struct gkh_hook *h, const struct dp_hook_list *list);
	unsigned int owner;
	unsigned int deep;
	unsigned int quiet;
};

/* What control's sync of all threads needs: the compiler keeps the order */
#define DP_HOOK_KEEP_ORDER() __asm__ volatile("" ::: "memory")

/* Of no two frames alike: a frame whose stack is used again is found out. */
static __inline__ unsigned long dp_hook_cookie(const struct dp_hook_frame *f)
{
	return (unsigned long)f ^ 0x6b6f6f68206e6920ul;
}

/* Take a frame. @cookie: on the stack of the dispatch */
static __inline__ __attribute__((always_inline)) void
dp_hook_enter(struct dp_hook_frame *f, volatile unsigned long *cookie)
{
	*cookie = dp_hook_cookie(f);
	DP_HOOK_KEEP_ORDER();
	__atomic_store_n(&f->sp, (unsigned long)cookie, __ATOMIC_RELAXED);
	DP_HOOK_KEEP_ORDER();
}

/* In this order: a free frame has no list. */
static __inline__ __attribute__((always_inline)) void
dp_hook_leave(struct dp_hook_frame *f)
{
	__atomic_store_n(&f->list, (const struct dp_hook_list *)0,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&f->sp, 0ul, __ATOMIC_RELEASE);
}

/* In one instruction: a signal handler may count, too. */
static __inline__ __attribute__((always_inline)) void
dp_hook_add_one(unsigned long *count)
{
	__asm__ volatile("addq $1, %0" : "+m"(*count) : : "cc");
}

/* Call exits without entry conditions, until one says that this is enough. */
static __inline__ __attribute__((always_inline)) int
dp_hook_call_plain(struct dp_hook_reader *r, struct gkh_hook *h,
		   const struct dp_hook_list *list, unsigned int n,
		   struct gkh_args *a)
{
	struct gkh_rec *const *at = list->rec, *const *end = at + n;
	unsigned int armed = GKH_ARMED;
	int rc = GKH_CONTINUE;

	do {
		struct gkh_rec *rec = *at;

		a->rec = rec;
		if (__builtin_expect(__atomic_load_n(&rec->flags,
						     __ATOMIC_RELAXED) &
					     GKH_ARMED,
				     1))
			rc = rec->exit(h, a);
		armed &= __atomic_load_n(&rec->flags, __ATOMIC_RELAXED);
	} while (++at < end && rc == GKH_CONTINUE);
	if (__builtin_expect(!armed, 0))
		r->disarmed(h, list);
	return rc;
}

#ifdef __KERNEL__
/* A kernel's thread has no reader: all is the dispatcher's. */
static __inline__ int dp_hook_run(struct gkh_hook *h, struct gkh_args *a)
{
	return h->dispatch(h, a);
}
#else
/* The calling thread's reader, where the library has put it. NULL: the dispatcher is to be asked */
static __inline__ __attribute__((always_inline)) struct dp_hook_reader *
dp_hook_fast_reader(const struct gkh_hook *h)
{
	struct dp_hook_reader *r;

	__asm__ volatile("movq %%fs:(%1), %0" : "=r"(r) : "r"(h->fast));
	return r;
}

/* Where *@at of this thread is, from what fs points to */
static __inline__ long dp_hook_from_thread(const void *at)
{
	unsigned long self;

	__asm__("movq %%fs:0, %0" : "=r"(self));
	return (long)((unsigned long)at - self);
}

/* dp_hook_run() - what an armed hook calls. Return: as its exits. */
static __inline__ __attribute__((always_inline)) int
dp_hook_run(struct gkh_hook *h, struct gkh_args *a)
{
	volatile unsigned long cookie;
	const struct dp_hook_list *list;
	struct dp_hook_reader *r;
	unsigned int n;
	int rc;

	if (__builtin_expect(!h->fast, 0))
		return h->dispatch(h, a);
	r = dp_hook_fast_reader(h);
	if (__builtin_expect(!r || r->frame[0].sp, 0))
		return h->dispatch(h, a);
	dp_hook_enter(&r->frame[0], &cookie);
	list = __atomic_load_n((struct dp_hook_list **)&h->list,
			       __ATOMIC_ACQUIRE);
	n = list ? __atomic_load_n(&list->plain, __ATOMIC_RELAXED) : 0;
	if (__builtin_expect(!n, 0)) {
		dp_hook_leave(&r->frame[0]);
		return h->dispatch(h, a);
	}
	__atomic_store_n(&r->frame[0].list, list, __ATOMIC_RELAXED);
	dp_hook_add_one(&r->counts[h->number]);
	rc = dp_hook_call_plain(r, h, list, n, a);
	dp_hook_leave(&r->frame[0]);
	return rc;
}

#endif

#ifdef __cplusplus
}
#endif
#endif
