// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * toggle: probes on and off under a running program, the busiest ones most:
 * toggle [-j STRATEGY] [-n SITES] [-i N] [-t TOGGLES] [-b BATCH] [-m MODULE] [-B] -- CMD
 *
 * SITES instructions of a module, all function entries first and then one in N (50) of the
 * others by chance, are armed and from then on toggled in batches, three of four times
 * among the twenty that are hit most. The command is ended by SIGTERM when all
 * toggles are done, and has to have found its results right. Prints "N sites, N
 * jumps, N toggles, N hits, N strays"; exits as CMD does.
 *
 * -B breaks the protocol on purpose: jumps without breakpoints inside are written
 * while everybody runs. Then CMD must not survive.
 */
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/site/counts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "sym/sym.h"
#include "tests/tools/module.h"
#include <dprobes/diag.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/site/enable.h"
#include "engine/site/internal.h"
#include "engine/site/room.h"
#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include "resolve/reach.h"

#define HOT 20
#define LOOKS 50

static struct target t;
static u32 probes;
static u32 hot[HOT];
static unsigned short chance[3] = { 3, 2, 1 };
static bool broken;
static u8 *function;

static u64 any(u64 n)
{
	return (u64)nrand48(chance) % n;
}

static void add(u64 addr, const u8 *code, size_t size)
{
	const char *why;
	u32 probe;

	/* As the command refuses them. */
	if (dp_insn_is_restorer(code, size) ||
	    dp_engine_add(t.engine, addr, code, size, &probe, &why))
		return;
	probes = probe + 1;
	dp_reach_allow(&t.reach_reader, t.engine, probe, addr);
}

/* The entry of a function, or instructions in it by chance. */
static void cover(u64 start, u64 end, bool entry, unsigned int one_in)
{
	struct insn_facts f;
	u64 at;

	function = realloc(function, end - start);
	if (pread(dp_process_mem(t.proc), function, end - start,
		  (off_t)start) != (ssize_t)(end - start))
		return;
	for (at = start; at < end; at += f.len) {
		if (dp_insn_facts(function + (at - start), end - at, &f))
			return;
		if (entry ? at == start : at > start && !any(one_in))
			add(at, function + (at - start), end - at);
	}
}

static void cover_module(const struct dp_module *m, bool entries,
			 unsigned int one_in, u32 limit)
{
	u64 at = m->text_start, start, end;

	while (at < m->text_end && probes < limit) {
		if (dp_function_bounds(t.mods, at, &start, &end) || end <= at) {
			at++;
			continue;
		}
		if (start >= at)
			cover(start, end, entries, one_in);
		at = end;
	}
}

static void find_hot(void)
{
	u32 i, k;

	for (i = 0; i < probes; i++)
		for (k = 0; k < HOT; k++)
			if (dp_engine_hits(t.engine, i) >
			    dp_engine_hits(t.engine, hot[k])) {
				memmove(hot + k + 1, hot + k,
					(HOT - 1 - k) * sizeof(*hot));
				hot[k] = i;
				break;
			}
}

static bool toggle_all(unsigned long toggles, unsigned int batch)
{
	u8 *on = malloc(probes);
	struct dp_diag diag;
	unsigned long done = 0;
	unsigned int i;
	u32 probe;

	memset(on, 1, probes);
	while (done < toggles) {
		if (done / batch % LOOKS == 0)
			find_hot();
		for (i = 0; i < batch; i++) {
			probe = any(4) ? hot[any(HOT)] : (u32)any(probes);
			on[probe] ^= 1;
			dp_engine_turn(t.engine, probe, on[probe]);
		}
		done += batch;
		if (dp_process_poll(t.proc, 0) == DP_PROCESS_EXITED)
			break;
		if (broken)
			dp_engine_apply(t.engine, &t.proc->target, NULL);
		else if (dp_process_apply(t.proc, &diag)) {
			fprintf(stderr, "toggle: %s\n", diag.text);
			break;
		}
	}
	free(on);
	return done >= toggles;
}

