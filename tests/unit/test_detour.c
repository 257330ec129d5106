// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * detour: generated code, run. What it does to registers, flags, stack, red zone
 * and memory is compared with what the code does that it stands for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <ucontext.h>
#include "engine/layout/block.h"
#include "engine/layout/instance.h"
#include "engine/insn/detour.h"
#include "engine/insn/callout.h"
#include "engine/layout/site.h"
#include "engine/site/view.h"
#include "hex.h"
#include "machine.h"
#include "unwound.h"

#define SIGNATURE 0x53053053
#define CPUS 65536
/* Offset of the first one's, the last one that a byte can say; those of inner ones follow */
#define COUNTER 120
#define COUNTERS_STRIDE 32 /* words of each CPU's counters */
#define RED_ZONE 128
#define CC 0xcc

/* One mapping, so that all is near. */
#define AREA 0x10000
enum {
	TEXT = 0, /* the code that is probed */
	PAD_NEAR = 0x50, /* ways out: see put_pad() */
	FUNCTION = 0x70, /* lea 1(%rax), %rax; ret */
	PAD_FAR = 0x80, /* and others, PAD_SIZE apart */
	STUB = 0x1000,
	HANDLER = 0x1800,
	DETOUR = 0x2000,
	DATA = 0x3000,
	EXIT = 0x3800, /* which pad it was */
};
#define PAD_SIZE 0x20
#define HANDLER_MAX 0x100
#define STACK_WORDS 32 /* each the address of another pad */

/* @aim: offset of a displacement of @size bytes, if any, which ends the
 * instruction but for @behind bytes and shall refer to @to */
struct code {
	const char *name, *text;
	u8 aim, size, behind;
	u16 to;
};

static const struct code codes[] = {
	{ "prologue", "55 4889e5 4154", 0, 0, 0, 0 },
	{ "five nops", "9090909090", 0, 0, 0, 0 },
	{ "one nop", "0f1f440000", 0, 0, 0, 0 },
	{ "sub", "4883e801 90", 0, 0, 0, 0 },
	{ "add, adc", "4801d8 4811d8", 0, 0, 0, 0 },
	{ "setc, sbb", "0f92c0 19d2", 0, 0, 0, 0 },
	{ "inc keeps carry", "48ffc0 10e4", 0, 0, 0, 0 },
	{ "to the red zone", "4889442480", 0, 0, 0, 0 },
	{ "from the red zone", "488b4424f8", 0, 0, 0, 0 },
	{ "pushf, popf", "9c 9d 909090", 0, 0, 0, 0 },
	{ "pushf", "90 9c 909090", 0, 0, 0, 0 },
	{ "lahf, sahf", "9f f5 9e 9090", 0, 0, 0, 0 },
	{ "std", "fd 90 909090", 0, 0, 0, 0 },
	{ "push, pop rsp", "54 5c 909090", 0, 0, 0, 0 },
	{ "mov imm32", "48c7c500000000 90", 0, 0, 0, 0 },
	{ "sub rsp", "4881ec00010000", 0, 0, 0, 0 },
	{ "mov imm64", "48b88877665544332211", 0, 0, 0, 0 },
	{ "xchg", "4893 4891 90", 0, 0, 0, 0 },
	{ "lea rip", "488d0500000000", 3, 4, 0, DATA + 8 },
	{ "load rip", "488b0500000000", 3, 4, 0, DATA + 8 },
	{ "add rip, imm8", "4883050000000005", 3, 4, 1, DATA + 16 },
	{ "mov rip, imm32", "c7050000000044332211", 2, 4, 4, DATA + 16 },
	{ "inc rip, behind nops", "90909090 48ff0500000000", 7, 4, 0, DATA },
	{ "sse rip", "90 f30f6f0500000000", 5, 4, 0, DATA },
	{ "jmp short", "909090 eb00", 4, 1, 0, PAD_NEAR },
	{ "jmp near", "e900000000", 1, 4, 0, PAD_FAR },
	{ "jmp *rbx", "909090 ffe3", 0, 0, 0, 0 },
	{ "jmp *mem", "ff642408 90", 0, 0, 0, 0 },
	{ "jmp *rip", "ff2500000000", 2, 4, 0, DATA + 24 },
	{ "ret", "90909090 c3", 0, 0, 0, 0 },
	{ "ret imm", "9090 c21000", 0, 0, 0, 0 },
	{ "call", "e800000000", 1, 4, 0, FUNCTION },
	{ "add, call", "4801d8 e800000000", 4, 4, 0, FUNCTION },
	{ "call away", "90 e800000000", 2, 4, 0, PAD_FAR },
	{ "call *rbx", "ffd3 4889c3", 0, 0, 0, 0 },
	{ "last call *rbx", "909090 ffd3", 0, 0, 0, 0 },
	{ "call *mem", "9090 ff542410", 0, 0, 0, 0 },
	{ "call *rip", "ff1500000000", 2, 4, 0, DATA + 32 },
	{ "loop", "e200 4889c3", 1, 1, 0, PAD_NEAR },
	{ "loope", "e100 4889c3", 1, 1, 0, PAD_NEAR },
	{ "loopne", "909090 e000", 4, 1, 0, PAD_NEAR },
	{ "jrcxz", "e300 4889c3", 1, 1, 0, PAD_NEAR },
	{ "jecxz", "67e300 4889c3", 2, 1, 0, PAD_NEAR },
	{ "longest", "90909090 6666666666662e0f1f840000000000", 0, 0, 0, 0 },
};

/* What a detour is to do besides. */
enum kind {
	COUNTS,
	CANNOT_COUNT,
	BEFORE,
	ALL,
	COUNTS_ALL, /* the first one, and tells of all */
	COUNTS_EACH,
	CANNOT_COUNT_EACH,
	COUNTS_INNER, /* all but the first one, and tells of all */
	KINDS
};

/* What a run came to. */
struct outcome {
	struct machine m;
	u64 exit, counted[COUNTERS_STRIDE], nr_told;
	u32 told[32];
	u8 stack[2 * RED_ZONE + 256]; /* from twice a red zone below */
	u8 data[64];
};

static u8 *area;
static u8 stack[32768] __attribute__((aligned(64)));
#define STACK_POINTER (stack + 24576)
/* The CPUs' addresses of counters, and these. */
static u64 *table, *counters;

static u64 at(unsigned int offset)
{
	return (u64)(uintptr_t)(area + offset);
}

/* movl $number, exit(%rip); jmp machine_leave */
static void put_pad(unsigned int offset, u32 number)
{
	u32 rel = EXIT - (offset + 10);

	area[offset] = 0xc7;
	area[offset + 1] = 0x05;
	memcpy(area + offset + 2, &rel, 4);
	memcpy(area + offset + 6, &number, 4);
	dp_detour_entry_stub(area + offset + 10, (u64)(uintptr_t)machine_leave);
}

