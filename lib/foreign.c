// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * foreign: another process that this process probes.
 *
 * A tracer child stops the threads of the other process, so the program sees no SIGCHLD
 * and no unknown child.
 *
 * Lock: dp_foreign_state, under that of uprobe.c (DESIGN.md, Locks).
 */
#include "lib/foreign.h"
#include "lib/self.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/arm.h"
#include "engine/site/engine.h"
#include "engine/text/target.h"
#include "proc/call.h"
#include "resolve/allowed.h"
#include "proc/linker.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "sym/list.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "resolve/reach.h"

#define MAX_SITES 16384
#define SITES_A_LOOK 1024

pthread_mutex_t dp_foreign_state = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t dp_foreign_changed = PTHREAD_COND_INITIALIZER;
static struct dp_foreign *all;

/** struct change - probes that are added or removed together
 *  @done: how many have been added; @err: the result */
struct change {
	struct dp_foreign *f;
	struct dp_client **clients;
	u32 *indexes;
	u32 n, done;
	int err;
	struct dp_target *target;
	struct dp_reach_reader reach_reader;
};

/* If this process is probed, too, hits of our CLONE_VM child are not the program's. */
static void say_vm_child(u32 n)
{
	if (dp_self.arena)
		__atomic_fetch_add(&dp_self.arena->hit.vm_children, n,
				   __ATOMIC_SEQ_CST);
}

/* Run @work in a tracer child, which ends with this process. */
static int aside(void (*work)(void *arg), void *arg)
{
	const struct dp_child child = { .work = work, .arg = arg };
	int err;

	say_vm_child(1);
	err = dp_child_run(&child);
	say_vm_child(-1u);
	return err;
}

static int refuse(const struct change *ch, u64 addr, int err, const char *why)
{
	return dp_fail(err, "0x%lx of process %d cannot be probed: %s", addr,
		       ch->f->pid, why);
}

static int enter(struct dp_foreign *f, struct dp_client *c)
{
	size_t had = f->nr_clients;
	int err;

	pthread_mutex_lock(&dp_foreign_state);
	err = dp_list_reserve(&f->clients, c->index + 1, &f->nr_clients,
			      sizeof(*f->clients));
	if (!err) {
		memset(f->clients + had, 0,
		       (f->nr_clients - had) * sizeof(*f->clients));
		f->clients[c->index] = c;
	}
	pthread_mutex_unlock(&dp_foreign_state);
	return err;
}

/* What the dynamic linker loads at the program's start stays as long as the process. */
static bool may_go(const struct change *ch, u64 addr)
{
	struct dp_modules *mods = ch->reach_reader.mods;
	const struct dp_module *m = dp_module_at(mods, addr);

	return !m || !dp_module_stays(mods, m);
}

static int add_one(struct change *ch, struct dp_client *c)
{
	struct dp_handlers handlers = { .kind = DP_KIND_UPCALL,
					.deadline = c->deadline,
					.way = c->site ? c->site->way : 0,
					.user = (u64)c };
	struct dp_place at = { .addr = c->addr,
			       .maps = dp_modules_maps(ch->reach_reader.mods) };
	struct dp_found found = { .code = at.code,
				  .unowned = may_go(ch, c->addr) };
	char words[DP_WHY_MAX];
	const char *why = words;
	int err = dp_allowed_check(&ch->reach_reader, &at, DP_ASKER_UPROBE,
				   words);

	if (err)
		return refuse(ch, c->addr, err, words);
	if (c->interrupt) {
		handlers.kind = DP_KIND_INJECTED;
		err = dp_injected_put(c, &handlers.pre, &handlers.user,
				      &handlers.pre_needs);
	}
	if (err)
		return err;
	c->user = handlers.user;
	found.x87 = c->interrupt && dp_reach_x87(&ch->reach_reader, c->addr);
	found.size = at.size;
	dp_patched_add(&dp_engine_arena(ch->f->engine)->control, ch->f->pid,
		       c->addr);
	err = dp_live_add(ch->f->engine, c->addr, &found, &handlers, true,
			  &c->index, &why);
	if (err)
		return refuse(ch, c->addr, err, why);
	dp_reach_allow_live(&ch->reach_reader, c->index, c->addr);
	ch->indexes[ch->done++] = c->index;
	c->linked = true;
	err = enter(ch->f, c);
	return err ? refuse(ch, c->addr, err, "out of memory") : 0;
}

