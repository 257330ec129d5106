/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* expr_runs: specs of a function f, compiled and run on a machine that is watched. */
#ifndef EXPR_RUNS_H
#define EXPR_RUNS_H

#include <stdio.h>
#include "tracer/expr.h"
#include "vm_programs.h"

static struct vm_bench b;
/* What is known of f, or NULL */
static const struct dp_prototype *of_f;

static int compile(const char *text, bool count, struct dp_trace_program *p,
		   struct dp_diag *diag)
{
	struct dp_spec spec;
	int err;

	dp_diag_clear(diag);
	err = dp_spec_parse(text, &spec, diag);
	if (err)
		return err;
	spec.prototype = of_f;
	err = count ? dp_expr_count(&spec, p, diag) :
		      dp_expr_trace(&spec, p, diag);
	dp_spec_free(&spec);
	return err;
}

static void run(const struct dp_trace_program *p)
{
	struct dp_vm_limits limits = { VM_VARS, 0, DP_ALLOW_ALL, vm_tables };
	u32 start = 0, offset;
	const char *why;

	if (dp_vm_verify(p->code, p->len, &limits, &start, 1, &offset, &why))
		fail_msg("%s at %u", why, offset);
	b.vm.code = p->code;
	b.vm.pc = 0;
	b.vm.lp = 0;
	b.vm.stack_mask = DP_EXPR_STACK - 1;
	b.vm.jmpmax = p->jumps;
	b.vm.logmax = p->logmax ?: DP_VM_LOG;
	dp_vm_run(&b.vm);
	assert_true(vm_bench_intact(&b));
	assert_false(b.vm.truncated);
}

static __attribute__((unused)) bool holds(const char *cond)
{
	struct dp_trace_program p;
	struct dp_diag diag;
	char text[256];

	snprintf(text, sizeof(text), "f if %s", cond);
	if (compile(text, true, &p, &diag))
		fail_msg("%s: %s", text, diag.text);
	b.lv[0] = 0;
	run(&p);
	assert_int_equal(b.vm.end, b.lv[0] ? DP_VM_EXIT : DP_VM_ABORT);
	dp_expr_free(&p);
	return b.lv[0];
}

#endif
