// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* hit: what handlers are given, what they may change, and when they are called. */
#include "conform.h"
#include "victims.h"

/* --- what a pre_handler sees --- */

static struct pt_regs seen, seen_after;
static const struct kprobe *seen_probe;
static unsigned long seen_flags = 1;

static int see_pre(struct kprobe *p, struct pt_regs *regs)
{
	seen = *regs;
	seen_probe = p;
	count(&counts.pre);
	return 0;
}

static void see_post(struct kprobe *p, struct pt_regs *regs,
		     unsigned long flags)
{
	seen_after = *regs;
	seen_probe = p;
	seen_flags = flags;
	count(&counts.post);
}

/* Values for v_regs(): all different, and flags that a program may have. */
#define REGS 15
#define FLAGS 15
#define SP 16
#define ALL_FLAGS 0x8d5ul /* OF SF ZF AF PF CF */

static void fill_regs(unsigned long *in)
{
	int i;

	for (i = 0; i < REGS; i++)
		in[i] = 0x1111000000000001ul * (i + 1);
	in[FLAGS] = 0x202 | 0x891; /* OF SF AF CF */
}

TEST(row_010_pre_handler_gets_its_probe_and_all_registers)
{
	unsigned long in[17], out[17], *regs = (unsigned long *)&seen;
	struct kprobe kp = { .addr = v_regs_at, .pre_handler = see_pre };
	unsigned long cs, ss;
	int i;

	__asm__("mov %%cs, %0; mov %%ss, %1" : "=r"(cs), "=r"(ss));
	fill_regs(in);
	must(register_kprobe(&kp));
	v_regs(in, out);
	unregister_kprobe(&kp);
	check_eq(counts.pre, 1);
	check(seen_probe == &kp);
	for (i = 0; i < REGS; i++)
		check_eq(regs[i], in[i]);
	check_eq(seen.flags & ALL_FLAGS, in[FLAGS] & ALL_FLAGS);
	check_eq(seen.sp, out[SP]);
	check_eq(seen.orig_ax, -1);
	check_eq(seen.cs, cs);
	check_eq(seen.ss, ss);
}

TEST(row_010_062_registers_are_as_before_behind_the_probe)
{
	unsigned long in[17], out[17];
	struct kprobe kp = { .addr = v_regs_at,
			     .pre_handler = see_pre,
			     .post_handler = see_post };
	int i, round;

	for (round = 0; round < 2; round++) {
		fill_regs(in);
		must(register_kprobe(&kp));
		v_regs(in, out);
		unregister_kprobe(&kp);
		for (i = 0; i < REGS; i++)
			check_eq(out[i], in[i]);
		check_eq(out[FLAGS], in[FLAGS]);
		kp.post_handler = NULL;
	}
}

TEST(row_115_ip_is_the_address_plus_one_in_every_mode)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = see_pre };

	must(register_kprobe(&kp));
	check_eq(v_mov(0, 0), 7);
	check_eq(seen.ip, (unsigned long)v_mov_at + 1);
	unregister_kprobe(&kp);
	kp.post_handler = see_post;
	must(register_kprobe(&kp));
	check_eq(v_mov(0, 0), 7);
	check_eq(seen.ip, (unsigned long)v_mov_at + 1);
	unregister_kprobe(&kp);
}

TEST(row_114_each_of_several_gets_itself)
{
	struct kprobe a = { .addr = (void *)c_plain, .pre_handler = see_pre };
	struct kprobe b = { .addr = (void *)c_other, .pre_handler = see_pre };

	must(register_kprobe(&a));
	must(register_kprobe(&b));
	c_plain(1, 1);
	check(seen_probe == &a);
	c_other(1, 1);
	check(seen_probe == &b);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
}

TEST(row_115_arguments_are_in_the_registers)
{
	struct kprobe kp = { .addr = (void *)c_six, .pre_handler = see_pre };
	unsigned int i;

	must(register_kprobe(&kp));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	for (i = 0; i < 6; i++)
		check_eq(regs_get_kernel_argument(&seen, i), i + 1);
	check_eq(instruction_pointer(&seen), (unsigned long)c_six + 1);
	check_eq(kernel_stack_pointer(&seen), seen.sp);
	check_eq(user_stack_pointer(&seen), seen.sp);
	unregister_kprobe(&kp);
}