static int open_change(struct change *ch)
{
	struct dp_foreign *f = ch->f;
	int err = dp_attach_other_begin(f->proc, &ch->target, dp_last());

	if (err)
		return err;
	ch->reach_reader = (struct dp_reach_reader){ .arming = dp_self_arming(),
						     .target = ch->target,
						     .engine = f->engine };
	err = dp_modules_open(f->pid, dp_process_mem(f->proc),
			      &ch->reach_reader.mods, dp_last());
	if (err)
		dp_attach_other_end(f->proc);
	return err;
}

static void close_change(struct change *ch)
{
	dp_attach_other_end(ch->f->proc);
	dp_modules_close(ch->reach_reader.mods);
	dp_reach_reader_close(&ch->reach_reader);
}

static int commit(struct change *ch)
{
	u32 bad = 0;
	int err = dp_live_commit(ch->f->engine, ch->target, ch->indexes, ch->n,
				 &bad);

	return err ? refuse(ch, ch->clients[bad]->addr, err,
			    dp_allowed_unarmed(err)) :
		     0;
}

static void add(void *arg)
{
	struct change *ch = arg;
	u32 i;

	ch->err = open_change(ch);
	if (ch->err)
		return;
	for (i = 0; i < ch->n && !ch->err; i++)
		ch->err = add_one(ch, ch->clients[i]);
	if (!ch->err)
		ch->err = commit(ch);
	close_change(ch);
}

static int no_thread(int err)
{
	return dp_fail(err, "no thread can be made that would do it: %s",
		       strerror(-err));
}

int dp_foreign_add(struct dp_foreign *f, struct dp_client **clients, u32 n)
{
	struct change ch = { .f = f, .clients = clients, .n = n };
	int err;

	ch.indexes = calloc(n, sizeof(*ch.indexes));
	if (!ch.indexes)
		return dp_fail(-ENOMEM, "out of memory");
	err = aside(add, &ch);
	free(ch.indexes);
	if (err)
		return no_thread(err);
	f->live += ch.done;
	return ch.err;
}

static void remove_all(void *arg)
{
	struct change *ch = arg;

	ch->err = dp_attach_other_begin(ch->f->proc, &ch->target, dp_last());
	if (ch->err)
		return;
	dp_live_remove(ch->f->engine, ch->target, ch->indexes, ch->n);
	dp_attach_other_end(ch->f->proc);
}

void dp_foreign_remove(struct dp_foreign *f, struct dp_client **clients, u32 n)
{
	u32 indexes[n], i;
	struct change ch = { .f = f, .indexes = indexes, .n = n };

	for (i = 0; i < n; i++) {
		indexes[i] = clients[i]->index;
		dp_live_switch_off(f->engine, indexes[i], clients[i]->user);
	}
	if (f->gone || aside(remove_all, &ch) || ch.err)
		return;
	for (i = 0; i < n; i++)
		clients[i]->linked = false;
}

void dp_foreign_retire(struct dp_client *c)
{
	struct dp_foreign *f = c->at;

	pthread_mutex_lock(&dp_foreign_state);
	if (c->index < f->nr_clients)
		f->clients[c->index] = NULL;
	pthread_mutex_unlock(&dp_foreign_state);
	if (!f->gone && !c->linked)
		dp_live_forget(f->engine, c->index);
	f->live--;
}

struct tracer_child {
	pid_t pid;
	struct dp_attach_other how;
	struct dp_process *proc;
	int err;
};

static void attach_other(void *arg)
{
	struct tracer_child *e = arg;

	e->err = dp_process_attach_other(e->pid, &e->how, &e->proc, dp_last());
}

static void leave(void *proc)
{
	dp_process_detach(proc, dp_last());
}

static struct dp_foreign *make(struct tracer_child *e)
{
	struct dp_foreign *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->pid = e->pid;
	f->proc = e->proc;
	f->engine = dp_process_engine(e->proc);
	f->upcalls = dp_live_upcalls(f->engine, &f->nr_upcalls);
	f->refs = 1;
	f->stop = -1;
	f->occupied = calloc(f->nr_upcalls, sizeof(*f->occupied));
	if (f->occupied)
		return f;
	free(f);
	return NULL;
}

