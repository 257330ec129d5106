/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign: another process that this process probes, and the uprobes in it.
 *
 * Two locks. dp_foreign_lock() is held while probes come and go; no thread waits for a
 * handler under it. dp_foreign_state is held for a moment, for fields that the workers
 * read.
 */
#ifndef DP_LIB_FOREIGN_H
#define DP_LIB_FOREIGN_H

#define DP_NO_CURRENT
#define DP_NO_MODULE_NOTE
#include <dprobes/uprobes.h>
#include <dprobes/kprobes.h>
#include <pthread.h>
#include "engine/layout/handler.h"
#include "engine/site/internal.h"

struct dp_foreign;
struct dp_object;

/**
 * struct dp_tracked_site - the entry of a function with a return probe, or one of its exits
 * @of: the function; see uretprobe.c
 * @owner: what belongs to the caller: the return probe and its handlers
 * @way: of an exit: DP_WAY_*
 */
struct dp_tracked_site {
	struct uprobe u; /* first */
	void *of;
	const void *owner[3];
	bool is_exit;
	u32 way;
};

/**
 * struct dp_client - a registered uprobe, as it was when it was registered
 * @kp: the kprobe, for a uprobe in our own process
 * @u: the caller's uprobe, which is not read
 * @next: client with the same hash of @u
 * @at: the probed process; NULL: our own process
 * @index: number of the engine's probe; @addr: its address
 * @user: the engine's key for the probe
 * @refs: of the registration, and of each handler that runs
 * @off: its handler is not called any more
 * @interrupt: its handler is injected
 * @site: of a return probe, which has @u; else NULL. dp_tracked_gone() is called when the
 *        client has ended and no handler runs
 * @linked: the engine has the probe among the probes of its site
 */
struct dp_client {
	struct kprobe kp; /* first */
	struct uprobe *u;
	uprobe_handler_t handler;
	u32 deadline;
	struct dp_client *next;
	struct dp_foreign *at;
	u64 addr, user;
	u32 index;
	u32 refs;
	bool off; /* atomic: workers read it */
	bool linked, interrupt;
	struct dp_tracked_site *site;
};

/**
 * struct dp_foreign - a probed process
 * @clients: by index of the engine's probe; of @nr_clients places
 * @live: number of clients, including those that are off and still run
 * @refs: of the list of all, and of each thread that serves the process
 * @upcalls: @nr_upcalls of them, in memory that the process can write
 * @occupied: by upcall: a handler of ours runs for it, by our own count
 * @installing_filter: a thread of ours handles a filter install
 * @objects: our objects with injected handlers; @injected: struct dp_injected, as the
 *           process writes them
 * @workers: threads that run handlers; @busy: those that run a handler now
 * @stop: an eventfd that ends the owner
 * @ending: its threads are to end; @gone: the process has ended, or executed
 */
struct dp_foreign {
	struct dp_foreign *next;
	pid_t pid;
	struct dp_process *proc;
	struct dp_engine *engine;
	struct dp_client **clients;
	size_t nr_clients;
	u32 live, refs;
	struct dp_object *objects;
	u8 *injected;
	struct dp_upcalls *upcalls;
	u32 nr_upcalls;
	u32 workers, busy;
	int stop;
	bool *occupied;
	bool ending, gone, kept, installing_filter;
};

extern pthread_mutex_t dp_foreign_state __attribute__((visibility("hidden")));
extern pthread_cond_t dp_foreign_changed __attribute__((visibility("hidden")));

/** dp_foreign_get() - find a process's struct dp_foreign, or attach to the process.
 *  Return: as dp_process_attach_other(); -EAGAIN no thread can be made. */
int dp_foreign_get(pid_t pid, struct dp_foreign **f);
/** dp_foreign_add() - add probes. Return: as register_uprobe(). If it fails, clients that
 *  are @linked may have been hit, and are to be removed as others are. */
int dp_foreign_add(struct dp_foreign *f, struct dp_client **clients, u32 n);
/** dp_foreign_remove() - remove probes; their handlers are not called any more, but may
 *  still run */
void dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients, u32 n);
/** dp_foreign_retire() - release a removed client whose handlers have ended; the caller
 *  frees it */
void dp_foreign_retire(struct dp_client *c);
/** dp_foreign_tidy() - leave the process if it has no client any more */
void dp_foreign_tidy(struct dp_foreign *f);
/** dp_foreign_look() - set @gone if the process has ended, or executed */
void dp_foreign_look(struct dp_foreign *f);
/** dp_foreign_cede() - let jumps cede to breakpoints of the kernel's uprobes, and come back.
 *  Return: how many looks to leave out until the next, by the cost of this one. */
u32 dp_foreign_cede(struct dp_foreign *f);
/** dp_foreign_filter_install() - handle a filter install. Under a filter that forbids what
 *  probes need, they are gone, and @gone is set. */
void dp_foreign_filter_install(struct dp_foreign *f);
/** dp_foreign_put() - drop a reference; the last one frees @f. Context: any lock. */
void dp_foreign_put(struct dp_foreign *f);
/** dp_foreign_account() - read a client's counters */
void dp_foreign_account(const struct dp_client *c,
			struct dp_uprobe_account *account);
/** dp_foreign_leave_all() - leave all processes, at the end of this process */
void dp_foreign_leave_all(void);
/** dp_foreign_forget_all() - forget all processes, in a fork child */
void dp_foreign_forget_all(void);

/* uprobe.c */
void dp_foreign_lock(void);
bool dp_foreign_trylock(void);
void dp_foreign_unlock(void);
/** dp_uprobes_add_tracked() - register_uprobes() for a function with a return probe. In
 *  the end dp_tracked_gone() is called for each site; if it fails, for none. */
int dp_uprobes_add_tracked(struct dp_tracked_site *sites, u32 n);
/** dp_client_put() - drop a handler's reference */
void dp_client_put(struct dp_client *c);
/** dp_tracked_any() - is a function tracked for the return probe @rp? In a handler in our own
 *  process: not known, false. */
bool dp_tracked_any(const struct uretprobe *rp);
/** dp_uprobes_drop() - unregister the uprobes and return probes that are, or whose handlers
 *  are, in the @size bytes from @start on. @returns: return probes only. Return: how many
 *  there were. */
u32 dp_uprobes_drop(const void *start, size_t size, bool returns);
/** dp_tracked_gone() - a function's site is not probed any more, and may be freed with the
 *  function. uretprobe.c. Context: lock held; also when the process has ended. */
void dp_tracked_gone(struct dp_tracked_site *site);
/** dp_clients_lose() - the process has gone: unregister its probes */
void dp_clients_lose(struct dp_foreign *f);

/* serve.c */
/** dp_serve_begin() - make the threads that serve a process. Return: 0; -EAGAIN. */
int dp_serve_begin(struct dp_foreign *f);
/** dp_serve_end() - let these threads end, and wake all threads that wait for an upcall */
void dp_serve_end(struct dp_foreign *f);
/** dp_serve_in_handler() - is the calling thread running a handler? */
bool dp_serve_in_handler(void);

/* injected.c */
/**
 * dp_injected_put() - put a client's handler into its process
 * @handler, @user: addresses in the process, of the handler and of its uprobe
 * @needs: enum dp_insn_state
 *
 * Context: between dp_attach_other_begin() and dp_attach_other_end().
 * Return: 0; -EOPNOTSUPP the handler cannot run in the process, with words; -ENOMEM.
 */
int dp_injected_put(struct dp_client *c, u64 *handler, u64 *user, u8 *needs);

/** dp_injected_settle() - wait until a client's handler has ended, but no longer than its
 *  deadline. Return: false: the handler still runs. */
bool dp_injected_settle(const struct dp_client *c);
/** dp_injected_see() - our address of the process's copy of a variable, which the process
 *  can write; NULL: there is no copy */
void *dp_injected_see(const struct dp_foreign *f, const void *variable);
void dp_injected_free(struct dp_foreign *f);

#endif
