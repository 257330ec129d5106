/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign: another process that this one probes, and who does so.
 *
 * Two locks: dp_foreign_lock() is held while probes come and go, and is never waited for
 * by who runs a handler, but before and after; dp_foreign_state is held for a moment,
 * for what threads that run handlers look at.
 */
#ifndef DP_LIB_FOREIGN_H
#define DP_LIB_FOREIGN_H

#define DP_NO_CURRENT
#include <dprobes/uprobes.h>
#include <dprobes/kprobes.h>
#include <pthread.h>
#include "engine/layout/handler.h"
#include "engine/site/internal.h"

struct dp_foreign;

/**
 * struct dp_client - a registered uprobe, as it was then
 * @kp: the probe itself, where it is in our own process
 * @u: the caller's, which is not looked into
 * @next: of those with the same hash of @u
 * @at: where it is; NULL: in our own process
 * @index: number of the engine's probe; @addr: its address
 * @user: what the engine knows it by
 * @refs: of who has registered it, and of each handler that runs
 * @off: its handler is not called any more
 * @interrupt: it runs in the process
 * @gone: told when it is no client any more and no handler runs; with @u, which then
 *        must not have gone before. NULL: nobody
 * @linked: the engine has it among the probes of its site
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
	bool off; /* atomic: read by those that serve */
	bool linked, interrupt;
	void (*gone)(struct uprobe *u);
};

/**
 * struct dp_foreign - one process
 * @clients: by index of the engine's probe; of @nr_clients places
 * @live: how many there are, those included that are off and still run
 * @refs: of the list of all, and of each thread that serves it
 * @upcalls: in memory that the process can write; @nr_upcalls
 * @occupied: a handler of ours runs for that one of them, as we know it
 * @installing_filter: a thread sees to a filter
 * @objects: ours that are in there, with handlers; @injected: struct dp_injected, as the
 *           process writes them
 * @workers: threads that run handlers; @busy: those that do now
 * @stop: an eventfd that ends its owner
 * @ending: its threads are to end; @gone: it has ended, or executed
 */
struct dp_foreign {
	struct dp_foreign *next;
	pid_t pid;
	struct dp_process *proc;
	struct dp_engine *engine;
	struct dp_client **clients;
	u32 nr_clients;
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

/** dp_foreign_get() - the object of a process, made if there is none.
 *  Return: as dp_process_attach_other(); -EAGAIN no thread can be made. */
int dp_foreign_get(pid_t pid, struct dp_foreign **f);
/** dp_foreign_add() - put probes there: all or none. Return: as register_uprobe(). */
int dp_foreign_add(struct dp_foreign *f, struct dp_client **clients, u32 n);
/** dp_foreign_remove() - take them away; their handlers are not called any more, but
 *  may still run */
void dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients, u32 n);
/** dp_foreign_retire() - when they do not; the client is to be freed */
void dp_foreign_retire(struct dp_client *c);
/** dp_foreign_tidy() - leave the process if nothing is there any more */
void dp_foreign_tidy(struct dp_foreign *f);
/** dp_foreign_look() - has it ended, or executed? Then @gone says so. */
void dp_foreign_look(struct dp_foreign *f);
/** dp_foreign_filter_install() - see to a thread of it that is about to install a seccomp
 *  filter; under one that forbids what probes need they are gone, as with @gone */
void dp_foreign_filter_install(struct dp_foreign *f);
/** dp_foreign_put() - a reference; the last one frees it. Context: any lock. */
void dp_foreign_put(struct dp_foreign *f);
/** dp_foreign_account() - of a client */
void dp_foreign_account(const struct dp_client *c,
			struct dp_uprobe_account *account);
/** dp_foreign_leave_all() - at the end of this process */
void dp_foreign_leave_all(void);
/** dp_foreign_forget_all() - in a fork child */
void dp_foreign_forget_all(void);

/* uprobe.c */
void dp_foreign_lock(void);
bool dp_foreign_trylock(void);
void dp_foreign_unlock(void);
/** dp_uprobes_add() - register_uprobes() for somebody who keeps more than that. @gone is
 *  called for each in the end, with the lock held, after its process has ended, too. */
int dp_uprobes_add(struct uprobe **us, int num, void (*gone)(struct uprobe *u));
/** dp_client_put() - a handler has returned */
void dp_client_put(struct dp_client *c);
/** dp_uprobes_sweep() - unregister those that are, or whose handlers are, in the @size
 *  bytes from @start on. Return: how many there were. */
u32 dp_uprobes_sweep(const char *start, size_t size);
/* uretprobe.c: the same for return probes; and in a fork child */
u32 dp_uretprobes_sweep(const char *start, size_t size);
void dp_uretprobes_forget(void);
/** dp_clients_lose() - the process has gone: its probes are unregistered */
void dp_clients_lose(struct dp_foreign *f);

/* serve.c */
/** dp_serve_begin() - threads for a process. Return: 0; -EAGAIN. */
int dp_serve_begin(struct dp_foreign *f);
/** dp_serve_end() - they end by and by, and nobody in the process is held any more */
void dp_serve_end(struct dp_foreign *f);
/** dp_serve_in_handler() - is the calling thread running one? */
bool dp_serve_in_handler(void);

#endif