/* --- what it changes --- */

static int change_all(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long *r = (unsigned long *)regs;
	int i;

	for (i = 0; i < REGS; i++)
		r[i] = ~r[i];
	regs->flags ^= ALL_FLAGS;
	return 0;
}

static void change_all_after(struct kprobe *p, struct pt_regs *regs,
			     unsigned long flags)
{
	change_all(p, regs);
}

/* Every round turns them back. */
static void changed(struct kprobe *kp, bool inverted)
{
	unsigned long in[17], out[17];
	int i;

	fill_regs(in);
	must(register_kprobe(kp));
	v_regs(in, out);
	unregister_kprobe(kp);
	for (i = 0; i < REGS; i++)
		check_eq(out[i], inverted ? ~in[i] : in[i]);
	check_eq(out[FLAGS], inverted ? in[FLAGS] ^ ALL_FLAGS : in[FLAGS]);
}

TEST(row_150_registers_that_a_pre_handler_changes_are_changed)
{
	struct kprobe kp = { .addr = v_regs_at, .pre_handler = change_all };

	changed(&kp, true);
}

TEST(row_150_registers_that_a_post_handler_changes_are_changed)
{
	struct kprobe kp = { .addr = v_regs_at,
			     .post_handler = change_all_after };

	changed(&kp, true);
	kp.pre_handler = change_all;
	changed(&kp, false);
}

/* To an instruction that a jump displaces */
static void go_back_once(struct kprobe *p, struct pt_regs *regs,
			 unsigned long flags)
{
	count(&counts.post);
	if (regs->ax == 7)
		regs->ip = (unsigned long)v_again_at + 4;
}

TEST_STILL(row_150_an_ip_that_a_post_handler_changes_is_obeyed)
{
	struct kprobe kp = { .addr = v_again_at, .pre_handler = see_pre },
		      last = { .addr = v_again_last,
			       .post_handler = go_back_once };

	must(register_kprobe(&kp));
	must(register_kprobe(&last));
	check(listed(v_again_at, "[OPTIMIZED]") == jumps());
	check_eq(v_again(0, 0), 13);
	check_eq(counts.pre, 1);
	check_eq(counts.post, 2);
	unregister_kprobe(&last);
	check_eq(v_again(0, 0), 7);
	unregister_kprobe(&kp);
}

static int go_elsewhere(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	regs->ip = (unsigned long)v_elsewhere;
	return 1;
}

static int return_at_once(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(long);
	regs->ax = regs->di + 1000;
	return 1;
}

TEST(row_016_a_handler_may_change_ip)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = go_elsewhere };

	must(register_kprobe(&kp));
	check_eq(c_plain(1, 1), 77);
	unregister_kprobe(&kp);
	check_eq(c_plain(1, 1), 4);
}

TEST(row_017_non_zero_means_no_step_and_the_given_address)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = return_at_once };
	long i;

	must(register_kprobe(&kp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 1000 + i);
	check_eq(counts.pre, ROUNDS);
	unregister_kprobe(&kp);
	check_eq(c_plain(1, 1), 4);
}

TEST(row_018_then_no_post_handler_is_called)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = return_at_once,
			     .post_handler = count_post };
	struct kprobe second = { .addr = (void *)c_plain,
				 .post_handler = count_post };

	must(register_kprobe(&kp));
	check_eq(c_plain(5, 1), 1005);
	must(register_kprobe(&second));
	check_eq(c_plain(5, 1), 1005);
	check_eq(counts.pre, 2);
	check_eq(counts.post, 0);
	unregister_kprobe(&kp);
	check_eq(c_plain(5, 1), 16);
	check_eq(counts.post, 1);
	unregister_kprobe(&second);
}

TEST(row_020_the_same_without_a_post_handler)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = go_elsewhere };

	check(dp_kprobes_optimization(0) >= 0);
	must(register_kprobe(&kp));
	check_eq(v_mov(0, 0), 77);
	unregister_kprobe(&kp);
}

/* The manual ignores it; doc/differences.md says why we do not. */
TEST_STILL(row_021_an_optimised_probe_obeys_a_changed_ip)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = go_elsewhere };

	must(register_kprobe(&kp));
	check(listed(v_mov_at, "[OPTIMIZED]") == jumps());
	check_eq(v_mov(0, 0), 77);
	unregister_kprobe(&kp);
}

