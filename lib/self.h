/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * self: the engine of this process, of which there is one.
 *
 * It is made by the first probe and stays. Every call into the library is made
 * between dp_self_begin() and dp_self_end(), which hold its lock. In this order, each file
 * calls those before it: self, settle, blacklist, gone, probe, engine, report, enter. Of
 * probe.c that is true but for dp_pool_leave().
 */
#ifndef DP_SELF_H
#define DP_SELF_H

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

/* Of a structure's flags, what the library leaves as it is */
#define DP_FLAGS_KEPT (KPROBE_FLAG_UNWIND | KPROBE_FLAG_RET_SITES)
#define DP_SELF_SITES (1u << 17)

/** struct dp_user - the probe that has an index of the engine; @p is NULL for none
 *  @since: generation of the symbol map when it was registered
 *  @gone: its code is no longer there
 *  @unowned: the dynamic linker has not loaded its code, so nobody says so when it
 *          goes; @origin is what it was then
 */
struct dp_user {
	struct kprobe *p;
	u64 since;
	u64 addr;
	char kind; /* as lists show it: k, r, j */
	bool disabled, gone, unowned;
	struct dp_origin origin;
	bool hidden; /* see struct dp_request */
};

struct dp_self {
	pid_t owner; /* its process: a fork child begins anew */
	struct dp_engine *engine;
	struct dp_arena *arena;
	u64 base; /* of the agent */
	struct dp_symbol_map *symbols;
	struct dp_text text;
	struct dp_user *users; /* by index of the probe */
	u32 nr_users, cap_users;
	bool switched_off; /* some probe has been, and is to be removed */
	bool disarmed, unoptimized;
	bool changed; /* libraries have come or gone */
	bool unowned; /* some probe is in code that may go unseen */
	enum dp_arming arming;
};

extern struct dp_self dp_self __attribute__((visibility("hidden")));

/* The calling thread's handler stack, or 0. The hit half finds this by its distance from
 * the thread pointer. */
extern __thread u64 dp_self_stack_addr
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/** dp_self_vectors() - DP_SAVE_*: all vector registers of this machine */
u32 dp_self_vectors(void);
/** dp_self_arming() - as DPROBES_ARM says */
enum dp_arming dp_self_arming(void);

/** dp_last() - where the calling thread's diagnostic goes */
struct dp_diag *dp_last(void);

/** dp_self_say() - the calling thread is in the library, or is not any more: its hits
 *  are none of the program's. Context: signals are blocked. */
void dp_self_say(bool self);
#define DP_BIT_OF(sig) (1ull << ((sig)-1))
/* libc's: another thread waits until it is dealt with */
#define DP_SIGNAL_SETXID 33
/* What the processor raises in a handler has to come. */
#define DP_LET_THROUGH                                                \
	(DP_BIT_OF(SIGSEGV) | DP_BIT_OF(SIGBUS) | DP_BIT_OF(SIGFPE) | \
	 DP_BIT_OF(SIGILL) | DP_BIT_OF(SIGTRAP) | DP_BIT_OF(DP_SIGNAL_SETXID))

/** dp_self_enter() - block signals and say so, without a call of libc; @mask: for
 *  dp_self_leave() */
void dp_self_enter(u64 *mask);
void dp_self_leave(u64 mask);

/** dp_self_in_handler() - is the calling thread in one? */
bool dp_self_in_handler(void);
/** dp_self_stack() - the calling thread's, or NULL */
struct dp_stack *dp_self_stack(void);

/* engine.c */
/** dp_self_make() - the engine, which there is none of. Return: 0 or why not. */
int dp_self_make(void);

/* enter.c */
/**
 * dp_self_begin() - enter
 * @make: there has to be an engine
 * Return: 0; -EAGAIN in a handler; with @make also why there is no engine;
 * -ESRCH without it, if there is none.
 */
int dp_self_begin(bool make);
/** dp_self_begin_any() - enter, whether there is an engine or not. Return: 0;
 *  -EAGAIN in a handler; as dp_symbol_map_open(). */
int dp_self_begin_any(void);
/** dp_self_begin_look() - enter to read what is known: whether code has gone is not
 *  looked at, which costs most of the others their time. Return: 0; -EAGAIN in a
 *  handler; -ESRCH there is no engine. */
