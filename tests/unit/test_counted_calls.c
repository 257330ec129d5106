// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * counted_calls: the code that begins and ends calls without the agent, against the agent: the same
 * calls, one way and the other, leave the same counts, tallies, instances and records.
 * Interruptions lose nothing, and no register is another.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/ucontext.h>
#include <unistd.h>
#include <x86intrin.h>
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/insn/callout.h"
#include "engine/insn/detour.h"
#include "engine/insn/region.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "port/fake/hit/world.h"

#define FUNCTIONS 4
#define SLOTS 2048 /* words of a stack */
#define BELOW \
	16384 /* bytes that the code, the agent and signals may use below a slot */
#define LINES 64
#define BLOCKS 32
#define STREAM (512u << 10)
#define RECORDS 40000
#define ARITHMETIC 0x8d5ull /* flags */

void dp_enter_entry(void);
void dp_exit_entry(void);
void dp_enter_timed_entry(void);
void dp_exit_timed_entry(void);
void dp_hit_entry(void);
extern const s32 dp_call_sequences[12] __attribute__((visibility("hidden")));

/** struct through - a call-out: registers before and after it
 *  @sp: the stack pointer at the site; @number: of the call-out; @entry: where it goes */
struct through {
	u64 ax, cx, dx, si, di, r8, r9, r10, r11, bp, flags;
	u64 sp, number, entry;
};

/* rbx and r12 are left for this code: @name, which goes on with @through at the site. */
#define THROUGH(name, through)                                         \
	".text\n" name ":\n"                                           \
	"	push %rbx; push %r12; push %rbp\n"                           \
	"	mov %rdi, %rbx\n"                                            \
	"	mov %rsp, %r12\n"                                            \
	"	push 80(%rbx); popfq\n"                                      \
	"	mov 0(%rbx), %rax; mov 8(%rbx), %rcx; mov 16(%rbx), %rdx\n"  \
	"	mov 24(%rbx), %rsi; mov 32(%rbx), %rdi; mov 40(%rbx), %r8\n" \
	"	mov 48(%rbx), %r9; mov 56(%rbx), %r10; mov 64(%rbx), %r11\n" \
	"	mov 72(%rbx), %rbp\n"                                        \
	"	mov 88(%rbx), %rsp\n" through "	mov %rsp, 88(%rbx)\n"  \
	"	mov %r12, %rsp\n"                                            \
	"	mov %rax, 0(%rbx); mov %rcx, 8(%rbx); mov %rdx, 16(%rbx)\n"  \
	"	mov %rsi, 24(%rbx); mov %rdi, 32(%rbx); mov %r8, 40(%rbx)\n" \
	"	mov %r9, 48(%rbx); mov %r10, 56(%rbx); mov %r11, 64(%rbx)\n" \
	"	mov %rbp, 72(%rbx)\n"                                        \
	"	pushfq; pop 80(%rbx)\n"                                      \
	"	pop %rbp; pop %r12; pop %rbx\n"                              \
	"	ret\n"

void call_out(struct through *r);
__asm__(THROUGH("call_out", "	lea -128(%rsp), %rsp\n"
			    "	push 96(%rbx)\n"
			    "	call *104(%rbx)\n"
			    "	lea 136(%rsp), %rsp\n"));

/* By a detour of this region */
void jump_out(struct through *r);
void region(void);
__asm__(THROUGH("jump_out", "	jmp *104(%rbx)\n"
			    "region: nopl 8(%rax,%rax,1)\n"));

/* Sites and probes of a function: its entry, a return, and a jump to another function */
enum { ENTER, RETURN, TAIL, KINDS };

static u32 number_of(u32 function, u32 kind)
{
	return function * KINDS + kind;
}

/* The calls of every other function are timed. */
static bool is_timed(u32 function)
{
	return function % 2;
}

/* Calls of others come to the returns of every other pair of functions. */
static bool is_shared(u32 function, u32 kind)
{
	return kind == RETURN && function / 2 % 2;
}

static struct dp_call_entry *call_at(u32 function, u32 kind)
{
	struct dp_call_entry *calls = dp_at(dp_arena.control.call_off);

	return &calls[number_of(function, kind) +
		      (is_timed(function) ? DP_FAKE_SITES : 0)];
}

static void make_call(u32 function, u32 kind)
{
	u32 n = number_of(function, kind),
	    counter = (dp_arena.control.probe_counters + n) * 8;

	if (kind == ENTER)
		counter |= DP_CALL_ENTER;
	else if (is_timed(function))
		counter = n << DP_CALL_SHIFT | DP_CALL_EXIT;
	else
		counter |= DP_CALL_EXIT;
	if (is_shared(function, kind))
		counter |= DP_CALL_SHARED;
	*call_at(function, kind) = (struct dp_call_entry){
		.counter = counter, .group = number_of(function, ENTER) + 1
	};
}

