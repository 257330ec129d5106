// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * order: the tool's side of orders (order.h).
 *
 * Whoever can write an order may trace this process. Still nothing of it is believed: what
 * counts is read once, into memory of its own, and compared with the tool's own probes.
 */
#include "tracer/order.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READ_NAP_US 1000

static struct dp_orders *orders;

void dp_order_open(void)
{
	int fd = memfd_create(DP_ORDER_NAME, MFD_CLOEXEC);
	void *mem = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(*orders)))
		mem = mmap(NULL, sizeof(*orders), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (mem == MAP_FAILED)
		return;
	orders = mem;
	orders->version = DP_ORDER_VERSION;
	__atomic_store_n(&orders->magic, DP_ORDER_MAGIC, __ATOMIC_RELEASE);
}

void dp_order_close(void)
{
	double deadline = dp_source_now() + DP_ORDER_READ_SECONDS;

	while (orders &&
	       (u32)__atomic_load_n(&orders->state, __ATOMIC_ACQUIRE) ==
		       DP_ORDER_DONE &&
	       dp_source_now() < deadline)
		usleep(READ_NAP_US);
}

u32 dp_order_target(const struct dp_session *s)
{
	return s->ops->everybody ? DP_ORDER_KERNEL : (u32)s->source->pid;
}

struct dp_order_place dp_order_place(u32 target)
{
	struct dp_order_place place = { "the kernel" };

	if (target != DP_ORDER_KERNEL)
		snprintf(place.s, sizeof(place.s), "process %u", target);
	return place;
}

void dp_order_held(const struct dp_session *s)
{
	if (orders)
		__atomic_store_n(&orders->held, dp_order_target(s),
				 __ATOMIC_RELEASE);
}

static u32 access_of(const struct dp_point *p)
{
	return p->spec->access == DP_WATCH_EXECUTE ? DP_SITE_EXECUTED :
	       p->spec->access == DP_WATCH_ACCESS  ? DP_SITE_ACCESSED :
						     DP_SITE_WRITTEN;
}

static void show_watch(const struct dp_session *s, const struct dp_point *p,
		       struct dp_order_watch *w)
{
	struct dp_source_count c;

	s->ops->count(s->source, p, &c);
	w->addr = p->addr;
	w->hits = c.hits;
	w->access = access_of(p);
	w->len = w->access == DP_SITE_EXECUTED ? 0 : p->len;
}

void dp_order_watches(const struct dp_session *s, double t)
{
	static double last;
	u32 n = 0;
	size_t i;

	if (!orders || (s && (s->ops != &dp_watch_source ||
			      t < last + DP_ORDER_LOOK_MS / 1e3)))
		return;
	last = t;
	for (i = 0; s && i < s->points.n && n < DP_ORDER_WATCHES; i++)
		if (!s->points.v[i].refused)
			show_watch(s, &s->points.v[i], &orders->watches[n++]);
	orders->watched = s ? (u32)s->source->pid : 0;
	__atomic_store_n(&orders->nr_watches, n, __ATOMIC_RELEASE);
}

/** struct order - a copy of what was asked; @met: of each point: has it been found? @text: of a
 *  hold's verbs, instead of points */
struct order {
	u32 verb, pid, nr;
	struct dp_order_point *points;
	bool *met;
	struct dp_order_text text;
};

static void drop(struct order *o)
{
	free(o->points);
	free(o->met);
	free(o->text.text);
}

static int take_text(struct order *o, struct dp_diag *diag)
{
	o->text = (struct dp_order_text){
		.verb = o->verb,
		.how = *(volatile u32 *)&orders->how,
		.text = calloc(1, (size_t)o->nr + 1),
		.len = o->nr,
	};
	if (!o->text.text)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	memcpy(o->text.text, orders->text, o->nr);
	return 0;
}

