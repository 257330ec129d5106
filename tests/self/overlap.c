// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * overlap: probes at every instruction of small functions, within five bytes of
 * each other, in every order of coming and going; and of one that is entered at each of
 * its instructions.
 *
 * STEPS: random ones.
 */
#include "tests/self/self.h"
#include "tests/victims/dense.h"

/* Instructions of 1 to 4 bytes; dense_at: their offsets. */
__asm__(".text\n.balign 64\n"
	".globl dense\n.type dense, @function\n"
	"dense:\n.cfi_startproc\n"
	"push %rbp\n mov %rsp, %rbp\n push %rbx\n xor %eax, %eax\n nop\n"
	"lea 3(%rdi), %rax\n pop %rbx\n nop\n nop\n add %rdi, %rax\n"
	"xchg %rax, %rcx\n xchg %rax, %rcx\n leave\n ret\n"
	".cfi_endproc\n.size dense, .-dense\n"
	".balign 16\n");
long dense(long a);

static const int dense_at[] = { 0, 1, 4, 5, 7, 8, 12, 13, 14, 15, 18, 20, 22 };
#define SITES (sizeof(dense_at) / sizeof(dense_at[0]))

static struct kprobe probes[SITES];
static volatile long counts[SITES];
static volatile long calls, stop_all;

static DP_HANDLER_GPR int count(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&counts[p - probes], 1, __ATOMIC_RELAXED);
	return 0;
}

static void set(size_t i)
{
	probes[i] = (struct kprobe){
		.addr = (kprobe_opcode_t *)dense + dense_at[i],
		.pre_handler = count,
	};
}

enum state { AWAY, ON, OFF };
static enum state states[SITES];

/* Call it once, and see who counts. */
static int check(void)
{
	long before[SITES];
	unsigned long hits[SITES];
	size_t i;

	for (i = 0; i < SITES; i++) {
		before[i] = counts[i];
		hits[i] = dp_kprobe_hits(&probes[i]);
	}
	EXPECT(dense(5) == 13);
	for (i = 0; i < SITES; i++) {
		if (counts[i] - before[i] != (states[i] == ON) ||
		    (states[i] == ON &&
		     dp_kprobe_hits(&probes[i]) != hits[i] + 1)) {
			printf("# +%d, %d: %ld, %lu\n", dense_at[i], states[i],
			       counts[i] - before[i],
			       dp_kprobe_hits(&probes[i]) - hits[i]);
			return 1;
		}
	}
	return 0;
}

static int change(size_t i, enum state to)
{
	if (states[i] == AWAY && to != AWAY) {
		set(i);
		probes[i].flags = to == OFF ? KPROBE_FLAG_DISABLED : 0;
		EXPECT(!register_kprobe(&probes[i]));
	} else if (to == AWAY && states[i] != AWAY) {
		unregister_kprobe(&probes[i]);
	} else if (to != states[i]) {
		EXPECT(!(to == ON ? enable_kprobe(&probes[i]) :
				    disable_kprobe(&probes[i])));
	}
	states[i] = to;
	return 0;
}

/* All walks of so many steps over the states of three neighbours. */
static int walk(size_t from, int steps)
{
	enum state was[3], to;
	size_t i;

	if (!steps)
		return 0;
	for (i = 0; i < 3; i++)
		for (to = AWAY; to <= OFF; to++) {
			was[i] = states[from + i];
			if (to == was[i])
				continue;
			if (change(from + i, to) || check() ||
			    walk(from, steps - 1) || change(from + i, was[i]) ||
			    check())
				return 1;
		}
	return 0;
}

static int exhaustive(void *arg)
{
	struct text text = text_of("/proc/self/exe");
	size_t from;

	text_note(&text);
	for (from = 0; from < 7; from++)
		if (walk(from, 4))
			return 1;
	EXPECT(!text_differs(&text));
	return 0;
}

static void *calls_it(void *arg)
{
	while (!stop_all)
		if (dense(7) != 17)
			abort();
		else
			calls++;
	return NULL;
}

static int at_random(void *arg)
{
	struct text text = text_of("/proc/self/exe");
	long steps = amount("TOGGLES", 3000), i;
	unsigned int seed = 3;
	pthread_t thread;
	bool load = arg;
	size_t k;

	text_note(&text);
	if (load)
		pthread_create(&thread, NULL, calls_it, NULL);
	for (i = 0; i < steps; i++) {
		if (change(draw(&seed) % SITES, draw(&seed) % 3))
			return 1;
		if (!load && check())
			return 1;
		if (i % 64 == 63) {
			dp_kprobes_optimization((int)(draw(&seed) % 2));
			dp_kprobes_enabled(0);
			EXPECT(dense(5) == 13);
			dp_kprobes_enabled(1);
		}
	}
	if (load) {
		stop_all = 1;
		pthread_join(thread, NULL);
		EXPECT(calls > 1000);
		if (check())
			return 1;
	}
	for (k = 0; k < SITES; k++)
		if (change(k, AWAY))
			return 1;
	EXPECT(!text_differs(&text));
	return 0;
}