static void make_probe(u32 function, u32 kind)
{
	u32 n = number_of(function, kind);
	struct dp_probe_entry *p;

	dp_fake_site(n, 0x400000 + n * 16);
	p = dp_fake_probe(n, n, kind == ENTER ? DP_KIND_ENTER : DP_KIND_EXIT);
	p->group = kind == ENTER ? DP_NO_GROUP : number_of(function, ENTER);
	p->way = kind == TAIL		   ? DP_WAY_TAIL :
		 is_shared(function, kind) ? DP_WAY_SHARED :
					     0;
	if (kind == ENTER && is_timed(function))
		p->way = DP_WAY_LOGS;
	make_call(function, kind);
}

/* Detours of the functions whose calls are not timed, and where each is entered */
static u8 detours[FUNCTIONS * KINDS][1024] __attribute__((aligned(4096)));
static struct dp_detour made[FUNCTIONS * KINDS];
static u8 stubs[2]
	       [DP_ENTRY_STUB]; /* of the shared code for entries, and for exits */

static void make_detour(u32 function, u32 kind)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_rseq rseq = { (s32)__rseq_offset, RSEQ_SIG };
	const struct dp_detour_calls calls = { (u64)&dp_wipe, c->blocks,
					       (u32)c->block_bits,
					       c->instance_words };
	u32 n = number_of(function, kind);
	struct dp_region whole;
	const char *why;
	struct dp_detour_spec spec = {
		.from = (u64)region,
		.at = (u64)detours[n],
		.entry = (u64)dp_hit_entry,
		.code = (const u8 *)region,
		.region = &whole,
		.before = { (n | DP_CALLOUT_UNCOUNTED) + 1 },
		.by = { (u64)stubs[kind != ENTER] },
		.inner_rseq = &rseq,
		.table = (u64)dp_table,
		.calls = calls,
		.call_at = { (u64)call_at(function, kind) },
		.call_value = { dp_call_value(*call_at(function, kind)) },
	};

	assert_int_equal(dp_region_decode_all(spec.code, 5, &whole, &why), 0);
	assert_int_equal(dp_detour_make(&spec, &made[n]), 0);
	assert_in_range(made[n].len, 1, DP_DETOUR_CALL + 10);
	memcpy(detours[n], made[n].code, made[n].len);
}

static void make_detours(void)
{
	u32 i, k;

	dp_detour_entry_stub(stubs[0], (u64)dp_enter_entry);
	dp_detour_entry_stub(stubs[1], (u64)dp_exit_entry);
	mprotect(detours, sizeof(detours), PROT_READ | PROT_WRITE | PROT_EXEC);
	for (i = 0; i < FUNCTIONS; i++)
		for (k = 0; k < KINDS && !is_timed(i); k++)
			make_detour(i, k);
}

static int setup(void **state)
{
	u32 i, k;

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_instances(LINES, 0);
	dp_fake_blocks(BLOCKS);
	dp_fake_streams(STREAM);
	dp_arena.control.tail_target = 1;
	for (i = 0; i < FUNCTIONS; i++)
		for (k = 0; k < KINDS; k++)
			make_probe(i, k);
	make_detours();
	return 0;
}

static u64 randomly(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

/* A stack, always at the same address: instances are compared with their places. */
static u64 *stack_at(u32 i)
{
	static u8 *memory;
	size_t size = 8 * (BELOW + SLOTS * 8);

	if (!memory) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(memory != MAP_FAILED);
	}
	return (u64 *)(memory + i * (BELOW + SLOTS * 8) + BELOW);
}

/** struct thread - calls on one stack
 *  @fast: by the code, otherwise by the agent
 *  @live: what it is in, from the outermost call on */
struct thread {
	u64 seed, *stack;
	bool fast;
	struct {
		u32 function, slot;
	} live[SLOTS];
	u32 depth;
	u64 entered[FUNCTIONS], left[FUNCTIONS];
};

