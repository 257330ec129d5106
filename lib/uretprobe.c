// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uretprobe: calls of functions in other processes, from entry to exit.
 *
 * A return probe is a uprobe on the entry, and a uprobe on each exit of the function. The
 * key of a call is its slot, where the stack pointer stands again at each exit. Calls are
 * kept in our memory, not in the process's.
 *
 * Locks: "return probes of others", under the lock of uprobe.c or none; "one function's
 * calls", under none (DESIGN.md, Locks).
 */
#define DP_NO_MODULE_NOTE
#include "lib/foreign.h"
#include "lib/retsite.h"
#include "lib/self.h"
#include "arch/arch.h"
#include "resolve/exits.h"
#include "sym/never.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sym/exits.h"
#include "sym/sym.h"

#define BUCKETS 256

/** struct call - a tracked call; @slot: address of its return address */
struct call {
	struct uretprobe_instance ri; /* first */
	u64 slot;
	struct call *next;
};

struct function;

/** struct site - an entry, or an exit: see struct dp_exit; @cc: the condition */
struct site {
	struct uprobe u; /* first */
	struct function *of;
	bool tail, conditional;
	u8 cc;
};

/**
 * struct function - a return probe as it was registered
 * @lock: guards @calls and @nr_calls
 * @refs: number of sites that are registered, or whose handlers run
 */
