// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_native_plan: which detours run a program, and what is made of their counts. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/plan/jump.h"
#include "engine/site/grow.h"
#include "jump_world.h"
#include "vm_bytes.h"
#include "engine/vm/ops.h"
#include "port/fake/fake.h"
#include "tracer/expr.h"
#include <dprobes/diag.h>

#define HALF(v) (u8)(v), (u8)((u16)(v) >> 8)
#define RDI 0x64

/* if (rdi) count it; */
static const u8 condition[] = { OP(PUSH_R), HALF(RDI),	  OP(JNZ), WORD(1),
				OP(ABORT),  OP(INC_LV_I), HALF(0), OP(EXIT) };
/* … and say so */
static const u8 says[] = { OP(PUSH_R), HALF(RDI), OP(JNZ), WORD(1),
			   OP(ABORT),  OP(LOG_I), HALF(0), OP(EXIT) };
/* mov %edi, %eax and so on: no memory; mov (%rdi), %rax: its record has to wait */
static const char in_registers[] = "89f8 4889c3 90", reads[] = "488b07 4889c3";

struct asked {
	const u8 *code;
	u32 len, passcount, maxhits;
	const char *text;
	bool rseq, off;
	u32 leave;
	const struct dp_percpu *percpu;
};

static u32 add_program(struct world *w, const struct asked *a)
{
	const struct dp_binding binding = { .program = add_code(w, a->code,
								a->len, 64),
					    .passcount = a->passcount,
					    .maxhits = a->maxhits };
	u32 probe = w->probe[w->nr_probes - 1];

	dp_engine_bind(w->e, probe, &binding);
	return probe;
}

/* An engine with one such probe, armed. */
static u32 arm_one(struct world *w, const struct asked *a)
{
	u32 probe;

	begin(w, HIGH, DP_ARM_INTERIOR);
	hex(a->text, w->t.orig);
	if (a->rseq)
		dp_engine_set_rseq(w->e, 0x20, 0x53053053);
	dp_engine_set_percpu(w->e, a->percpu);
	dp_engine_set_native(w->e, !a->off, a->leave);
	assert_int_equal(add(w, 0, true), 0);
	probe = add_program(w, a);
	assert_int_equal(build(w), 0);
	w->t.stopped = true;
	assert_int_equal(commit(w), 0);
	return probe;
}

static const struct asked plain = { .code = condition,
				    .len = sizeof(condition),
				    .maxhits = DP_HITS_UNLIMITED,
				    .text = in_registers,
				    .rseq = true };

/* @before: the detour calls out ahead of the first instruction */
static void expect(const struct asked *a, bool runs)
{
	const struct dp_jump *j;
	struct world w;

	arm_one(&w, a);
	j = jump_of(&w, site_of(&w, 0));
	assert_true(j->nr);
	assert_int_equal(j->runs.program != 0, runs);
	assert_int_equal(j->leave != 0, runs);
	assert_int_equal(j->before & 1, !runs);
	assert_true(!runs || (j->leave < j->start && j->start < j->at[0]));
	end(&w);
}

static void chooses(void **state)
{
	struct asked a = plain;

	expect(&a, true);
	a.maxhits--;
	expect(&a, false);
	a = plain;
	a.passcount = 1;
	expect(&a, false);
	a = plain;
	a.rseq = false;
	expect(&a, false);
	a = plain;
	a.off = true;
	expect(&a, false);
	a = plain;
	a.leave = 1;
	expect(&a, false);
	a.leave = 3;
	expect(&a, true);
}

/* [row 322] [defect 3] The detour itself runs all that is asked: no hit is interpreted, or leaves its jump. */
static void runs_long_conditions(void **state)
{
	static const char *const texts[] = {
		"f if arg0 > 100 && arg1 == 42",
		"f if arg0:s32 >= -5 && (arg1 < 7 || arg2 == 1 || r12 != 0)",
		"f if (arg0:u8 == 1 || arg0:u8 == 2 || arg0:u8 == 4) && "
		"(rsi:s16 < -100 || edx > 100000) && rcx != 7 && r9 <= 10",
	};
	struct dp_trace_program p;
	struct asked a = plain;
	struct dp_spec spec;
	struct dp_diag d;
	u32 i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (dp_spec_parse(texts[i], &spec, &d) ||
		    dp_expr_count(&spec, &p, &d))
			fail_msg("%s: %s", texts[i], d.text);
		a.code = p.code;
		a.len = p.len;
		expect(&a, true);
		dp_expr_free(&p);
		dp_spec_free(&spec);
	}
}

