/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hook: the hooks of this process, and what is done to them.
 *
 * Everything here is under the lock "hooks", between dp_hooks_begin() and dp_hooks_end(): modules come and
 * go under the dynamic linker's lock, under which the library's must not be taken. It is not held
 * while a thread waits for others to leave an exit. Each file calls only the files before
 * it: hook_text, hook_reader, hook_probe, hook_exit, hook. The exception is hook_probe, which calls
 * dp_hooks_begin() and dp_hooks_end().
 */
#ifndef DP_LIB_HOOK_H
#define DP_LIB_HOOK_H

#include "lib/self.h"
#include <dprobes/gkh.h>
#include "engine/hook/hook.h"

/* Further flags of a record: it is being disarmed; it is to be deregistered, or has been, and
 * somebody may still be in it */
#define DP_HOOK_LEAVING 0x100u
#define DP_HOOK_DROPPED 0x200u

/**
 * struct dp_hook_probe - a probe that sends threads on to the code of an armed hook
 * @p: its kprobe, the last one at the place; @to: that code
 * @is_on: the hook is armed; @hook: its name, for messages
 */
struct dp_hook_probe {
	struct kprobe p;
	struct dp_hook_probe *next;
	u64 to;
	u32 is_on;
	char hook[64];
};

/** struct dp_hook_place - a nop of a hook's
 *  @jumps: threads go on at @to: it is a jump now, or @probe is on; @probe: NULL: there is none */
struct dp_hook_place {
	u64 at, to;
	bool jumps;
	struct dp_hook_probe *probe;
};

/**
 * struct dp_hook_info - an identified hook
 * @first: its exits, in order
 * @places: @nr_places of them; @nr_jumps are jumps
 * @fresh: a list that is about to be published; @changed: the next hook that has one
 * @hits: of its number when the hook got it
 */
struct dp_hook_info {
	struct dp_hook_info *next;
	struct gkh_hook *hook;
	struct gkh_rec *first;
	struct dp_hook_place *places;
	u32 nr_places, nr_jumps;
	struct dp_hook_list *fresh;
	struct dp_hook_info *changed;
	u64 hits;
};

/** dp_hook_info() - Return: NULL if the hook is not identified */
static inline struct dp_hook_info *dp_hook_info(const struct gkh_hook *h)
{
	return h ? h->priv[0] : NULL;
}

/* hook_reader.c */
/** dp_hook_reader() - the calling thread's, or NULL. Context: any. */
struct dp_hook_reader *dp_hook_reader(void);
/** dp_hook_inside_any() - is the calling thread in an exit? Context: any. */
bool dp_hook_inside_any(void);
/** dp_hook_is_running() - may the calling thread, on whatever stack, be in an exit? */
bool dp_hook_is_running(void);
/** dp_hook_readers_anew() - in a fork child: only this thread is there */
void dp_hook_readers_anew(void);
/** dp_hook_in_use() - may a thread use @list, which nobody finds any more? @hard: ask where threads are
 *  that have not moved for long. Context: all threads have been synced since it was replaced. */
bool dp_hook_in_use(const struct dp_hook_list *list, bool hard);
/** dp_hook_fast_at() - what is in the field fast of a hook */
long dp_hook_fast_at(void);
/** dp_hook_count() - hits of hooks with this number */
u64 dp_hook_count(u32 number);

/* hook_hold.c. Context: any. */
/** dp_hook_hold() - stop all other threads. Return: false: they cannot be stopped. */
bool dp_hook_hold(void);
void dp_hook_release(void);
/** dp_hook_hold_anew() - in a fork child */
void dp_hook_hold_anew(void);

/* hook_text.c */
/** dp_hook_text_ready() - can text be written? Return: false: dp_self_begin(true) is to be called */
bool dp_hook_text_ready(void);
/** dp_hook_activate() - nops become jumps. Return: 0; -EBUSY; -ENOMEM; with words, nothing done. */
int dp_hook_activate(struct dp_hook_info *info);
/** dp_hook_deactivate() - jumps become nops; those that cannot stay, for the next time */
void dp_hook_deactivate(struct dp_hook_info *info);
/** dp_hook_place_add() - a place of the hook's that has come. Return: 0; as dp_hook_activate(). */
int dp_hook_place_add(struct dp_hook_info *info, u64 at, u64 to);
/** dp_hook_places_remove() - forget the places in [start, end), whose text goes */
void dp_hook_places_remove(struct dp_hook_info *info, u64 start, u64 end);
/** dp_hook_text_close() - before the lock is dropped */
void dp_hook_text_close(void);
/** dp_hook_sync() - all threads see what has been stored */
int dp_hook_sync(void);

/** dp_hook_text_is_nop() - does the place hold its nop? */
bool dp_hook_text_is_nop(const struct dp_hook_place *place);

/* hook_probe.c. Context: the lock "hooks" is not held. */
/** dp_hook_probes_come() - where nops of these records' hooks bear probes of this process, or of a tool,
 *  have one of our own. Return: may the hooks be armed now? */
bool dp_hook_probes_come(const struct gkh_rec *list);
/** dp_hook_probes_go() - unregister those that are needed no more, and wait for them; not in an exit */
void dp_hook_probes_go(void);
/** dp_hook_probe_drop() - a place goes. Context: the lock is held. */
void dp_hook_probe_drop(struct dp_hook_probe *probe);

/* hook.c */
/** dp_hook_idle() - all exits of a hook have disarmed themselves: restore its text, if nobody else is in
 *  the library. Context: any. */
void dp_hook_idle(struct gkh_hook *h);
extern struct dp_hook_info *dp_hooks __attribute__((visibility("hidden")));
/** dp_hooks_begin() - enter. Return: 0; -EAGAIN in an exit, and another thread is in the library, or
 *  in a probe's handler; with words. */
int dp_hooks_begin(void);
/** dp_hooks_end() - leave, and tell of events */
void dp_hooks_end(void);
/** dp_hooks_pause() - leave for a moment, without telling; dp_hooks_resume() enters again */
void dp_hooks_pause(void);
void dp_hooks_resume(void);
/** dp_hooks_watch_exit() - at the end of the process, records are left alone */
void dp_hooks_watch_exit(void);
void dp_hook_tell(enum gkh_event event, struct gkh_hook *h);
/** dp_hooks_missing() - what may be said of a hook that is not there */
const char *dp_hooks_missing(void);
struct dp_hook_info *dp_hook_named(const char *name);

/* hook_exit.c */
/** dp_hooks_sweep() - what exits have done meanwhile: they have disarmed themselves */
void dp_hooks_sweep(void);
/** dp_hook_has_exit() - has the hook an exit, or its record, in [start, end)? */
bool dp_hook_has_exit(const struct dp_hook_info *info, u64 start, u64 end);
/** dp_hook_orphan() - disarm and forget exits of @info, or of all hooks: those in [start, end), or all
 *  that there are. @deleted: their hook is deleted.
 *  Return: 0; GKH_DEFERRED. Context: between begin and end; may pause. */
int dp_hook_orphan(struct dp_hook_info *info, u64 start, u64 end, bool deleted);

/** dp_hook_switch() - arm or disarm an exit by its name, or its address as lists show it, for a tool.
 *  Return: 0; -ENOENT; -EPERM it is not for others; as gkh_arm(), gkh_disarm(); with words. */
int dp_hook_switch(const char *hook, const char *exit, bool on);
/** dp_hooks_print() - gkh_list() into @text, of @size bytes. What has no room is counted.
 *  Return: 0; an errno. */
int dp_hooks_print(char *text, size_t size);

#endif
