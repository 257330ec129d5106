// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* guests: points and programs become guests of a process that probes itself. */
#include "engine/layout/probe.h"
#include "engine/site/engine.h"
#include "engine/site/mirror.h"
#include "engine/site/program.h"
#include "resolve/points.h"
#include "sym/list.h"
#include "tracer/host/host.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct dp_diag *diag)
{
	return dp_diag_set(diag, -ENOMEM, "out of memory");
}

static void track(struct dp_host_source *h, struct dp_guest *g,
		  const struct dp_point *p, bool logs)
{
	g->kind = DP_KIND_ENTER;
	g->way = (logs ? DP_WAY_LOGS : 0) |
		 (p->ret.kind == DP_TYPE_FLOAT ? DP_WAY_XMM : 0);
	h->source.tracks = true;
}

static int add_guests(struct dp_host_source *h, struct dp_points *points,
		      bool logs)
{
	struct dp_guest g = { .group = DP_NO_GROUP };
	size_t i;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];

		p->program = DP_NO_PROGRAM;
		p->probe = h->n ? (u32)h->n - 1 : 0;
		if (p->refused)
			continue;
		p->probe = (u32)h->n;
		g.addr = p->addr;
		g.kind = DP_KIND_PLAIN;
		g.way = 0;
		if (p->spec->kind == DP_SPEC_RETURN)
			track(h, &g, p, logs);
		if (dp_list_add(&h->guests, &h->n, &h->room, &g, sizeof(g)))
			return -ENOMEM;
	}
	return 0;
}

/* One line. */
int dp_host_refusal(const struct dp_guest *g, char *words)
{
	size_t n = 0;

	while (n < DP_GUEST_WHY && g->why[n] && g->why[n] != '\n')
		n++;
	memcpy(words, g->why, n);
	words[n] = '\0';
	return g->err < 0 && g->err > -4096 ? g->err : -EINVAL;
}

/* The library has refused some. What is refused of a glob is left out, another is an error. */
static int take_refusals(struct dp_host_source *h, struct dp_points *points,
			 struct dp_diag *diag)
{
	char words[DP_GUEST_WHY + 1];
	size_t i, left = 0;
	int err;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];
		const struct dp_guest *g = &h->guests[p->probe];

		if (p->refused || !g->err) {
			left += !p->refused;
			continue;
		}
		err = dp_host_refusal(g, words);
		if (!p->several)
			return dp_diag_set(diag, err, "%s: %s", p->name, words);
		p->refused = err;
		snprintf(p->reason, sizeof(p->reason), "%s", words);
	}
	return left ? 0 :
		      dp_diag_set(diag, -EINVAL,
				  "none of the matches can be probed");
}

/* Keep those that have a number, among the first @asked. */
static void pack(struct dp_host_source *h, struct dp_points *points,
		 size_t asked)
{
	size_t i, n = 0;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];

		if (!p->refused && p->probe < asked &&
		    !h->guests[p->probe].err) {
			h->guests[n] = h->guests[p->probe];
			p->probe = (u32)n++;
		} else {
			p->probe = n ? (u32)n - 1 : 0;
		}
	}
	h->n = h->nr_entries = n;
}

/* Records name probes by their numbers in the engine. */
static int index_guests(struct dp_host_source *h)
{
	u32 n = dp_host_look(h->host) ? 0 : dp_engine_probes(h->engine);
	size_t i;

	h->index = calloc(n + 1, sizeof(*h->index));
	h->jumps = calloc(h->n + 1, sizeof(*h->jumps));
	if (!h->index || !h->jumps)
		return -ENOMEM;
	h->nr_index = n;
	for (i = 0; i < h->n; i++) {
		if (h->guests[i].probe >= n)
			return -EBADMSG;
		h->index[h->guests[i].probe] = (u32)i + 1;
		dp_mirror_probe(h->engine, h->guests[i].probe,
				(u8)h->guests[i].kind, h->guests[i].way,
				h->guests[i].group);
	}
	return 0;
}

int dp_host_add_program(struct dp_source *source,
			const struct dp_program_spec *spec, u32 *program,
			u32 *offset, const char **why)
{
	return dp_engine_add_program(dp_host_of(source)->engine, spec, program,
				     offset, why);
}

void dp_host_bind(struct dp_source *source, const struct dp_point *point,
		  const struct dp_binding *binding)
{
	struct dp_guest *g = &dp_host_of(source)->guests[point->probe];

	g->binding = *binding;
	g->bound = 1;
}