static size_t put_code(const struct code *c)
{
	static const u8 function[] = { 0x48, 0x8d, 0x40, 0x01, 0xc3 };
	size_t n = hex(c->text, area + TEXT);
	u32 rel = c->to - (c->aim + c->size + c->behind), i;

	memcpy(area + c->aim, &rel, c->size);
	put_pad(TEXT + (unsigned int)n, 1);
	put_pad(PAD_NEAR, 2);
	for (i = 0; i < STACK_WORDS; i++)
		put_pad(PAD_FAR + i * PAD_SIZE, 3 + i);
	memcpy(area + FUNCTION, function, sizeof(function));
	dp_detour_entry_stub(area + STUB, (u64)(uintptr_t)machine_told);
	return n;
}

static void put_data(void)
{
	u64 word[8] = { 0x1111,
			0x2222,
			0x7fffffffffffffff,
			at(PAD_NEAR),
			at(PAD_FAR),
			5,
			6,
			7 };

	memcpy(area + DATA, word, sizeof(word));
	memset(area + EXIT, 0, 8);
}

/* What each counter has come to */
static void add_up(u64 *sum)
{
	size_t cpu, i;

	memset(sum, 0, COUNTERS_STRIDE * sizeof(*sum));
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		for (i = 0; i < COUNTERS_STRIDE; i++)
			sum[i] += counters[cpu * COUNTERS_STRIDE + i];
}

static void count_from_zero(bool usable)
{
	size_t cpu;

	memset(counters, 0, CPU_SETSIZE * COUNTERS_STRIDE * sizeof(*counters));
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		table[cpu] = usable ? (u64)(uintptr_t)(counters +
						       cpu * COUNTERS_STRIDE) :
				      0;
}

static u64 rseq_cs(void)
{
	u64 cs;

	__asm__ volatile("movq %%fs:(%1), %0"
			 : "=r"(cs)
			 : "r"((s64)__rseq_offset + 8));
	return cs;
}

static void run(const struct machine *from, struct outcome *o)
{
	size_t i;

	memset(o, 0, sizeof(*o));
	memset(stack, 0x5a, sizeof(stack));
	for (i = 0; i < STACK_WORDS; i++)
		((u64 *)(void *)STACK_POINTER)[i] = at(PAD_FAR) + i * PAD_SIZE;
	put_data();
	nr_told = 0;
	memset(told, 0, sizeof(told));
	machine_in = *from;
	machine_go = at(TEXT);
	machine_run();
	o->m = machine_out;
	memcpy(&o->exit, area + EXIT, sizeof(o->exit));
	o->nr_told = nr_told;
	memcpy(o->told, told, sizeof(told));
	memcpy(o->stack, STACK_POINTER - 2 * RED_ZONE, sizeof(o->stack));
	memcpy(o->data, area + DATA, sizeof(o->data));
	add_up(o->counted);
}

static const struct dp_rseq *own_rseq(void)
{
	static struct dp_rseq rseq = { .signature = SIGNATURE };

	rseq.offset = (s32)__rseq_offset;
	return &rseq;
}

/* Numbers that differ, and do not fit in a byte. */
static u32 number(int insn, bool after)
{
	return (u32)(0x12300 + insn) | (after ? DP_CALLOUT_AFTER : 0);
}

static bool counts_first(enum kind kind)
{
	return kind != BEFORE && kind != ALL && kind != COUNTS_INNER;
}

static bool counts_inner(enum kind kind)
{
	return kind == COUNTS_EACH || kind == CANNOT_COUNT_EACH ||
	       kind == COUNTS_INNER;
}

static bool can_count(enum kind kind)
{
	return kind != CANNOT_COUNT && kind != CANNOT_COUNT_EACH;
}

static bool tells_after(enum kind kind)
{
	return kind == ALL || kind == COUNTS_ALL || kind == COUNTS_INNER;
}

static void spell(struct dp_detour_spec *s, const struct dp_region *r,
		  const u8 *code, enum kind kind)
{
	int i;

	*s = (struct dp_detour_spec){ .from = at(TEXT),
				      .at = at(DETOUR),
				      .pad = (u32)kind * 7 % DP_DETOUR_ALIGN,
				      .entry = at(STUB),
				      .code = code,
				      .region = r };
	s->table = (u64)(uintptr_t)table;
	if (counts_first(kind)) {
		s->rseq = own_rseq();
		s->counter = COUNTER;
	}
	if (counts_inner(kind))
		s->inner_rseq = own_rseq();
	for (i = 0; i < r->nr; i++) {
		if (!i || tells_after(kind) || counts_inner(kind))
			s->before[i] = 1 + number(i, false);
		if (i && counts_inner(kind))
			s->inner[i] = 1 + COUNTER + (u32)i * 8;
		if (tells_after(kind) &&
		    dp_insn_falls_through(r->facts[i].class))
			s->after[i] = 1 + number(i, true);
	}
}

static void put_detour(const struct dp_detour_spec *s, struct dp_detour *d)
{
	assert_int_equal(dp_detour_make(s, d), 0);
	memcpy(area + DETOUR, d->code, d->len);
	assert_int_equal(dp_emit_jmp(area + TEXT, s->from, s->at + d->start),
			 5);
}

/* A run of the code itself goes before it: does it leave at @insn? */
static bool leaves(const struct dp_region *r, int insn, const struct outcome *o)
{
	return r->facts[insn].class != DP_INSN_PLAIN && o->exit != 1;
}

/* Does the detour count instruction @i, rather than tell of it? */
static bool counts_alone(const struct dp_detour_spec *s, enum kind kind, int i)
{
	return can_count(kind) && (i ? s->inner[i] != 0 : s->rseq != NULL);
}

/* The later instruction to which the branch @i goes within the region, or 0 */
static int inner_target(const struct dp_region *r, int i)
{
	int k;

	for (k = i + 1; k < r->nr; k++)
		if ((r->facts[i].class == DP_INSN_JCC ||
		     r->facts[i].class == DP_INSN_JMP) &&
		    r->at[i] + r->facts[i].len + r->facts[i].target == r->at[k])
			return k;
	return 0;
}

/* Which instruction comes behind @i: what such branches go over changes rcx. -1: none */
static int next_of(const struct dp_region *r, int i, const struct outcome *o,
		   bool skips)
{
	int k = inner_target(r, i);

	if (k)
		return skips ? k : i + 1;
	return leaves(r, i, o) ? -1 : i + 1;
}