static int skip_five(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)v_mov_next;
	regs->ax = 123;
	return 1;
}

TEST(row_151_an_instruction_can_be_replaced)
{
	struct kprobe kp = { .addr = v_mov_at, .pre_handler = skip_five };

	must(register_kprobe(&kp));
	check_eq(v_mov(0, 0), 123);
	unregister_kprobe(&kp);
	check_eq(v_mov(0, 0), 7);
}

static int skip_first(struct kprobe *p, struct pt_regs *regs)
{
	regs->ip = (unsigned long)v_two_at + 3;
	regs->ax = 100;
	return 1;
}

/* The second instruction is within the bytes that a jump displaces. */
TEST_STILL(row_017_the_given_address_may_be_within_a_jump)
{
	struct kprobe skips = { .addr = v_two_at, .pre_handler = skip_first },
		      plain = { .addr = v_two_at };

	must(register_kprobe(&skips));
	check(listed(v_two_at, "[OPTIMIZED]") == jumps());
	check_eq(v_two(3, 4), 104);
	unregister_kprobe(&skips);
	skips.addr = (void *)c_plain;
	must(register_kprobe(&skips));
	must(register_kprobe(&plain));
	check_eq(c_plain(3, 4), 104);
	unregister_kprobe(&plain);
	unregister_kprobe(&skips);
	check_eq(v_two(3, 4), 7);
}

static long fix_me;

static int fix(struct kprobe *p, struct pt_regs *regs)
{
	fix_me = regs->di;
	*(long *)regs->si = 99;
	return 0;
}

TEST(row_149_a_handler_may_change_the_programs_data)
{
	struct kprobe kp = { .addr = (void *)c_six, .pre_handler = fix };
	long theirs = 1;

	must(register_kprobe(&kp));
	c_six(55, (long)&theirs, 0, 0, 0, 0);
	check_eq(fix_me, 55);
	check_eq(theirs, 99);
	unregister_kprobe(&kp);
}

/* --- after exactly one instruction --- */

struct step {
	const char *name;
	victim_t *run;
	void *const *at, *const *next; /* where the thread goes on */
	unsigned long a, b, result;
};

#define STEP(v, a, b, result)                           \
	{                                               \
#v, v, &v##_at, &v##_next, a, b, result \
	}
#define BRANCH(v, to, a, b, result)               \
	{                                         \
#v, v, &v##_at, &to, a, b, result \
	}

#ifndef __KERNEL__
static void *const callee = v_callee;
#endif

static const struct step steps[] = {
	STEP(v_mov, 0, 0, 7),
	STEP(v_mov_reg, 3, 4, 7),
	STEP(v_push, 5, 0, 5),
	STEP(v_pop, 6, 0, 6),
	STEP(v_jcc, 0, 0, 1),
	BRANCH(v_jcc, v_jcc_taken, 1, 0, 2),
	STEP(v_jcc_near, 0, 0, 1),
	BRANCH(v_jcc_near, v_jcc_near_taken, 1, 0, 2),
	BRANCH(v_jmp, v_jmp_taken, 0, 0, 3),
	STEP(v_ret, 0, 0, 5),
	STEP(v_ret_imm, 0, 0, 6),
	STEP(v_loop, 1, 0, 1),
	BRANCH(v_loop, v_loop_taken, 2, 0, 2),
	BRANCH(v_loop, v_loop_taken, 0, 0, 2),
	STEP(v_jrcxz, 1, 0, 1),
	BRANCH(v_jrcxz, v_jrcxz_taken, 0, 0, 2),
	BRANCH(v_jmp_ind, v_jmp_ind_taken, 0, 0, 8),
	STEP(v_mov_rip, 0, 0, 0x11223344),
	STEP(v_cmpxchg, 8, 0, 8),
/* A kernel has no copies of these, or no post_handler behind them, and no red zone. */
#ifndef __KERNEL__
	BRANCH(v_call, callee, 1, 0, 5),
	BRANCH(v_jmp_mem, v_jmp_mem_taken, 0, 0, 9),
	BRANCH(v_call_ind, callee, 2, 0, 6),
	BRANCH(v_call_mem, callee, 3, 0, 7),
	STEP(v_sse, 21, 0, 42),
	STEP(v_endbr, 1, 0, 2),
	STEP(v_redzone, 1000, 0, 0),
#endif
};