static int take(struct order *o, struct dp_diag *diag)
{
	*o = (struct order){ .verb = *(volatile u32 *)&orders->verb,
			     .pid = *(volatile u32 *)&orders->pid,
			     .nr = *(volatile u32 *)&orders->nr };
	if (o->verb > DP_ORDER_ENABLE && o->verb <= DP_ORDER_RESET &&
	    o->nr <= DP_ORDER_TEXT)
		return take_text(o, diag);
	if (o->verb > DP_ORDER_ENABLE || !o->nr || o->nr > DP_ORDER_POINTS)
		return dp_diag_set(diag, -EINVAL, "the order is damaged");
	o->points = malloc(o->nr * sizeof(*o->points));
	o->met = calloc(o->nr, sizeof(*o->met));
	if (!o->points || !o->met) {
		drop(o);
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	memcpy(o->points, orders->points, o->nr * sizeof(*o->points));
	/* The asker has sorted them, if it is one of ours. */
	qsort(o->points, o->nr, sizeof(*o->points), dp_order_compare);
	return 0;
}

/* Return: how many points of the session are meant. */
static size_t choose(const struct dp_points *points, struct order *o,
		     bool *which)
{
	const struct dp_order_point *found;
	size_t i, n = 0;

	for (i = 0; i < points->n; i++) {
		const struct dp_point *p = &points->v[i];
		const struct dp_order_point key = {
			p->addr, p->spec->kind == DP_SPEC_RETURN
		};

		found = p->refused || p->gone || p->retired ?
				NULL :
				bsearch(&key, o->points, o->nr, sizeof(key),
					dp_order_compare);
		which[i] = found;
		if (!found)
			continue;
		o->met[found - o->points] = true;
		n++;
	}
	return n;
}

static bool all_met(const struct order *o)
{
	u32 i = 0;

	while (i < o->nr && o->met[i])
		i++;
	return i == o->nr;
}

static int switch_points(struct dp_session *s, struct order *o, bool *which,
			 struct dp_diag *diag)
{
	size_t n = choose(&s->points, o, which);
	bool on = o->verb == DP_ORDER_ENABLE;
	int err;

	if (!all_met(o))
		return dp_diag_set(
			diag, -EAGAIN,
			"the probes of process %d have changed meanwhile; try again",
			s->source->pid);
	err = s->ops->enable(s->source, &s->points, which, on, diag);
	if (!err && !s->opt->quiet)
		dp_output_say("%zu probe%s of process %d %s from outside", n,
			      n == 1 ? "" : "s", s->source->pid,
			      on ? "enabled" : "disabled");
	return err;
}

static int carry_out_text(struct dp_session *s, const struct order *o,
			  struct dp_diag *diag)
{
	char *reply = NULL;
	size_t len = 0;
	FILE *out = s->kind->order ? open_memstream(&reply, &len) : NULL;
	int err;

	if (!s->kind->order)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s is probed by a dprobes command, which holds no programs",
			dp_order_place(dp_order_target(s)).s);
	if (!out)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = s->kind->order(s, &o->text, out, diag);
	if (fclose(out) && !err)
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	len = len < DP_ORDER_TEXT ? len : DP_ORDER_TEXT;
	if (reply)
		memcpy(orders->text, reply, len);
	orders->replied = reply ? (u32)len : 0;
	free(reply);
	return err;
}

static int carry_out(struct dp_session *const *v, size_t n, struct order *o,
		     void (*births)(struct dp_session *s), struct dp_diag *diag)
{
	struct dp_session *s;
	bool *which;
	size_t i = 0;
	int err;

	while (i < n && dp_order_target(v[i]) != o->pid)
		i++;
	if (i == n)
		return dp_diag_set(diag, -ESRCH,
				   "this dprobes does not probe %s (any more)",
				   dp_order_place(o->pid).s);
	s = v[i];
	if (o->verb > DP_ORDER_ENABLE)
		return carry_out_text(s, o, diag);
	if (!s->ops->enable)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"probes by way of %s cannot be switched from outside",
			s->ops->name);
	if (births)
		births(s);
	which = calloc(s->points.n + 1, sizeof(*which));
	if (!which)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = switch_points(s, o, which, diag);
	free(which);
	return err;
}

void dp_order_look(struct dp_session *const *v, size_t n,
		   void (*births)(struct dp_session *s))
{
	u64 state = orders ? __atomic_load_n(&orders->state, __ATOMIC_ACQUIRE) :
			     0;
	u64 number = state >> 32;
	struct dp_diag diag = { .text = "" };
	struct order o;
	int err = -ECANCELED;

	if ((u32)state != DP_ORDER_ASKED ||
	    !__atomic_compare_exchange_n(&orders->state, &state,
					 number << 32 | DP_ORDER_TAKEN, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return;
	orders->replied = 0;
	if (__atomic_load_n(&orders->withdrawn, __ATOMIC_SEQ_CST) != number) {
		err = take(&o, &diag);
		if (!err) {
			err = carry_out(v, n, &o, births, &diag);
			drop(&o);
		}
	}
	orders->err = err;
	orders->diag = diag;
	__atomic_store_n(&orders->state, number << 32 | DP_ORDER_DONE,
			 __ATOMIC_RELEASE);
}