/* @room: bytes that are left for it. Return: its size; 0: it has no room. */
static size_t put_program(const struct dp_program_spec *spec, char *to,
			  size_t room)
{
	struct dp_guest_program *g = (void *)to;
	size_t starts = spec->nr_starts * sizeof(u32);
	size_t size = (sizeof(*g) + starts + spec->code_len + 7) & ~7ull;

	if (size > room)
		return 0;
	memset(g, 0, sizeof(*g));
	g->size = (u32)size;
	g->spec = *spec;
	snprintf(g->name, sizeof(g->name), "%s", spec->name);
	memcpy(g + 1, spec->starts, starts);
	memcpy((char *)(g + 1) + starts, spec->code, spec->code_len);
	return size;
}

/* As many as one order takes. Return: 0 or a negative errno with words. */
static int send_some(struct dp_host_source *h, u32 *next, char *buffer,
		     struct dp_diag *diag)
{
	struct dp_client_order order = { .verb = DP_SERVICE_PROGRAM,
					 .data = buffer,
					 .patience = DP_HOST_PATIENCE };
	struct dp_program_spec spec;
	size_t size = 1;

	for (; size && *next < dp_engine_programs(h->engine);
	     order.nr_guests += size != 0) {
		spec = dp_engine_program(h->engine, *next);
		size = put_program(&spec, buffer + order.len,
				   DP_SERVICE_ORDER - order.len);
		order.len += size;
		*next += size != 0;
	}
	if (!order.nr_guests)
		return dp_diag_set(diag, -ENOSPC,
				   "a program is too long for process %d",
				   h->client.pid);
	return dp_client_ask(&h->client, &order, diag);
}

static int send_programs(struct dp_host_source *h, struct dp_diag *diag)
{
	char *buffer = malloc(DP_SERVICE_ORDER);
	u32 next = 0;
	int err = buffer ? 0 : no_memory(diag);

	while (!err && next < dp_engine_programs(h->engine))
		err = send_some(h, &next, buffer, diag);
	free(buffer);
	if (!err && !dp_mirror_programs(h->engine))
		err = dp_diag_set(diag, -ENOSPC,
				  "there is no room for so many programs");
	return err;
}

/* Memory for what programs do, and the programs. */
static int begin_programs(struct dp_host_source *h, struct dp_diag *diag)
{
	const struct dp_client_order order = dp_host_order(DP_SERVICE_BEGIN);
	int err = dp_host_share(h->host, diag);

	if (!err)
		err = dp_client_ask(&h->client, &order, diag);
	if (!err)
		err = send_programs(h, diag);
	h->shared = !err;
	return err;
}

static int bind_all(const struct dp_source_request *want, struct dp_diag *diag)
{
	size_t i;
	int err = 0;

	for (i = 0; want->bind && i < want->points->n && !err; i++)
		if (!want->points->v[i].refused)
			err = want->bind(want->arg, i, diag);
	return err;
}

static int probe_all(struct dp_host_source *h,
		     const struct dp_source_request *want, struct dp_diag *diag)
{
	struct dp_points *points = want->points;
	size_t done = 0;
	int err = dp_host_ask_all(h, DP_SERVICE_PROBE, &done, h->n,
				  DP_HOST_PATIENCE, diag);

	h->in = done;
	if (!err)
		err = take_refusals(h, points, diag);
	pack(h, points, done);
	if (!err && h->source.tracks)
		err = dp_host_add_exits(h, points, diag);
	if (err)
		return err;
	err = index_guests(h);
	if (!err && h->source.tracks)
		err = dp_calls_open(&h->calls, h->engine, h->client.proc,
				    want->logs);
	return err ? dp_diag_set(diag, err, "process %d is not what it says",
				 h->client.pid) :
		     0;
}

int dp_host_add(struct dp_source *source, const struct dp_source_request *want,
		struct dp_diag *diag)
{
	struct dp_host_source *h = dp_host_of(source);
	struct dp_diag words = { .text = "out of memory" };
	int err;

	if (want->listed)
		return 0;
	h->points = want->points;
	if (add_guests(h, want->points, want->logs))
		return no_memory(diag);
	err = bind_all(want, diag);
	if (!err && (dp_engine_programs(h->engine) || h->source.tracks))
		err = begin_programs(h, diag);
	if (err)
		return err;
	err = probe_all(h, want, &words);
	if (err) {
		dp_host_leave(h, NULL);
		return dp_diag_set(diag, err, "%s", words.text);
	}
	return 0;
}