static void step_once(const struct step *s, struct kprobe *kp)
{
	unsigned long got;

	counts.pre = counts.post = 0;
	got = s->run(s->a, s->b);
	if (got != s->result || counts.pre != 1 || counts.post != 1)
		conform_fail(__FILE__, __LINE__,
			     "%s(%lu) is %lu, not %lu, with %lu and %lu calls",
			     s->name, s->a, got, s->result, counts.pre,
			     counts.post);
	if (seen_after.ip != (unsigned long)*s->next)
		conform_fail(__FILE__, __LINE__,
			     "%s(%lu): ip is %#lx behind %#lx, not %#lx",
			     s->name, s->a, seen_after.ip,
			     (unsigned long)*s->at, (unsigned long)*s->next);
	check(seen_probe == kp);
}

TEST(row_014_post_handler_after_exactly_one_instruction)
{
	unsigned int i;

	for (i = 0; i < COUNT(steps); i++) {
		struct kprobe kp = { .addr = *steps[i].at,
				     .pre_handler = see_pre,
				     .post_handler = see_post };

		must(register_kprobe(&kp));
		step_once(&steps[i], &kp);
		step_once(&steps[i], &kp);
		unregister_kprobe(&kp);
		check_eq(steps[i].run(steps[i].a, steps[i].b), steps[i].result);
	}
}

TEST(row_012_063_every_instruction_does_from_its_copy_what_it_does_in_place)
{
	unsigned int i;

	for (i = 0; i < COUNT(steps); i++) {
		struct kprobe kp = probe_at(*steps[i].at);

		must(register_kprobe(&kp));
		counts.pre = 0;
		check_eq(steps[i].run(steps[i].a, steps[i].b), steps[i].result);
		check_eq(counts.pre, 1);
		unregister_kprobe(&kp);
	}
}

static struct kprobe stepping(void *at)
{
	return (struct kprobe){ .addr = at,
				.pre_handler = see_pre,
				.post_handler = see_post };
}

TEST(row_014_post_handler_of_a_push_sees_the_pushed_word)
{
	struct kprobe kp = stepping(v_push_at);

	must(register_kprobe(&kp));
	check_eq(v_push(0x1234, 0), 0x1234);
	check_eq(seen_after.sp, seen.sp - 8);
	unregister_kprobe(&kp);
}

#ifndef __KERNEL__
static unsigned long pushed;

static void see_pushed(struct kprobe *p, struct pt_regs *regs,
		       unsigned long flags)
{
	pushed = *(unsigned long *)regs->sp;
}

TEST(row_014_a_call_pushes_its_own_return_address)
{
	void *const *at[] = { &v_call_at, &v_call_ind_at, &v_call_mem_at };
	void *const *next[] = { &v_call_next, &v_call_ind_next,
				&v_call_mem_next };
	victim_t *run[] = { v_call, v_call_ind, v_call_mem };
	unsigned int i;

	for (i = 0; i < COUNT(at); i++) {
		struct kprobe kp = { .addr = *at[i],
				     .post_handler = see_pushed };

		must(register_kprobe(&kp));
		check_eq(run[i](1, 0), 5);
		check_eq(pushed, (unsigned long)*next[i]);
		unregister_kprobe(&kp);
	}
}
#endif

TEST(row_014_post_handler_of_a_return_sees_the_stack_behind_it)
{
	struct kprobe kp = stepping(v_ret_at), imm = stepping(v_ret_imm_at);

	must(register_kprobe(&kp));
	check_eq(v_ret(0, 0), 5);
	check_eq(seen_after.sp, seen.sp + 8);
	unregister_kprobe(&kp);
	must(register_kprobe(&imm));
	check_eq(v_ret_imm(0, 0), 6);
	check_eq(seen_after.sp, seen.sp + 16);
	unregister_kprobe(&imm);
}

TEST(row_014_post_handler_of_loop_sees_the_count)
{
	struct kprobe kp = stepping(v_loop_at);

	must(register_kprobe(&kp));
	v_loop(9, 0);
	check_eq(seen.cx, 9);
	check_eq(seen_after.cx, 8);
	unregister_kprobe(&kp);
}

