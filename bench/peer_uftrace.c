// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peer_uftrace: uftrace, recording entry and return of one patched function. */
#include "bench/peer.h"
#include "bench/twins.h"

#define RECORD_BYTES 16

static int steps(void)
{
	static const char *const record[] = {
		"uftrace",	 "record", "--no-libcall", "--no-event", "-P",
		"^twin_probed$", "-d",	   "/tmp/data",	   PEER_VICTIM,	 NULL
	};

	if (peer_command(record))
		return -1;
	if (peer_bytes("/tmp/data/[0-9]*.dat") < TWINS_HITS * 2 * RECORD_BYTES)
		return peer_fail("uftrace has not recorded the calls");
	return 0;
}

int bench_uftrace(struct bench_run *run, const struct bench *b, double *ns)
{
	static const struct peer uftrace = {
		.victim = "twins",
		.absent = "its victim has not been built",
		.note = "entry and return of a function patched with -P, two "
			"records written",
		.steps = steps,
	};

	return peer_measure(run, &uftrace, ns);
}
