/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * table: the probes that there are, besides what the engine knows of them.
 *
 *                      its module comes (where @back)
 *              ┌──────────────────────────────────────┐
 *              ▼                                      │
 *     ──► THERE ── its module, or its init code, goes ─► GONE
 *              ▲
 *     ──► PENDING ── its module comes
 *
 * Context of every function: task, between dp_kmod_enter() and dp_kmod_leave().
 */
#ifndef DP_KMOD_TABLE_H
#define DP_KMOD_TABLE_H

#include "kmod/session.h"
#include "port_types.h"

struct dp_calls;
struct dp_client;
struct dp_data;
struct dp_handlers;
struct dp_watch;
struct dp_kmod_mapped;

/**
 * struct dp_kmod_probe - a probe, by its number in the engine
 * @used: it is there; @client: whose it is; NULL: it calls handlers
 * @on: it is wanted, also while its code is not there; @was: as its client has last committed it
 * @armed: it has been committed; @goes: the next commit takes it away
 * @program: 1 + that which it runs; 0: none
 * @plan: "jump", "trap" or "watch", which it would be, for @plan_reason, where that has been asked; NULL: it has not
 * @state: where its code is; @reason: why it is not probed though its module has come, or NULL
 * @addr: of the instruction, also when that has gone; 0: it never was there
 * @name: "MODULE:FUNCTION[+OFFSET]" of one that is armed when its module comes; else NULL
 * @returns: it is on the returns of its function, whose calls are followed by @calls, once that is made; @room:
 *           bytes that its program may log at the entry
 * @data: it is on data, which @watch watches; NULL: no longer, and @hits were seen
 * @mapped: it is on a file, and has no @addr; else NULL
 * @label: how lists call it when it has gone: "function+0x0  module"; NULL: by its address
 */
struct dp_kmod_probe {
	bool used, on, was, armed, goes, returns, data;
	struct dp_client *client;
	u32 program;
	const char *plan, *plan_reason;
	enum dp_kmod_state state;
	u64 addr;
	const char *reason;
	char *name, *label;
	struct dp_calls *calls;
	struct dp_kmod_mapped *mapped;
	u32 room;
	struct dp_watch *watch;
	u64 hits;
};

/** dp_kmod_probe() - NULL: there is none of that number */
struct dp_kmod_probe *dp_kmod_probe(u32 probe);
/** dp_kmod_put() - dp_client_add(), with the lock held */
int dp_kmod_put(struct dp_client *c, u64 *addr, u32 *probe, const char **why);
/** dp_kmod_put_data() - a probe on data, see dp_watch_take(). @c: NULL: it is armed by dp_live_commit() and
 *  dp_kmod_set_watches(). Return: as dp_watch_take(); -ENOMEM */
int dp_kmod_put_data(struct dp_client *c, const struct dp_data *data,
		     const struct dp_handlers *handlers, u32 *probe,
		     const char **why);
/** dp_kmod_set_watches() - registers are on where probes on data are armed. The engine has all of them. */
void dp_kmod_set_watches(void);
/** dp_kmod_data_hits() - of a probe on data, all accesses */
u64 dp_kmod_data_hits(u32 probe);
/** dp_kmod_put_absent() - a client's probe whose code is not there. Return: as dp_kmod_add() */
int dp_kmod_put_absent(struct dp_client *c, u32 *probe);
/** dp_kmod_put_mapped() - a client's probe on a file: its site has no code of the kernel's. Return: as dp_kmod_add() */
int dp_kmod_put_mapped(struct dp_client *c, u64 offset, u32 *probe);
/** dp_kmod_move() - put a probe whose code was not there on an instruction; if it has been committed, it is armed by
 *  dp_kmod_arm_moved(). Return: as dp_client_add() */
int dp_kmod_move(u32 probe, u64 *addr, const char **why);
/**
 * dp_kmod_take_out() - disarm the probes of code that is about to go, whatever has become of others
 * @goes: is an address of that code?
 * Return: 0; others have written over one of these: -EBUSY.
 */
int dp_kmod_take_out(const u32 *list, u32 n, bool (*goes)(void *arg, u64 addr),
		     void *arg);
/** dp_kmod_arm_moved() - plan and arm these, as dp_client_commit() */
int dp_kmod_arm_moved(const u32 *list, u32 n, u64 *bad);

/* Without the lock */

/** dp_kmod_is_idle() - is there an engine that nobody uses? It may have changed by now. */
bool dp_kmod_is_idle(void);
/** dp_kmod_disarm_idle() - if so, see that nothing of it is in the text. @use: for dp_kmod_free_idle()
 *  Return: 0; -ENOENT; -EBUSY others have written over a probe; an error of writing */
int dp_kmod_disarm_idle(u64 *use);
/** dp_kmod_free_idle() - it goes, if nobody has used it meanwhile. No thread is in what it had in the text. */
void dp_kmod_free_idle(u64 use);

#endif
