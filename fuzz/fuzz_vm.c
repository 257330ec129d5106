// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_vm: any bytes as code, and random programs with some of their bytes
 * changed. What the verifier lets pass stays within its bounds, and writes only what it has asked for.
 */
#include "port_types.h"
#include "engine/vm/vm.h"
#include "vm_programs.h"
#include "vm_window.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define LONGEST 4096

static void try_code(struct vm_bench *b, const u8 *code, u32 len)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, vm_window.allow,
				       vm_tables };
	const struct dp_regs before = b->regs;
	u32 start = 0, offset;
	const char *why;

	if (dp_vm_verify(code, len, &limits, &start, 1, &offset, &why))
		return;
	b->vm.code = code;
	b->vm.pc = 0;
	dp_vm_run(&b->vm);
	if (!vm_bench_intact(b) || (!(vm_window.allow & DP_ALLOW_REG) &&
				    memcmp(&before, &b->regs, sizeof(before))))
		abort();
}

/* The first bytes say which program and what is done to it. */
static void try_mutation(struct vm_bench *b, const u8 *data, size_t size)
{
	static u8 code[VM_CODE_MOST(64)];
	u64 seed = 0;
	u32 len, i;

	memcpy(&seed, data, sizeof(seed));
	seed |= 1;
	len = vm_generate(b, code, 1 + data[8] % 64, &seed);
	for (i = 9; i + 2 < size; i += 3)
		code[(data[i] | (u32)data[i + 1] << 8) % len] = data[i + 2];
	try_code(b, code, len);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct vm_bench b;

	if (!size || size > LONGEST)
		return 0;
	vm_bench_init(&b);
	vm_window.at = (u8 *)b.text;
	vm_window.size = sizeof(b.text);
	vm_window.allow = size > 20 ? DP_ALLOW_ALL : data[size - 1] >> 4;
	b.vm.stack_mask = data[0] & 1 ? 31 : DP_VM_STACK - 1;
	b.vm.jmpmax = data[0] & 2 ? 16 : 255;
	b.vm.logmax = data[0] & 4 ? data[0] >> 3 : DP_VM_LOG;
	if (data[0] & 0x40) {
		b.vm.heapmax = data[size - 1];
		b.vm.tracemax = 4 * data[size - 1];
		b.vm.ex_mask = (u16)(data[size - 1] << 8 | DP_EX_MASK);
		b.vm.auto_trace = data[size - 1] & 1;
	}
	if (data[0] & 0x80 && size > 9)
		try_mutation(&b, data + 1, size - 1);
	else
		try_code(&b, data + 1, (u32)size - 1);
	return 0;
}
