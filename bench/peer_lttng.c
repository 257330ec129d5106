// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* peer_lttng: one event of LTTng-UST, through a session daemon of its own. */
#include "bench/peer.h"
#include "bench/twins.h"

#define EVENT_BYTES 8 /* a timestamp and the field, at the very least */
#define STREAMS "/tmp/trace/ust/uid/*/*/channel0_[0-9]*"

static int steps(void)
{
	static const char *const commands[][6] = {
		{ "lttng-sessiond", "--no-kernel", "--daemonize" },
		{ "lttng", "create", "bench", "--output=/tmp/trace" },
		{ "lttng", "enable-event", "--userspace", "twin:probed" },
		{ "lttng", "start" },
		{ PEER_VICTIM },
		{ "lttng", "stop" },
		{ "lttng", "list", "bench" },
	};
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (peer_command(commands[i]))
			return -1;
	if (!peer_logged("Discarded events: 0\n") ||
	    peer_bytes(STREAMS) < TWINS_HITS * EVENT_BYTES)
		return peer_fail("lttng has not recorded the calls");
	return 0;
}

int bench_lttng(struct bench_run *run, const struct bench *b, double *ns)
{
	static const struct peer lttng = {
		.victim = "twins-lttng",
		.absent = "liblttng-ust-dev is not there",
		.note = "an event with one integer into the default channel, "
			"over the same tracepoint disabled",
		.steps = steps,
	};

	return peer_measure(run, &lttng, ns);
}