static void expect_callout(const struct dp_detour_spec *s, enum kind kind,
			   const struct outcome *plain, const struct outcome *o,
			   bool skips)
{
	u64 n = 0, counted[COUNTERS_STRIDE] = { 0 };
	int i, next;

	for (i = 0; i >= 0 && i < s->region->nr; i = next) {
		next = next_of(s->region, i, plain, skips);
		if (counts_alone(s, kind, i))
			counted[COUNTER / 8 + i] = 1;
		else if (s->before[i])
			assert_int_equal(o->told[n++],
					 (s->before[i] - 1) |
						 (!i && s->rseq ?
							  DP_CALLOUT_UNCOUNTED :
							  0));
		if (s->after[i] && next == i + 1)
			assert_int_equal(o->told[n++], s->after[i] - 1);
	}
	assert_int_equal(o->nr_told, n);
	assert_memory_equal(o->counted, counted, sizeof(counted));
}

static bool calls(const struct dp_region *r)
{
	int i;

	for (i = 0; i < r->nr; i++)
		if (r->facts[i].class == DP_INSN_CALL ||
		    r->facts[i].class == DP_INSN_CALL_IND)
			return true;
	return false;
}

/* The stack from the red zone up; what is below a call's frame is nobody's. */
static void expect_same(const struct dp_region *r, const struct outcome *plain,
			const struct outcome *o)
{
	size_t from = RED_ZONE;

	if (calls(r))
		from = 2 * RED_ZONE -
		       ((u64)(uintptr_t)STACK_POINTER - plain->m.r[RSP]);
	assert_int_equal(o->exit, plain->exit);
	assert_memory_equal(&o->m, &plain->m, sizeof(o->m));
	assert_memory_equal(o->stack + from, plain->stack + from,
			    sizeof(o->stack) - from);
	assert_memory_equal(o->data, plain->data, sizeof(o->data));
}

/* The @n bytes of the text */
static void take(size_t n, u8 *code, struct dp_region *region)
{
	const char *why;

	memcpy(code, area + TEXT, n);
	assert_int_equal(dp_region_decode_all(code, n, region, &why), 0);
}

static void compare(const struct machine *from, size_t n, enum kind kind)
{
	struct dp_detour_spec spec;
	struct outcome plain, probed;
	struct dp_region region;
	u8 code[DP_REGION_MAX];
	struct dp_detour d;

	take(n, code, &region);
	run(from, &plain);
	assert_in_range(plain.exit, 1, 3 + STACK_WORDS);
	spell(&spec, &region, code, kind);
	put_detour(&spec, &d);
	count_from_zero(can_count(kind));
	run(from, &probed);
	memcpy(area + TEXT, code, n);
	expect_same(&region, &plain, &probed);
	expect_callout(&spec, kind, &plain, &probed,
		       plain.m.r[RCX] == from->r[RCX]);
	if (spec.rseq || spec.inner_rseq)
		assert_int_equal(rseq_cs(), 0);
}

static u64 flags_of(unsigned int combination)
{
	static const u64 flag[] = { 0x1, 0x4, 0x10, 0x40, 0x80, 0x800 };
	u64 flags = 0x202;
	int i;

	for (i = 0; i < 6; i++)
		if (combination >> i & 1)
			flags |= flag[i];
	return flags;
}

static void start_of(struct machine *m, u64 rcx, u64 flags)
{
	int i;

	for (i = 0; i < 16; i++)
		m->r[i] = 0x1111111111111111ull * (u64)(i + 1) - 3;
	m->r[RCX] = rcx;
	m->r[RBX] = at(PAD_NEAR);
	m->r[RSP] = (u64)(uintptr_t)STACK_POINTER;
	m->flags = flags;
}

/* With each combination of flags, and with what loop and jrcxz look at. */
static void compare_all(size_t n, enum kind kind)
{
	unsigned int flags;
	struct machine m;
	u64 rcx;

	for (rcx = 0; rcx < 3; rcx++)
		for (flags = 0; flags < 64; flags++) {
			start_of(&m, rcx, flags_of(flags));
			compare(&m, n, kind);
		}
}

static void changes_nothing(void **state)
{
	enum kind kind;
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		for (kind = 0; kind < KINDS; kind++) {
			if (kind != BEFORE && kind != ALL && !__rseq_size)
				continue;
			print_message("# %s, %d\n", codes[i].name, kind);
			compare_all(put_code(&codes[i]), kind);
		}
}

/* jcc over lea 5(%rdx), %rcx, to ret; the same with jmp, and with more in between */
static void stays_inside(void **state)
{
	struct code c = { .name = "inner jcc" };
	char text[64];
	enum kind kind;
	int cc;

	for (cc = 0; cc < 16; cc++)
		for (kind = 0; kind < KINDS; kind++) {
			if (kind != BEFORE && kind != ALL && !__rseq_size)
				continue;
			snprintf(text, sizeof(text), "7%x04 488d4a05 c3", cc);
			c.text = text;
			compare_all(put_code(&c), kind);
			snprintf(text, sizeof(text),
				 "0f8%x05000000 488d4a05 90 4889c6 c3", cc);
			compare_all(put_code(&c), kind);
		}
	c.text = "90 eb05 488d4a05 90 4889c6";
	compare_all(put_code(&c), BEFORE);
}

/* A ret elsewhere; nobody else uses the bytes there. */
#define ELSEWHERE 0x6c

/* The detour tells of it first, and then has it itself: the ret in the text is a breakpoint. */
static void duplicate(const struct machine *from, size_t n, u8 branches)
{
	static const u8 ret = 0xc3;
	struct dp_detour_spec spec;
	struct outcome plain, probed;
	struct dp_region region;
	u8 code[DP_REGION_MAX];
	struct dp_detour d;

	take(n, code, &region);
	area[ELSEWHERE] = ret;
	run(from, &plain);
	spell(&spec, &region, code, BEFORE);
	spec.duplicate = (struct dp_duplicate){ .before = 1 + number(9, false),
						.code = &ret,
						.len = 1,
						.branches = branches };
	put_detour(&spec, &d);
	area[ELSEWHERE] = CC;
	count_from_zero(true);
	run(from, &probed);
	memcpy(area + TEXT, code, n);
	expect_same(&region, &plain, &probed);
	assert_in_range(d.duplicate, d.at[region.nr], d.duplicate_insn);
	assert_int_equal(area[DETOUR + d.duplicate_insn], ret);
	assert_int_equal(d.len, d.duplicate_insn + 1);
	assert_int_equal(probed.nr_told, plain.exit == 1 ? 1 : 2);
	assert_int_equal(probed.told[0], number(0, false));
	if (plain.exit != 1)
		assert_int_equal(probed.told[1], number(9, false));
}

/* One branch, and two, to a ret elsewhere */
static void has_a_duplicate(void **state)
{
	struct code c = { .name = "duplicate", .to = ELSEWHERE };
	unsigned int flags;
	struct machine m;
	char text[32];
	int cc;

	for (cc = 0; cc < 16; cc++)
		for (flags = 0; flags < 64; flags++) {
			start_of(&m, 1, flags_of(flags));
			c.aim = 1;
			c.size = 1;
			snprintf(text, sizeof(text), "7%x00 4889c3", cc);
			c.text = text;
			duplicate(&m, put_code(&c), 1);
			c.aim = 4;
			c.size = 4;
			snprintf(text, sizeof(text), "7%x%02x 0f8%x00000000",
				 cc, ELSEWHERE - 2, (cc + 3) % 16);
			duplicate(&m, put_code(&c), 3);
		}
}