static struct rseq *rseq_here(void)
{
	return (void *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static u64 entry_of(u32 function, u32 kind)
{
	if (is_timed(function))
		return kind == ENTER ? (u64)dp_enter_timed_entry :
				       (u64)dp_exit_timed_entry;
	return kind == ENTER ? (u64)dp_enter_entry : (u64)dp_exit_entry;
}

static bool
	by_detours; /* which have the code in themselves, where it does not time */
static bool steps; /* the next hit is stepped through */

static void hit(const struct thread *t, u32 function, u32 kind, u64 sp)
{
	static const struct through all = { 1, 2, 3,  4, 5, 6, 7,
					    8, 9, 10, 0, 0, 0, 0 };
	struct through r = all;
	u64 flags = t->seed & ARITHMETIC;

	r.flags = flags | 0x202 | (steps ? 0x100 : 0);
	r.sp = sp;
	r.number = number_of(function, kind) | DP_CALLOUT_UNCOUNTED;
	r.entry = t->fast ? entry_of(function, kind) : (u64)dp_hit_entry;
	if (t->fast && by_detours && !is_timed(function)) {
		r.entry = (u64)detours[number_of(function, kind)] +
			  made[number_of(function, kind)].start;
		jump_out(&r);
	} else {
		call_out(&r);
	}
	assert_int_equal(rseq_here()->rseq_cs, 0);
	assert_int_equal(r.flags & ARITHMETIC, flags);
	assert_int_equal(r.sp, sp);
	assert_memory_equal(&r, &all, offsetof(struct through, flags));
}

static void enter(struct thread *t, u32 function, u32 slot)
{
	t->stack[slot] = 0x1000 + randomly(&t->seed) % 4;
	hit(t, function, ENTER, (u64)&t->stack[slot]);
	t->live[t->depth].function = function;
	t->live[t->depth++].slot = slot;
	t->entered[function]++;
}

/* To anywhere else than where it was called from */
static void go_astray(struct thread *t)
{
	if (t->depth)
		t->stack[t->live[t->depth - 1].slot] ^= 1;
}

static void leave(struct thread *t, u32 kind)
{
	u32 function = t->live[--t->depth].function;

	hit(t, function, kind, (u64)&t->stack[t->live[t->depth].slot]);
	t->left[function]++;
}

/* A call deeper; or one at the place of the last, which never returns. */
static void call(struct thread *t)
{
	u32 top = t->depth ? t->live[t->depth - 1].slot : SLOTS;
	u32 down = 1 + (u32)randomly(&t->seed) % 60;
	u32 function = (u32)randomly(&t->seed) % FUNCTIONS;

	if (t->depth && randomly(&t->seed) % 16 == 0)
		down = 0;
	if (top >= down && top - down < SLOTS && t->depth < SLOTS)
		enter(t, function, top - down);
}

/* A slot below those of all calls: the agent writes to the stack below where it is called */
static u64 *slot_below(struct thread *t)
{
	u32 top = t->depth ? t->live[t->depth - 1].slot : SLOTS;

	return &t->stack[top ? randomly(&t->seed) % top : 0];
}

/* A return of a call that was not tracked, or was left. The word is what nobody else has written. */
static void return_alone(struct thread *t)
{
	u64 *slot = slot_below(t);

	*slot = 0x1000 + randomly(&t->seed) % 4;
	hit(t, (u32)randomly(&t->seed) % FUNCTIONS, RETURN, (u64)slot);
}

static void step(struct thread *t)
{
	switch (randomly(&t->seed) % 16) {
	case 0: /* longjmp */
		t->depth -= t->depth ? (u32)randomly(&t->seed) % t->depth : 0;
		break;
	case 1:
		if (t->depth) {
			leave(t, TAIL);
			enter(t, (u32)randomly(&t->seed) % FUNCTIONS,
			      t->live[t->depth].slot);
		}
		break;
	case 2:
		return_alone(t);
		break;
	case 3: /* no stack pointer that a call has */
		hit(t, 0, randomly(&t->seed) % KINDS,
		    (u64)slot_below(t) - 1 - randomly(&t->seed) % 7);
		break;
	case 4:
		if (randomly(&t->seed) % 4 == 0)
			go_astray(t);
	/* fall through */
	case 5:
	case 6:
	case 7:
	case 8:
		if (t->depth)
			leave(t, RETURN);
		break;
	default:
		call(t);
	}
}

/** struct told - a call's record, without its times */
struct told {
	u32 probe, how;
	u64 value;
};

/** struct seen - what is left of many calls; @others: records of other threads */
struct seen {
	u64 counts[FUNCTIONS * KINDS];
	u64 tallies[FUNCTIONS * KINDS][DP_TALLY_NR];
	u32 used, nr_told, by_code, others;
	u64 sum;
	struct told told[RECORDS];
};

static void take(struct seen *s, u32 probe, const struct dp_leaving *l)
{
	assert_true(s->nr_told < RECORDS);
	s->told[s->nr_told++] = (struct told){
		.probe = probe,
		.how = l->how,
		.value = l->how == DP_CALL_RETURNED ? l->value : 0,
	};
}

/* The reader counts what a record of code is of. Return: its bytes */
static u64 take_call(struct seen *s, const struct dp_stream_call *r)
{
	u32 exit = dp_stream_probe(r->what);
	struct dp_leaving l = { .entered = r->entered,
				.value = r->value,
				.how = exit % KINDS == TAIL ?
					       DP_CALL_TAIL_CALLED :
					       DP_CALL_RETURNED };

	take(s, exit - exit % KINDS, &l);
	s->others += r->tid != (u32)syscall(SYS_gettid);
	s->counts[exit]++;
	s->by_code++;
	return sizeof(*r);
}

static u64 take_whole(struct seen *s, const struct dp_record *r)
{
	take(s, dp_stream_probe(r->probe), (const void *)(r + 1));
	return (sizeof(*r) + r->len + 7u) & ~7ull;
}

static void see_stream(struct seen *s, u32 cpu)
{
	const struct dp_arena_control *c = &dp_arena.control;
	struct dp_stream *from = dp_at(c->stream_off + cpu * c->stream_stride);
	const struct dp_record *r;
	u64 at = 0;

	while (at < from->head) {
		r = (void *)((char *)(from + 1) + at);
		if (dp_stream_values(r->probe) == DP_STREAM_CALL) {
			at += take_call(s, (const void *)r);
			continue;
		}
		assert_int_equal(dp_stream_values(r->probe), DP_STREAM_WHOLE);
		at += take_whole(s, r);
	}
}

static void see_blocks(struct seen *s)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_block *lines = dp_at(c->block_off);
	u32 i;

	for (i = 0; i < BLOCKS * DP_BLOCK_WORDS; i++) {
		const struct dp_exit_instance *v =
			(void *)((char *)dp_at(c->blocks_off) +
				 (u64)i * c->instance_stride);

		if (!v->group)
			continue;
		s->used++;
		/* Code that was interrupted has taken another serial number. */
		s->sum += (v->word ^ v->ret << 8) *
			  (lines[i / DP_BLOCK_WORDS].tag +
			   i % DP_BLOCK_WORDS * 8);
	}
}

static struct seen see(void)
{
	const struct dp_instance_table *t =
		&dp_arena.control.instance_tables[0];
	const struct dp_instance_line *lines = (void *)t->lines;
	struct seen s;
	u32 i, k;

