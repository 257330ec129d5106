/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hook: exits of hooks in their order, and the threads that call them.
 *
 * A hook has an order of registered exits, for control, and a list of armed ones, for threads that
 * run through the hook. A list never changes. Control publishes new lists of several hooks, and then
 * makes all of them valid by one store to dp_hook_epoch: a thread that finds a list which is not
 * valid yet takes the older one.
 *
 *   hook->list ─► list, since 8 ─older─► list, since 5        dp_hook_epoch 7: the older one
 *
 * Each thread has a reader. It has a frame for each dispatch that the thread is in, with the list
 * in use. So control knows when no thread has an old list any more. A thread stores to its reader
 * without a fence; control's sync of all threads stands in for it.
 *
 * The program's own code does what is plain, by <dprobes/hook_run.h>: a dispatch that is the thread's
 * outermost, in its first frame. dp_hook_dispatch() does all others.
 */
#ifndef DP_HOOK_H
#define DP_HOOK_H

#include "port_types.h"
#include "dprobes/hook_run.h"

/**
 * struct dp_hook_world - what dispatch asks of the world
 * @reader: the calling thread's; NULL: there is none for it
 * @tid: the calling thread's number
 * @counts: memory for a reader's counts, zeroed; NULL
 * @left: has the calling thread, whose stack is at @here now, left the dispatch of frame @f, by
 *   longjmp(3) or an exception?
 * @block, @unblock: signals
 * @hold: stop all other threads. Return: false: they cannot be stopped, and this is noted
 * @release: let them go on
 * @idle: all exits of @h have disarmed themselves
 * Context of each: any thread, any place in its code.
 */
struct dp_hook_world {
	struct dp_hook_reader *(*reader)(void);
	u32 (*tid)(void);
	u64 *(*counts)(void);
	bool (*left)(const struct dp_hook_frame *f, u64 here);
	void (*block)(u64 *mask);
	void (*unblock)(u64 mask);
	bool (*hold)(void);
	void (*release)(void);
	void (*idle)(struct gkh_hook *h);
};

/* Set before any hook is armed */
extern const struct dp_hook_world *dp_hook_world
	__attribute__((visibility("hidden")));
extern u64 dp_hook_epoch __attribute__((visibility("hidden")));
/* An exit has disarmed itself since control has looked. */
extern u32 dp_hook_disarmed __attribute__((visibility("hidden")));
/** struct dp_hook_lone - a dispatch of a thread that has no reader
 *  @owner: its thread id; 0: the place is free */
struct dp_hook_lone {
	u32 owner;
	struct dp_hook_frame frame;
};
#define DP_HOOK_LONES 64
extern struct dp_hook_lone dp_hook_lones[DP_HOOK_LONES]
	__attribute__((visibility("hidden")));
/* Places behind these have never been taken. */
extern u32 dp_hook_nr_lones __attribute__((visibility("hidden")));
/* Such dispatches that have found no place */
extern u32 dp_hook_others __attribute__((visibility("hidden")));
/* Hits at which exits were not called, because the other threads could not be stopped */
extern u64 dp_hook_unheld __attribute__((visibility("hidden")));
extern __thread struct dp_hook_reader *dp_hook_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
/* The same, if the thread may call exits without the dispatcher: it has counts, and is not quiet */
extern __thread struct dp_hook_reader *dp_hook_fast
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Those of this thread */
extern __thread u32 dp_hook_alone
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* dispatch.c. Context: any. */
/** dp_hook_dispatch() - call the armed exits of a hook: the dispatcher of all hooks */
int dp_hook_dispatch(struct gkh_hook *h, struct gkh_args *a);
/** dp_hook_inside() - in how many dispatches is the thread of @r, whose stack is at @here? */
u32 dp_hook_inside(struct dp_hook_reader *r, u64 here);
/** dp_hook_inside_lone() - is the calling thread, which has no reader, in a dispatch? */
bool dp_hook_inside_lone(u64 here);
/** dp_hook_quiet() - from here on the calling thread's hits call nobody, until it is @on no more as often */
void dp_hook_quiet(struct dp_hook_reader *r, bool on);

/* order.c. Context: control, one at a time. */
/** dp_hook_order_add() - put a record where its flags want it among those from *@first on
 *  Return: 0; -EBUSY it cannot be there. */
int dp_hook_order_add(struct gkh_rec **first, struct gkh_rec *rec,
		      bool exclusive);
void dp_hook_order_remove(struct gkh_rec **first, struct gkh_rec *rec);
/** dp_hook_order_next() - the record behind, or NULL */
static inline struct gkh_rec *dp_hook_order_next(const struct gkh_rec *rec)
{
	return rec->priv[0];
}
static inline bool dp_hook_is_armed(const struct gkh_rec *rec)
{
	return __atomic_load_n(&rec->flags, __ATOMIC_ACQUIRE) & GKH_ARMED;
}
/** dp_hook_list_has() - Return: is @rec in the list? */
bool dp_hook_list_has(const struct dp_hook_list *list,
		      const struct gkh_rec *rec);

#endif