struct function {
	struct uretprobe *rp;
	struct function *next;
	uretprobe_handler_t handler, entry_handler;
	pthread_mutex_t lock;
	struct call *calls[BUCKETS];
	u32 nr_calls, max_calls;
	u32 refs, nr;
	struct uprobe **all;
	struct site sites[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct function *functions;

/* --- hits --- */

static struct call **find_call(struct function *f, u64 slot)
{
	struct call **c = &f->calls[slot / sizeof(u64) % BUCKETS];

	while (*c && (*c)->slot != slot)
		c = &(*c)->next;
	return c;
}

static struct call *take_out(struct function *f, u64 slot)
{
	struct call **at, *c;

	pthread_mutex_lock(&f->lock);
	at = find_call(f, slot);
	c = *at;
	if (c) {
		*at = c->next;
		f->nr_calls--;
	}
	pthread_mutex_unlock(&f->lock);
	return c;
}

/* An older call with the same slot was abandoned. */
static void put_in(struct function *f, struct call *c)
{
	struct call **at, *was;

	pthread_mutex_lock(&f->lock);
	at = find_call(f, c->slot);
	was = *at;
	c->next = was ? was->next : NULL;
	*at = c;
	f->nr_calls += !was;
	pthread_mutex_unlock(&f->lock);
	free(was);
}

static struct call *begin(struct function *f, u64 slot)
{
	struct call *c = take_out(f, slot);

	free(c);
	c = __atomic_load_n(&f->nr_calls, __ATOMIC_RELAXED) < f->max_calls ?
		    calloc(1, sizeof(*c)) :
		    NULL;
	if (!c) {
		__atomic_fetch_add(&f->rp->nmissed, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	c->slot = slot;
	c->ri.rp = f->rp;
	copy_from_user(&c->ri.ret_addr, (void *)slot, sizeof(c->ri.ret_addr));
	return c;
}

static void on_entry(struct uprobe *u, struct pt_regs *regs)
{
	struct function *f = ((struct site *)u)->of;
	struct call *c = begin(f, regs->sp);

	if (!c)
		return;
	if (f->entry_handler && f->entry_handler(&c->ri, regs))
		free(c);
	else
		put_in(f, c);
}

/* Is it this call that ends? Functions can share an exit. */
static bool is_it(const struct call *c)
{
	unsigned long now;

	return !copy_from_user(&now, (void *)c->slot, sizeof(now)) &&
	       now == c->ri.ret_addr;
}

static void on_exit_site(struct uprobe *u, struct pt_regs *regs)
{
	const struct site *s = (const struct site *)u;
	unsigned long ip = regs->ip, sp = regs->sp;
	struct call *c;

	if (s->conditional && !dp_condition(s->cc, regs->flags))
		return;
	/* There is no @c if the call began before the probe, or was missed. */
	c = take_out(s->of, sp);
	if (c && is_it(c) && s->of->handler) {
		c->ri.jumped = s->tail;
		regs->ip = c->ri.ret_addr;
		regs->sp += sizeof(u64);
		s->of->handler(&c->ri, regs);
		regs->ip = ip;
		regs->sp = sp;
	}
	free(c);
}

/* --- control --- */

static struct function **find(const struct uretprobe *rp)
{
	struct function **f = &functions;

	while (*f && (*f)->rp != rp)
		f = &(*f)->next;
	return f;
}

static void destroy(struct function *f)
{
	struct call *c, *next;
	u32 i;

	for (i = 0; i < BUCKETS; i++)
		for (c = f->calls[i]; c; c = next) {
			next = c->next;
			free(c);
		}
	free(f->all);
	free(f);
}

static void unlink_function(struct function *f)
{
	struct function **at;

	pthread_mutex_lock(&lock);
	for (at = &functions; *at && *at != f; at = &(*at)->next)
		continue;
	if (*at)
		*at = f->next;
	pthread_mutex_unlock(&lock);
}

/* A site of the function is not probed any more. */
static void gone(struct uprobe *u)
{
	struct function *f = ((struct site *)u)->of;

	if (__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		return;
	unlink_function(f);
	destroy(f);
}

static struct function *make(struct uretprobe *rp,
			     const struct dp_exit_list *list)
{
	u32 nr = (u32)list->n + 1, i;
	struct function *f = calloc(1, sizeof(*f) + nr * sizeof(f->sites[0]));

	if (f)
		f->all = calloc(nr, sizeof(*f->all));
	if (!f || !f->all) {
		free(f);
		return NULL;
	}
	f->rp = rp;
	f->handler = rp->handler;
	f->entry_handler = rp->entry_handler;
	f->max_calls = rp->maxactive > 0 ? (u32)rp->maxactive :
					   DP_URETPROBE_MAXACTIVE;
	f->nr = f->refs = nr;
	pthread_mutex_init(&f->lock, NULL);
	for (i = 0; i < nr; i++) {
		const struct dp_exit *exit = i ? &list->v[i - 1] : NULL;
		struct site *s = &f->sites[i];

		*s = (struct site){ .u = rp->u, .of = f };
		s->u.handler = exit ? on_exit_site : on_entry;
		s->u.vaddr = exit ? exit->addr : rp->u.vaddr;
		s->u.handler_in_interrupt = 0;
		s->tail = exit && exit->kind == DP_EXIT_TAIL;
		s->conditional = exit && exit->conditional;
		s->cc = exit ? exit->cc : 0;
		f->all[i] = &s->u;
	}
	return f;
}

static int look_up(struct dp_modules *mods, u64 addr, struct dp_exit_list *list)
{
	struct dp_exit_reader reader = { 0 };
	struct dp_symbol sym;
	const char *why;
	int err = dp_exits_begin(mods, addr, dp_last());

	if (err)
		return err;
	if (!dp_symbol_at(mods, addr, &sym) && sym.addr == addr &&
	    (why = dp_never_tracked(sym.name, DP_RETURN_SITE)))
		return dp_diag_set(dp_last(), -EINVAL,
				   "%s cannot have a return probe: %s",
				   sym.name, why);
	err = dp_exits_track(&reader, mods, addr, list, dp_last());
	dp_exit_reader_close(&reader);
	return err;
}

static int find_exits(const struct uretprobe *rp, struct dp_exit_list *list)
{
	struct dp_modules *mods;
	char path[64], byte;
	int mem, err;

	snprintf(path, sizeof(path), "/proc/%d/mem", rp->u.pid);
	mem = dp_fd_raise(open(path, O_RDONLY | O_CLOEXEC));
	if (mem < 0)
		return dp_diag_set(
			dp_last(), mem == -EACCES ? -EPERM : -ESRCH,
			"the memory of process %d cannot be read: %s",
			rp->u.pid, strerror(-mem));
	if (pread(mem, &byte, 1, (off_t)rp->u.vaddr) != 1) {
		close(mem);
		return dp_diag_set(dp_last(), -EFAULT,
				   "nothing can be read at 0x%lx of process %d",
				   rp->u.vaddr, rp->u.pid);
	}
	err = dp_modules_open(rp->u.pid, mem, &mods, dp_last());
	if (!err) {
		err = look_up(mods, rp->u.vaddr, list);
		dp_modules_close(mods);
	}
	close(mem);
	return err;
}

static int check(const struct uretprobe *rp)
{
	bool is;

	if (!rp || (!rp->handler && !rp->entry_handler))
		return dp_diag_set(dp_last(), -EINVAL,
				   "the probe has no handler");
	if (rp->u.pid == getpid())
		return dp_diag_set(
			dp_last(), -EOPNOTSUPP,
			"process %d is this one: use register_kretprobe()",
			rp->u.pid);
	pthread_mutex_lock(&lock);
	is = *find(rp);
	pthread_mutex_unlock(&lock);
	return is ? dp_diag_set(dp_last(), -EEXIST,
				"the probe is registered already") :
		    0;
}

static int add(struct function *f)
{
	int err;

	pthread_mutex_lock(&lock);
	f->next = functions;
	functions = f;
	pthread_mutex_unlock(&lock);
	err = dp_uprobes_add(f->all, (int)f->nr, gone);
	if (err) {
		unlink_function(f);
		destroy(f);
	}
	return err;
}

int register_uretprobe(struct uretprobe *rp)
{
	struct dp_exit_list list = { 0 };
	struct function *f;
	int err;

	dp_diag_clear(dp_last());
	err = check(rp);
	if (!err)
		err = find_exits(rp, &list);
	if (err)
		return err;
	rp->nmissed = 0;
	f = make(rp, &list);
	dp_exits_free(&list);
	return f ? add(f) : dp_diag_set(dp_last(), -ENOMEM, "out of memory");
}

void unregister_uretprobe(struct uretprobe *rp)
{
	struct function *f;
	struct uprobe **all = NULL;
	u32 nr = 0;

	pthread_mutex_lock(&lock);
	f = *find(rp);
	if (f) {
		*find(rp) = f->next;
		all = f->all;
		nr = f->nr;
		f->all = NULL; /* freed here: @f may go with its last site */
	}
	pthread_mutex_unlock(&lock);
	unregister_uprobes(all, (int)nr);
	free(all);
}

static bool is_within(const void *what, const char *start, size_t size)
{
	return (u64)what - (u64)start < size;
}

static struct uretprobe *find_within(const char *start, size_t size)
{
	struct uretprobe *rp = NULL;
	struct function *f;

	pthread_mutex_lock(&lock);
	for (f = functions; f && !rp; f = f->next)
		if (is_within(f->rp, start, size) ||
		    is_within((void *)f->handler, start, size) ||
		    is_within((void *)f->entry_handler, start, size))
			rp = f->rp;
	pthread_mutex_unlock(&lock);
	return rp;
}

u32 dp_uretprobes_sweep(const char *start, size_t size)
{
	struct uretprobe *rp;
	u32 n = 0;

	for (; (rp = find_within(start, size)); n++)
		unregister_uretprobe(rp);
	return n;
}

void dp_uretprobes_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	functions = NULL;
}
