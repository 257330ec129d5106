/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * self: the one engine of this process.
 *
 * The first probe makes the engine, which stays. Every call into the library runs between
 * dp_self_begin() and dp_self_end(), which hold its lock. Each file calls only the files
 * before it: self, settle, blacklist, gone, probe, engine, report, enter. The exception is
 * probe.c, which calls dp_pool_leave().
 */
#ifndef DP_SELF_H
#define DP_SELF_H

#define DP_NO_MODULE_NOTE
#include <dprobes/kprobes.h>
#include <signal.h>
#include "engine/layout/arena.h"
#include "engine/site/live.h"
#include "engine/layout/handler.h"
#include "engine/site/arm.h"
#include "resolve/symbol.h"
#include "lib/text.h"
#include "engine/site/internal.h"
#include "sym/sym.h"

/* The flags of a struct kprobe that the library leaves alone */
#define DP_FLAGS_KEPT (KPROBE_FLAG_UNWIND | KPROBE_FLAG_RET_SITES)
#define DP_SELF_SITES (1u << 17)

/** struct dp_user - the probe with an index of the engine; @p is NULL for none
 *  @since: generation of the symbol map when the probe was registered
 *  @gone: its code is not mapped any more
 *  @unowned: its code is in an unowned mapping, which goes without a loader event;
 *            @origin says what was mapped then
 */
struct dp_user {
	struct kprobe *p;
	u64 since;
	u64 addr;
	char kind; /* as in lists: k, r, j; h: of a hook, in no list */
	bool disabled, gone, unowned;
	struct dp_origin origin;
	bool hidden; /* a further part of the probe before it; in no list */
	bool guest; /* a tool's; in no list of the program's */
	bool own; /* the library's; in no list */
};

struct dp_self {
	pid_t owner; /* the process; a fork child begins anew */
	struct dp_engine *engine;
	struct dp_arena *arena;
	u64 base; /* of the agent */
	struct dp_symbol_map *symbols;
	struct dp_text text;
	struct dp_user *users; /* by index of the probe */
	u32 nr_users;
	size_t user_room;
	bool switched_off; /* a probe is switched off, and to be removed */
	bool disarmed, unoptimized;
	bool changed; /* libraries have come or gone */
	bool unowned; /* a probe is in an unowned mapping */
	enum dp_arming arming;
	struct dp_guest_probe *guests;
	u32 nr_guests;
};

extern struct dp_self dp_self __attribute__((visibility("hidden")));

/* The calling thread's handler stack, or 0. The hit half finds this variable by its
 * distance from the thread pointer. */
extern __thread u64 dp_self_stack_addr
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/** dp_self_vectors() - DP_SAVE_*: all vector registers of this machine */
u32 dp_self_vectors(void);
/** dp_self_arming() - as DPROBES_ARM says */
enum dp_arming dp_self_arming(void);

/** dp_last() - the calling thread's diagnostic */
struct dp_diag *dp_last(void);
/** dp_fail() - dp_diag_set() of that diagnostic */
#define dp_fail(...) dp_diag_set(dp_last(), __VA_ARGS__)

/** dp_self_say() - the calling thread enters the library, where its hits are not the
 *  program's, or leaves it. Context: signals are blocked. */
void dp_self_say(bool self);
#define DP_BIT_OF(sig) (1ull << ((sig)-1))
/* libc's: another thread waits until this signal is handled */
#define DP_SIGNAL_SETXID 33
/* Signals that the processor raises in a handler have to be delivered. */
#define DP_LET_THROUGH                                                \
	(DP_BIT_OF(SIGSEGV) | DP_BIT_OF(SIGBUS) | DP_BIT_OF(SIGFPE) | \
	 DP_BIT_OF(SIGILL) | DP_BIT_OF(SIGTRAP) | DP_BIT_OF(DP_SIGNAL_SETXID))

/** dp_self_enter() - block signals and call dp_self_say(), without a call of libc;
 *  @mask: for dp_self_leave() */
void dp_self_enter(u64 *mask);
void dp_self_leave(u64 mask);

/** dp_self_in_handler() - is the calling thread in a probe's handler? */
bool dp_self_in_handler(void);
/** dp_self_stack() - the calling thread's handler stack, or NULL */
struct dp_stack *dp_self_stack(void);

/* engine.c */
/** dp_self_make() - make the engine. Return: 0 or why not. */
int dp_self_make(void);

/* enter.c */
/**
 * dp_self_begin() - enter
 * @make: make an engine if there is none
 * Return: 0; -EAGAIN in a handler; why no engine could be made; without @make, -ESRCH
 * there is no engine.
 */
