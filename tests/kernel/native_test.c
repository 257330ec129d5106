// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * native_test: programs that detours run do what the interpreter does.
 *
 *     random programs ─┬─► a session whose detours run them ───────────────┐ what each has counted, and its
 *                      ├─► one whose detours leave at the n-th instruction ─┤ records: no difference
 *                      └─► one that interprets them ───────────────────────┘
 */
#include "kmod/session.h"
#include "tests/kernel/native.h"
#include "tests/kernel/test.h"
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jhash.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define VICTIMS DPNATIVE_VICTIMS
#define ROUNDS 12
#define CALLS 6
/* Arithmetic flags */
#define FLAGS 0x8d5ull
#define IF 0x202ull
#define THREADS 4
#define TURNS 30000

static struct dp_asm codes[VICTIMS];
static struct dpnative_registers given[VICTIMS][CALLS];
/* Two pages, of which the second one is not there */
static u8 *memory;

/** struct seen - of one program: hits, its variables, what became of hits, and of its records how many and which */
struct seen {
	u64 hits, locals[2], disabled, context, lost;
	u32 records, hash, exceptions;
};

static struct seen seen[3][VICTIMS];
static u32 wrong;

static int add_code(const u8 *function, const u8 *bytes, u32 len, u32 *probe,
		    u32 *program)
{
	static const u32 start;
	const struct dp_program_spec spec = { .name = "kernel",
					      .code = bytes,
					      .code_len = len,
					      .starts = &start,
					      .nr_starts = 1,
					      .nr_lv = 2,
					      .jmpmax = 20,
					      .logmax = 64,
					      .stack = 32 };
	struct dp_binding binding = { .maxhits = ~0u, .logonfault = true };
	const char *why = NULL;
	u32 offset;
	int err = dp_kmod_add_program(&spec, program, &offset, &why);

	err = err ?: dp_kmod_add((u64)function, probe, &why);
	if (err) {
		note("%d: %s\n", err, why ?: "");
		return err;
	}
	binding.program = *program;
	dp_kmod_bind(*probe, &binding);
	return 0;
}

/* Not the time, and not the CPU. Records of probes have the probe's number. */
static void take(void *to, const struct dp_record_copy *r)
{
	struct seen *s = to;

	if (r->head.probe >= VICTIMS)
		return;
	s += r->head.probe;
	s->records++;
	s->exceptions += r->head.exception != 0;
	s->hash = jhash(r->data, r->head.len, s->hash);
	s->hash = jhash_3words(r->head.exception, (u32)r->head.parm[0],
			       (u32)r->head.parm[1] ^ r->head.flags, s->hash);
}

static void call_all(struct seen *to)
{
	struct dpnative_registers r;
	u32 i, k;

	for (k = 0; k < CALLS; k++)
		for (i = 0; i < VICTIMS; i++) {
			r = given[i][k];
			dpnative_call(dpnative_victims[i], &r);
			r.word[DPNATIVE_FLAGS] &= FLAGS | IF;
			wrong += memcmp(&r, &given[i][k], sizeof(r)) != 0;
		}
	dp_kmod_records(take, to);
}

static void read_all(struct seen *to, const u32 *program)
{
	u32 i;

	for (i = 0; i < VICTIMS; i++) {
		to[i].hits = dp_kmod_hits(i);
		to[i].locals[0] = dp_kmod_local(program[i], 0);
		to[i].locals[1] = dp_kmod_local(program[i], 1);
		to[i].disabled = dp_kmod_tally(i, DP_TALLY_DISABLED);
		to[i].context = dp_kmod_tally(i, DP_TALLY_CONTEXT);
		to[i].lost = dp_kmod_tally(i, DP_TALLY_LOST);
	}
}

/* Return: how many programs are run by their detours; -1: something failed */
static int run_all(enum dp_kmod_arming arming, u32 from, struct seen *to,
		   u64 *met)
{
	u32 program[VICTIMS], probe, i;
	int err = dp_kmod_begin(arming), n = 0;
	u64 bad;

	memset(to, 0, VICTIMS * sizeof(*to));
	err = err ?: dp_kmod_interpret(from);
	for (i = 0; i < VICTIMS && !err; i++) {
		err = add_code(dpnative_victims[i], codes[i].bytes, codes[i].n,
			       &probe, &program[i]);
		err = err ?: probe != i;
	}
	err = err ?: dp_kmod_commit(&bad);
	if (!err)
		call_all(to);
	if (!err)
		read_all(to, program);
	for (i = 0; i < VICTIMS && !err; i++) {
		n += dp_kmod_native(i);
		*met += dp_kmod_met(i);
	}
	return dp_kmod_end() || err ? -1 : n;
}