static void takes_every_condition(void **state)
{
	char text[2][32];
	struct code c = { .name = "jcc", .to = PAD_NEAR };
	enum kind kind;
	int cc;

	for (cc = 0; cc < 16; cc++)
		for (kind = BEFORE; kind <= ALL; kind++) {
			snprintf(text[0], 32, "7%x00 4889c3", cc);
			snprintf(text[1], 32, "0f8%x00000000", cc);
			c.text = text[0];
			c.aim = c.size = 1;
			compare_all(put_code(&c), kind);
			c.text = text[1];
			c.aim = 2;
			c.size = 4;
			compare_all(put_code(&c), kind);
		}
}

/* An interrupted count begins anew. */

/* struct rseq_cs */
struct sequence {
	u64 zero, first, len, abort;
};

/**
 * struct walk - the way of a thread through a detour
 * @at: offset of the instruction where it is
 * @seq: the sequence that it has entered last
 */
struct walk {
	const struct dp_detour *d;
	unsigned int at;
	bool can_count;
	struct sequence seq;
};

static bool is_lea_rip(const u8 *code)
{
	return code[0] == 0x48 && code[1] == 0x8d && code[2] == 0x05;
}

/* Return: false: it was the last one. */
static bool walk_on(struct walk *w)
{
	const u8 *code = w->d->code + w->at;
	struct insn_facts f;
	unsigned int next;

	assert_int_equal(dp_insn_facts(code, w->d->len - w->at, &f), 0);
	next = w->at + f.len;
	if (is_lea_rip(code))
		memcpy(&w->seq, w->d->code + next + f.target, sizeof(w->seq));
	if (f.class == DP_INSN_JMP ||
	    (f.class == DP_INSN_LOOP && !w->can_count))
		next += (unsigned int)f.target;
	w->at = next;
	return next < w->d->len;
}

static u8 *trap_at, trap_byte;
static int traps_seen, sent_back;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	traps_seen++;
	*trap_at = trap_byte;
	if (*pc == (greg_t)(uintptr_t)trap_at + 1)
		--*pc;
	else
		sent_back++;
}

static void trap_on(bool on)
{
	static u8 alternate[65536];
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction sa = { .sa_sigaction = on_trap,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (!on)
		sa = (struct sigaction){ .sa_handler = SIG_DFL };
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
}

/* A thread in a sequence begins it anew: it may be on another CPU. */
static void interrupt(const struct dp_detour_spec *s, const struct walk *w,
		      enum kind kind, const struct machine *m,
		      const struct outcome *plain)
{
	struct outcome o;

	trap_at = area + DETOUR + w->at;
	trap_byte = *trap_at;
	traps_seen = sent_back = 0;
	*trap_at = CC;
	count_from_zero(can_count(kind));
	run(m, &o);
	*trap_at = trap_byte;
	assert_int_equal(traps_seen, 1);
	assert_int_equal(sent_back, s->at + w->at - w->seq.first < w->seq.len);
	expect_same(s->region, plain, &o);
	expect_callout(s, kind, plain, &o, false);
	assert_int_equal(rseq_cs(), 0);
}

/* At each instruction that the thread comes to. */
static void interrupt_everywhere(const char *text, enum kind kind)
{
	const struct code c = { .text = text };
	struct walk w = { .can_count = can_count(kind) };
	size_t n = put_code(&c);
	struct dp_detour_spec spec;
	struct dp_region region;
	u8 code[DP_REGION_MAX];
	struct outcome plain;
	struct dp_detour d;
	struct machine m;
	const char *why;
	int steps = 0;

	memcpy(code, area + TEXT, n);
	assert_int_equal(dp_region_decode(code, n, n, &region, &why), 0);
	start_of(&m, 1, flags_of(63));
	run(&m, &plain);
	spell(&spec, &region, code, kind);
	put_detour(&spec, &d);
	w.d = &d;
	w.at = d.start;
	do {
		interrupt(&spec, &w, kind, &m, &plain);
		steps++;
	} while (walk_on(&w));
	assert_true(steps > 20);
}

static void counts_once_when_interrupted(void **state)
{
	static const char *const texts[] = { "4801d8 4811d8", "9f f5 9e 9090" };
	enum kind kind;
	int i;

	if (!__rseq_size)
		skip();
	trap_on(true);
	for (i = 0; i < 2; i++)
		for (kind = COUNTS_ALL; kind < KINDS; kind++)
			interrupt_everywhere(texts[i], kind);
	trap_on(false);
}

/* Many threads. */

#define TIMES 5000000

struct worker {
	pthread_t thread;
	int cpu;
	bool done;
};

static void pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(thread, sizeof(set), &set);
}

