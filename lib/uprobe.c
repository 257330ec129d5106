// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobe: the registered probes of other processes.
 *
 * A client has a reference of its registration, and one of each handler that runs. The
 * last reference frees the client. After the last client of a process, the agent leaves
 * the process.
 *
 * Lock: "Uprobes", and dp_foreign_state or "the library" under it (DESIGN.md, Locks).
 */
#include "lib/foreign.h"
#include "lib/self.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUCKETS 1024
#define AT_ONCE 128

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t saved; /* signal mask of the thread with the lock */
static struct dp_client *buckets[BUCKETS];

/* With signals blocked: a signal handler that comes here again would wait for ever. */
static bool take(int (*how)(pthread_mutex_t *mutex))
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	if (how(&lock)) {
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
		return false;
	}
	saved = mask;
	dp_report_hold(true);
	dp_self_say(true);
	return true;
}

void dp_foreign_lock(void)
{
	take(pthread_mutex_lock);
}

bool dp_foreign_trylock(void)
{
	return take(pthread_mutex_trylock);
}

void dp_foreign_unlock(void)
{
	sigset_t mask = saved;

	dp_self_say(false);
	dp_report_hold(false);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static struct dp_client **find(const struct uprobe *u)
{
	struct dp_client **c = &buckets[(u64)u / sizeof(*u) % BUCKETS];

	while (*c && (*c)->u != u)
		c = &(*c)->next;
	return c;
}

static struct dp_client *take_out(const struct uprobe *u)
{
	struct dp_client **at = find(u), *c = *at;

	if (c)
		*at = c->next;
	return c;
}

static int check(const struct uprobe *u, int i)
{
	if (!u)
		return dp_fail(-EINVAL, "probe %d is NULL", i);
	if (*find(u))
		return dp_fail(-EEXIST, "the probe is registered already");
	if (!u->handler)
		return dp_fail(-EINVAL, "the probe has no handler");
	return 0;
}

/* Context: lock held; @u has no client. */
static struct dp_client *make(struct uprobe *u, struct dp_foreign *f,
			      bool tracked)
{
	struct dp_client *c = calloc(1, sizeof(*c)), **at = find(u);

	if (!c)
		return NULL;
	*c = (struct dp_client){
		.u = u,
		.handler = u->handler,
		.deadline = u->deadline_ms ? u->deadline_ms :
					     DP_UPROBE_DEADLINE_MS,
		.at = f,
		.addr = u->vaddr,
		.refs = 1,
		.site = tracked ? (struct dp_tracked_site *)u : NULL,
		.interrupt = u->handler_in_interrupt,
	};
	*at = c;
	return c;
}

/* --- of our own process: a kprobe --- */

static int hit_self(struct kprobe *p, struct pt_regs *regs)
{
	const struct dp_client *c = (const void *)p;
	u64 addr = c->addr;

	regs->ip = addr;
	c->handler(c->u, regs);
	return regs->ip != addr;
}

static int add_self(struct dp_client **clients, u32 n)
{
	struct kprobe **kps = calloc(n, sizeof(*kps));
	u32 i;
	int err;

	if (!kps)
		return dp_fail(-ENOMEM, "out of memory");
	for (i = 0; i < n; i++) {
		kps[i] = &clients[i]->kp;
		kps[i]->addr = (kprobe_opcode_t *)clients[i]->addr;
		kps[i]->pre_handler = hit_self;
	}
	err = register_kprobes(kps, (int)n);
	dp_self_say(true);
	free(kps);
	return err;
}

/* Clients that were unregistered in a handler, where they could not be freed. */
static struct dp_client *released;

/* A call of the library's, not the program's: it may have a probe at free(). */
static void free_ours(struct dp_client *c)
{
	u64 mask;

	dp_self_enter(&mask);
	free(c);
	dp_self_leave(mask);
}

static void dig_up(void)
{
	struct dp_client *c, *next;

	if (!released || dp_self_in_handler())
		return;
	dp_foreign_lock();
	c = released;
	released = NULL;
	dp_foreign_unlock();
	for (; c; c = next) {
		next = c->next;
		/* This waits for the client's handlers. */
		unregister_kprobe(&c->kp);
		free_ours(c);
	}
}

static void finish_self(struct dp_client *c)
{
	bool in_handler = dp_self_in_handler();

	unregister_kprobe(&c->kp);
	if (!in_handler) {
		free_ours(c);
		return;
	}
	dp_foreign_lock();
	c->next = released;
	released = c;
	dp_foreign_unlock();
}

/* A uprobe that is in the list twice is registered already. */
static int make_all(struct uprobe **us, struct dp_client **clients, u32 n,
		    struct dp_foreign *f, bool tracked)
{
	u32 i;
	int err = 0;

	memset(clients, 0, n * sizeof(*clients));
	for (i = 0; i < n && !err; i++) {
		err = check(us[i], (int)i);
		clients[i] = err ? NULL : make(us[i], f, tracked);
		if (!err && !clients[i])
			err = dp_fail(-ENOMEM, "out of memory");
	}
	return err;
}

/* Clients that the engine has may have been hit already, and stay. */
static void drop_unadded(struct dp_client **clients, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (clients[i] && !clients[i]->linked)
			free(take_out(clients[i]->u));
}

/* Add @n uprobes of one process. If it fails, some may be registered all the same. */
static int add(struct uprobe **us, struct dp_client **clients, u32 n,
	       bool tracked)
{
	struct dp_foreign *f = NULL;
	int err = us[0]->pid == getpid() ? 0 : dp_foreign_get(us[0]->pid, &f);

	if (err)
		return err;
	err = make_all(us, clients, n, f, tracked);
	if (!err)
		err = f ? dp_foreign_add(f, clients, n) : add_self(clients, n);
	if (err)
		drop_unadded(clients, n);
	if (err && f)
		dp_foreign_tidy(f);
	return err;
}

static u32 of_one_process(struct uprobe **us, u32 n)
{
	u32 same = 1;

	while (same < n && us[same]->pid == us[0]->pid)
		same++;
	return same;
}

/* Return: how many were registered; they are in @clients. */
static u32 remove_all(struct uprobe **us, u32 n, struct dp_client **clients)
{
	u32 found = 0, i, k;

	for (i = 0; i < n; i++)
		if (us[i] && (clients[found] = take_out(us[i])))
			found++;
	pthread_mutex_lock(&dp_foreign_state);
	for (i = 0; i < found; i++)
		__atomic_store_n(&clients[i]->off, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&dp_foreign_state);
	for (i = 0; i < found; i = k) {
		for (k = i + 1; k < found && clients[k]->at == clients[i]->at;)
			k++;
		if (clients[i]->at)
			dp_foreign_remove(clients[i]->at, clients + i, k - i);
	}
	return found;
}

/* Context: lock held. */
static void discard(struct dp_client *c)
{
	dp_foreign_retire(c);
	if (c->site)
		dp_tracked_gone(c->site);
	free(c);
}

static bool release(struct dp_client *c)
{
	bool last;

	pthread_mutex_lock(&dp_foreign_state);
	last = !--c->refs;
	pthread_cond_broadcast(&dp_foreign_changed);
	pthread_mutex_unlock(&dp_foreign_state);
	return last;
}

void dp_client_put(struct dp_client *c)
{
	struct dp_foreign *f = c->at;

	if (!release(c))
		return;
	dp_foreign_lock();
	discard(c);
	dp_foreign_tidy(f);
	dp_foreign_unlock();
}

static void wait_for_handlers(struct dp_client *c)
{
	pthread_mutex_lock(&dp_foreign_state);
	while (c->refs > 1)
		pthread_cond_wait(&dp_foreign_changed, &dp_foreign_state);
	pthread_mutex_unlock(&dp_foreign_state);
}

static void finish(struct dp_client **clients, u32 n, bool wait)
{
	u32 i;

	for (i = 0; i < n && wait; i++)
		if (!clients[i]->interrupt || !clients[i]->at)
			wait_for_handlers(clients[i]);
		else if (!dp_injected_settle(clients[i]))
			/* No other probe gets its index. */
			clients[i]->linked = true;
	for (i = 0; i < n; i++)
		if (clients[i]->at)
			dp_client_put(clients[i]);
		else
			finish_self(clients[i]);
}

void dp_clients_lose(struct dp_foreign *f)
{
	struct dp_client **at, *c;
	u32 i;

	for (i = 0; i < BUCKETS; i++)
		for (at = &buckets[i]; (c = *at);) {
			if (c->at != f) {
				at = &c->next;
				continue;
			}
			*at = c->next;
			__atomic_store_n(&c->off, true, __ATOMIC_RELEASE);
			if (release(c))
				discard(c);
		}
}

static int register_all(struct uprobe **us, u32 n, struct dp_client **clients,
			bool tracked)
{
	u32 done, same, taken, i;
	int err = 0;

	for (done = 0; done < n && !err; done += same) {
		same = of_one_process(us + done, n - done);
		err = add(us + done, clients, same, tracked);
	}
	if (!err)
		return 0;
	taken = remove_all(us, done, clients);
	for (i = 0; i < taken; i++)
		clients[i]->site = NULL;
	dp_foreign_unlock();
	/* No handler that runs now is that of the caller. */
	finish(clients, taken, true);
	dp_foreign_lock();
	return err;
}

static int enter_all(struct uprobe **us, int num, bool tracked)
{
	struct dp_client **clients;
	int err = 0, i;

	if (!us || num <= 0)
		return dp_fail(-EINVAL, "there are no probes");
	if (dp_self_in_handler())
		return dp_fail(
			-EAGAIN,
			"probes cannot be added from a handler in this process");
	dp_diag_clear(dp_last());
	dig_up();
	/* Locked, the thread's hits are not the program's. */
	dp_foreign_lock();
	clients = calloc((size_t)num, sizeof(*clients));
	if (!clients)
		err = dp_fail(-ENOMEM, "out of memory");
	for (i = 0; i < num && !err; i++)
		err = check(us[i], i);
	if (!err)
		err = register_all(us, (u32)num, clients, tracked);
	free(clients);
	dp_foreign_unlock();
	dp_report_deliver();
	return err;
}

int register_uprobes(struct uprobe **us, int num)
{
	return enter_all(us, num, false);
}

int dp_uprobes_add_tracked(struct dp_tracked_site *sites, u32 n)
{
	struct uprobe **us = calloc(n, sizeof(*us));
	u32 i;
	int err;

	if (!us)
		return dp_fail(-ENOMEM, "out of memory");
	for (i = 0; i < n; i++)
		us[i] = &sites[i].u;
	err = enter_all(us, (int)n, true);
	free(us);
	return err;
}

int register_uprobe(struct uprobe *u)
{
	return register_uprobes(&u, 1);
}

/* Nothing is allocated: the caller may be a handler inside malloc(). */
void unregister_uprobes(struct uprobe **us, int num)
{
	struct dp_client *clients[AT_ONCE];
	u32 n, part;

	for (; us && num > 0; us += part, num -= (int)part) {
		part = num < AT_ONCE ? (u32)num : AT_ONCE;
		dp_foreign_lock();
		n = remove_all(us, part, clients);
		dp_foreign_unlock();
		finish(clients, n, !dp_serve_in_handler());
	}
	dig_up();
}

void unregister_uprobe(struct uprobe *u)
{
	unregister_uprobes(&u, 1);
}

static void account_self(const struct kprobe *kp,
			 struct dp_uprobe_account *account)
{
	*account = (struct dp_uprobe_account){
		.hits = dp_kprobe_hits(kp) + kp->nmissed,
		.missed = kp->nmissed,
	};
	dp_self_say(true);
}

/* The client is another thread's to free as soon as the lock is given back. */
int dp_uprobe_account(const struct uprobe *u, struct dp_uprobe_account *account)
{
	struct dp_client *c;

	dp_foreign_lock();
	c = *find(u);
	if (c && c->at)
		dp_foreign_account(c, account);
	else if (c)
		account_self(&c->kp, account);
	dp_foreign_unlock();
	return c ? 0 : dp_fail(-ENOENT, "the probe is not registered");
}

void *dp_uprobe_there(const struct uprobe *u, const void *variable)
{
	struct dp_client *c;
	void *there = NULL;

	dp_foreign_lock();
	c = *find(u);
	if (c)
		there = c->at ? dp_injected_see(c->at, variable) :
				(void *)variable;
	dp_foreign_unlock();
	return there;
}

static bool is_owned(const struct dp_client *c, u64 start, size_t size)
{
	const void *own[] = { c->u, (void *)c->handler, NULL };
	const void *const *owner = c->site ? c->site->owner : own;
	u32 i;

	for (i = 0; i < 3; i++)
		if (owner[i] && (u64)owner[i] - start < size)
			return true;
	return false;
}

static u32 find_owned(const void *start, size_t size, bool returns,
		      struct uprobe **us)
{
	struct dp_client *c;
	u32 n = 0, i;

	for (i = 0; i < BUCKETS; i++)
		for (c = buckets[i]; c && n < AT_ONCE; c = c->next)
			if ((c->site || !returns) &&
			    is_owned(c, (u64)start, size))
				us[n++] = c->u;
	return n;
}

bool dp_tracked_any(const struct uretprobe *rp)
{
	struct uprobe *us[AT_ONCE];
	u32 n;

	/* The thread with the lock may wait for this handler. Registering fails. */
	if (dp_self_in_handler())
		return false;
	dp_foreign_lock();
	n = find_owned(rp, 1, true, us);
	dp_foreign_unlock();
	return n;
}

u32 dp_uprobes_drop(const void *start, size_t size, bool returns)
{
	struct dp_client *clients[AT_ONCE];
	struct uprobe *us[AT_ONCE];
	u32 n, all = 0, i;

	do {
		dp_foreign_lock();
		n = find_owned(start, size, returns, us);
		remove_all(us, n, clients);
		dp_foreign_unlock();
		for (i = 0; i < n; i++)
			all += !clients[i]->site || !clients[i]->site->is_exit;
		finish(clients, n, !dp_serve_in_handler());
	} while (n == AT_ONCE);
	dig_up();
	return all;
}

static void before_fork(void)
{
	dp_foreign_lock();
	pthread_mutex_lock(&dp_foreign_state);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&dp_foreign_state);
	dp_foreign_unlock();
}

/* A fork child probes no process of its parent's. */
static void in_child(void)
{
	pthread_mutex_unlock(&dp_foreign_state);
	pthread_cond_init(&dp_foreign_changed, NULL);
	memset(buckets, 0, sizeof(buckets));
	dp_foreign_forget_all();
	dp_foreign_unlock();
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

static void __attribute__((destructor)) leave(void)
{
	dp_foreign_lock();
	dp_foreign_leave_all();
	dp_foreign_unlock();
}