	memset(&s, 0, sizeof(s));
	for (i = 0; i < FUNCTIONS * KINDS; i++) {
		s.counts[i] = dp_fake_count_calls(i);
		for (k = 0; k < DP_TALLY_NR; k++)
			s.tallies[i][k] = dp_fake_tally(i, k);
	}
	see_blocks(&s);
	for (i = 0; i < DP_FAKE_CPUS; i++)
		see_stream(&s, i);
	for (i = 0; i <= t->line_mask; i++)
		for (k = 0; k < DP_INSTANCE_WAYS; k++) {
			s.used += lines[i].key[k] != 0;
			s.sum += lines[i].key[k];
		}
	return s;
}

static void run(struct thread *t, u32 steps)
{
	while (steps--)
		step(t);
}

static struct seen run_once(u64 seed, bool fast)
{
	struct thread *t = calloc(1, sizeof(*t));
	struct seen s;

	assert_non_null(t);
	setup(NULL);
	*t = (struct thread){ .seed = seed,
			      .stack = stack_at(0),
			      .fast = fast };
	memset(t->stack, 0, SLOTS * 8);
	run(t, 3000);
	s = see();
	free(t);
	return s;
}

static void expect_same(const struct seen *a, const struct seen *b)
{
	assert_memory_equal(a->counts, b->counts, sizeof(a->counts));
	assert_memory_equal(a->tallies, b->tallies, sizeof(a->tallies));
	assert_int_equal(a->used, b->used);
	assert_true(a->sum == b->sum);
	assert_int_equal(a->nr_told, b->nr_told);
	assert_memory_equal(a->told, b->told, sizeof(a->told));
}

/* Records of one CPU are in order. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void leaves_what_the_agent_leaves(void **state)
{
	static struct seen fast, slow;
	cpu_set_t set;
	u64 seed;

	sched_getaffinity(0, sizeof(set), &set);
	stay_here();
	for (seed = 1; seed <= 100; seed++) {
		fast = run_once(seed, true);
		slow = run_once(seed, false);
		expect_same(&fast, &slow);
		assert_true(fast.counts[ENTER] > 50 &&
			    fast.counts[RETURN] > 20);
		assert_true(fast.counts[TAIL] > 5 && fast.used);
		assert_true(fast.by_code > 50 && !slow.by_code);
		assert_int_equal(fast.others, 0);
	}
	sched_setaffinity(0, sizeof(set), &set);
}

/* Hits that the agent has seen */
static u64 by_the_agent(void)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 sum = 0;
	u32 shard, i;

