// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uretprobe: calls of functions in other processes, from entry to exit.
 *
 * A return probe is a uprobe on the entry, and a uprobe on each exit of the function. The
 * key of a call is its slot, where the stack pointer stands again at each exit. Calls are
 * kept in our memory, not in the process's.
 *
 * Lock: "one function's calls", under none (DESIGN.md, Locks).
 */
#define DP_NO_MODULE_NOTE
#include "lib/foreign.h"
#include "lib/self.h"
#include "engine/layout/site.h"
#include "proc/inspect.h"
#include "resolve/exits.h"
#include "sym/never.h"
#include <errno.h>
#include <fcntl.h>
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

/**
 * struct function - a return probe as it was registered
 * @lock: guards @calls and @nr_calls
 * @refs: number of sites that are registered, or whose handlers run
 * @sites: the entry, and the exits
 */
struct function {
	struct uretprobe *rp;
	uretprobe_handler_t handler, entry_handler;
	pthread_mutex_t lock;
	struct call *calls[BUCKETS];
	u32 nr_calls, max_calls;
	u32 refs, nr;
	struct dp_tracked_site sites[];
};

/* --- hits --- */

static struct call **bucket(struct function *f, u64 slot)
{
	return &f->calls[slot / sizeof(u64) % BUCKETS];
}

static struct call *take_out(struct function *f, u64 slot)
{
	struct call **at = bucket(f, slot), *c;

	pthread_mutex_lock(&f->lock);
	while (*at && (*at)->slot != slot)
		at = &(*at)->next;
	c = *at;
	if (c) {
		*at = c->next;
		f->nr_calls--;
	}
	pthread_mutex_unlock(&f->lock);
	return c;
}

static void put_in(struct function *f, struct call *c)
{
	struct call **at = bucket(f, c->slot);

	pthread_mutex_lock(&f->lock);
	c->next = *at;
	*at = c;
	f->nr_calls++;
	pthread_mutex_unlock(&f->lock);
}

/* An older call with the same slot was abandoned. */
static struct call *begin(struct function *f, u64 slot)
{
	struct call *c = take_out(f, slot);

	if (!c &&
	    __atomic_load_n(&f->nr_calls, __ATOMIC_RELAXED) < f->max_calls)
		c = malloc(sizeof(*c));
	if (!c) {
		__atomic_fetch_add(&f->rp->nmissed, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	*c = (struct call){ .ri.rp = f->rp, .slot = slot };
	copy_from_user(&c->ri.ret_addr, (void *)slot, sizeof(c->ri.ret_addr));
	return c;
}

static void on_entry(struct uprobe *u, struct pt_regs *regs)
{
	struct function *f = ((struct dp_tracked_site *)u)->of;
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
	const struct dp_tracked_site *s = (void *)u;
	struct function *f = s->of;
	unsigned long ip = regs->ip, sp = regs->sp;
	/* There is none if the call began before the probe, or was missed. */
	struct call *c = take_out(f, sp);

	if (c && is_it(c) && f->handler) {
		c->ri.jumped = !!(s->way & DP_WAY_TAIL);
		regs->ip = c->ri.ret_addr;
		regs->sp += sizeof(u64);
		f->handler(&c->ri, regs);
		regs->ip = ip;
		regs->sp = sp;
	}
	free(c);
}

/* --- control --- */

static void destroy(struct function *f)
{
	struct call *c, *next;
	u32 i;

	for (i = 0; i < BUCKETS; i++)
		for (c = f->calls[i]; c; c = next) {
			next = c->next;
			free(c);
		}
	free(f);
}

void dp_tracked_gone(struct dp_tracked_site *s)
{
	struct function *f = s->of;

	if (!__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		destroy(f);
}

static struct function *make(struct uretprobe *rp,
			     const struct dp_exit_list *list)
{
	u32 nr = (u32)list->n + 1, i;
	struct function *f = calloc(1, sizeof(*f) + nr * sizeof(f->sites[0]));

	if (!f)
		return NULL;
	f->rp = rp;
	f->handler = rp->handler;
	f->entry_handler = rp->entry_handler;
	f->max_calls = rp->maxactive > 0 ? (u32)rp->maxactive :
					   DP_URETPROBE_MAXACTIVE;
	f->nr = f->refs = nr;
	pthread_mutex_init(&f->lock, NULL);
	for (i = 0; i < nr; i++) {
		const struct dp_exit *exit = i ? &list->v[i - 1] : NULL;
		struct dp_tracked_site *s = &f->sites[i];

		*s = (struct dp_tracked_site){
			.u = rp->u,
			.of = f,
			.owner = { rp, rp->handler, rp->entry_handler },
			.is_exit = exit,
			.way = exit ? dp_exit_way(exit) : 0,
		};
		s->u.handler = exit ? on_exit_site : on_entry;
		s->u.vaddr = exit ? exit->addr : rp->u.vaddr;
		s->u.handler_in_interrupt = 0;
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
		return dp_fail(-EINVAL, "%s cannot have a return probe: %s",
			       sym.name, why);
	err = dp_exits_track(&reader, mods, addr, list, dp_last());
	dp_exit_reader_close(&reader);
	return err;
}

static int find_exits(const struct uretprobe *rp, struct dp_exit_list *list)
{
	struct dp_modules *mods;
	char byte;
	int mem, err;

	mem = dp_fd_raise(open(dp_path("/proc/%d/mem", rp->u.pid).s,
			       O_RDONLY | O_CLOEXEC));
	if (mem < 0)
		return dp_fail(mem == -EACCES ? -EPERM : -ESRCH,
			       "the memory of process %d cannot be read: %s",
			       rp->u.pid, strerror(-mem));
	if (pread(mem, &byte, 1, (off_t)rp->u.vaddr) != 1) {
		close(mem);
		return dp_fail(-EFAULT,
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
	if (!rp || (!rp->handler && !rp->entry_handler))
		return dp_fail(-EINVAL, "the probe has no handler");
	if (rp->u.pid == getpid())
		return dp_fail(
			-EOPNOTSUPP,
			"process %d is this one: use register_kretprobe()",
			rp->u.pid);
	return dp_tracked_any(rp) ?
		       dp_fail(-EEXIST, "the probe is registered already") :
		       0;
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
	if (!f)
		return dp_fail(-ENOMEM, "out of memory");
	err = dp_uprobes_add_tracked(f->sites, f->nr);
	if (err)
		destroy(f);
	return err;
}

void unregister_uretprobe(struct uretprobe *rp)
{
	dp_uprobes_drop(rp, 1, true);
}
