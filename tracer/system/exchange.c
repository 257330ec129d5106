// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exchange: probes in the kernel that come in the places of others.
 *
 * The device does both with one commit. If the tool is killed before, the kernel has what it had; then all of it goes with
 * the device.
 */
#include "tracer/system/session.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The last program may have gone with its probes. */
static void forget_last(struct dp_system_session *s)
{
	free(s->last.code);
	s->last.code = NULL;
}

/* Their numbers are no others'. */
static void note_gone(struct dp_system_session *s,
		      const struct dp_points *points, const bool *which,
		      size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (which[i] && !points->v[i].refused)
			s->gone[points->v[i].probe % DP_SYSTEM_PROBES] = true;
}

static void note_failed(struct dp_system_session *s,
			const struct dp_points *points, size_t first)
{
	size_t i;

	for (i = first; i < points->n; i++)
		if (!points->v[i].refused)
			s->gone[points->v[i].probe % DP_SYSTEM_PROBES] = true;
}

void dp_system_begin_anew(struct dp_system_session *s)
{
	u64 bad;

	dp_system_device_commit(&s->device, DP_DEVICE_UNDO, &bad);
	dp_system_symbols_free(&s->symbols);
	forget_last(s);
	s->unbound = false;
}

static int remove_all(struct dp_system_session *s,
		      const struct dp_points *points, const bool *which,
		      size_t n)
{
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (which[i])
			err = dp_system_device_remove(&s->device,
						      points->v[i].probe);
	return err;
}

static int commit(struct dp_system_session *s, struct dp_diag *diag)
{
	u64 bad = 0;
	int err = s->unbound ? -EINVAL :
			       dp_system_device_commit(&s->device, 0, &bad);

	dp_system_device_renew(&s->device);
	return err ? dp_system_say_unarmed(err, bad, s->source.tracks, diag) :
		     0;
}

int dp_system_exchange(struct dp_source *source, struct dp_modules *mods,
		       const struct dp_source_request *want, const bool *retire,
		       struct dp_diag *diag)
{
	struct dp_system_session *s = dp_system_of(source);
	size_t had = s->had;
	int err = dp_system_bind_all(s, want, diag);

	if (!err && remove_all(s, want->points, retire, had))
		err = dp_diag_set(
			diag, -EINVAL,
			"dprobes.ko has not the probes that are to go");
	err = err ?: commit(s, diag);
	if (err) {
		dp_system_begin_anew(s);
		note_failed(s, want->points, had);
		return err;
	}
	note_gone(s, want->points, retire, had);
	return 0;
}

int dp_system_retire(struct dp_source *source, const struct dp_points *points,
		     const bool *which, struct dp_diag *diag)
{
	struct dp_system_session *s = dp_system_of(source);
	int err =
		remove_all(s, points, which, points->n) ?
			dp_diag_set(
				diag, -EINVAL,
				"dprobes.ko has not the probes that are to go") :
			commit(s, diag);

	if (err)
		dp_system_begin_anew(s);
	else
		note_gone(s, points, which, points->n);
	forget_last(s);
	return err;
}
