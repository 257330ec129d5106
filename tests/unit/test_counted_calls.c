// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * counted_calls: the code that begins and ends calls without the agent, against the agent: the same
 * calls, one way and the other, leave the same counts, tallies and instances. Interruptions lose
 * nothing, and no register is another.
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
#include <sys/time.h>
#include "engine/hit/hit.h"
#include "engine/insn/callout.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "port/fake/hit/world.h"

#define FUNCTIONS 4
#define SLOTS 2048 /* words of a stack */
#define BELOW 4096 /* bytes that the code may use below a slot */
#define LINES 64
#define BLOCKS 32
#define ARITHMETIC 0x8d5ull /* flags */

void dp_enter_entry(void);
void dp_exit_entry(void);
void dp_hit_entry(void);

/** struct through - a call-out: registers before and after it
 *  @sp: the stack pointer at the site; @number: of the call-out; @entry: where it goes */
struct through {
	u64 ax, cx, dx, si, di, r8, r9, r10, r11, bp, flags;
	u64 sp, number, entry;
};

/* rbx and r12 are left for this code. */
void call_out(struct through *r);
__asm__(".text\n"
	"call_out:\n"
	"	push %rbx; push %r12; push %rbp\n"
	"	mov %rdi, %rbx\n"
	"	mov %rsp, %r12\n"
	"	push 80(%rbx); popfq\n"
	"	mov 0(%rbx), %rax; mov 8(%rbx), %rcx; mov 16(%rbx), %rdx\n"
	"	mov 24(%rbx), %rsi; mov 32(%rbx), %rdi; mov 40(%rbx), %r8\n"
	"	mov 48(%rbx), %r9; mov 56(%rbx), %r10; mov 64(%rbx), %r11\n"
	"	mov 72(%rbx), %rbp\n"
	"	mov 88(%rbx), %rsp\n"
	"	lea -128(%rsp), %rsp\n"
	"	push 96(%rbx)\n"
	"	call *104(%rbx)\n"
	"	lea 136(%rsp), %rsp\n"
	"	mov %rsp, 88(%rbx)\n"
	"	mov %r12, %rsp\n"
	"	mov %rax, 0(%rbx); mov %rcx, 8(%rbx); mov %rdx, 16(%rbx)\n"
	"	mov %rsi, 24(%rbx); mov %rdi, 32(%rbx); mov %r8, 40(%rbx)\n"
	"	mov %r9, 48(%rbx); mov %r10, 56(%rbx); mov %r11, 64(%rbx)\n"
	"	mov %rbp, 72(%rbx)\n"
	"	pushfq; pop 80(%rbx)\n"
	"	pop %rbp; pop %r12; pop %rbx\n"
	"	ret\n");

/* Sites and probes of a function: its entry, a return, and a jump to another function */
enum { ENTER, RETURN, TAIL, KINDS };

static u32 number_of(u32 function, u32 kind)
{
	return function * KINDS + kind;
}

static void make_probe(u32 function, u32 kind)
{
	u32 n = number_of(function, kind);
	struct dp_call_entry *calls = dp_at(dp_arena.control.call_off);
	struct dp_probe_entry *p;

	dp_fake_site(n, 0x400000 + n * 16);
	p = dp_fake_probe(n, n, kind == ENTER ? DP_KIND_ENTER : DP_KIND_EXIT);
	p->group = kind == ENTER ? DP_NO_GROUP : number_of(function, ENTER);
	p->way = kind == TAIL ? DP_WAY_TAIL : 0;
	calls[n] = (struct dp_call_entry){
		.counter = (dp_arena.control.probe_counters + n) * 8 +
			   (kind == ENTER ? DP_CALL_ENTER : DP_CALL_EXIT),
		.group = number_of(function, ENTER) + 1,
	};
}