static u64 some_number(void)
{
	u64 r = dpnative_random();

	return r & 1 ? r >> 8 & 0xff : r & 2 ? ~0ull << (r >> 8 & 63) : r;
}

/* r12: memory, near its end too; r13: none; r14: of user space; r15: no address at all, or the last ones */
static void give(struct dpnative_registers *r)
{
	static const u64 none[] = { 0x8000000000000000ull,
				    0x0000800000000000ull,
				    0xffff7ffffffffff8ull,
				    ~0ull,
				    ~0ull - 7,
				    0xffffffffff600000ull,
				    0xffffffffff5ffffcull };
	u32 i;

	for (i = 0; i < DPNATIVE_FLAGS; i++)
		r->word[i] = some_number();
	r->word[DPNATIVE_R12] =
		(u64)memory +
		(dpnative_random() & 1 ? dpnative_random() % 4000 : 4064);
	r->word[DPNATIVE_R12 + 1] = (u64)memory + PAGE_SIZE + 64;
	r->word[DPNATIVE_R12 + 2] = dpnative_random() % TASK_SIZE_MAX;
	r->word[DPNATIVE_R12 + 3] = none[dpnative_random() % ARRAY_SIZE(none)];
	r->word[DPNATIVE_FLAGS] = (dpnative_random() & FLAGS) | IF;
}

static u32 differences(const struct seen *a, const struct seen *b,
		       const char *how)
{
	u32 i, n = 0;

	for (i = 0; i < VICTIMS; i++) {
		if (!memcmp(&a[i], &b[i], sizeof(*a)))
			continue;
		if (!n++)
			note("%s: program %u (%*ph): hits %llu, %llu; counts %llu %llu, %llu %llu; records %u, %u; exceptions %u, %u\n",
			     how, i, min_t(int, codes[i].n, 64), codes[i].bytes,
			     a[i].hits, b[i].hits, a[i].locals[0],
			     a[i].locals[1], b[i].locals[0], b[i].locals[1],
			     a[i].records, b[i].records, a[i].exceptions,
			     b[i].exceptions);
	}
	return n;
}

static void sum_up(const struct seen *s, struct seen *sum)
{
	u32 i;

	for (i = 0; i < VICTIMS; i++) {
		sum->hits += s[i].hits;
		sum->locals[0] += s[i].locals[0] + s[i].locals[1];
		sum->records += s[i].records;
		sum->exceptions += s[i].exceptions;
		sum->lost += s[i].lost + s[i].context + s[i].disabled;
	}
}

static void write_all(void)
{
	u32 i, k;

	for (i = 0; i < VICTIMS; i++) {
		dpnative_write(&codes[i]);
		for (k = 0; k < CALLS; k++)
			give(&given[i][k]);
	}
}

static void compare(void)
{
	u32 round, differ = 0, later = 0;
	int native = 0, leaves = 0, none = 0, failed = 0, n[3];
	u64 met[3] = { 0 };
	struct seen sum = { 0 };

	for (round = 0; round < ROUNDS; round++) {
		write_all();
		n[0] = run_all(DP_KMOD_JUMP, 0, seen[0], &met[0]);
		n[1] = run_all(DP_KMOD_JUMP, 2 + round, seen[1], &met[1]);
		n[2] = run_all(round & 1 ? DP_KMOD_TRAP : DP_KMOD_JUMP, 1,
			       seen[2], &met[2]);
		failed += n[0] < 0 || n[1] < 0 || n[2] < 0;
		native += n[0];
		leaves += n[1];
		none += n[2];
		differ += differences(seen[0], seen[2], "run");
		later += differences(seen[1], seen[2], "left");
		sum_up(seen[2], &sum);
	}
	note("of %u programs %d run in detours, with leaves %d; %llu hits, %llu counted (%llu by detours), %u records, %u exceptions\n",
	     ROUNDS * VICTIMS, native, leaves, sum.hits, sum.locals[0], met[0],
	     sum.records, sum.exceptions);
	check(!failed && sum.hits == ROUNDS * VICTIMS * CALLS && !sum.lost,
	      "random programs run\n");
	check(!none && !met[2] && native > ROUNDS * VICTIMS / 4 && leaves > 0 &&
		      met[0] > 100 && sum.records > 100 && sum.exceptions > 100,
	      "many in their detours, and none where they must not\n");
	check(!differ, "detours do what the interpreter does (but %u)\n",
	      differ);
	check(!later, "and so does what they leave to it (but %u)\n", later);
	check(!wrong, "no register and no flag is changed (but %u)\n", wrong);
}

/* --- many at a time --- */