	for (shard = DP_FAKE_CPUS; shard < 2 * DP_FAKE_CPUS; shard++)
		for (i = 0; i < FUNCTIONS * KINDS; i++)
			sum += ((u64 *)dp_at(
				c->counter_off +
				shard * c->shard_stride))[c->probe_counters + i];
	return sum;
}

/* In the frame of another call */
static u64 pairs_in_frame(struct thread *t, u32 slot, u32 n)
{
	u64 before = by_the_agent();

	while (n--) {
		hit(t, 0, ENTER, (u64)&t->stack[slot]);
		hit(t, 0, RETURN, (u64)&t->stack[slot]);
	}
	return by_the_agent() - before;
}

static u64 pairs_of(struct thread *t, u32 function, u32 slot, u32 n)
{
	u64 before = by_the_agent();

	while (n--) {
		enter(t, function, slot);
		leave(t, RETURN);
	}
	return by_the_agent() - before;
}

/* A pair at a slot, @n times. Return: hits that the agent has seen. */
static u64 pairs(struct thread *t, u32 slot, u32 n)
{
	return pairs_of(t, 0, slot, n);
}

static void goes_to_the_agent_where_it_is_not_simple(void **state)
{
	struct dp_call_entry *calls = dp_at(dp_arena.control.call_off);
	struct thread t = { .stack = stack_at(0), .fast = true };
	u32 i;

	/* The first call of a block */
	assert_int_equal(pairs(&t, 7, 1), 1);
	assert_int_equal(pairs(&t, 7, 1000), 0);
	assert_int_equal(pairs(&t, 8, 1000), 0);
	/* What control has taken back */
	calls[number_of(0, RETURN)] = (struct dp_call_entry){ 0 };
	assert_int_equal(pairs(&t, 7, 10), 10);
	calls[number_of(0, ENTER)] = (struct dp_call_entry){ 0 };
	assert_int_equal(pairs(&t, 7, 10), 20);
	setup(NULL);
	/* An entry that is an exit now */
	pairs(&t, 7, 1);
	calls[number_of(0, ENTER)].counter ^= DP_CALL_ENTER | DP_CALL_EXIT;
	assert_int_equal(pairs(&t, 7, 10), 10);
	setup(NULL);
	/* A fork child, or a thread without a restartable sequence */
	pairs(&t, 7, 1);
	memset(dp_table, 0, sizeof(dp_table));
	assert_int_equal(pairs(&t, 7, 10), 20);
	setup(NULL);
	/* Another call is at the slot, in the same frame. */
	((struct dp_probe_entry *)dp_probe(number_of(2, ENTER)))->way |=
		DP_WAY_SHARED;
	t.stack[7] = 0x1000;
	hit(&t, 2, ENTER, (u64)&t.stack[7]);
	assert_int_equal(pairs_in_frame(&t, 7, 10), 20);
	hit(&t, 2, RETURN, (u64)&t.stack[7]);
	assert_int_equal(pairs(&t, 7, 10), 0);
	/* Another call was at the slot, and is in nobody's way for long. */
	enter(&t, 2, 7);
	assert_int_equal(pairs(&t, 7, 10), 1);
	/* A block in its second line, and in a farther one */
	setup(NULL);
	for (i = 0; i < 2; i++) {
		u64 tag = dp_block_tag((u64)&t.stack[7]);
		u32 home = dp_block_home(tag, BLOCKS - 1);
		struct dp_block *lines = dp_at(dp_arena.control.block_off);

		lines[home ^ i].tag = DP_BLOCK_BYTES;
		pairs(&t, 7, 1);
		assert_int_equal(lines[home ^ (i + 1)].tag, tag);
		assert_int_equal(pairs(&t, 7, 10), i ? 20 : 0);
		lines[home ^ (i + 1)].tag = 0;
	}
}

/* A number of counts is in doubt: the thread was interrupted for good. */
static void leaves_what_is_in_doubt_to_the_agent(void **state)
{
	struct thread t = { .stack = stack_at(0), .fast = true };
	struct dp_exit_instance *v;
	u32 i;

	pairs(&t, 7, 1);
	for (i = 0; i < 2; i++) {
		enter(&t, 0, 7);
		v = (void *)((char *)dp_at(dp_arena.control.blocks_off));
		while (!v->group)
			v = (void *)((char *)v +
				     dp_arena.control.instance_stride);
		assert_int_equal(v->state, DP_INSTANCE_LIVE);
		v->state = DP_INSTANCE_DOUBT;
		if (i)
			hit(&t, 0, RETURN, (u64)&t.stack[7]);
		else
			enter(&t, 0, 7);
		assert_int_equal(dp_fake_tally(0, DP_TALLY_CUT), i + 1);
		if (!i)
			hit(&t, 0, RETURN, (u64)&t.stack[7]);
	}
	assert_int_equal(see().used, 0);
}