TEST(row_014_a_repeated_instruction_is_one)
{
	struct kprobe kp = stepping(v_rep_at);
	char from[9] = "abcdefgh", to[9] = "";

	must(register_kprobe(&kp));
	check_eq(v_rep((unsigned long)to, (unsigned long)from), 0);
	check(!strcmp(from, to));
	check_eq(seen.cx, 8);
	check_eq(seen_after.cx, 0);
	check_eq(seen_after.di, (unsigned long)to + 8);
	check_eq(counts.post, 1);
	check_eq(seen_after.ip, (unsigned long)v_rep_next);
	unregister_kprobe(&kp);
}

#ifndef __KERNEL__
/* The processor puts the address behind the instruction into rcx. */
TEST(row_014_a_system_call_leaves_no_trace_of_the_copy)
{
	struct kprobe kp = stepping(v_syscall_at);
	int round;

	for (round = 0; round < 2; round++) {
		must(register_kprobe(&kp));
		check_eq(v_syscall(0, 0), getpid());
		check_eq(v_syscall_rcx, (unsigned long)v_syscall_next);
		unregister_kprobe(&kp);
		if (!round) {
			check_eq(seen_after.ax, getpid());
			check_eq(seen_after.ip, (unsigned long)v_syscall_next);
		}
		kp.post_handler = NULL;
	}
}
#endif

TEST(row_014_an_address_relative_to_ip_is_the_programs)
{
	struct kprobe kp = stepping(v_lea_rip_at);

	must(register_kprobe(&kp));
	check_eq(v_lea_rip(0, 0), (unsigned long)&v_data);
	check_eq(seen_after.ax, (unsigned long)&v_data);
	unregister_kprobe(&kp);
}

/* [row 272] */
TEST(row_014_flags_are_pushed_and_popped_as_they_are)
{
	struct kprobe push = stepping(v_pushf_at), pop = stepping(v_popf_at);
	unsigned long flags;

	must(register_kprobe(&push));
	check_eq(v_pushf(0, 0) & ALL_FLAGS & ~0x10, 0x45); /* all but AF */
	check(!(v_pushf(0, 0) & 0x100));
	unregister_kprobe(&push);
	flags = 0x202 | ALL_FLAGS;
	must(register_kprobe(&pop));
	check_eq(v_popf(flags, 0), flags);
	check_eq(seen_after.flags & ALL_FLAGS, ALL_FLAGS);
	unregister_kprobe(&pop);
}

TEST(row_116_flags_of_a_post_handler_are_zero)
{
	struct kprobe kp = stepping(v_mov_at);

	must(register_kprobe(&kp));
	v_mov(0, 0);
	check_eq(seen_flags, 0);
	unregister_kprobe(&kp);
}

TEST(row_015_the_thread_goes_on_behind_the_probe)
{
	struct kprobe kp = stepping(v_push_at), behind = probe_at(v_push_next);

	must(register_kprobe(&kp));
	must(register_kprobe(&behind));
	check_eq(v_push(4, 0), 4);
	check_eq(counts.pre, 2);
	check_eq(dp_kprobe_hits(&behind), 1);
	unregister_kprobe(&kp);
	unregister_kprobe(&behind);
}

/* --- several at one address, and close together --- */

static struct kprobe in_order[3];
static char order[32];
static int ordered;

static int note_pre(struct kprobe *p, struct pt_regs *regs)
{
	order[ordered++] = 'a' + (p - in_order);
	check(regs->ip == (unsigned long)p->addr + 1);
	return 0;
}

static void note_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	order[ordered++] = 'A' + (p - in_order);
}

TEST(row_142_of_several_at_one_address_the_newest_comes_first)
{
	int i;

	for (i = 0; i < 3; i++) {
		in_order[i] = (struct kprobe){ .addr = (void *)c_plain,
					       .pre_handler = note_pre,
					       .post_handler = note_post };
		must(register_kprobe(&in_order[i]));
	}
	check_eq(c_plain(1, 1), 4);
	check(!strcmp(order, "cbaCBA"));
	unregister_kprobe(&in_order[1]);
	check_eq(c_plain(1, 1), 4);
	check(!strcmp(order, "cbaCBAcaCA"));
	unregister_kprobe(&in_order[0]);
	unregister_kprobe(&in_order[2]);
}