/* What makes no record does not wait for the instruction, whatever that may do. */
static void waits_for_records(void **state)
{
	struct asked a = plain;
	struct world w;

	a.text = reads;
	expect(&a, true);
	arm_one(&w, &a);
	assert_int_equal(jump_of(&w, site_of(&w, 0))->after, 0);
	assert_int_equal(site_of(&w, 0)->post, 0);
	end(&w);
	a.code = says;
	a.len = sizeof(says);
	expect(&a, true);
	arm_one(&w, &a);
	assert_int_equal(jump_of(&w, site_of(&w, 0))->after, 1);
	assert_int_not_equal(site_of(&w, 0)->post, 0);
	end(&w);
	a.text = in_registers;
	expect(&a, true);
}

/* Two probes are the interpreter's. Another program is another jump, even at the same number. */
static void of_one_probe_alone(void **state)
{
	const struct dp_jump *j;
	struct world w;
	struct dp_site *s;
	struct dp_jump_program runs;
	u32 number;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	hex(in_registers, w.t.orig);
	dp_engine_set_rseq(w.e, 0x20, 0x53053053);
	assert_int_equal(add(&w, 0, true), 0);
	add_program(&w, &plain);
	assert_int_equal(add(&w, 0, true), 0);
	assert_int_equal(build(&w), 0);
	s = dp_engine_find(w.e, w.t.base);
	assert_null(dp_native_of(w.e, s, &runs));
	j = jump_of(&w, site_of(&w, 0));
	assert_int_equal(j->runs.program, 0);
	end(&w);

	arm_one(&w, &plain);
	s = dp_engine_find(w.e, w.t.base);
	assert_non_null(dp_native_of(w.e, s, &runs));
	number = site_of(&w, 0)->jump;
	assert_true(dp_grow_serves(w.e, s, number));
	w.e->programs[0].id++;
	assert_false(dp_grow_serves(w.e, s, number));
	w.e->programs[0].id--;
	w.e->native = false;
	assert_false(dp_grow_serves(w.e, s, number));
	end(&w);
}

static void count(struct world *w, u32 counter, u64 n)
{
	const struct dp_view *v = &w->e->view;
	u64 *shard = (void *)(v->counters + v->shard_stride);

	shard[counter] += n;
}

/* Hits are those of both counters; the variable is the word, and one of them. */
static void adds_up(void **state)
{
	struct dp_probe_entry *entry;
	struct world w;
	u32 probe = arm_one(&w, &plain);
	u32 met = w.e->view.met_counters;
	u64 *lv = (void *)((char *)w.e->arena + w.e->programs[0].lv_off);

	assert_true(met >= w.e->max_sites);
	count(&w, 0, 3);
	count(&w, met, 2);
	*lv = 10;
	assert_int_equal(dp_engine_hits(w.e, probe), 5);
	assert_int_equal(dp_engine_local(w.e, 0, 0), 12);
	/* While it is off, nothing counts for it, and what did stays. */
	dp_hits_end(w.e, probe);
	count(&w, met, 4);
	assert_int_equal(dp_engine_hits(w.e, probe), 5);
	assert_int_equal(dp_engine_local(w.e, 0, 0), 12);
	dp_hits_begin(w.e, probe);
	count(&w, met, 1);
	count(&w, 0, 1);
	assert_int_equal(dp_engine_hits(w.e, probe), 7);
	assert_int_equal(dp_engine_local(w.e, 0, 0), 13);
	/* Several probes of one program */
	w.e->programs[0].bound = 2;
	assert_int_equal(dp_engine_local(w.e, 0, 0), 13);
	/* Nothing of it is another program's, or another variable's. */
	w.e->probes[probe].binding.program = 1;
	assert_int_equal(dp_engine_local(w.e, 0, 0), 10);
	w.e->probes[probe].binding.program = 0;
	w.e->programs[0].natives[0].native->variable = 1;
	assert_int_equal(dp_engine_local(w.e, 0, 0), 10);
	entry = (void *)&w.e->view.probes[probe];
	assert_int_equal(entry->met_earlier, 2);
	end(&w);
}

/* Without memory for it the interpreter has the program. */
static void without_memory(void **state)
{
	unsigned int nth;
	struct world w;
	struct dp_jump_program runs;

	for (nth = 1; nth <= 2; nth++) {
		arm_one(&w, &plain);
		dp_native_free(&w.e->programs[0]);
		dp_fake_fail_alloc(nth);
		assert_null(dp_native_of(w.e, dp_engine_find(w.e, w.t.base),
					 &runs));
		assert_int_equal(runs.program, 0);
		assert_int_equal(dp_fake_fail_alloc(0), 0);
		end(&w);
		assert_int_equal(dp_fake_live(), 0);
	}
}