static struct dp_stream *stream_here(void)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return dp_at(c->stream_off +
		     ((u32)sched_getcpu() & c->shard_mask) * c->stream_stride);
}

static struct dp_exit_instance *instance_at(const u64 *slot)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_block *lines = dp_at(c->block_off);
	u64 tag = dp_block_tag((u64)slot);
	u32 i = 0;

	while (lines[i].tag != tag)
		i++;
	return (void *)((char *)dp_at(c->blocks_off) +
			(i * DP_BLOCK_WORDS + dp_block_word((u64)slot)) *
				c->instance_stride);
}

static struct dp_block *line_of(const u64 *slot)
{
	struct dp_block *lines = dp_at(dp_arena.control.block_off);
	u64 tag = dp_block_tag((u64)slot);

	while (lines->tag != tag)
		lines++;
	return lines;
}

/* It has no blocks: neither is one looked at, nor is anything counted. */
static void a_fork_child_has_no_part_in_it(void **state)
{
	struct thread t = { .stack = stack_at(0), .fast = true };
	u64 counted, instances;
	u32 function;

	for (function = 0; function < FUNCTIONS; function++) {
		pairs_of(&t, function, 7, 2);
		instances = line_of(&t.stack[7])->instances;
		counted = see().counts[number_of(function, ENTER)];
		dp_wipe.owner = 0;
		line_of(&t.stack[7])->instances = 64;
		enter(&t, function, 7);
		leave(&t, RETURN);
		line_of(&t.stack[7])->instances = instances;
		dp_wipe.owner = DP_FAKE_PID;
		assert_int_equal(see().counts[number_of(function, ENTER)],
				 counted);
		assert_int_equal(instance_at(&t.stack[7])->word, 0);
	}
}

/* So a tool that looks at a call twice sees whether it is the same. */
static void each_call_has_a_number(void **state)
{
	struct thread t = { .stack = stack_at(0), .fast = true };
	u32 function, before;

	for (function = 0; function < FUNCTIONS; function++) {
		pairs_of(&t, function, 7, 1);
		before = instance_at(&t.stack[7])->serial;
		assert_int_equal(pairs_of(&t, function, 7, 10), 0);
		assert_int_equal(instance_at(&t.stack[7])->serial, before + 10);
	}
}

/* Of a record that has been made last */
static const struct dp_stream_call *last_call(u64 head)
{
	return (void *)((char *)(stream_here() + 1) +
			((head - sizeof(struct dp_stream_call)) &
			 (STREAM - 1)));
}

/* When a call begins, and ends, and whose it is; all around a stream, as long as there is room */
static void calls_are_timed(void **state)
{
	struct thread t = { .stack = stack_at(0), .fast = true };
	const struct dp_stream_call *r;
	struct dp_stream *stream;
	u64 before, between, last = 0;
	cpu_set_t set;
	u32 i;

	sched_getaffinity(0, sizeof(set), &set);
	stay_here();
	stream = stream_here();
	pairs_of(&t, 1, 7, 1);
	stream->head = 0;
	stream->limit = 3 * STREAM;
	for (i = 0; i * sizeof(*r) < 3 * STREAM; i++) {
		before = __rdtsc();
		enter(&t, 1, 7);
		between = __rdtsc();
		leave(&t, RETURN);
		assert_int_equal(stream->head, (i + 1) * sizeof(*r));
		assert_int_equal(instance_at(&t.stack[7])->tid,
				 syscall(SYS_gettid));
		r = last_call(stream->head);
		assert_in_range(r->entered, before, between);
		assert_in_range(r->ticks, between, __rdtsc());
		assert_true(r->ticks > last);
		last = r->ticks;
		assert_int_equal(r->tid, syscall(SYS_gettid));
		assert_int_equal(dp_stream_probe(r->what),
				 number_of(1, RETURN));
		assert_int_equal(r->value, 1);
		assert_ptr_equal((void *)r->slot, &t.stack[7]);
	}
	assert_int_equal(dp_fake_count_calls(number_of(1, RETURN)), 0);
	/* The agent tallies what is lost. */
	assert_int_equal(pairs_of(&t, 1, 7, 10), 10);
	assert_int_equal(dp_fake_tally(number_of(1, ENTER), DP_TALLY_LOST), 10);
	assert_int_equal(stream->head, i * sizeof(*r));
	sched_setaffinity(0, sizeof(set), &set);
}

