// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_native: any bytes as code, and random programs with some of their bytes changed, as a detour
 * runs them: whatever the code does not leave, the interpreter does, too.
 */
#include "native_programs.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define LONGEST 1200

static struct native_run run;
static struct vm_bench bench;
static struct dp_native native;

static void interpret(const u8 *code, const struct dp_native_limits *limits)
{
	vm_bench_init(&bench);
	native_window(&run);
	bench.vm.stack_mask = limits->stack_mask;
	bench.vm.jmpmax = limits->jmpmax;
	bench.vm.logmax = limits->logmax;
	/* What is raised, and what not, is no matter for the detour. */
	bench.vm.ex_mask = code[0] & 1 ? DP_EX_MASK | DP_EX_LOG_OVERFLOW : 0;
	bench.vm.code = code;
	native_regs(&run, &bench.regs);
	native_give_vectors(&bench.vm);
	dp_vm_run(&bench.vm);
}

/* What keeps hits calls an entry of the agent, which is not there. */
static bool keeps(const struct dp_native *n)
{
	u32 i;

	for (i = 0; i < n->nr_records; i++)
		if (n->records[i].table)
			return true;
	return false;
}

static void try_code(const u8 *code, u32 len,
		     const struct dp_native_limits *limits, u64 *seed)
{
	struct dp_vm_limits vars = { VM_VARS, VM_VARS, DP_ALLOW_ALL,
				     vm_tables };
	u32 start = 0, offset, i;
	const char *why;

	if (dp_vm_verify(code, len, &vars, &start, 1, &offset, &why) ||
	    dp_native_walk(code, len, 0, limits, &native) || keeps(&native) ||
	    !dp_native_encodes(&native, NULL, &run.detour))
		return;
	if (native_make(&run, &native))
		abort();
	for (i = 0; i < 4; i++) {
		native_randomize(&run, seed);
		interpret(code, limits);
		if (!native_agrees(&run, &native, &bench, native_go(&run)))
			abort();
	}
}

/* What the instruction accesses may be memory or not; a touch changes none. */
static void choose_commits(u8 which, u64 seed)
{
	struct dp_operand_ref *ref = &run.memory.operand;

	run.commits = which % (DP_COMMITS_LEAVES + 1);
	run.memory.size = (u8)(1 + seed % 64);
	run.memory.writes = seed >> 6 & 1;
	ref->base = seed >> 7 & 7 ? seed >> 10 & 15 : DP_NO_REG;
	ref->index = seed >> 14 & 1 ? seed >> 15 & 15 : DP_NO_REG;
	/* rsp is no index. */
	if (ref->index == NATIVE_RSP)
		ref->index = DP_NO_REG;
	ref->scale = (u8)(1 << (seed >> 19 & 3));
	ref->disp = (int16_t)(seed >> 21);
	ref->segment = !(seed >> 37 & 7) ? DP_SEG_FS : 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dp_native_limits limits = { .loads = true, .records = true };
	static u8 code[12 * NATIVE_MOST];
	u64 seed = 0;
	u32 len, i;

	if (!run.code && !native_begin(&run))
		return 0;
	if (size < 12 || size > LONGEST)
		return 0;
	memcpy(&seed, data, sizeof(seed));
	seed |= 1;
	limits.stack_mask = data[8] & 1 ? 31 : DP_VM_STACK - 1;
	limits.jmpmax = data[8] & 2 ? data[8] >> 3 : 255;
	limits.logmax = data[9] & 4 ? 64 : DP_VM_LOG;
	choose_commits(data[9] >> 3, seed);
	limits.leave = data[9] & 3 ? 0 : data[9] >> 2;
	if (data[8] & 4) {
		try_code(data + 10, (u32)size - 10, &limits, &seed);
		return 0;
	}
	len = native_generate(code, 1 + data[10] % (NATIVE_MOST - 1), &seed);
	for (i = 11; i + 2 < size; i += 3)
		code[(data[i] | (u32)data[i + 1] << 8) % len] = data[i + 2];
	try_code(code, len, &limits, &seed);
	return 0;
}
