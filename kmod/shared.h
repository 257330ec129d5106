/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shared: what the files of the session have in common: the engine, its lock, and its users.
 *
 * Lock: that of struct dp_kmod, above what the kernel takes to write text. Whoever reads or writes anything else
 * here holds it, but for READ_ONCE().
 */
#ifndef DP_KMOD_SHARED_H
#define DP_KMOD_SHARED_H

#include "kmod/client.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include "port_types.h"
#include <linux/mutex.h>

struct dp_engine;

/**
 * struct dp_kmod - the kernel's probes
 * @engine: NULL: there is none; @arming: how it arms; @uses: how often somebody has come to use one
 * @clients: how many there are; @handlers: how many probes are of none, but call handlers
 * @programs: how many there are; @owner: by number of a program
 * @interpret: see dp_client_interpret(); @shown: who has had global variables last may see the kernel's addresses
 * @probes: by number of the engine's probe, of which @nr_used are used
 * @knobs: by enum dp_kmod_knob: for all probes, those of later engines too
 * @leaving: of code that is about to go, with @leaving_arg; NULL: bytes may be written anywhere
 */
struct dp_kmod {
	struct mutex lock;
	struct dp_engine *engine;
	enum dp_kmod_arming arming;
	u64 uses;
	u32 clients, handlers, nr_used, programs, interpret;
	struct dp_client *owner[DP_KMOD_PROGRAMS];
	bool shown;
	struct dp_kmod_probe probes[DP_KMOD_PROBES];
	bool knobs[2];
	bool (*leaving)(void *arg, u64 addr);
	void *leaving_arg;
};

extern struct dp_kmod dp_kmod;

/* @answer: of the engine; @none: of that type, where there is no client. It takes the lock. */
#define DP_KMOD_ASK(none, answer)                            \
	({                                                   \
		typeof(none) told_;                          \
                                                             \
		mutex_lock(&dp_kmod.lock);                   \
		told_ = dp_kmod.clients ? (answer) : (none); \
		mutex_unlock(&dp_kmod.lock);                 \
		told_;                                       \
	})

/** dp_kmod_lock_for() - take the lock, to use an engine that arms so: one that nobody uses, and that arms otherwise, is
 *  on its way out. dp_kmod_make() - an engine. Return: 0; -ENOMEM */
void dp_kmod_lock_for(enum dp_kmod_arming arming);
int dp_kmod_make(enum dp_kmod_arming arming);
/** dp_kmod_is_unused() - is there an engine that nobody uses? With the lock */
bool dp_kmod_is_unused(void);
/** dp_kmod_deliver() - let clients have their records; with the lock */
void dp_kmod_deliver(void);
/** dp_kmod_forget_programs() - those of a client that no probe runs any more; @all: that it has; @fresh: that came since the
 *  last commit, and no others */
void dp_kmod_forget_programs(struct dp_client *c, bool all, bool fresh);

/** dp_kmod_over() - where one of the kernel's own probes was found when text was last to be written; 0: nowhere */
u64 dp_kmod_over(void);
/** dp_kmod_hold() - hold() of struct dp_growth_ops: do work that writes text, while others who write it are kept out.
 *  Return: as it; -EBUSY one of the kernel's own probes is over one of ours */
int dp_kmod_hold(void *arg, bool unowned, int (*work)(void *what), void *what);

#endif
