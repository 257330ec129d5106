/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer: runs other tools on a victim that measures itself (twins.h).
 *
 * Each measurement has mount and pid namespaces of its own, with an empty
 * /tmp, /run and /dev/shm: whatever a tool starts ends with them, whatever it
 * leaves behind goes with them, and no daemon of the machine is met.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench/bench.h"

#define PEER_VICTIM "/tmp/victim"
#define PEER_LOG "/tmp/log" /* all that the commands print */

/**
 * struct peer - how to measure one
 * @victim: program beside the driver's victim, copied to PEER_VICTIM
 * @absent: what is missing if @victim has not been built
 * @note: what the figure is
 * @steps: has the peer run PEER_VICTIM. Context: process 1 of its namespace.
 * Return: 0, or -1 after peer_fail()
 */
struct peer {
	const char *victim, *absent, *note;
	int (*steps)(void);
};

/** peer_measure() - one round, within a time limit. As bench.measure */
int peer_measure(struct bench_run *run, const struct peer *peer, double *ns);

/* For steps: */

/** peer_fail() - says why. Return: -1 */
int peer_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** peer_command() - runs it to its end. Return: 0, or -1 after peer_fail() */
int peer_command(const char *const *argv);

/** peer_logged() - whether the commands have printed a text */
bool peer_logged(const char *text);

/** peer_bytes() - size of all files that match a glob(7) pattern */
uint64_t peer_bytes(const char *pattern);

#endif
