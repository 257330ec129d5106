// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guest: probes that a tool has in this process, beside the program's own.
 *
 * They are probes of the process's engine, so both share sites, jumps and rules. A guest
 * counts, and calls nothing. The tool knows it by its number in the engine, and reads its
 * count from the arena. The program's lists do not show it.
 *
 *     PROBE ─► SWITCH… ─► UNPROBE          of a tool that was killed: CLEAN, by the next one
 *
 * A fork child has no guests: dp_self begins anew there.
 */
#include "lib/self.h"
#include "lib/service.h"
#include "engine/site/counts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FEW 64

/** struct dp_guest_probe - @p registers it */
struct dp_guest_probe {
	struct kprobe p;
	struct dp_guest_probe *next;
};

static struct dp_guest_probe *find(u32 probe)
{
	struct kprobe *p;

	if (probe >= dp_self.nr_users || !dp_self.users[probe].guest)
		return NULL;
	p = dp_self.users[probe].p;
	return (struct dp_guest_probe *)p;
}

static struct dp_request request_of(struct dp_guest_probe *g)
{
	return (struct dp_request){
		.user = { .p = &g->p, .kind = 'k', .guest = true },
		.handlers = { .kind = DP_KIND_PLAIN, .user = (u64)&g->p },
	};
}

static void refuse(void *arg, u32 i, int err)
{
	struct dp_guest *v = arg;

	v[i].err = err;
	snprintf(v[i].why, sizeof(v[i].why), "%.*s", DP_GUEST_WHY - 1,
		 dp_last_diag()->text);
	dp_diag_clear(dp_last());
}

static int make(struct dp_guest *v, struct dp_request *requests, u32 n)
{
	struct dp_guest_probe *g;
	u32 i;

	for (i = 0; i < n; i++) {
		g = calloc(1, sizeof(*g));
		if (!g)
			return dp_fail(-ENOMEM, "out of memory");
		g->p.addr = (kprobe_opcode_t *)v[i].addr;
		g->p.flags = KPROBE_FLAG_DISABLED;
		requests[i] = request_of(g);
		v[i].err = 0;
	}
	return 0;
}

/* Those that are not registered go. */
static void keep(struct dp_guest *v, const struct dp_request *requests, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct dp_guest_probe *g = (void *)requests[i].user.p;

		if (!g || !dp_probe_index(&g->p, &v[i].probe)) {
			free(g);
			continue;
		}
		g->next = dp_self.guests;
		dp_self.guests = g;
		dp_self.nr_guests++;
	}
}

int dp_guests_add(struct dp_guest *v, u32 n)
{
	struct dp_request *requests = calloc(n, sizeof(*requests));
	int err = requests ? dp_self_begin(true) :
			     dp_fail(-ENOMEM, "out of memory");

	if (!err) {
		err = make(v, requests, n);
		if (!err)
			err = dp_probes_register_each(requests, n, refuse, v);
		keep(v, requests, n);
		dp_self_end();
	}
	free(requests);
	return err;
}

static int turn(u32 *probes, u32 n, bool on)
{
	u32 i;
	int err;

	if (!n)
		return 0;
	err = dp_live_enable(dp_self.engine, &dp_self.text.target, probes, n,
			     on);
	for (i = 0; i < n; i++)
		dp_self.users[probes[i]].disabled = !on || err;
	return err ? dp_fail(err, "the probes cannot be switched") : 0;
}

static int switch_all(const struct dp_guest *v, u32 n, u32 *probes)
{
	int pass, err = 0;
	u32 i, chosen;

	for (i = 0; i < n; i++)
		if (!find(v[i].probe))
			return dp_fail(-EINVAL, "probe %u is no guest",
				       v[i].probe);
	for (pass = 0; pass < 2 && !err; pass++) {
		for (i = chosen = 0; i < n; i++) {
			const struct dp_user *u = &dp_self.users[v[i].probe];

			if (!v[i].on == !pass && !u->gone)
				probes[chosen++] = v[i].probe;
		}
		err = turn(probes, chosen, pass);
	}
	dp_flags_refresh();
	return err;
}

int dp_guests_switch(const struct dp_guest *v, u32 n)
{
	u32 *probes = calloc(n, sizeof(*probes));
	int err = probes ? dp_self_begin(false) :
			   dp_fail(-ENOMEM, "out of memory");

	if (!err) {
		err = switch_all(v, n, probes);
		dp_self_end();
	}
	free(probes);
	return err;
}

static void forget(struct dp_guest_probe *g)
{
	struct dp_guest_probe **at = &dp_self.guests;

	while (*at && *at != g)
		at = &(*at)->next;
	/* An order may name a guest twice. */
	if (!*at)
		return;
	*at = g->next;
	dp_self.nr_guests--;
	free(g);
}

/* What a probe has counted stays in the tables until its number is another's. */
static int remove_all(struct dp_guest *v, u32 n, struct kprobe **probes)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct dp_guest_probe *g = find(v[i].probe);

		if (!g)
			return dp_fail(-EINVAL, "probe %u is no guest",
				       v[i].probe);
		probes[i] = &g->p;
	}
	dp_probes_unregister(probes, n);
	for (i = 0; i < n; i++) {
		v[i].hits = dp_engine_hits(dp_self.engine, v[i].probe);
		forget((struct dp_guest_probe *)probes[i]);
	}
	return 0;
}

int dp_guests_remove(struct dp_guest *v, u32 n)
{
	struct kprobe **probes = calloc(n, sizeof(*probes));
	int err = probes ? dp_self_begin(false) :
			   dp_fail(-ENOMEM, "out of memory");

	if (!err) {
		err = remove_all(v, n, probes);
		dp_self_end();
	}
	free(probes);
	return err;
}

int dp_guests_clean(void)
{
	struct kprobe *few[FEW];
	int err = dp_self_begin(false);
	u32 n, i;

	while (!err && dp_self.guests) {
		struct dp_guest_probe *g = dp_self.guests;

		for (n = 0; g && n < sizeof(few) / sizeof(*few); g = g->next)
			few[n++] = &g->p;
		dp_self.guests = g;
		dp_self.nr_guests -= n;
		dp_probes_unregister(few, n);
		for (i = 0; i < n; i++)
			free(few[i]);
	}
	if (!err)
		dp_self_end();
	return err == -ESRCH ? 0 : err;
}