int dp_self_begin_look(void);
void dp_self_end(void);
/** dp_self_begin_names() - enter with names and addresses only, no engine.
 *  Return: 0; -EAGAIN in a handler; as dp_symbol_map_open(). */
int dp_self_begin_names(void);

/** dp_self_busy() - is somebody between them, maybe the calling thread? */
bool dp_self_busy(void);

/* settle.c */
/** dp_self_in_hand() - does a thread still have something in hand of the memory there,
 *  which it has left by siglongjmp? Nobody new may take anything from there. */
bool dp_self_in_hand(u64 start, u64 size);

/** dp_self_settle() - wait until no handler runs that began before; but for the
 *  calling thread's own */
void dp_self_settle(void);
/** dp_self_settle_anew() - in a fork child */
void dp_self_settle_anew(void);

/* probe.c: what all kinds of probe have in common */
/** struct dp_request - one probe to be registered */
struct dp_request {
	struct kprobe *p;
	struct dp_handlers handlers;
	char kind;
	bool entry; /* only at the beginning of a function */
	bool hidden; /* part of another one, and in no list */
	bool unowned; /* as in struct dp_user */
	struct dp_origin origin;
	kprobe_opcode_t *had_addr; /* what the caller had set */
};

/** dp_probes_check() - is it a list of probes of any kind? Return: 0; -EINVAL. */
int dp_probes_check(void *const *probes, int num);
/** dp_probes_register() - all or none. Return: as register_kprobe(). */
int dp_probes_register(struct dp_request *requests, u32 n);
/** dp_probes_unregister() - those that are registered; the others' addr is
 *  cleared. @wait: until their handlers have ended */
void dp_probes_unregister(struct kprobe *const *probes, u32 n);
/** dp_probe_switch_off() - unregister, from a handler. The structure is not used
 *  any more when it returns; dp_probes_sweep() does the rest at the next call.
 *  Context: any. */
void dp_probe_switch_off(struct kprobe *p);
void dp_probes_sweep(void);
/** dp_probe_resolve() - a function by the name that a probe gives it: an alias, one of
 *  the process's, or kallsyms_lookup_name() of the modules. Return: as
 *  dp_symbol_map_resolve(). */
int dp_probe_resolve(const char *name, struct dp_symbol *sym,
		     struct dp_diag *diag);
/** dp_probe_index() - Return: false if it is not registered. */
bool dp_probe_index(const struct kprobe *p, u32 *index);
/** dp_probe_at() - is there one of a kind at the address? */
bool dp_probe_at(u64 addr, char kind);

/* gone.c */
/** dp_probes_notice_gone() - whose code is no longer there? */
void dp_probes_notice_gone(void);
/** dp_flags_refresh() - what the callers' structures say of their state */
void dp_flags_refresh(void);

/* kprobe.c */
int dp_probe_enable(struct kprobe *p, bool enabled);

/* report.c */
/** dp_report_collect() - under the lock: put what has happened into words */
void dp_report_collect(void);
/** dp_report_deliver() - without it: tell the program */
void dp_report_deliver(void);

/* handler.c */
/** dp_handler_needs() - what has to be saved around a handler: enum
 *  dp_insn_state, and how many xmm registers */
u8 dp_handler_needs(const void *handler);

/* kretprobe.c */
/** dp_pool_leave() - of a struct dp_instance_pool: nobody enters any more */
void dp_pool_leave(struct dp_instance_pool *instance_pool);

/* blacklist.c */
/** struct dp_forbidden - [start, end) that may not be probed */
struct dp_forbidden {
	u64 start, end;
	const char *name, *why;
};

typedef bool dp_forbidden_fn(const struct dp_forbidden *range, void *arg);

/** dp_blacklist_visit() - all of them, until @instance returns true. Return: whether it has. */
bool dp_blacklist_visit(dp_forbidden_fn *visit, void *arg);
/** dp_blacklisted() - may this address not be probed? Return: why, or NULL. */
const char *dp_blacklisted(u64 addr);
/** dp_is_gpr() - was this handler declared DP_HANDLER_GPR? */
bool dp_is_gpr(const void *handler);

#endif