static int make_served(struct tracer_child *e, struct dp_foreign **f)
{
	int err;

	*f = make(e);
	err = *f ? dp_serve_begin(*f) : -ENOMEM;
	if (!err)
		return 0;
	aside(leave, e->proc);
	if (*f)
		dp_foreign_put(*f);
	else
		dp_process_close(e->proc);
	return no_thread(err);
}

static struct dp_foreign **find(pid_t pid)
{
	struct dp_foreign **f = &all;

	while (*f && (*f)->pid != pid)
		f = &(*f)->next;
	return f;
}

int dp_foreign_get(pid_t pid, struct dp_foreign **f)
{
	struct tracer_child e = { .pid = pid,
				  .how = { .tool = getpid(),
					   .max_sites = MAX_SITES,
					   .upcalls = DP_UPCALLS,
					   .arming = dp_self_arming() } };
	int err;

	*f = *find(pid);
	if (*f)
		dp_foreign_look(*f);
	*f = *find(pid);
	if (*f)
		return 0;
	err = aside(attach_other, &e);
	err = err ? no_thread(err) : e.err;
	if (!err)
		err = make_served(&e, f);
	if (err)
		return err;
	(*f)->next = all;
	all = *f;
	return 0;
}

void dp_foreign_tidy(struct dp_foreign *f)
{
	struct dp_foreign **at = find(f->pid);

	if (f->live || f->ending)
		return;
	if (*at == f)
		*at = f->next;
	dp_process_hold_asking(f->proc, true);
	dp_serve_end(f);
	if (!f->gone)
		aside(leave, f->proc);
	dp_foreign_put(f);
}

static void lose(struct dp_foreign *f)
{
	f->gone = true;
	dp_clients_lose(f);
	dp_foreign_tidy(f);
}

void dp_foreign_look(struct dp_foreign *f)
{
	if (!f->gone && !f->ending &&
	    dp_process_poll(f->proc, 0) != DP_PROCESS_RUNS)
		lose(f);
}

static void tell_nobody(void *arg, u64 addr, bool away)
{
}

static void cede(void *arg)
{
	struct dp_foreign *f = arg;
	struct dp_target *target;

	if (dp_attach_other_begin(f->proc, &target, NULL))
		return;
	dp_engine_cede(f->engine, target, tell_nobody, NULL);
	dp_attach_other_end(f->proc);
}

u32 dp_foreign_cede(struct dp_foreign *f)
{
	if (f->gone || f->ending)
		return 0;
	if (dp_engine_disturbed(f->engine, dp_process_target(f->proc)))
		aside(cede, f);
	return (u32)(dp_engine_sites(f->engine) / SITES_A_LOOK);
}

void dp_foreign_filter_install(struct dp_foreign *f)
{
	if (f->gone || f->ending || !dp_process_filter_installed(f->proc))
		return;
	aside(leave, f->proc);
	lose(f);
}

/* The process has been left already, or has ended. */
void dp_foreign_put(struct dp_foreign *f)
{
	if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		return;
	dp_process_abandon(f->proc);
	if (f->stop >= 0)
		close(f->stop);
	dp_injected_free(f);
	free(f->occupied);
	free(f->clients);
	free(f);
}

void dp_foreign_account(const struct dp_client *c,
			struct dp_uprobe_account *account)
{
	struct dp_engine *e = c->at->engine;

	account->late = dp_engine_tally(e, c->index, DP_TALLY_UNANSWERED);
	account->missed = dp_engine_tally(e, c->index, DP_TALLY_CONTEXT) +
			  dp_engine_tally(e, c->index, DP_TALLY_UNHEARD);
	account->hits = dp_live_hits(e, c->index) +
			dp_engine_tally(e, c->index, DP_TALLY_CONTEXT);
}

void dp_foreign_leave_all(void)
{
	while (all) {
		struct dp_foreign *f = all;

		all = f->next;
		dp_process_hold_asking(f->proc, true);
		dp_serve_end(f);
		if (dp_process_poll(f->proc, 0) == DP_PROCESS_RUNS)
			aside(leave, f->proc);
	}
}

void dp_foreign_forget_all(void)
{
	while (all) {
		struct dp_foreign *f = all;

		all = f->next;
		f->refs = 1;
		dp_foreign_put(f);
	}
}
