// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_values: any text as a spec. What compiles is a program that the verifier accepts, that
 * jumps no more often than is said, and logs no more.
 */
#include <stdlib.h>
#include <string.h>
#include "tracer/expr.h"
#include "known_classes.h"
#include "known_record.h"
#include "vm_programs.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void run(const struct dp_trace_program *p)
{
	static struct record record = { .name = "name", .next = &record };
	static struct classes all = { .text = { 4, "name" } };
	static struct vm_bench b;
	struct dp_vm_limits limits = { VM_VARS, 0, DP_ALLOW_ALL, vm_tables };
	u32 start = 0, offset;
	const char *why;

	vm_bench_init(&b);
	if (dp_vm_verify(p->code, p->len, &limits, &start, 1, &offset, &why))
		abort();
	b.regs.di = (u64)&record;
	b.regs.dx = (u64)b.text;
	b.regs.si = (u64)&all;
	b.vm.code = p->code;
	b.vm.stack_mask = DP_EXPR_STACK - 1;
	b.vm.jmpmax = p->jumps;
	if (p->logmax)
		b.vm.logmax = p->logmax;
	dp_vm_run(&b.vm);
	if (!vm_bench_intact(&b) || b.vm.end == DP_VM_EXCEPTION)
		abort();
	if (b.vm.truncated && b.vm.logmax < DP_VM_LOG)
		abort();
}

static void compile(const struct dp_spec *spec, bool count)
{
	struct dp_trace_program p;
	struct dp_diag diag;

	dp_diag_clear(&diag);
	if (count ? dp_expr_count(spec, &p, &diag) :
		    dp_expr_trace(spec, &p, &diag)) {
		if (!diag.text[0] || diag.column < 0 ||
		    diag.column > (int)strlen(spec->text))
			abort();
		return;
	}
	run(&p);
	dp_expr_free(&p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *text = malloc(size + 1);
	struct dp_spec spec;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!dp_spec_parse(text, &spec, NULL)) {
		compile(&spec, true);
		compile(&spec, false);
		spec.prototype = &prototype;
		compile(&spec, true);
		compile(&spec, false);
		spec.prototype = &of_classes;
		compile(&spec, true);
		compile(&spec, false);
		dp_spec_free(&spec);
	}
	free(text);
	return 0;
}