/* A thread is stepped to where it has just counted. @store: bytes of the store ahead of @start */
static struct {
	u64 start, pc, store, steps;
	const u64 *slot;
	struct dp_exit_instance is;
} stop;

/* The store that says that a sequence begins is left out: the kernel would start it anew at each
 * step. */
static void step_on(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	u64 pc = (u64)regs[REG_RIP];

	if (pc == stop.start - stop.store)
		regs[REG_RIP] += (greg_t)stop.store;
	if (pc == stop.pc)
		stop.is = *instance_at(stop.slot);
	if (pc == stop.pc || stop.steps++ == 1000)
		regs[REG_EFL] &= ~0x100;
}

static void stop_in_code(u32 function, u32 kind)
{
	const s32 *at = dp_call_sequences +
			3 * (2 * is_timed(function) + (kind != ENTER));

	stop.start = (u64)dp_call_sequences + (u64)(s64)at[0];
	stop.pc = (u64)dp_call_sequences + (u64)(s64)at[1];
	stop.store = 5; /* mov %rdx, %fs:8(%rcx) */
}

/* Of a restartable sequence (linux/rseq.h): where it starts, its bytes, and where it is begun anew */
static const u64 *sequence_of(u32 function, u32 kind)
{
	const u64 code = (u64)detours[number_of(function, kind)],
		  *descriptor = (void *)code;

	while (descriptor[0] || descriptor[1] - code >= sizeof(*detours))
		descriptor += 4;
	return &descriptor[1];
}

static void stop_in_detour(u32 function, u32 kind)
{
	const u64 *sequence = sequence_of(function, kind);

	stop.start = sequence[0];
	stop.pc = sequence[0] + sequence[1];
	stop.store = 9; /* mov %rdx, %fs:rseq_cs */
}

static void step_to_the_count(struct thread *t, u32 function, u32 kind)
{
	if (by_detours && !is_timed(function))
		stop_in_detour(function, kind);
	else
		stop_in_code(function, kind);
	stop.slot = &t->stack[7];
	stop.steps = 0;
	steps = true;
	if (kind == ENTER)
		enter(t, function, 7);
	else
		leave(t, kind);
	steps = false;
	assert_in_range(stop.steps, 20, 200);
	assert_int_equal(stop.is.group, number_of(function, ENTER) + 1);
	assert_int_equal(stop.is.state, DP_INSTANCE_DOUBT);
}

/* A signal's handler that does not return from there leaves what says so. */
static void what_is_being_counted_is_in_doubt(void **state)
{
	struct thread t = { .stack = stack_at(0), .fast = true };
	struct sigaction action = { .sa_sigaction = step_on,
				    .sa_flags = SA_SIGINFO };
	u32 i;

	sigaction(SIGTRAP, &action, NULL);
	pairs(&t, 7, 1);
	for (i = 0; i < 2; i++) {
		step_to_the_count(&t, i, ENTER);
		assert_int_equal(instance_at(&t.stack[7])->state,
				 DP_INSTANCE_LIVE);
		step_to_the_count(&t, i, RETURN);
		assert_int_equal(instance_at(&t.stack[7])->word, 0);
	}
	signal(SIGTRAP, SIG_DFL);
}

/* At the @at-th step from the site on, control gives the block back. The thread that it has stopped in a
 * sequence begins that anew, which is the kernel's work. */
static struct {
	u64 at, steps, abort;
	bool counted;
} given;

static void give_back(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	u64 pc = (u64)regs[REG_RIP];

	given.counted = pc == stop.pc;
	if (given.counted || ++given.steps == given.at) {
		if (!given.counted)
			line_of(stop.slot)->tag = 0;
		if (pc >= stop.start && pc < stop.pc)
			regs[REG_RIP] = (greg_t)given.abort;
		regs[REG_EFL] &= ~0x100;
	} else if (pc == stop.start - stop.store) {
		regs[REG_RIP] += (greg_t)stop.store;
	}
}

/* Until it has counted, a thread uses no block that was given back while it was stopped. */
static void a_stopped_thread_has_no_block_in_hand(void **state)
{
	struct thread t = { .stack = stack_at(0), .fast = true };
	struct sigaction action = { .sa_sigaction = give_back,
				    .sa_flags = SA_SIGINFO };
	u64 before;

	if (!by_detours)
		return;
	sigaction(SIGTRAP, &action, NULL);
	stop_in_detour(0, ENTER);
	given.abort = sequence_of(0, ENTER)[2];
	stop.slot = &t.stack[7];
	for (given.at = 1; given.at < 200; given.at++) {
		pairs(&t, 7, 2);
		before = by_the_agent();
		given.steps = 0;
		steps = true;
		enter(&t, 0, 7);
		steps = false;
		if (given.counted)
			break;
		assert_int_equal(by_the_agent() - before, 1);
		leave(&t, RETURN);
	}
	leave(&t, RETURN);
	assert_in_range(given.at, 20, 199);
	assert_int_equal(dp_fake_count_calls(number_of(0, ENTER)),
			 t.entered[0]);
	assert_int_equal(dp_fake_count_calls(number_of(0, RETURN)),
			 t.entered[0]);
	assert_int_equal(see().used, 0);
	signal(SIGTRAP, SIG_DFL);
}