/* The same for instructions that are all entered. */
#define STEPS_MAX 32
#define PAIR_SPAN 8 /* bytes between two that are tried together */
static struct kprobe step_probes[STEPS_MAX];
static long step_counts[STEPS_MAX];
static bool step_in[STEPS_MAX];
static volatile int wrong_sums;

static DP_HANDLER_GPR int count_step(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&step_counts[p - step_probes], 1, __ATOMIC_RELAXED);
	return 0;
}

static int toggle_step(long k)
{
	if (step_in[k]) {
		unregister_kprobe(&step_probes[k]);
	} else {
		step_probes[k] = (struct kprobe){
			.addr = (kprobe_opcode_t *)dense_table[k].at,
			.pre_handler = count_step,
		};
		EXPECT(!register_kprobe(&step_probes[k]));
	}
	step_in[k] = !step_in[k];
	return 0;
}

/* Enter at each, and see who counts. */
static int check_steps(void)
{
	long n = dense_steps(), before[STEPS_MAX], from, k;

	for (from = 0; from < n; from++) {
		memcpy(before, step_counts, sizeof(before));
		EXPECT(dense_enter(from) == dense_sum(from));
		for (k = 0; k < n; k++)
			if (step_counts[k] - before[k] !=
			    (step_in[k] && k >= from)) {
				fflush(stdout),
					printf("# from %ld: the %ldth counts %ld\n",
					       from, k,
					       step_counts[k] - before[k]);
				fflush(stdout);
				return 1;
			}
	}
	return 0;
}

/* The way of a pair: both come and go, in both orders. */
static int pair(long a, long b)
{
	const long ways[][4] = { { a, b, a, b }, { a, b, b, a } };
	int w, i;

	for (w = 0; w < 2; w++)
		for (i = 0; i < 4; i++)
			if (toggle_step(ways[w][i]) || check_steps())
				return 1;
	return 0;
}

static int pairs(void *arg)
{
	struct text text = text_of("/proc/self/exe");
	long n = dense_steps(), a, b;

	EXPECT(n <= STEPS_MAX);
	text_note(&text);
	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++)
			if (a != b &&
			    labs(dense_table[a].at - dense_table[b].at) <=
				    PAIR_SPAN &&
			    pair(a, b))
				return 1;
	EXPECT(!text_differs(&text));
	return 0;
}

static void *enters_it(void *arg)
{
	unsigned int seed = 7;
	long k;

	while (!stop_all) {
		k = (long)(draw(&seed) % (unsigned int)dense_steps());
		wrong_sums += dense_enter(k) != dense_sum(k);
		calls++;
	}
	return NULL;
}

static int steps_at_random(void *arg)
{
	struct text text = text_of("/proc/self/exe");
	long n = dense_steps(), rounds = amount("TOGGLES", 3000), i;
	unsigned int seed = 5;
	pthread_t thread[2];
	bool load = arg;

	text_note(&text);
	for (i = 0; load && i < 2; i++)
		pthread_create(&thread[i], NULL, enters_it, NULL);
	for (i = 0; i < rounds; i++)
		if (toggle_step((long)(draw(&seed) % (unsigned int)n)) ||
		    (!load && check_steps()))
			return 1;
	stop_all = 1;
	for (i = 0; load && i < 2; i++)
		pthread_join(thread[i], NULL);
	EXPECT(!load || calls > 1000);
	EXPECT(!wrong_sums);
	for (i = 0; i < n; i++)
		if (step_in[i] && toggle_step(i))
			return 1;
	EXPECT(!check_steps());
	EXPECT(!text_differs(&text));
	return 0;
}

/* Of what a probe costs nobody is to pay for a trap because of its neighbours. */
static int all_are_jumps(void *arg)
{
	struct kprobe *all[SITES];
	size_t i, jumps = 0;

	for (i = 0; i < SITES; i++) {
		set(i);
		all[i] = &probes[i];
		states[i] = ON;
	}
	EXPECT(!register_kprobes(all, (int)SITES));
	for (i = 0; i < SITES; i++)
		jumps += !!(probes[i].flags & KPROBE_FLAG_OPTIMIZED);
	/* Behind the leave the function has no five bytes more. Far down no jump can have a
	 * breakpoint in its fifth byte, as a site there would want it. */
	EXPECT(jumps >= ((uint64_t)dense >> 31 ? SITES - 2 : SITES / 2));
	if (check())
		return 1;
	for (i = 0; i < SITES; i++)
		if (change(i, i % 2 ? OFF : ON) || check())
			return 1;
	unregister_kprobes(all, (int)SITES);
	return 0;
}

int main(void)
{
	const char *arm = getenv("DPROBES_ARM");

	if (!arm || !strcmp(arm, "interior"))
		ok_child(all_are_jumps, NULL, 250, "all are jumps");
	ok_child(exhaustive, NULL, 250, "every walk of three neighbours");
	ok_child(at_random, NULL, 250, "all instructions, at random");
	ok_child(at_random, states, 250, "… while another thread runs there");
	ok_child(pairs, NULL, 250, "every pair, entered at each instruction");
	ok_child(steps_at_random, NULL, 250, "all, entered at each, at random");
	ok_child(steps_at_random, states, 250,
		 "… while two threads enter them");
	return plan();
}