int dp_self_begin(bool make);
/** dp_self_begin_any() - enter, with an engine or without. Return: 0; -EAGAIN in a
 *  handler; as dp_symbol_map_open(). */
int dp_self_begin_any(void);
/** dp_self_begin_look() - enter to read what is known, without the costly check for gone
 *  code. Return: 0; -EAGAIN in a handler; -ESRCH there is no engine. */
int dp_self_begin_look(void);
/** dp_self_begin_bare() - enter where no error may come: names may be out of date, text
 *  cannot be written, and there may be no engine. Return: 0; -EAGAIN in a handler, or in
 *  a vfork child. */
int dp_self_begin_bare(void);
void dp_self_end(void);
/** dp_self_begin_names() - enter with names and addresses only, no engine.
 *  Return: 0; -EAGAIN in a handler; as dp_symbol_map_open(). */
int dp_self_begin_names(void);

/** dp_self_busy() - is a thread, maybe the calling one, between begin and end? */
bool dp_self_busy(void);

/* settle.c */
/** dp_self_in_hand() - does a thread's handler stack still refer to an instance in this
 *  memory, maybe left by siglongjmp? No thread may take another instance from it. */
bool dp_self_in_hand(u64 start, u64 size);

/** dp_self_where() - where a thread is; the helper may stop it for a moment. Return: false: nobody knows */
bool dp_self_where(u32 tid, u64 *sp, u64 *pc);
/** dp_self_handler_over() - is @at on the stack of a handler that does not run any more?
 *  @look: find out where its thread is, too. Context: any; with @look, control */
bool dp_self_handler_over(u64 at, bool look);
/** dp_self_settle() - wait until all handlers that run now have ended, except the calling
 *  thread's own */
void dp_self_settle(void);
/** dp_self_settled() - how often that has been done */
u64 dp_self_settled(void);
/** dp_self_settle_anew() - in a fork child */
void dp_self_settle_anew(void);

/* probe.c: what all kinds of probe have in common */
/** struct dp_request - one probe to be registered */
struct dp_request {
	struct dp_user user;
	struct dp_handlers handlers;
	bool entry; /* only at the beginning of a function */
	const struct dp_binding *binding; /* of its program, or NULL */
	u32 group; /* of a guest of DP_KIND_EXIT */
	kprobe_opcode_t *had_addr; /* of the kprobe, as the caller set it */
};

/** dp_probes_check() - check a list of probes of any kind. Return: 0; -EINVAL. */
int dp_probes_check(void *const *probes, int num);
/**
 * dp_probes_register_list() - register_kprobes(), and the same for other kinds
 * @probes: @num of them; each begins with its struct kprobe
 * @describe: fill in the request for one probe. Return: 0 or why not.
 */
int dp_probes_register_list(void **probes, int num,
			    int (*describe)(struct dp_request *r, void *probe));
/** dp_probes_register() - register all or none. Return: as register_kprobe(). */
int dp_probes_register(struct dp_request *requests, u32 n);
/** dp_probes_unregister() - unregister the registered probes with all their parts, and wait
 *  for their handlers; clear addr of the others */
void dp_probes_unregister(struct kprobe *const *probes, u32 n);
/** dp_probe_switch_off() - unregister from a handler. @p is not used after the return;
 *  dp_probes_sweep() does the rest at the next call of the library. Context: any. */
void dp_probe_switch_off(struct kprobe *p);
void dp_probes_sweep(void);
/** dp_probes_switch_off() - dp_probes_unregister() where text cannot be written: the
 *  probes stay armed, and call no handler. Context: dp_self_begin_bare(). */
void dp_probes_switch_off(struct kprobe *const *probes, u32 n);
/** dp_probe_resolve() - find a function by a probe's name for it: an alias, a symbol of
 *  the process, or kallsyms_lookup_name(). Return: as dp_symbol_map_resolve(). */
int dp_probe_resolve(const char *name, struct dp_symbol *sym,
		     struct dp_diag *diag);
/** dp_probe_index() - Return: false if @p is not registered. */
bool dp_probe_index(const struct kprobe *p, u32 *index);
/** dp_probe_next() - the part behind @p, which is registered. A return probe that leaves the
 *  return address alone has several: the entry's kprobe, and one for each exit.
 *  Return: NULL: no more. Context: any. */
static inline struct kprobe *dp_probe_next(const struct kprobe *p)
{
	return p->dp_private[1];
}

/** DP_SINGLES() - the functions for one probe of a kind, by those for several, and by those
 *  for the struct kprobe with which it begins */