static struct thread *interrupted;

/* Calls of the handler's own, farther down the stack */
static void handle(int signal)
{
	pairs(interrupted, 3, 2);
}

static void interrupt_every(u32 us)
{
	struct itimerval t = { { 0, us }, { 0, us } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void interruptions_lose_nothing(void **state)
{
	static struct seen s;
	struct thread *t = calloc(1, sizeof(*t)), own = { .fast = true };
	u64 entered = 0, left = 0, counted = 0;
	u32 i;

	assert_non_null(t);
	own.stack = stack_at(1);
	interrupted = &own;
	*t = (struct thread){ .seed = 5, .stack = stack_at(0), .fast = true };
	signal(SIGALRM, handle);
	interrupt_every(20);
	for (i = 0; i < 400000; i++) {
		enter(t, i % FUNCTIONS, 9);
		leave(t, RETURN);
	}
	interrupt_every(0);
	s = see();
	for (i = 0; i < FUNCTIONS; i++) {
		entered += t->entered[i] + own.entered[i];
		left += t->left[i] + own.left[i];
		counted += s.counts[number_of(i, ENTER)];
		counted -= s.counts[number_of(i, RETURN)];
		assert_int_equal(
			dp_fake_tally(number_of(i, ENTER), DP_TALLY_CUT), 0);
	}
	assert_int_equal(entered, left);
	assert_int_equal(counted, 0);
	assert_int_equal(s.used, 0);
	assert_true(own.entered[0] > 100 && s.by_code > 10000);
	counted = 0;
	for (i = 0; i < FUNCTIONS; i++)
		counted += dp_fake_count_calls(number_of(i, ENTER));
	assert_int_equal(counted, entered);
	free(t);
}

/* Pinned: threads that are on two CPUs for sure */
static void *run_pinned(void *arg)
{
	struct thread *t = arg;
	cpu_set_t set;
	u32 i;

	for (i = 0; i < 300000; i++) {
		if (i % 1000 == 0) {
			CPU_ZERO(&set);
			CPU_SET((i / 1000 + t->seed) % 2, &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		enter(t, i % FUNCTIONS, 20 + i % 50);
		leave(t, i % 3 ? RETURN : TAIL);
	}
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	static struct seen s;
	struct thread *t = calloc(4, sizeof(*t));
	u64 entered[FUNCTIONS] = { 0 };
	pthread_t id[4];
	u32 i, k;

	assert_non_null(t);
	for (i = 0; i < 4; i++) {
		t[i] = (struct thread){ .seed = i,
					.stack = stack_at(i),
					.fast = true };
		assert_int_equal(
			pthread_create(&id[i], NULL, run_pinned, &t[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(id[i], NULL);
		for (k = 0; k < FUNCTIONS; k++)
			entered[k] += t[i].entered[k];
	}
	s = see();
	for (k = 0; k < FUNCTIONS; k++) {
		assert_int_equal(dp_fake_count_calls(number_of(k, ENTER)),
				 entered[k]);
		assert_int_equal(s.counts[number_of(k, RETURN)] +
					 s.counts[number_of(k, TAIL)],
				 entered[k]);
	}
	assert_int_equal(s.used, 0);
	assert_true(s.by_code > 10000);
	free(t);
}

static int with_detours(void **state)
{
	by_detours = true;
	return setup(state);
}

static int without(void **state)
{
	by_detours = false;
	return 0;
}

#define BOTH(test)                           \
	cmocka_unit_test_setup(test, setup), \
		cmocka_unit_test_setup_teardown(test, with_detours, without)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(leaves_what_the_agent_leaves),
		BOTH(goes_to_the_agent_where_it_is_not_simple),
		BOTH(leaves_what_is_in_doubt_to_the_agent),
		BOTH(what_is_being_counted_is_in_doubt),
		BOTH(a_stopped_thread_has_no_block_in_hand),
		BOTH(interruptions_lose_nothing),
		BOTH(threads_lose_nothing),
		BOTH(a_fork_child_has_no_part_in_it),
		BOTH(each_call_has_a_number),
		cmocka_unit_test_setup(calls_are_timed, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
