// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arm-all: a probe on every instruction of a library: arm-all [-l] [-m MODULE]
 * [-x NAME,...] -- CMD. Functions named by -x are left out. Prints one line to
 * stderr: "N armed, N executed, N hits"; exits as CMD does.
 *
 * -l: every probe runs a program that logs, so that records wait for their
 * instructions. Records, lost and discarded ones have to add up to the hits.
 */
#include "engine/control/control.h"
#include "engine/insn/insn.h"
#include "engine/vm/ops.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct dp_modules *mods;
static struct dp_engine *engine;
static struct dp_process *proc;
static u32 probes;
static size_t refused, no_code;

static bool left_out(u64 addr, const char *names)
{
	char list[4096], *save, *name;
	struct dp_symbol sym;

	if (dp_symbol_at(mods, addr, &sym))
		return false;
	snprintf(list, sizeof(list), "%s", names);
	for (name = strtok_r(list, ",", &save); name;
	     name = strtok_r(NULL, ",", &save))
		if (!fnmatch(name, sym.name, 0))
			return true;
	return false;
}

static bool logs;
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

	return dp_engine_add_program(engine, &spec, &program, &offset, &why);
}

static void count_record(void *arg, const struct dp_record_copy *record)
{
	records++;
}

static void cover(u64 start, u64 end)
{
	struct insn_facts f;
	u8 code[DP_INSN_MAX];
	const char *why;
	u32 probe;
	ssize_t n;

	for (; start < end; start += f.len) {
		n = pread(dp_process_mem(proc), code, sizeof(code),
			  (off_t)start);
		if (n <= 0 || dp_insn_facts(code, (size_t)n, &f)) {
			no_code++;
			return;
		}
		if (dp_engine_add(engine, start, code, (size_t)n, &probe, &why))
			refused++;
		else
			probes = probe + 1;
		if (logs && probes == probe + 1)
			dp_engine_bind(engine, probe,
				       &(struct dp_binding){ .program = program,
							     .maxhits = ~0u });
	}
}

static void cover_module(const struct dp_module *m, const char *names)
{
	u64 at = m->text_start, start, end;

	while (at < m->text_end) {
		if (dp_function_bounds(mods, at, &start, &end) || end <= at) {
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
	unsigned long long sum = records + dp_engine_torn(engine),
			   tally[DP_TALLY_NR] = { 0 };
	u32 i;
	int t;

	for (i = 0; i < probes; i++)
		for (t = 0; t < DP_TALLY_NR; t++)
			tally[t] +=
				dp_engine_tally(engine, i, (enum dp_tally)t);
	for (t = 0; t < DP_TALLY_NR; t++)
		sum += tally[t];
	fprintf(stderr,
		"%llu records, %llu lost, %llu discarded, %llu without a context\n",
		records, tally[DP_TALLY_LOST], tally[DP_TALLY_DISCARDED],
		tally[DP_TALLY_CONTEXT]);
	return sum == hits;
}

static int finish(void)
{
	unsigned long long hits = 0, executed = 0, n;
	int status;
	u32 i;

	while (dp_process_poll(proc, logs ? 1 : 1000) != DP_PROCESS_EXITED)
		dp_engine_records(engine, count_record, NULL, false);
	dp_engine_settle(engine, NULL, NULL);
	dp_engine_records(engine, count_record, NULL, true);
	for (i = 0; i < probes; i++) {
		n = dp_engine_hits(engine, i);
		hits += n;
		executed += n != 0;
	}
	dp_process_status(proc, &status);
	if (logs && !account(hits))
		return 124;
	fprintf(stderr, "%zu armed, %llu executed, %llu hits\n",
		dp_engine_sites(engine), executed, hits);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *module = "libc.so.6", *names = "";
	const struct dp_module *list[64];
	struct dp_diag diag;
	size_t n;
	int c, err;

	while ((c = getopt(argc, argv, "+lm:x:")) != -1) {
		if (c == 'l')
			logs = true;
		else if (c == 'm')
			module = optarg;
		else
			names = optarg;
	}
	err = dp_process_launch(argv + optind, &proc, &diag);
	if (!err)
		err = dp_modules_open(dp_process_pid(proc),
				      dp_process_mem(proc), &mods, &diag);
	if (!err)
		err = dp_modules_match(mods, module, list, &n, &diag);
	if (!err && !dp_engine_create(&engine) && !(logs && add_program())) {
		cover_module(list[0], names);
		err = dp_process_install(proc, engine, &diag);
	}
	if (err) {
		fprintf(stderr, "arm-all: %s\n", diag.text);
		return 125;
	}
	return finish();
}