static int setup(void **state)
{
	u32 i, k;

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_instances(LINES, 0);
	dp_fake_blocks(BLOCKS);
	dp_arena.control.tail_target = 1;
	for (i = 0; i < FUNCTIONS; i++)
		for (k = 0; k < KINDS; k++)
			make_probe(i, k);
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

static void hit(const struct thread *t, u32 function, u32 kind, u64 sp)
{
	static const struct through all = { 1, 2, 3,  4, 5, 6, 7,
					    8, 9, 10, 0, 0, 0, 0 };
	struct through r = all;
	u64 flags = t->seed & ARITHMETIC;

	r.flags = flags | 0x202;
	r.sp = sp;
	r.number = number_of(function, kind) | DP_CALLOUT_UNCOUNTED;
	r.entry = !t->fast	? (u64)dp_hit_entry :
		  kind == ENTER ? (u64)dp_enter_entry :
				  (u64)dp_exit_entry;
	call_out(&r);
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
	case 2: /* a return of a call that was not tracked */
		hit(t, (u32)randomly(&t->seed) % FUNCTIONS, RETURN,
		    (u64)&t->stack[randomly(&t->seed) % SLOTS]);
		break;
	case 3: /* no stack pointer that a call has */
		hit(t, 0, randomly(&t->seed) % KINDS,
		    (u64)&t->stack[SLOTS / 2] + 1 + randomly(&t->seed) % 7);
		break;
	case 4:
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

/** struct seen - what is left of many calls */
struct seen {
	u64 counts[FUNCTIONS * KINDS];
	u64 tallies[FUNCTIONS * KINDS][DP_TALLY_NR];
	u32 used;
	u64 sum;
};

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
		s->sum += (v->word ^ v->ret << 8 ^ (u64)v->serial << 40) *
			  (lines[i / DP_BLOCK_WORDS].tag * DP_BLOCK_WORDS +
			   i % DP_BLOCK_WORDS);
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
}

static void leaves_what_the_agent_leaves(void **state)
{
	struct seen fast, slow;
	u64 seed;

	for (seed = 1; seed <= 100; seed++) {
		fast = run_once(seed, true);
		slow = run_once(seed, false);
		expect_same(&fast, &slow);
		assert_true(fast.counts[ENTER] > 50 &&
			    fast.counts[RETURN] > 20);
		assert_true(fast.counts[TAIL] > 5 && fast.used);
	}
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

/* A pair at a slot, @n times. Return: hits that the agent has seen. */
static u64 pairs(struct thread *t, u32 slot, u32 n)
{
	u64 before = by_the_agent();

	while (n--) {
		enter(t, 0, slot);
		leave(t, RETURN);
	}
	return by_the_agent() - before;
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
	/* Another call is at the slot. */
	enter(&t, 1, 7);
	assert_int_equal(pairs(&t, 7, 10), 20);
	hit(&t, 1, RETURN, (u64)&t.stack[7]);
	assert_int_equal(pairs(&t, 7, 10), 0);
	/* A block in its second line, and in a farther one */
	setup(NULL);
	for (i = 0; i < 2; i++) {
		u64 tag = dp_block_tag((u64)&t.stack[7]);
		u32 home = dp_block_home(tag, BLOCKS - 1);
		struct dp_block *lines = dp_at(dp_arena.control.block_off);

		lines[home ^ i].tag = 1;
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
	for (i = 0; i < FUNCTIONS; i++) {
		entered += t->entered[i] + own.entered[i];
		left += t->left[i] + own.left[i];
		counted += dp_fake_count_calls(number_of(i, ENTER));
		counted -= dp_fake_count_calls(number_of(i, RETURN));
		assert_int_equal(
			dp_fake_tally(number_of(i, ENTER), DP_TALLY_CUT), 0);
	}
	assert_int_equal(entered, left);
	assert_int_equal(counted, 0);
	assert_int_equal(see().used, 0);
	assert_true(own.entered[0] > 100);
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
	for (k = 0; k < FUNCTIONS; k++) {
		assert_int_equal(dp_fake_count_calls(number_of(k, ENTER)),
				 entered[k]);
		assert_int_equal(
			dp_fake_count_calls(number_of(k, RETURN)) +
				dp_fake_count_calls(number_of(k, TAIL)),
			entered[k]);
	}
	assert_int_equal(see().used, 0);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(leaves_what_the_agent_leaves, setup),
		cmocka_unit_test_setup(goes_to_the_agent_where_it_is_not_simple,
				       setup),
		cmocka_unit_test_setup(leaves_what_is_in_doubt_to_the_agent,
				       setup),
		cmocka_unit_test_setup(interruptions_lose_nothing, setup),
		cmocka_unit_test_setup(threads_lose_nothing, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