static void *work(void *arg)
{
	void (*loop)(u64) = (void (*)(u64))(uintptr_t)at(TEXT);
	struct worker *w = arg;

	pin(pthread_self(), w->cpu);
	loop(TIMES);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void on_usr1(int sig)
{
}

static bool busy(const struct worker *w)
{
	return !__atomic_load_n(&w[0].done, __ATOMIC_ACQUIRE) ||
	       !__atomic_load_n(&w[1].done, __ATOMIC_ACQUIRE);
}

/* While they count they are signalled, and moved where asked for. */
static void count_in_two(const int *cpu, bool move)
{
	struct worker w[2] = { { .cpu = cpu[0] }, { .cpu = cpu[1] } };
	u64 counted[COUNTERS_STRIDE];
	unsigned int n, i;

	count_from_zero(true);
	for (i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	for (n = 0; busy(w); n++) {
		pthread_kill(w[n % 2].thread, SIGUSR1);
		if (move)
			pin(w[n % 2].thread, cpu[n / 2 % 2]);
		sched_yield();
	}
	for (i = 0; i < 2; i++)
		pthread_join(w[i].thread, NULL);
	add_up(counted);
	assert_int_equal(counted[COUNTER / 8], 2 * TIMES);
	assert_int_equal(counted[COUNTER / 8 + 1], 2 * TIMES);
	assert_int_equal(nr_told, 0);
}

/* Two of the CPUs that there are for us. Return: how many there are. */
static int two_cpus(int *cpu)
{
	cpu_set_t set;
	int i, n = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	return n;
}

static void counts_exactly(void **state)
{
	/* nop; nopl; dec %rdi; jnz back; ret */
	static const struct code loop = {
		.name = "loop", .text = "90 0f1f4000 48ffcf 75f6 c3"
	};
	struct dp_detour_spec spec;
	struct dp_region region;
	u8 code[DP_REGION_MAX];
	struct dp_detour d;
	const char *why;
	int cpu[2], n;

	n = two_cpus(cpu);
	if (!__rseq_size)
		skip();
	put_code(&loop);
	memcpy(code, area + TEXT, sizeof(code));
	assert_int_equal(dp_region_decode(code, sizeof(code), 5, &region, &why),
			 0);
	spell(&spec, &region, code, COUNTS_EACH);
	put_detour(&spec, &d);
	nr_told = 0;
	signal(SIGUSR1, on_usr1);
	count_in_two((const int[]){ cpu[0], cpu[0] }, false);
	if (n > 1) {
		count_in_two(cpu, false);
		count_in_two(cpu, true);
	}
	signal(SIGUSR1, SIG_DFL);
}

/* Layouts of all regions that these make. */

static const char *const makings[] = {
	"90", /* the shortest */
	"55",
	"ffd0",
	"e204",
	"7404",
	"eb04",
	"c3",
	"67e304",
	"8b4508",
	"ff542410",
	"e800000000",
	"488d0500000000",
	"66c7050000000011 22", /* a word to a rip-relative address */
	"65656565656541 ff94c000000000", /* a call of 14 bytes */
	"6565656565656541 ff94c000000000", /* and of 15 */
	"6666666666662e0f1f840000000000",
};
#define MAKINGS (sizeof(makings) / sizeof(makings[0]))

static void expect_signature(const struct dp_detour *d, u64 abort)
{
	u32 signature;

	memcpy(&signature, d->code + abort - 4, 4);
	assert_int_equal(signature, SIGNATURE);
}

static void expect_descriptor(const struct dp_detour_spec *s,
			      const struct dp_detour *d)
{
	struct sequence seq;

	memcpy(&seq, d->code, sizeof(seq));
	assert_int_equal(seq.zero, 0);
	assert_true(seq.abort - s->at > sizeof(seq) &&
		    seq.abort - s->at < d->start);
	assert_true(seq.first - s->at > d->start);
	assert_true(seq.first + seq.len - s->at < d->at[0]);
	expect_signature(d, seq.abort - s->at);
	/* What is told of the first is told on the way there. */
	assert_int_equal(d->at[0], d->insn[0]);
}

/* From the number of the CPU up to the store. */
static void expect_sequence(const u8 *code, u64 len)
{
	static const u8 begins[] = { 0x64, 0x0f, 0xb7, 0x04, 0x25 };
	static const u8 near[] = { 0x48, 0x89, 0x41 },
			far[] = { 0x48, 0x89, 0x81 };
	static const u8 behind[] = { 0x64, 0x48, 0xc7, 0x04, 0x25 };

	assert_memory_equal(code, begins, sizeof(begins));
	assert_true(!memcmp(code + len - 4, near, sizeof(near)) ||
		    !memcmp(code + len - 7, far, sizeof(far)));
	assert_memory_equal(code + len, behind, sizeof(behind));
}

/* What counts instruction @i, its descriptor, and that an interruption leads back to its beginning. */
static void expect_inner(const struct dp_detour_spec *s,
			 const struct dp_detour *d, int i)
{
	unsigned int begin = d->at[i], at;
	struct insn_facts f;
	struct sequence seq;

	while (!is_lea_rip(d->code + begin))
		begin++;
	assert_true(begin < d->insn[i]);
	dp_insn_facts(d->code + begin, d->len - begin, &f);
	at = begin + f.len + (unsigned int)f.target;
	assert_int_equal((s->at + at) % sizeof(seq), 0);
	assert_in_range(at, begin, d->insn[i] - sizeof(seq));
	memcpy(&seq, d->code + at, sizeof(seq));
	assert_int_equal(seq.zero, 0);
	assert_in_range(seq.first - s->at, begin, at);
	assert_true(seq.first - s->at + seq.len < at);
	expect_sequence(d->code + (seq.first - s->at), seq.len);
	seq.abort -= s->at;
	assert_in_range(seq.abort, at + sizeof(seq), d->insn[i]);
	expect_signature(d, seq.abort);
	dp_insn_facts(d->code + seq.abort, d->len - seq.abort, &f);
	assert_int_equal(f.class, DP_INSN_JMP);
	assert_int_equal((u32)seq.abort + f.len + (u32)f.target, begin);
}

/* Whether it is counted or told, a thread goes on to the instruction. */
static void expect_ways(const struct dp_detour *d, int i)
{
	struct walk w = { .d = d };
	int way, n;

	for (way = 0; way < 2; way++) {
		w.can_count = way;
		w.at = d->at[i];
		for (n = 0; w.at != d->insn[i] && n < 40; n++) {
			assert_in_range(w.at, d->at[i], d->insn[i] - 1u);
			walk_on(&w);
		}
		assert_int_equal(w.at, d->insn[i]);
	}
}

static void expect_room(const struct dp_detour_spec *s,
			const struct dp_detour *d)
{
	const struct dp_region *r = s->region;
	unsigned int n;
	int i;

	assert_true(d->at[0] <= DP_DETOUR_HEAD + s->pad);
	for (i = 0; i < r->nr; i++) {
		n = s->inner[i] ? d->insn[i] - d->at[i] : 0;
		assert_true(n <= DP_DETOUR_COUNT);
		assert_true(d->at[i + 1] - d->at[i] - n <= DP_DETOUR_INSN);
	}
	assert_true(d->len <= DP_DETOUR_MAX);
}

static void expect_layout(const struct dp_detour_spec *s,
			  const struct dp_detour *d)
{
	const struct dp_region *r = s->region;
	struct insn_facts f;
	int i;

	expect_room(s, d);
	assert_int_equal(s->at % DP_DETOUR_ALIGN, 0);
	if (s->rseq)
		expect_descriptor(s, d);
	else
		assert_int_equal(d->start, s->pad);
	assert_true(d->start <= d->at[0]);
	for (i = 0; i < r->nr; i++) {
		assert_true(d->at[i] <= d->insn[i]);
		assert_true(d->insn[i] < d->at[i + 1]);
		assert_int_equal(dp_insn_facts(d->code + d->insn[i],
					       d->len - d->insn[i], &f),
				 0);
		if (s->inner[i]) {
			expect_inner(s, d, i);
			expect_ways(d, i);
		}
		/* One instruction, and what is told behind it. */
		if (d->atomic >> i & 1 && !s->after[i])
			assert_int_equal(d->insn[i] + f.len, d->at[i + 1]);
	}
	if (!dp_insn_falls_through(r->facts[i - 1].class)) {
		assert_int_equal(d->at[i], d->len);
		return;
	}
	assert_int_equal(d->at[i] + 5, d->len);
	assert_int_equal(d->code[d->at[i]], 0xe9);
}

struct extremes {
	unsigned int regions, longest;
};

/* With other bytes unused before the entry, it is the same otherwise. */
static void expect_moved(struct dp_detour_spec s, const struct dp_detour *d)
{
	struct dp_detour moved;
	int pad = (int)s.pad, by;

	s.pad = (u32)(d->len + pad * 5) % DP_DETOUR_ALIGN;
	by = (int)s.pad - pad;
	assert_int_equal(dp_detour_make(&s, &moved), 0);
	assert_int_equal(moved.start, d->start + by);
	assert_int_equal(moved.at[0], d->at[0] + by);
}

static void lay_out(const u8 *code, size_t n, struct extremes *x)
{
	struct dp_detour_spec spec;
	struct dp_region region;
	struct dp_detour d;
	const char *why;
	enum kind kind;
	int i;

	assert_int_equal(dp_region_decode(code, n, n, &region, &why), 0);
	for (kind = 0; kind < KINDS; kind++) {
		spell(&spec, &region, code, kind);
		/* The worst, whether control asks for it or not. */
		for (i = 0; kind >= COUNTS_ALL && i < region.nr; i++)
			spec.after[i] = 1 + number(i, true);
		assert_int_equal(dp_detour_make(&spec, &d), 0);
		expect_layout(&spec, &d);
		expect_moved(spec, &d);
		if (d.len > x->longest)
			x->longest = d.len;
	}
	x->regions++;
}

static void extend(u8 *code, size_t n, struct extremes *x)
{
	size_t i;

	if (n >= DP_JUMP_SIZE) {
		lay_out(code, n, x);
		return;
	}
	for (i = 0; i < MAKINGS; i++)
		extend(code, n + hex(makings[i], code + n), x);
}

static void keeps_its_layout(void **state)
{
	struct extremes x = { 0, 0 };
	u8 code[2 * DP_REGION_MAX];

	extend(code, 0, &x);
	print_message("# %u regions, at most %u bytes\n", x.regions, x.longest);
	assert_true(x.regions > 1000);
	assert_true(x.longest > 1000);
}

/* Something of it is too far away. */
static void knows_its_reach(void **state)
{
	static const u8 nops[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	struct dp_detour_spec s;
	struct dp_region region;
	struct dp_detour d;
	const char *why;
	enum kind kind;

	assert_int_equal(dp_region_decode(nops, 5, 5, &region, &why), 0);
	for (kind = 0; kind < KINDS; kind++) {
		spell(&s, &region, nops, kind);
		assert_int_equal(dp_detour_make(&s, &d), 0);
		s.entry = s.at + (1ull << 31) + DP_DETOUR_MAX;
		assert_int_equal(dp_detour_make(&s, &d), -ENOMEM);
		spell(&s, &region, nops, kind);
		s.from = s.at - (1ull << 31) - DP_DETOUR_MAX;
		assert_int_equal(dp_detour_make(&s, &d), -ENOMEM);
	}
	region.facts[2].class = DP_INSN_REFUSED;
	spell(&s, &region, nops, BEFORE);
	assert_int_equal(dp_detour_make(&s, &d), -EINVAL);
}

/* Step by step, the detour tells where the program is. */

/* What a detour in one's own process does behind the count */
enum own_kind {
	NOT_OWN,
	ENABLED,
	IN_HANDLER,
	IDLE,
	TRACKED,
	FOLLOWED,
	TOUCHES_MORE, /* than the detour that would call the handler has saved */
	OWN_KINDS
};

#define TRACE 128

/**
 * struct trace - the program by itself, at each instruction of the region
 * @end: address behind the region
 */
static struct trace {
	struct unwound at[TRACE];
	u64 pc[TRACE];
	int n;
} trace;

/**
 * struct stepper - the thread that is stepped
 * @d: the detour, or NULL: the program by itself
 * @now: where in the trace it is
 * @steps: in the detour; @interrupts: at so many steps in a sequence from now; 0: not
 */
static struct stepper {
	const struct dp_detour *d;
	const struct dp_region *r;
	const struct dp_duplicate *duplicate;
	int now, steps, interrupts;
	const char *bad;
	u64 bad_pc;
} stepper;

static u64 nr_stepped, nr_interrupted, nr_moved, nr_called;

/* The site and its detour, as a tool sees them that leaves */
static struct dp_site_entry step_site;
static struct dp_jump step_jumps[2];
static const struct dp_view step_view = {
	.sites = &step_site,
	.jumps = step_jumps,
	.nr_sites = 1,
	.nr_jumps = 2,
};

static void note_jump(const struct dp_detour *d, const struct dp_region *r)
{
	struct dp_jump *j = &step_jumps[1];
	int i;

	step_site.addr = at(TEXT);
	*j = (struct dp_jump){ .base = at(DETOUR),
			       .len = d->len,
			       .start = d->start,
			       .nr = r->nr,
			       .size = r->len,
			       .duplicate = d->duplicate,
			       .duplicate_insn = d->duplicate_insn,
			       .duplicated_at = at(ELSEWHERE) };
	for (i = 0; i < r->nr; i++) {
		j->at[i] = d->at[i];
		j->insn[i] = d->insn[i];
		j->offset[i] = r->at[i];
	}
	j->at[i] = d->at[i];
}

static void note_plain(const ucontext_t *uc, u64 pc)
{
	static const struct dp_detour none;
	int i;

	for (i = 0; i < stepper.r->nr && pc != at(TEXT) + stepper.r->at[i]; i++)
		;
	if (i == stepper.r->nr && pc != at(TEXT) + stepper.r->len &&
	    pc != at(ELSEWHERE))
		return;
	unwound_at(&none, pc, uc, &trace.at[trace.n]);
	trace.pc[trace.n++] = pc;
}

static u64 original(u8 insn)
{
	return at(insn == DP_UNWIND_DUPLICATE ? ELSEWHERE :
		  insn == DP_UNWIND_BEHIND    ? TEXT + stepper.r->len :
						TEXT + stepper.r->at[insn]);
}

/* Is it an instruction of the program's own, as it is? */
static bool is_instruction(const struct dp_detour *d, u8 insn, u64 offset)
{
	return insn < stepper.r->nr	   ? offset == d->insn[insn] :
	       insn == DP_UNWIND_DUPLICATE ? offset == d->duplicate_insn :
					     offset == d->at[stepper.r->nr];
}

static bool same_registers(const struct unwound *u, const struct unwound *want,
			   bool loops)
{
	int i;

	for (i = 0; i < DP_UNWIND_REGS; i++)
		if (u->r[i] != want->r[i] && !(loops && i == RCX))
			return false;
	return true;
}

/* A tool that leaves moves a thread to the program's instruction: it finds all registers, as
 * they are, and flags. A thread in between is let run on. */
static bool can_move(const ucontext_t *uc, u64 pc, u64 ignored)
{
	static const struct dp_detour none;
	const struct unwound *want = &trace.at[stepper.now];
	struct unwound u;
	u64 to;

	if (dp_view_original(&step_view, pc, &to))
		return true;
	nr_moved++;
	unwound_at(&none, pc, uc, &u);
	return to == trace.pc[stepper.now] && same_registers(&u, want, false) &&
	       !((u.flags ^ want->flags) & ~ignored);
}

static void expect_step(const ucontext_t *uc, u64 pc)
{
	const struct dp_detour *d = stepper.d;
	const u64 ignored = UNWOUND_TRAP_FLAG | 1 << 16;
	const struct unwound *want;
	struct unwound u;
	bool exact, loops;

	unwound_at(d, at(DETOUR), uc, &u);
	exact = is_instruction(d, u.insn, pc - at(DETOUR));
	if (stepper.now + 1 < trace.n &&
	    original(u.insn) == trace.pc[stepper.now + 1])
		stepper.now++;
	want = &trace.at[stepper.now];
	loops = u.insn < stepper.r->nr && !exact &&
		stepper.r->facts[u.insn].class == DP_INSN_LOOP;
	stepper.bad = original(u.insn) != trace.pc[stepper.now] ?
			      "instruction" :
		      !same_registers(&u, want, loops) ? "registers" :
		      exact && (u.flags ^ want->flags) & ~ignored ? "flags" :
		      !can_move(uc, pc, ignored)		  ? "moved" :
								    NULL;
	stepper.bad_pc = pc;
}

/* In a handler that a detour has called, and that has pushed nothing: the detour's frame */
static void expect_caller(const ucontext_t *uc)
{
	ucontext_t caller = *uc;
	greg_t *g = caller.uc_mcontext.gregs;

	g[REG_RIP] = *(greg_t *)g[REG_RSP];
	g[REG_RSP] += 8;
	nr_called++;
	expect_step(&caller, (u64)g[REG_RIP]);
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *g = uc->uc_mcontext.gregs;
	u64 pc = (u64)g[REG_RIP], to;

	if (pc == (u64)(uintptr_t)machine_leave)
		g[REG_EFL] &= ~(greg_t)UNWOUND_TRAP_FLAG;
	if (!stepper.d) {
		note_plain(uc, pc);
		return;
	}
	if (stepper.bad)
		return;
	if (pc - at(HANDLER) < HANDLER_MAX)
		expect_caller(uc);
	if (pc - at(DETOUR) >= stepper.d->len)
		return;
	stepper.steps++;
	expect_step(uc, pc);
	if (stepper.interrupts && unwound_area.rseq_cs &&
	    !--stepper.interrupts && unwound_interrupt(uc, &to)) {
		g[REG_RIP] = (greg_t)to;
		nr_interrupted++;
	}
}

static void run_stepped(const struct machine *from, const struct dp_detour *d)
{
	struct machine m = *from;
	struct outcome o;

	m.flags |= UNWOUND_TRAP_FLAG;
	stepper.d = d;
	stepper.now = stepper.steps = 0;
	stepper.bad = NULL;
	run(&m, &o);
	assert_int_equal(unwound_area.rseq_cs, 0);
	if (stepper.bad)
		fail_msg("%s at +%#lx", stepper.bad,
			 stepper.bad_pc - at(DETOUR));
	nr_stepped += (u64)stepper.steps;
}

/* The word that says whether the detour calls out, and the thread's stack's */
static u64 step_enable;
static __thread u32 step_stack[8], *step_self;

/* What a followed handler is called with, and for */
static u8 step_handlers[DP_STACK_SIZE] __attribute__((aligned(4096)));
static struct dp_probe_entry step_probe;
static u64 step_fast;
static u32 step_children;

/* It leaves rubbish in all that a function may change. */
static void put_handler(u32 touches, u32 saved)
{
	u8 *to = area + HANDLER;
	u32 reg;

	for (reg = 0; reg < DP_GPRS; reg++)
		if (saved >> reg & 1) { /* mov $rubbish, %reg */
			*to++ = (u8)(0x48 | reg >> 3);
			*to++ = 0xc7;
			*to++ = (u8)(0xc0 | (reg & 7));
			memset(to, 0x5b, 4);
			to += 4;
		}
	to += hex("31c0 c3", to); /* xor %eax, %eax; ret */
	assert_true(to <= area + HANDLER + HANDLER_MAX);
	step_probe = (struct dp_probe_entry){ .touches = touches,
					      .pre = at(HANDLER) };
	step_fast = (u64)(uintptr_t)&step_probe;
}

static void make_followed(struct dp_detour_spec *s, bool more)
{
	static struct dp_detour_followed followed;
	const u32 scratch = 0xfc7, rbx = 1 << RBX;
	struct dp_stack *mine =
		(void *)(step_handlers + sizeof(step_handlers) - sizeof(*mine));

	memset(mine, 0, sizeof(*mine));
	step_self = (u32 *)mine;
	put_handler(more ? scratch | rbx : scratch, scratch);
	followed = (struct dp_detour_followed){
		.fast = (u64)(uintptr_t)&step_fast,
		.vm_children = (u64)(uintptr_t)&step_children,
		.touches = scratch,
	};
	s->followed = &followed;
	s->self =
		(s32)((char *)&step_self - (char *)__builtin_thread_pointer());
}

static void make_own(struct dp_detour_spec *s, enum own_kind own)
{
	if (own == NOT_OWN)
		return;
	if (own == FOLLOWED || own == TOUCHES_MORE) {
		make_followed(s, own == TOUCHES_MORE);
		return;
	}
	step_enable = own == ENABLED || own == TRACKED;
	step_stack[DP_DETOUR_BUSY / 4] = own == IN_HANDLER;
	step_self = own == IDLE ? NULL : step_stack;
	s->enable_word = (u64)(uintptr_t)&step_enable;
	s->self =
		(s32)((char *)&step_self - (char *)__builtin_thread_pointer());
	s->tracked = own == TRACKED ? at(STUB) : 0;
}

/* A call that a detour begins or ends: its instance is the one of the slot, in a block of the first line of
 * the directory or of the other one. */
static struct {
	struct dp_block directory[2];
	struct dp_exit_instance block[DP_BLOCK_WORDS], *is;
	u64 entry, slot;
	u32 kind;
	bool far;
} step_call;

#define STEP_GROUP 7

static void make_call(struct dp_detour_spec *s, const struct machine *m,
		      u32 kind, bool far)
{
	static u32 nobodys_child = 1;
	struct dp_call_entry value = { STEP_GROUP, COUNTER | kind };

	memset(&step_call, 0, sizeof(step_call));
	step_call.kind = kind;
	step_call.far = far;
	step_call.slot = m->r[RSP];
	step_call.is = &step_call.block[dp_block_word(m->r[RSP])];
	step_call.directory[far] =
		(struct dp_block){ dp_block_tag(m->r[RSP]),
				   (u64)(uintptr_t)step_call.block };
	step_call.entry = dp_call_value(value);
	s->calls = (struct dp_detour_calls){
		.wipe = (u64)(uintptr_t)&nobodys_child,
		.blocks = (u64)(uintptr_t)step_call.directory,
		.instance_words = sizeof(struct dp_exit_instance) / 8,
	};
	s->by[0] = at(STUB);
	s->call_at[0] = (u64)(uintptr_t)&step_call.entry;
	s->call_value[0] = dp_call_value(value);
}

static void expect_call(bool before)
{
	struct dp_exit_instance is = { .group = STEP_GROUP,
				       .state = DP_INSTANCE_LIVE };

	if (!step_call.kind)
		return;
	if (before) {
		is.word *= step_call.kind == DP_CALL_EXIT;
		step_call.is->word = is.word;
	} else {
		/* What is in the other line is left to others. */
		is.word *= (step_call.kind == DP_CALL_ENTER) != step_call.far;
		assert_true(step_call.is->word == is.word);
	}
}

/* @interrupts: in its sequences, at each of so many steps, run after run */
static void step_detour(const struct machine *m, struct dp_detour_spec *spec,
			int interrupts)
{
	struct dp_detour d;
	int i;

	put_detour(spec, &d);
	note_jump(&d, spec->region);
	assert_in_range(d.unwind.nr, 1, DP_UNWIND_NOTES - 1);
	for (i = 0; i <= interrupts; i++) {
		stepper.interrupts = i;
		expect_call(true);
		run_stepped(m, &d);
		expect_call(false);
		assert_true(stepper.steps > 1);
	}
}

/** struct manner - how a detour is stepped; @call: DP_CALL_ENTER or DP_CALL_EXIT, or 0; @far: of its block */
struct manner {
	enum kind kind;
	enum own_kind own;
	int interrupts;
	const struct dp_duplicate *duplicate;
	u32 call;
	bool far;
};

static void step_one(const struct machine *m, size_t n,
		     const struct manner *how)
{
	const struct dp_rseq rseq = unwound_rseq(SIGNATURE);
	struct dp_detour_spec spec;
	struct dp_region region;
	u8 code[DP_REGION_MAX];

	take(n, code, &region);
	stepper.r = &region;
	trace.n = 0;
	area[ELSEWHERE] = 0xc3;
	run_stepped(m, NULL);
	spell(&spec, &region, code, how->kind);
	spec.rseq = spec.rseq ? &rseq : NULL;
	spec.inner_rseq = spec.inner_rseq ? &rseq : NULL;
	if (how->duplicate)
		spec.duplicate = *how->duplicate;
	make_own(&spec, how->own);
	step_call.kind = 0;
	if (how->call)
		make_call(&spec, m, how->call, how->far);
	count_from_zero(can_count(how->kind));
	step_detour(m, &spec, how->interrupts);
	memcpy(area + TEXT, code, n);
}

static void steps_on(bool on)
{
	static u8 alternate[65536];
	stack_t ss = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction sa = { .sa_sigaction = on_step,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (!on)
		sa = (struct sigaction){ .sa_handler = SIG_DFL };
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	assert_int_equal(sigaction(SIGTRAP, &sa, NULL), 0);
}

static void step_calls(const struct machine *m, size_t n, int interrupts)
{
	struct manner how = { .kind = COUNTS_INNER, .interrupts = interrupts };
	int far;

	for (far = 0; far < 2; far++)
		for (how.call = DP_CALL_EXIT; how.call <= DP_CALL_ENTER;
		     how.call++) {
			how.far = far;
			step_one(m, n, &how);
		}
}

static void step_kinds(const struct machine *m, size_t n, int interrupts)
{
	struct manner how = { .interrupts = interrupts };

	for (how.kind = 0; how.kind < KINDS; how.kind++)
		step_one(m, n, &how);
	for (how.own = ENABLED; how.own < FOLLOWED; how.own++)
		for (how.kind = COUNTS; how.kind <= CANNOT_COUNT; how.kind++)
			step_one(m, n, &how);
	for (; how.own < OWN_KINDS; how.own++)
		for (how.kind = 0; how.kind < KINDS; how.kind++)
			if (counts_first(how.kind))
				step_one(m, n, &how);
	step_calls(m, n, interrupts);
}

static void step_duplicates(void)
{
	static const u8 ret = 0xc3;
	struct code c = {
		.text = "7400 4889c3", .aim = 1, .size = 1, .to = ELSEWHERE
	};
	const struct dp_duplicate to = { .before = 1 + number(9, false),
					 .code = &ret,
					 .len = 1,
					 .branches = 1 };
	struct manner how = { .duplicate = &to };
	struct machine m;
	unsigned int zero;

	for (zero = 0; zero < 2; zero++) {
		start_of(&m, 1, flags_of(zero << 3));
		for (how.kind = COUNTS; how.kind <= BEFORE; how.kind++)
			step_one(&m, put_code(&c), &how);
	}
}

/* What loop and jrcxz look at is 0, 1 or more. */
static void tells_where_it_is(void **state)
{
	struct machine m;
	size_t i, n;
	u64 rcx;

	steps_on(true);
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		n = put_code(&codes[i]);
		for (rcx = codes[i].to == PAD_NEAR ? 0 : 2; rcx < 3; rcx++) {
			start_of(&m, rcx, flags_of((unsigned int)rcx * 21));
			step_kinds(&m, n, i == 4 ? 12 : 0);
		}
	}
	step_duplicates();
	steps_on(false);
	print_message(
		"# %lu steps, %lu in handlers, %lu interruptions, %lu times movable\n",
		nr_stepped, nr_called, nr_interrupted, nr_moved);
	assert_true(nr_stepped > 10000 && nr_called > 1000 &&
		    nr_interrupted > 50);
}

static void *map(size_t size, int prot)
{
	void *mem = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static int set_up(void **state)
{
	area = map(AREA, PROT_READ | PROT_WRITE | PROT_EXEC);
	table = map(CPUS * sizeof(*table), PROT_READ | PROT_WRITE);
	counters = map(CPU_SETSIZE * COUNTERS_STRIDE * sizeof(*counters),
		       PROT_READ | PROT_WRITE);
	return area && table && counters ? 0 : -1;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_nothing),
		cmocka_unit_test(takes_every_condition),
		cmocka_unit_test(stays_inside),
		cmocka_unit_test(has_a_duplicate),
		cmocka_unit_test(counts_once_when_interrupted),
		cmocka_unit_test(counts_exactly),
		cmocka_unit_test(keeps_its_layout),
		cmocka_unit_test(knows_its_reach),
		cmocka_unit_test(tells_where_it_is),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, NULL);
}