/* Jumps of quiesce are written, but no thread is stopped for that. */
static int write_at_once(void *arg, const u32 *which, u32 n, bool in)
{
	return in ? dp_engine_write_jumps(t.engine, &t.proc->target, which, n) :
		    dp_engine_restore(t.engine, &t.proc->target, which, n);
}

static void break_protocol(void)
{
	static struct dp_growth_ops ops;

	ops = *t.engine->growth->setup.ops;
	ops.stopped = write_at_once;
	t.engine->growth->setup.ops = &ops;
}

static u8 *read_text(const struct dp_module *m)
{
	size_t size = m->text_end - m->text_start;
	u8 *text = malloc(size);

	return pread(dp_process_mem(t.proc), text, size,
		     (off_t)m->text_start) == (ssize_t)size ?
		       text :
		       NULL;
}

static int finish(unsigned long toggles, const struct dp_module *m, u8 *before)
{
	const struct dp_arena_hit *hit = &dp_engine_arena(t.engine)->hit;
	unsigned long long hits = 0, strays = hit->interior_arrivals;
	size_t sites = dp_engine_sites(t.engine),
	       jumps = dp_engine_jumps(t.engine);
	struct dp_diag diag;
	u8 *after;
	int status;
	u32 i;

	for (i = 0; i < probes; i++)
		hits += dp_engine_hits(t.engine, i);
	dp_diag_clear(&diag);
	if (dp_process_detach(t.proc, &diag))
		fprintf(stderr, "toggle: %s\n", diag.text);
	after = read_text(m);
	if (after && memcmp(before, after, m->text_end - m->text_start)) {
		fprintf(stderr, "toggle: the text is not what it was\n");
		kill(dp_process_pid(t.proc), SIGKILL);
	}
	kill(dp_process_pid(t.proc), SIGTERM);
	while (dp_process_poll(t.proc, 1000) != DP_PROCESS_EXITED)
		continue;
	dp_process_status(t.proc, &status);
	fprintf(stderr,
		"%zu sites, %zu jumps, %lu toggles, %llu hits, %llu strays\n",
		sites, jumps, toggles, hits, strays);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	unsigned long toggles = 20000, sites = 9000;
	enum dp_arming arming = DP_ARM_INTERIOR;
	const char *module = "libc.so.6";
	u8 *text = NULL;
	unsigned int batch = 100, one_in = 50;
	struct dp_diag diag;
	int c, err;

	while ((c = getopt(argc, argv, "+Bi:j:n:t:b:m:")) != -1) {
		broken |= c == 'B';
		if (c == 'j')
			arming = *optarg == 'q' ? DP_ARM_QUIESCE :
				 *optarg == 't' ? DP_ARM_TRAP :
						  DP_ARM_INTERIOR;
		else if (c == 'i')
			one_in = (unsigned int)strtoul(optarg, NULL, 0);
		else if (c == 'n')
			sites = strtoul(optarg, NULL, 0);
		else if (c == 't')
			toggles = strtoul(optarg, NULL, 0);
		else if (c == 'b')
			batch = (unsigned int)strtoul(optarg, NULL, 0);
		else if (c == 'm')
			module = optarg;
	}
	if (broken)
		arming = DP_ARM_QUIESCE;
	dp_diag_clear(&diag);
	err = launch_target(&t, argv + optind, module, arming, &diag);
	if (!err) {
		text = read_text(t.module);
		cover_module(t.module, true, 0, (u32)sites);
		cover_module(t.module, false, one_in, (u32)sites);
		err = dp_process_install(t.proc, t.engine, &diag);
	}
	if (err) {
		fprintf(stderr, "toggle: %s\n", diag.text);
		return 125;
	}
	dp_process_let_go(t.proc);
	if (broken)
		break_protocol();
	usleep(200000);
	if (!toggle_all(toggles, batch))
		fprintf(stderr, "toggle: the program has ended early\n");
	return finish(toggles, t.module, text);
}
