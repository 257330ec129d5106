/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shared: what the files of the session have in common: the engine, its lock, and its users.
 *
 * Lock: that of struct dp_kmod, above what the kernel takes to write text. Whoever reads or writes anything else
 * here holds it, but for READ_ONCE().
 */
#ifndef DP_KMOD_SHARED_H
#define DP_KMOD_SHARED_H

#include "kmod/session.h"
#include "kmod/table.h"
#include "port_types.h"
#include <linux/mutex.h>

struct dp_engine;

/**
 * struct dp_kmod - the kernel's probes
 * @engine: NULL: there is none; @arming: how it arms; @uses: how often somebody has come to use one
 * @session: is there one? @planned, @committed: its probes have been planned, and armed
 * @handlers: how many probes are not of it, but call handlers
 * @probes: by number of the engine's probe, of which @nr_used are used
 * @knobs: by enum dp_kmod_knob: for all probes, those of later engines too
 * @leaving: of code that is about to go, with @leaving_arg; NULL: bytes may be written anywhere
 */
struct dp_kmod {
	struct mutex lock;
	struct dp_engine *engine;
	enum dp_kmod_arming arming;
	u64 uses;
	bool session, committed, planned;
	u32 handlers, nr_used;
	struct dp_kmod_probe probes[DP_KMOD_PROBES];
	bool knobs[2];
	bool (*leaving)(void *arg, u64 addr);
	void *leaving_arg;
};

extern struct dp_kmod dp_kmod;

/* @answer: of the engine; @none: of that type, where there is no session. It takes the lock. */
#define DP_KMOD_ASK(none, answer)                            \
	({                                                   \
		typeof(none) told_;                          \
                                                             \
		mutex_lock(&dp_kmod.lock);                   \
		told_ = dp_kmod.session ? (answer) : (none); \
		mutex_unlock(&dp_kmod.lock);                 \
		told_;                                       \
	})

/** dp_kmod_hold() - hold() of struct dp_growth_ops: do work that writes text, while others who write it are kept out.
 *  Return: as it; -EBUSY one of the kernel's own probes is over one of ours */
int dp_kmod_hold(void *arg, bool unowned, int (*work)(void *what), void *what);

#endif