#define DP_SINGLES(kind)                                           \
	int register_##kind(struct kind *p)                        \
	{                                                          \
		return register_##kind##s(&p, 1);                  \
	}                                                          \
	void unregister_##kind(struct kind *p)                     \
	{                                                          \
		unregister_##kind##s(&p, 1);                       \
	}                                                          \
	int disable_##kind(struct kind *p)                         \
	{                                                          \
		return dp_probe_enable((struct kprobe *)p, false); \
	}                                                          \
	int enable_##kind(struct kind *p)                          \
	{                                                          \
		return dp_probe_enable((struct kprobe *)p, true);  \
	}

/**
 * dp_probes_register_each() - register those that can be
 * @refuse: called for each that cannot be, with dp_last_diag() telling why
 * Return: 0; of arming, then none is registered
 */
int dp_probes_register_each(struct dp_request *requests, u32 n,
			    void (*refuse)(void *arg, u32 i, int err),
			    void *arg);

/* guest.c: probes of a tool. Context: task; no library lock is held. */
struct dp_guest;
/** dp_guests_begin() - forget the programs of guests. Return: 0; -EBUSY there are guests;
 *  -EAGAIN a program is being run. */
int dp_guests_begin(void);
/** dp_guests_program() - add programs for guests
 *  @programs: @n struct dp_guest_program, of @size bytes in all; @number is filled in
 *  Return: 0; -EINVAL, -ENOSPC, -ENOMEM; then the first ones may be there. */
int dp_guests_program(void *programs, size_t size, u32 n);
/** dp_guests_settle() - discard the records that wait for threads that have ended, or are of
 *  disabled guests. Return: 0; -EAGAIN a program is being run. */
int dp_guests_settle(void);
/** dp_guests_add() - register probes that count, disabled. Return: 0; an errno for all. */
int dp_guests_add(struct dp_guest *v, u32 n);
/** dp_guests_switch() - enable and disable. Return: 0; -EINVAL for a number that is none. */
int dp_guests_switch(const struct dp_guest *v, u32 n);
/** dp_guests_remove() - unregister, and tell the hits. Return: as dp_guests_switch(). */
int dp_guests_remove(struct dp_guest *v, u32 n);
/** dp_guests_clean() - unregister all. Return: 0 or a negative errno. */
int dp_guests_clean(void);

/* gone.c */
/** dp_probes_notice_gone() - mark the probes whose code is not mapped any more */
void dp_probes_notice_gone(void);
/** dp_flags_refresh() - write each probe's state to its caller's structure */
void dp_flags_refresh(void);

/* kprobe.c */
int dp_probe_enable(struct kprobe *p, bool enabled);

/* report.c */
/** dp_report_collect() - put what has happened into words. Context: library lock held. */
void dp_report_collect(void);
/** dp_report_deliver() - tell the program. Context: library lock not held. */
void dp_report_deliver(void);
/** dp_report_in_child() - in a fork child: a thread that is not there may have held the lock */
void dp_report_in_child(void);
/** dp_report_hold() - the calling thread holds another lock, under which the program is
 *  told nothing, or holds it no more */
void dp_report_hold(bool held);

/* handler.c */
/** dp_handler_needs() - registers to save around a handler: enum dp_insn_state, and how
 *  many xmm registers */
u8 dp_handler_needs(const void *handler);
/** dp_handler_spares() - registers that a pre_handler leaves alone: see struct dp_handlers */
u32 dp_handler_spares(const void *handler);

/* kretprobe.c */
/** dp_pool_leave() - no call takes an instance of the pool any more: free it later */
void dp_pool_leave(struct dp_instance_pool *instance_pool);
/** dp_pools_anew() - a fork child has no return probes */
void dp_pools_anew(void);

/* blacklist.c */
/** struct dp_forbidden - [start, end) that may not be probed */
struct dp_forbidden {
	u64 start, end;
	const char *name, *why;
};

typedef bool dp_forbidden_fn(const struct dp_forbidden *range, void *arg);

/** dp_blacklist_visit() - visit all ranges until @visit returns true. Return: whether it did. */
bool dp_blacklist_visit(dp_forbidden_fn *visit, void *arg);
/** dp_blacklisted() - may this address not be probed? Return: why, or NULL. */
const char *dp_blacklisted(u64 addr);
/** dp_is_gpr() - was this handler declared DP_HANDLER_GPR? */
bool dp_is_gpr(const void *handler);
/** dp_notes_in_child() - as dp_report_in_child() */
void dp_notes_in_child(void);

#endif
