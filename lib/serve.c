// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * serve: the threads that run handlers for other processes.
 *
 *   probed thread ── calls ──► one of those that are idle ──► handler ──► answer
 *                              if none is left, another one is made first
 *
 * And one, the keeper, that holds the robust futex by which the process knows that we
 * are there, and notices when it is not there itself. It runs nothing else: its list
 * of robust futexes is its own, not libc's. What links it is in our memory; only the
 * futex is where the process can write.
 */
#define DP_NO_MODULE_NOTE
#include "lib/foreign.h"
#include "lib/compat/hooks.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 500
#define LINGER_S 2
#define KEEPER_STACK 65536
#define SPARE 2 /* idle threads that stay */

_Static_assert(sizeof(struct pt_regs) == sizeof(((struct dp_ask *)0)->regs),
	       "registers");

static long futex(u32 *word, int op, u32 value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static int make_thread(void *(*function)(void *), struct dp_foreign *f,
		       size_t stack)
{
	pthread_attr_t attr;
	sigset_t most, mask;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	/* What the processor raises in a handler is to end the program as ever. */
	sigfillset(&most);
	pthread_sigmask(SIG_SETMASK, &most, &mask);
	__atomic_fetch_add(&f->refs, 1, __ATOMIC_RELAXED);
	err = pthread_create(&thread, &attr, function, f);
	if (err)
		__atomic_fetch_sub(&f->refs, 1, __ATOMIC_RELAXED);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

/* --- the keeper --- */

static void say_kept(struct dp_foreign *f)
{
	pthread_mutex_lock(&dp_foreign_state);
	f->kept = true;
	pthread_cond_broadcast(&dp_foreign_changed);
	pthread_mutex_unlock(&dp_foreign_state);
}

static void look(struct dp_foreign *f)
{
	if (!dp_foreign_trylock())
		return;
	dp_foreign_look(f);
	dp_foreign_unlock();
}

static void watch(struct dp_foreign *f)
{
	struct pollfd p[2] = { { dp_lodge_pidfd(f->proc), POLLIN, 0 },
			       { f->stop, POLLIN, 0 } };

	while (!__atomic_load_n(&f->ending, __ATOMIC_ACQUIRE)) {
		poll(p, 2, LOOK_MS);
		if (!p[1].revents)
			look(f);
		/* It stays readable for as long as we have not looked. */
		if (p[0].revents && !f->ending)
			poll(&p[1], 1, 1);
	}
}

static void *keep(void *arg)
{
	struct dp_foreign *f = arg;
	struct robust_list entry;
	struct robust_list_head head = {
		.list.next = &entry,
		.futex_offset = (char *)&f->asks->keeper - (char *)&entry,
	};

	entry.next = &head.list;
	pthread_setname_np(pthread_self(), "dprobes keeper");
	syscall(SYS_set_robust_list, &head, sizeof(head));
	__atomic_store_n(&f->asks->keeper, (u32)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	say_kept(f);
	watch(f);
	__atomic_store_n(&f->asks->keeper, 0, __ATOMIC_RELEASE);
	head.list.next = &head.list;
	dp_foreign_put(f);
	return NULL;
}

/* --- those that run handlers --- */

static bool move(struct dp_ask *ask, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&ask->state, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static struct dp_ask *take(struct dp_foreign *f)
{
	u32 n = __atomic_load_n(&f->asks->high, __ATOMIC_ACQUIRE), i;

	if (n > f->nr_asks)
		n = f->nr_asks;
	for (i = 0; i < n; i++) {
		struct dp_ask *ask = &f->asks->v[i];

		if (__atomic_load_n(&ask->state, __ATOMIC_RELAXED) ==
			    DP_ASK_ASKED &&
		    move(ask, DP_ASK_ASKED, DP_ASK_RUNS))
			return ask;
	}
	return NULL;
}

/* Whose handler is it, if he still wants to be called? */
static struct dp_client *client_of(struct dp_foreign *f, u32 probe, u64 ip)
{
	struct dp_client *c = NULL;

	pthread_mutex_lock(&dp_foreign_state);
	if (probe < f->nr_clients)
		c = f->clients[probe];
	if (c && (c->off || c->addr != ip))
		c = NULL;
	if (c)
		c->refs++;
	pthread_mutex_unlock(&dp_foreign_state);
	return c;
}

/* The number that a thread has for us, which sees it under another one in a
 * namespace of its own. */
static pid_t tid_here(const struct dp_foreign *f, u32 tid)
{
	char path[64], line[256], *last;
	pid_t *tids = NULL, here = (pid_t)tid;
	size_t n = 0, i;
	FILE *file;

	if (dp_lodge_ns_pid(f->proc) == (u32)f->pid ||
	    dp_process_threads(f->pid, &tids, &n))
		return here;
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", f->pid,
			 tids[i]);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (!strncmp(line, "NSpid:", 6) &&
			    (last = strrchr(line, '\t')) &&
			    (u32)atoi(last) == tid)
				here = tids[i];
		if (file)
			fclose(file);
	}
	free(tids);
	return here;
}

static void call(struct dp_foreign *f, struct dp_client *c, u32 tid,
		 struct pt_regs *regs)
{
	struct dp_probed probed = {
		.task = { .pid = tid_here(f, tid), .tgid = f->pid },
		.mem = dp_process_mem(f->proc),
		.there = dp_lodge_base(f->proc),
	};

	dp_probed = &probed;
	c->handler(c->u, regs);
	dp_probed = NULL;
}

/* Who has waited too long does not look at the answer. */
static void answer(struct dp_ask *ask)
{
	if (!move(ask, DP_ASK_RUNS, DP_ASK_ANSWERED)) {
		move(ask, DP_ASK_LEFT, DP_ASK_FREE);
		return;
	}
	futex(&ask->state, FUTEX_WAKE, 1, NULL);
}

static void serve(struct dp_foreign *f, struct dp_ask *ask)
{
	struct pt_regs regs;
	struct dp_client *c;

	memcpy(&regs, ask->regs, sizeof(regs));
	c = client_of(f, ask->probe, regs.ip);
	if (c) {
		call(f, c, ask->tid, &regs);
		if (__atomic_load_n(&ask->state, __ATOMIC_ACQUIRE) ==
		    DP_ASK_RUNS)
			memcpy(ask->regs, &regs, sizeof(regs));
	}
	answer(ask);
	if (c)
		dp_client_put(c);
}

/* Return: false if there are enough of us without this one. */
static bool linger(struct dp_foreign *f, u32 calls)
{
	const struct timespec while_ = { LINGER_S, 0 };
	u32 idle = __atomic_add_fetch(&f->idle, 1, __ATOMIC_SEQ_CST);
	long ret = 0;

	if (!__atomic_load_n(&f->ending, __ATOMIC_SEQ_CST))
		ret = futex(&f->asks->calls, FUTEX_WAIT, calls,
			    idle > SPARE ? &while_ : NULL);
	idle = __atomic_sub_fetch(&f->idle, 1, __ATOMIC_SEQ_CST);
	return ret == 0 || errno != ETIMEDOUT || idle < SPARE;
}

static void *work(void *arg);

/* It may take as long as handlers do that others run meanwhile. */
static void see_to_filter(struct dp_foreign *f)
{
	if (!dp_process_confines(f->proc))
		return;
	if (!__atomic_load_n(&f->idle, __ATOMIC_SEQ_CST))
		make_thread(work, f, 0);
	dp_foreign_lock();
	dp_foreign_confine(f);
	dp_foreign_unlock();
}

static void *work(void *arg)
{
	struct dp_foreign *f = arg;
	struct dp_ask *ask;
	bool stays = true;
	u32 calls;

	pthread_setname_np(pthread_self(), "dprobes handler");
	while (stays) {
		calls = __atomic_load_n(&f->asks->calls, __ATOMIC_ACQUIRE);
		ask = take(f);
		if (ask) {
			/* This one may not come back for long. */
			if (!__atomic_load_n(&f->idle, __ATOMIC_SEQ_CST))
				make_thread(work, f, 0);
			serve(f, ask);
		} else {
			see_to_filter(f);
			stays = !__atomic_load_n(&f->ending,
						 __ATOMIC_SEQ_CST) &&
				linger(f, calls);
		}
	}
	dp_foreign_put(f);
	return NULL;
}

int dp_serve_begin(struct dp_foreign *f)
{
	int err;

	f->stop = eventfd(0, EFD_CLOEXEC);
	if (f->stop < 0)
		return -errno;
	err = make_thread(keep, f, KEEPER_STACK);
	if (err)
		return err;
	pthread_mutex_lock(&dp_foreign_state);
	while (!f->kept)
		pthread_cond_wait(&dp_foreign_changed, &dp_foreign_state);
	pthread_mutex_unlock(&dp_foreign_state);
	err = make_thread(work, f, 0);
	if (err)
		dp_serve_end(f);
	return err;
}

void dp_serve_end(struct dp_foreign *f)
{
	u64 one = 1;
	u32 i;

	__atomic_store_n(&f->ending, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&f->asks->keeper, 0, __ATOMIC_RELEASE);
	if (write(f->stop, &one, sizeof(one)) < 0)
		return;
	/* So that no one waits any more, here or there. */
	__atomic_fetch_add(&f->asks->calls, 1, __ATOMIC_SEQ_CST);
	futex(&f->asks->calls, FUTEX_WAKE, INT_MAX, NULL);
	for (i = 0; i < f->nr_asks; i++)
		if (f->asks->v[i].state)
			futex(&f->asks->v[i].state, FUTEX_WAKE, INT_MAX, NULL);
}

bool dp_serve_in_handler(void)
{
	return dp_probed;
}
