// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * serve: the threads that answer upcalls.
 *
 *   probed thread ── upcall ──► idle worker ──► handler ──► answer
 *                               the last idle worker makes another one first
 *
 * The owner is another thread. It holds the robust futex by which the kernel tells the
 * process of the tool's end, and notices the end of the process. It runs no handler,
 * because its robust list is its own, not libc's. The list's links are in our memory;
 * the process can write to the futex only.
 *
 * The process may write anything to the shared memory at any time. A worker copies an
 * upcall before it reads it. Running handlers, and their places, are counted in our own
 * memory. No thread waits without a limit for an action of the process.
 *
 * Lock: dp_foreign_state, under that of uprobe.c or none (DESIGN.md, Locks).
 */
#include "lib/foreign.h"
#include "lib/compat/hooks.h"
#include "engine/layout/base.h"
#include "proc/linker.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 500
#define LINGER_S 2
#define FRUITLESS 64 /* wakes without an upcall, before a thread naps */
#define NAP_US 1000
#define OWNER_STACK 65536
#define SPARE 2 /* idle threads that stay */

_Static_assert(sizeof(struct pt_regs) == sizeof(((struct dp_upcall *)0)->regs),
	       "registers");

static long futex(u32 *word, int op, u32 value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
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
	/* A signal that the processor raises in a handler still ends the program. */
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

/* --- the owner --- */

static void say_kept(struct dp_foreign *f)
{
	pthread_mutex_lock(&dp_foreign_state);
	f->kept = true;
	pthread_cond_broadcast(&dp_foreign_changed);
	pthread_mutex_unlock(&dp_foreign_state);
}

static void look(struct dp_foreign *f, u32 *rests)
{
	if (!dp_foreign_trylock())
		return;
	dp_foreign_look(f);
	*rests = *rests ? *rests - 1 : dp_foreign_cede(f);
	dp_foreign_unlock();
}

static void watch(struct dp_foreign *f)
{
	struct pollfd p[2] = { { dp_attach_other_pidfd(f->proc), POLLIN, 0 },
			       { f->stop, POLLIN, 0 } };
	u32 rests = 0;

	while (!__atomic_load_n(&f->ending, __ATOMIC_ACQUIRE)) {
		poll(p, 2, LOOK_MS);
		if (!p[1].revents)
			look(f, &rests);
		/* The pidfd stays readable until look() gets the lock. */
		if (p[0].revents &&
		    !__atomic_load_n(&f->ending, __ATOMIC_ACQUIRE))
			poll(&p[1], 1, 1);
	}
}

static void *keep(void *arg)
{
	struct dp_foreign *f = arg;
	struct robust_list entry;
	struct robust_list_head head = {
		.list.next = &entry,
		.futex_offset = (char *)&f->upcalls->owner - (char *)&entry,
	};

	entry.next = &head.list;
	pthread_setname_np(pthread_self(), "dprobes keeper");
	syscall(SYS_set_robust_list, &head, sizeof(head));
	__atomic_store_n(&f->upcalls->owner, (u32)syscall(SYS_gettid),
			 __ATOMIC_RELEASE);
	say_kept(f);
	watch(f);
	__atomic_store_n(&f->upcalls->owner, 0, __ATOMIC_RELEASE);
	head.list.next = &head.list;
	dp_foreign_put(f);
	return NULL;
}

/* --- workers --- */

static bool move(struct dp_upcall *upcall, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&upcall->state, &from, to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/** struct call - copy of an upcall, which the process cannot write
 *  @place: number of its struct dp_upcall */
struct call {
	u32 place, tid, probe;
	struct pt_regs regs;
};

/* We run at most one handler for each place, whatever @state says. */
static bool occupy(struct dp_foreign *f, u32 i)
{
	struct dp_upcall *upcall = &f->upcalls->v[i];

	if (__atomic_load_n(&upcall->state, __ATOMIC_RELAXED) !=
		    DP_UPCALL_REQUESTED ||
	    __atomic_exchange_n(&f->occupied[i], true, __ATOMIC_ACQUIRE))
		return false;
	if (move(upcall, DP_UPCALL_REQUESTED, DP_UPCALL_RUNS))
		return true;
	__atomic_store_n(&f->occupied[i], false, __ATOMIC_RELEASE);
	return false;
}

static void copy_call(const struct dp_upcall *upcall, struct call *call)
{
	const volatile u64 *from = upcall->regs;
	u64 *to = (u64 *)&call->regs;
	size_t i;

	call->tid = *(const volatile u32 *)&upcall->tid;
	call->probe = *(const volatile u32 *)&upcall->probe;
	for (i = 0; i < sizeof(call->regs) / sizeof(*to); i++)
		to[i] = from[i];
}

/* Take an upcall that waits. Return: false: there is none. */
static bool take(struct dp_foreign *f, struct call *call)
{
	u32 n = dp_few(&f->upcalls->high, f->nr_upcalls), i;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (i = 0; i < n; i++)
		if (occupy(f, i)) {
			copy_call(&f->upcalls->v[i], call);
			call->place = i;
			return true;
		}
	return false;
}

/* Return: the probe's client, with a reference; NULL: it is off, or not at @ip. */
static struct dp_client *client_of(struct dp_foreign *f, u32 probe, u64 ip)
{
	struct dp_client *c = NULL;

	pthread_mutex_lock(&dp_foreign_state);
	if (probe < f->nr_clients)
		c = f->clients[probe];
	if (c && (__atomic_load_n(&c->off, __ATOMIC_ACQUIRE) || c->interrupt ||
		  c->addr != ip))
		c = NULL;
	if (c)
		c->refs++;
	pthread_mutex_unlock(&dp_foreign_state);
	return c;
}

static void run(struct dp_foreign *f, struct dp_client *c, struct call *call)
{
	/* A handler may send signals to the thread, so it has to be one of the process. */
	u32 tid = dp_process_thread(f->proc, call->tid);
	struct dp_probed probed = {
		.task = { .pid = tid ? (pid_t)tid : f->pid, .tgid = f->pid },
		.mem = dp_process_mem(f->proc),
		.there = dp_attach_other_base(f->proc),
	};

	dp_probed = &probed;
	c->handler(c->u, &call->regs);
	dp_probed = NULL;
}

/* A thread whose wait has timed out does not read the answer. Another upcall may take the
 * place as soon as the answer is written. */
static void answer(struct dp_foreign *f, u32 place)
{
	struct dp_upcall *upcall = &f->upcalls->v[place];

	__atomic_store_n(&f->occupied[place], false, __ATOMIC_RELEASE);
	if (!move(upcall, DP_UPCALL_RUNS, DP_UPCALL_ANSWERED)) {
		move(upcall, DP_UPCALL_ABANDONED, DP_UPCALL_FREE);
		return;
	}
	futex(&upcall->state, FUTEX_WAKE, 1, NULL);
}

static void serve(struct dp_foreign *f, struct call *call)
{
	struct dp_upcall *upcall = &f->upcalls->v[call->place];
	struct dp_client *c = client_of(f, call->probe, call->regs.ip);

	if (c) {
		run(f, c, call);
		if (__atomic_load_n(&upcall->state, __ATOMIC_ACQUIRE) ==
		    DP_UPCALL_RUNS)
			memcpy(upcall->regs, &call->regs, sizeof(call->regs));
	}
	answer(f, call->place);
	if (c)
		dp_client_put(c);
}

/* Only the process wakes us for a hit, and it can undo the change that tells of our end.
 * So the wait has a limit. */
static void linger(struct dp_foreign *f, u32 calls)
{
	const struct timespec while_ = { LINGER_S, 0 };

	if (!__atomic_load_n(&f->ending, __ATOMIC_SEQ_CST))
		futex(&f->upcalls->calls, FUTEX_WAIT, calls, &while_);
}

static void *work(void *arg);

/* This thread may be busy for long, so another worker has to look for upcalls. A worker
 * that is awake looks before it sleeps. */
static void set_to_work(struct dp_foreign *f)
{
	bool more;

	pthread_mutex_lock(&dp_foreign_state);
	more = ++f->busy == f->workers;
	f->workers += more;
	pthread_mutex_unlock(&dp_foreign_state);
	if (!more || !make_thread(work, f, 0))
		return;
	pthread_mutex_lock(&dp_foreign_state);
	f->workers--;
	pthread_mutex_unlock(&dp_foreign_state);
}

static void set_free(struct dp_foreign *f)
{
	pthread_mutex_lock(&dp_foreign_state);
	f->busy--;
	pthread_mutex_unlock(&dp_foreign_state);
}

/* A worker that has been idle since @since ends, if enough others are idle. */
static bool may_go(struct dp_foreign *f, time_t since)
{
	bool may = __atomic_load_n(&f->ending, __ATOMIC_SEQ_CST);

	if (!may && now() - since < LINGER_S)
		return false;
	pthread_mutex_lock(&dp_foreign_state);
	may |= f->workers - f->busy > SPARE;
	f->workers -= may;
	pthread_mutex_unlock(&dp_foreign_state);
	return may;
}

/* This may take as long as the handlers that other workers run. One worker does it. */
static void see_to_filter(struct dp_foreign *f)
{
	if (!dp_process_installs_filter(f->proc) ||
	    __atomic_exchange_n(&f->installing_filter, true, __ATOMIC_ACQUIRE))
		return;
	set_to_work(f);
	dp_foreign_lock();
	dp_foreign_filter_install(f);
	dp_foreign_unlock();
	set_free(f);
	__atomic_store_n(&f->installing_filter, false, __ATOMIC_RELEASE);
}

/* A process that wakes us all the time without an upcall gets no whole processor. */
static void rest(u32 *fruitless)
{
	if (++*fruitless > FRUITLESS)
		usleep(NAP_US);
}

static void *work(void *arg)
{
	struct dp_foreign *f = arg;
	time_t since = now();
	u32 calls, fruitless = 0;
	struct call call;

	pthread_setname_np(pthread_self(), "dprobes handler");
	for (;;) {
		calls = __atomic_load_n(&f->upcalls->calls, __ATOMIC_ACQUIRE);
		if (take(f, &call)) {
			set_to_work(f);
			serve(f, &call);
			set_free(f);
			fruitless = 0;
			since = now();
		} else {
			rest(&fruitless);
			see_to_filter(f);
			if (may_go(f, since))
				break;
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
	err = make_thread(keep, f, OWNER_STACK);
	if (err)
		return err;
	pthread_mutex_lock(&dp_foreign_state);
	while (!f->kept)
		pthread_cond_wait(&dp_foreign_changed, &dp_foreign_state);
	pthread_mutex_unlock(&dp_foreign_state);
	f->workers = 1;
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
	__atomic_store_n(&f->upcalls->owner, 0, __ATOMIC_RELEASE);
	if (write(f->stop, &one, sizeof(one)) < 0)
		return;
	/* Wake all threads that wait, here and in the process. */
	__atomic_fetch_add(&f->upcalls->calls, 1, __ATOMIC_SEQ_CST);
	futex(&f->upcalls->calls, FUTEX_WAKE, INT_MAX, NULL);
	for (i = 0; i < f->nr_upcalls; i++)
		if (__atomic_load_n(&f->upcalls->v[i].state, __ATOMIC_RELAXED))
			futex(&f->upcalls->v[i].state, FUTEX_WAKE, INT_MAX,
			      NULL);
}

bool dp_serve_in_handler(void)
{
	return dp_probed;
}
