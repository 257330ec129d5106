// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arm-all: a probe on every instruction of a library: arm-all [-l] [-e]
 * [-j STRATEGY] [-n N] [-m MODULE] [-x NAME,...] -- CMD. Functions named by -x are
 * left out. Prints one line to stderr: "N armed, N executed, N hits, N jumps";
 * exits as CMD does.
 *
 * -j: jumps where possible, in this way (interior, quiesce); else breakpoints.
 * -e: only the first instruction of each function.
 * -n: only one in N instructions, by chance, the same ones every time.
 * -v: why the others are breakpoints.
 *
 * -l: every probe runs a program that logs, so that records wait for their
 * instructions. Records, lost and discarded ones have to add up to the hits.
 */
#include "engine/insn/region.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/program.h"
#include "engine/vm/ops.h"
#include "proc/proc.h"
#include "tests/tools/module.h"
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct target t;
static u32 probes;
static u64 addresses[2000000];
static size_t refused, no_code;

static bool left_out(u64 addr, const char *names)
{
	char list[4096], *save, *name;
	struct dp_symbol sym;

	if (dp_symbol_at(t.mods, addr, &sym))
		return false;
	snprintf(list, sizeof(list), "%s", names);
	for (name = strtok_r(list, ",", &save); name;
	     name = strtok_r(NULL, ",", &save))
		if (!fnmatch(name, sym.name, 0))
			return true;
	return false;
}

static bool logs, entries, verbose;
static unsigned int one_in = 1;
static enum dp_arming arming = DP_ARM_TRAP;
static unsigned short chance[3] = { 1, 2, 3 };
static u32 program;
static unsigned long long records;

/* push 1; log 1; exit */
static int add_program(void)
{
	static const u8 code[] = {
		DP_OPCODE_PUSH, 1, 0, 0, 0, 0, 0, 0, 0, DP_OPCODE_LOG_I, 1, 0,
		DP_OPCODE_EXIT
	};
	static const u32 start;
	const struct dp_program_spec spec = { .name = "all",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = &start,
					      .nr_starts = 1,
					      .logmax = 11,
					      .stack = 32 };
	const char *why;
	u32 offset;

	return dp_engine_add_program(t.engine, &spec, &program, &offset, &why);
}

static void count_record(void *arg, const struct dp_record_copy *record)
{
	records++;
}

static u8 *function;

static void cover(u64 start, u64 end)
{
	struct insn_facts f;
	const char *why;
	u64 at = start;
	u32 probe;
	ssize_t n;

	function = realloc(function, end - start);
	n = pread(dp_process_mem(t.proc), function, end - start, (off_t)start);
	for (; at < end && (at == start || !entries); at += f.len) {
		const u8 *code = function + (at - start);

		if (n != (ssize_t)(end - start) ||
		    dp_insn_facts(code, end - at, &f)) {
			no_code++;
			return;
		}
		if ((unsigned int)nrand48(chance) % one_in)
			continue;
		if (dp_engine_add(t.engine, at, code, end - at, &probe, &why)) {
			refused++;
			continue;
		}
		probes = probe + 1;
		addresses[probe] = at;
		if (arming != DP_ARM_TRAP)
			dp_reach_allow(&t.reach_reader, t.engine, probe, at);
		if (logs)
			dp_engine_bind(t.engine, probe,
				       &(struct dp_binding){ .program = program,
							     .maxhits = ~0u });
	}
}

static void cover_module(const struct dp_module *m, const char *names)
{
	u64 at = m->text_start, start, end;

	while (at < m->text_end) {
		if (dp_function_bounds(t.mods, at, &start, &end) || end <= at) {
			at++;
			continue;
		}
		if (start >= at && !left_out(start, names))
			cover(start, end);
		at = end;
	}
}

static bool account(unsigned long long hits)
{
	unsigned long long sum = records + dp_engine_torn(t.engine),
			   tally[DP_TALLY_NR] = { 0 };
	u32 i;
	int k;

	for (i = 0; i < probes; i++)
		for (k = 0; k < DP_TALLY_NR; k++)
			tally[k] +=
				dp_engine_tally(t.engine, i, (enum dp_tally)k);
	/* These are no hits, or are among them. */
	tally[DP_TALLY_MIDDLE] = 0;
	for (k = 0; k < DP_TALLY_NR; k++)
		sum += tally[k];
	fprintf(stderr,
		"%llu records, %llu lost, %llu discarded, %llu without a context\n",
		records, tally[DP_TALLY_LOST], tally[DP_TALLY_DISCARDED],
		tally[DP_TALLY_CONTEXT]);
	return sum == hits;
}

static void name_site(u32 probe, unsigned long long hits)
{
	struct dp_symbol sym;

	if (!dp_symbol_at(t.mods, addresses[probe], &sym))
		fprintf(stderr, "%s+0x%llx %s %llu\n", sym.name,
			(unsigned long long)(addresses[probe] - sym.addr),
			dp_engine_mode(t.engine, probe), hits);
}

static int finish(void)
{
	unsigned long long hits = 0, executed = 0, n;
	int status;
	u32 i;

	while (dp_process_poll(t.proc, logs ? 1 : 1000) != DP_PROCESS_EXITED)
		dp_engine_records(t.engine, count_record, NULL, false);
	dp_engine_settle_all(t.engine);
	dp_engine_records(t.engine, count_record, NULL, true);
	for (i = 0; i < probes; i++) {
		n = dp_engine_hits(t.engine, i);
		hits += n;
		executed += n != 0;
		if (n && verbose)
			name_site(i, n);
	}
	dp_process_status(t.proc, &status);
	if (logs && !account(hits))
		return 124;
	for (i = 0; verbose && i < probes; i++)
		if (*dp_engine_reason(t.engine, i))
			fprintf(stderr, "trap: %s\n",
				dp_engine_reason(t.engine, i));
	fprintf(stderr, "%zu armed, %llu executed, %llu hits, %zu jumps\n",
		dp_engine_sites(t.engine), executed, hits,
		dp_engine_jumps(t.engine));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *module = "libc.so.6", *names = "";
	struct dp_diag diag;
	int c, err;

	while ((c = getopt(argc, argv, "+levj:n:m:x:")) != -1) {
		logs |= c == 'l';
		entries |= c == 'e';
		verbose |= c == 'v';
		if (c == 'j')
			arming = *optarg == 'q' ? DP_ARM_QUIESCE :
						  DP_ARM_INTERIOR;
		else if (c == 'n')
			one_in = (unsigned int)atoi(optarg);
		else if (c == 'm')
			module = optarg;
		else if (c == 'x')
			names = optarg;
	}
	dp_diag_clear(&diag);
	err = launch_target(&t, argv + optind, module, arming, &diag);
	if (!err && logs)
		err = add_program();
	if (!err) {
		cover_module(t.module, names);
		err = dp_process_install(t.proc, t.engine, &diag);
	}
	if (err) {
		fprintf(stderr, "arm-all: %s\n", diag.text);
		return 125;
	}
	dp_process_let_go(t.proc);
	return finish();
}