static void hammer_chain(int index)
{
	unsigned long i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(v_chain(i, 0), i + 6);
}

TEST(row_003_every_instruction_of_a_function_at_once)
{
	static void *const *const at[CHAIN] = {
		&v_chain_0, &v_chain_1, &v_chain_2,  &v_chain_3,
		&v_chain_4, &v_chain_5, &v_chain_6,  &v_chain_7,
		&v_chain_8, &v_chain_9, &v_chain_10, &v_chain_11,
	};
	struct conform_text text = text_of(v_chain);
	struct kprobe kp[CHAIN];
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	int i;

	for (i = 0; i < CHAIN; i++) {
		kp[i] = probe_at(*at[(i * 5) % CHAIN]);
		must(register_kprobe(&kp[i]));
		check_eq(v_chain(1, 0), 7);
	}
	in_threads(hammer_chain);
	for (i = 0; i < CHAIN; i++)
		check_eq(dp_kprobe_hits(&kp[i]), wanted + CHAIN - i);
	for (i = 0; i < CHAIN; i++) {
		unregister_kprobe(&kp[(i * 7) % CHAIN]);
		check_eq(v_chain(1, 0), 7);
	}
	check(text_same(&text));
}

static void hammer_shapes(int index)
{
	unsigned long i;

	for (i = 1; i <= ROUNDS; i++) {
		check_eq(v_into(i, 0), i);
		check_eq(v_tiny(0, 0), 0);
		check_eq(v_tiny2(0, 0), 22);
		v_ret_only();
		check_eq(v_switch(i % 3, 0), 3 - i % 3);
	}
}

TEST(row_003_shapes_that_leave_no_room_for_a_jump)
{
	void *at[] = { (void *)v_into, (void *)v_tiny, (void *)v_tiny2,
		       (void *)v_ret_only, (void *)v_switch };
	struct kprobe kp[COUNT(at)];
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	unsigned int i;

	for (i = 0; i < COUNT(at); i++) {
		kp[i] = probe_at(at[i]);
		must(register_kprobe(&kp[i]));
	}
	in_threads(hammer_shapes);
	for (i = 0; i < COUNT(at); i++) {
		check_eq(dp_kprobe_hits(&kp[i]), wanted);
		unregister_kprobe(&kp[i]);
	}
	check_eq(counts.pre, wanted * COUNT(at));
}

static void hammer_pair(int index)
{
	long i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, index), 3 * i + index);
}

TEST(row_013_no_hit_is_missed_on_any_thread)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = probe_at(c_plain), post = probe_at(c_plain);

	post.post_handler = count_post;
	must(register_kprobe(&kp));
	in_threads(hammer_pair);
	check_eq(counts.pre, wanted);
	check_eq(dp_kprobe_hits(&kp), wanted);
	must(register_kprobe(&post));
	in_threads(hammer_pair);
	check_eq(counts.pre, 3 * wanted);
	check_eq(counts.post, wanted);
	check_eq(kp.nmissed + post.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_kprobe(&post);
}

TEST(row_009_a_breakpoint_or_a_jump_stands_there)
{
	struct kprobe kp = probe_at(v_mov_at), post = probe_at(c_plain);
	unsigned char *at = v_mov_at;

	post.post_handler = count_post;
	check(dp_kprobes_optimization(0) >= 0);
	must(register_kprobe(&kp));
	must(register_kprobe(&post));
	check(*at == 0xcc || *at == 0xe9);
	check(*(unsigned char *)c_plain == 0xcc);
	unregister_kprobe(&kp);
	unregister_kprobe(&post);
	check_eq(*at, 0xb8);
}

/* A function that the compiler has copied into its caller: the copy has no
 * probe. */
static inline __attribute__((always_inline)) long inlined(long n)
{
	return c_other(n, 0) + 1;
}

static __attribute__((noinline, noclone)) long outside(long n)
{
	return inlined(n);
}

TEST(row_148_inline_copies_are_not_probed)
{
	struct kprobe kp = probe_at((void *)outside);

	must(register_kprobe(&kp));
	check_eq(outside(2), 11);
	check_eq(inlined(2), 11);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
}