/* if what rdi points to, less rdx, is less than 10: count it */
static void write_condition(struct dp_asm *c)
{
	c->n = 0;
	dp_asm_op(c, DP_OPCODE_PUSH_R);
	dp_asm_put(c, DP_ASM_RDI, 2);
	dp_asm_op(c, DP_OPCODE_PUSH_MEM_U32);
	dp_asm_op(c, DP_OPCODE_PUSH_R);
	dp_asm_put(c, DP_ASM_RDX, 2);
	dp_asm_op(c, DP_OPCODE_RSUB);
	dp_asm_op(c, DP_OPCODE_PUSH);
	dp_asm_put(c, 10, 8);
	dp_asm_op(c, DP_OPCODE_LTU);
	dp_asm_op(c, DP_OPCODE_JNZ);
	dp_asm_put(c, 1, 8);
	dp_asm_op(c, DP_OPCODE_ABORT);
	dp_asm_op(c, DP_OPCODE_INC_LV_I);
	dp_asm_put(c, 0, 2);
	dp_asm_op(c, DP_OPCODE_EXIT);
}

static struct completion ended[THREADS];

/* Each on whatever CPU it is at the time. Every fourth call reads nothing. */
static int call_often(void *arg)
{
	struct dpnative_registers r = { .word[DPNATIVE_FLAGS] = IF };
	u32 i;

	for (i = 0; i < TURNS; i++) {
		*(u32 *)memory = 20;
		r.word[DPNATIVE_RDI] = (u64)memory + (i % 4 ? 0 : PAGE_SIZE);
		r.word[DPNATIVE_RDX] = i % 4 == 1 ? 5 : 15;
		dpnative_call(dpnative_victims[0], &r);
		if (!(i % 1024))
			cond_resched();
	}
	complete(arg);
	return 0;
}

static void drop(void *n, const struct dp_record_copy *r)
{
	*(u64 *)n += r->head.exception != 0;
}

static bool call_in_threads(u64 *exceptions)
{
	bool all = true;
	u32 i;

	for (i = 0; i < THREADS; i++) {
		init_completion(&ended[i]);
		if (IS_ERR(kthread_run(call_often, &ended[i], "dpnative"))) {
			all = false;
			complete(&ended[i]);
		}
	}
	for (i = 0; i < THREADS; i++)
		while (!wait_for_completion_timeout(&ended[i], HZ / 50))
			dp_kmod_records(drop, exceptions);
	for (i = 0; i < 2; i++)
		dp_kmod_records(drop, exceptions);
	return all;
}

/* Ticks interrupt the threads, and run a program, too. */
static void count_exactly(void)
{
	void *tick = (void *)dp_kmod_symbol("update_process_times");
	u32 probe = 0, program, ticks = 0, unused;
	u64 bad, exceptions = 0, hits, met, local, lost, ticked, aside;
	int err = dp_kmod_begin(DP_KMOD_JUMP);
	bool runs, all;

	write_condition(&codes[0]);
	err = err   ?:
		      add_code(dpnative_victims[0], codes[0].bytes, codes[0].n,
			       &probe, &program);
	err = err   ?:
		      add_code(tick, codes[0].bytes, codes[0].n, &ticks,
			       &unused);
	err = err ?: dp_kmod_commit(&bad);
	runs = !err && dp_kmod_native(probe) && dp_kmod_native(ticks);
	all = !err && call_in_threads(&exceptions);
	hits = dp_kmod_hits(probe);
	met = dp_kmod_met(probe);
	local = dp_kmod_local(program, 0);
	lost = dp_kmod_tally(probe, DP_TALLY_LOST) +
	       dp_kmod_tally(ticks, DP_TALLY_LOST);
	ticked = dp_kmod_hits(ticks);
	aside = dp_kmod_missed();
	err = dp_kmod_end() ?: err;
	note("%llu hits, %llu met, %llu of them by detours; %llu exceptions, %llu lost; %llu ticks; %llu within\n",
	     hits, local, met, exceptions, lost, ticked, aside);
	check(!err && runs && all, "threads call what has a program (%d)\n",
	      err);
	check(hits == THREADS * TURNS && local == THREADS * TURNS / 2,
	      "each hit is counted once, and each that is met\n");
	check(met <= local && local - met < local / 50,
	      "nearly all are counted by detours\n");
	check(exceptions + lost >= THREADS * TURNS / 4 && ticked > 10,
	      "what cannot be read is told, and ticks are hits\n");
}

/* --- hits within hits --- */