#define AT 0x7f0000000000ull
#define STUBS (AT + 0x10000)
#define NEAR (AT + 0x20000)

/* The site's detour, as if it were at AT. Return: its bytes, in the scratch memory */
static const u8 *encode(struct world *w, struct dp_jump *j)
{
	struct dp_site *s = dp_engine_find(w->e, w->t.base);

	memset(j, 0, sizeof(*j));
	assert_int_equal(dp_jump_plan(w->e, s, j, AT, 0, w->e->scratch->code,
				      STUBS, NULL),
			 0);
	return w->e->scratch->code;
}

/* How often these bytes are there */
static u32 times(const u8 *code, u32 len, const void *bytes, u32 n)
{
	u32 i, found = 0;

	for (i = 0; i + n <= len; i++)
		found += !memcmp(code + i, bytes, n);
	return found;
}

/* How often the detour calls @to */
static u32 calls(const u8 *code, u32 len, u64 to)
{
	u32 i, found = 0;
	s32 by;

	for (i = 0; i + 5 <= len; i++) {
		memcpy(&by, code + i + 1, sizeof(by));
		found += code[i] == 0xe8 && AT + i + 5 + (u64)(s64)by == to;
	}
	return found;
}

/* if (*(u16 *)rdi) count it; */
static const u8 loads[] = { OP(PUSH_R),	  HALF(RDI), OP(PUSH_MEM_U16),
			    OP(JNZ),	  WORD(1),   OP(ABORT),
			    OP(INC_LV_I), HALF(0),   OP(EXIT) };
static const struct dp_percpu percpu = { .busy = 0x1234,
					 .counters = 0x5678,
					 .readers = AT + 0x30000 };

/* Without restartable sequences both ends are counted by locked instructions, and memory is read by functions. */
static void counts_percpu(void **state)
{
	static const u8 busy[] = { 0x65, 0x80, 0x3c, 0x25, 0x34, 0x12,
				   0,	 0,    0,    0x0f, 0x85 },
			counters[] = { 0x65, 0x48, 0x8b, 0x0c, 0x25, 0x78, 0x56,
				       0,    0,	   0xf0, 0x48, 0xff, 0x81 };
	struct asked a = plain;
	struct dp_jump j;
	struct world w;
	const u8 *code;
	u32 i;

	a.code = loads;
	a.len = sizeof(loads);
	a.rseq = false;
	a.percpu = &percpu;
	arm_one(&w, &a);
	assert_int_not_equal(jump_of(&w, site_of(&w, 0))->runs.program, 0);
	code = encode(&w, &j);
	assert_int_not_equal(j.runs.program, 0);
	assert_int_equal(times(code, j.len, busy, sizeof(busy) - 2), 1);
	assert_int_equal(times(code, j.len, counters, sizeof(counters)), 2);
	for (i = 0; i < 28; i++)
		assert_int_equal(calls(code, j.len,
				       percpu.readers + i * DP_READER_BYTES),
				 i == 1);
	/* Where it leaves */
	assert_int_equal(calls(code, j.len, STUBS + DP_STUB_HIT), 1);
	end(&w);
	a.off = true;
	arm_one(&w, &a);
	assert_int_equal(jump_of(&w, site_of(&w, 0))->runs.program, 0);
	end(&w);
}

/* Entries that are near are called as they are. */
static void calls_what_is_near(void **state)
{
	struct asked a = plain;
	struct dp_jump j;
	struct world w;
	const u8 *code;

	a.rseq = false;
	arm_one(&w, &a);
	code = encode(&w, &j);
	assert_int_equal(calls(code, j.len, STUBS + DP_STUB_HIT), 1);
	w.e->map.near = true;
	w.e->map.entries.hit = NEAR;
	w.e->map.entries.handler = NEAR + 0x100;
	code = encode(&w, &j);
	assert_int_equal(calls(code, j.len, STUBS + DP_STUB_HIT), 0);
	assert_int_equal(calls(code, j.len, NEAR), 1);
	w.e->probes[0].kind = DP_KIND_KPROBE;
	code = encode(&w, &j);
	assert_int_equal(calls(code, j.len, NEAR), 0);
	assert_int_equal(calls(code, j.len, NEAR + 0x100), 1);
	w.e->probes[0].kind = DP_KIND_PLAIN;
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses),
		cmocka_unit_test(runs_long_conditions),
		cmocka_unit_test(waits_for_records),
		cmocka_unit_test(of_one_probe_alone),
		cmocka_unit_test(adds_up),
		cmocka_unit_test(without_memory),
		cmocka_unit_test(counts_percpu),
		cmocka_unit_test(calls_what_is_near),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