/* What the interpreter reads memory by has a program of its own, which then does not run. */
static void hit_within(void)
{
	static const u8 counts[] = { DP_OPCODE_INC_LV_I, 0, 0, DP_OPCODE_EXIT };
	void *copy = (void *)dp_kmod_symbol("copy_from_kernel_nofault");
	struct dpnative_registers r = { .word[DPNATIVE_FLAGS] = IF };
	u32 probe = 0, within = 0, program, unused, i;
	u64 bad, records = 0, hits, counted, inner, missed;
	int err = dp_kmod_begin(DP_KMOD_JUMP);
	bool native;

	/* Which task this is is known to the interpreter alone. */
	write_condition(&codes[0]);
	codes[0].n--;
	dp_asm_op(&codes[0], DP_OPCODE_PUSH_TASK);
	dp_asm_op(&codes[0], DP_OPCODE_LOG_I);
	dp_asm_put(&codes[0], 1, 2);
	dp_asm_op(&codes[0], DP_OPCODE_EXIT);
	err = err   ?:
		      add_code(dpnative_victims[0], codes[0].bytes, codes[0].n,
			       &probe, &program);
	err = err ?: add_code(copy, counts, sizeof(counts), &within, &unused);
	err = err ?: dp_kmod_commit(&bad);
	native = !err && dp_kmod_native(within);
	*(u32 *)memory = 20;
	r.word[DPNATIVE_RDI] = (u64)memory;
	r.word[DPNATIVE_RDX] = 15;
	for (i = 0; i < 1000 && !err; i++)
		dpnative_call(dpnative_victims[0], &r);
	hits = dp_kmod_hits(probe);
	counted = dp_kmod_local(program, 0);
	inner = dp_kmod_hits(within);
	missed = dp_kmod_missed();
	dp_kmod_records(drop, &records);
	err = dp_kmod_end() ?: err;
	note("%llu hits, %llu counted; %llu within, and %llu told apart\n",
	     hits, counted, inner, missed);
	check(!err && native && hits == 1000 && counted == 1000,
	      "a program leaves, and is not run twice (%d)\n", err);
	check(inner < 100 && missed >= 1000,
	      "a detour within a hit runs no program\n");
}

/* --- what faults come by --- */

/* The handler of a fault asks this which instruction may fault. Its program faults, too. */
static void fault_within(void)
{
	void *asked = (void *)dp_kmod_symbol("search_module_extables"),
	     *first = (void *)dp_kmod_symbol("search_exception_tables");
	struct dpnative_registers r = { .word[DPNATIVE_FLAGS] = IF };
	u32 probe = 0, within = 0, outer = 0, program, unused, i;
	u64 bad, exceptions = 0, hits = 0, inner = 0, missed = 0;
	int err = dp_kmod_begin(DP_KMOD_JUMP), more = -ENOENT;

	codes[0].n = 0;
	dp_asm_op(&codes[0], DP_OPCODE_PUSH);
	dp_asm_put(&codes[0], (u64)memory + PAGE_SIZE, 8);
	dp_asm_op(&codes[0], DP_OPCODE_PUSH_MEM_U64);
	dp_asm_op(&codes[0], DP_OPCODE_JZ);
	dp_asm_put(&codes[0], 3, 8);
	dp_asm_op(&codes[0], DP_OPCODE_INC_LV_I);
	dp_asm_put(&codes[0], 0, 2);
	dp_asm_op(&codes[0], DP_OPCODE_EXIT);
	err = err   ?:
		      add_code(dpnative_victims[1], codes[0].bytes, codes[0].n,
			       &probe, &program);
	if (!err && asked)
		more = add_code(asked, codes[0].bytes, codes[0].n, &within,
				&unused);
	if (!err && first)
		add_code(first, codes[0].bytes, codes[0].n, &outer, &unused);
	err = err ?: dp_kmod_commit(&bad);
	for (i = 0; i < 100 && !err; i++)
		dpnative_call(dpnative_victims[1], &r);
	if (!err)
		dp_kmod_records(drop, &exceptions);
	hits = dp_kmod_hits(probe);
	inner = more ? 0 : dp_kmod_hits(within);
	missed = dp_kmod_missed();
	note("%llu hits, %llu within their faults, %llu and %llu by others; %llu exceptions\n",
	     hits, inner, outer ? dp_kmod_hits(outer) : 0, missed, exceptions);
	err = dp_kmod_end() ?: err;
	check(!err && hits == 100 && exceptions >= 100,
	      "a fault in a program is told (%d)\n", err);
	check(more || (inner >= 100 && missed >= 100),
	      "what it comes by may have a program that faults\n");
}

static int __init begin(void)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

	/* With nothing behind it */
	memory = page ? vmap(&page, 1, VM_MAP, PAGE_KERNEL) : NULL;
	if (!memory)
		return -ENOMEM;
	get_random_bytes(memory, PAGE_SIZE);
	compare();
	count_exactly();
	hit_within();
	fault_within();
	vunmap(memory);
	__free_page(page);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests programs in detours");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
