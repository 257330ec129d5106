// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jprobe: handlers that are called like the probed function. */
#include "conform.h"
#include "victims.h"
#include <stdarg.h>
#include <sys/mman.h>

static struct jprobe jprobe_of(void *function, void *entry)
{
	return (struct jprobe){ .kp.addr = function, .entry = entry };
}

/* Arguments as the handlers saw them. */
static long seen[16];
static double seen_doubles[16];
static unsigned long entered;
static bool returned;

static long j_six(long a, long b, long c, long d, long e, long f)
{
	long args[] = { a, b, c, d, e, f };

	memcpy(seen, args, sizeof(args));
	count(&entered);
	jprobe_return();
	returned = true;
	return 12345;
}

TEST(row_004_a_jprobe_sees_the_arguments_of_the_function)
{
	struct jprobe jp = jprobe_of(c_six, j_six);
	int i;

	must(register_jprobe(&jp));
	check_eq(c_six(11, 12, 13, 14, 15, 16), 301);
	for (i = 0; i < 6; i++)
		check_eq(seen[i], 11 + i);
	check_eq(entered, 1);
	unregister_jprobe(&jp);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 1);
}

TEST(row_024_it_stands_at_the_functions_entry)
{
	struct jprobe jp = { .kp.symbol_name = "c_six",
			     .entry = (void *)j_six };

	must(register_jprobe(&jp));
	check(jp.kp.addr == (void *)c_six);
	check(list_line(c_six, 'j'));
	check_eq(c_six(1, 1, 1, 1, 1, 1), 21);
	check_eq(entered, 1);
	unregister_jprobe(&jp);
	check(!list_line(c_six, 0));
}

TEST(row_025_jprobe_return_ends_the_handler)
{
	struct jprobe jp = jprobe_of(c_six, j_six);

	must(register_jprobe(&jp));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check(!returned);
	unregister_jprobe(&jp);
}

TEST(row_122_the_handlers_result_is_not_the_functions)
{
	struct jprobe jp = jprobe_of(c_six, j_six);
	long i;

	must(register_jprobe(&jp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_six(i, 0, 0, 0, 0, 0), i);
	check_eq(entered, ROUNDS);
	check_eq(dp_kprobe_hits(&jp.kp), ROUNDS);
	unregister_jprobe(&jp);
}

/* jprobe_return() may be called from further down. */
static __attribute__((noinline)) void leave(void)
{
	count(&entered);
	jprobe_return();
}

static __attribute__((noinline)) void leave_from_below(void)
{
	volatile char room[100];

	room[0] = 1;
	leave();
	room[1] = room[0];
}

static void *back_in_handler, *back_in_function;

static long j_back(void (*back)(long), long arg)
{
	back_in_handler = __builtin_return_address(0);
	jprobe_return();
	return 0;
}

static void note_back(long arg)
{
}

static int pre_back(struct kprobe *p, struct pt_regs *regs)
{
	back_in_function = *(void **)regs->sp;
	return 0;
}

TEST(row_026_the_handler_sees_the_functions_stack)
{
	struct jprobe jp = jprobe_of(c_call_back, j_back);
	struct kprobe kp = { .addr = (void *)c_call_back,
			     .pre_handler = pre_back };

	must(register_kprobe(&kp));
	must(register_jprobe(&jp));
	check_eq(c_call_back(note_back, 1), 2);
	check(back_in_handler);
	check(back_in_handler == back_in_function);
	unregister_jprobe(&jp);
	unregister_kprobe(&kp);
}

static long deep_six(long a, long b, long c, long d, long e, long f)
{
	leave_from_below();
	return 0;
}

TEST(row_027_jprobe_return_restores_registers_and_stack)
{
	struct jprobe jp = jprobe_of(c_six, deep_six);
	long i;

	must(register_jprobe(&jp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_six(1, 2, 3, 4, 5, i), 55 + 6 * i);
	check_eq(entered, ROUNDS);
	unregister_jprobe(&jp);
}

/* --- arguments on the stack --- */

#define SEE_STACK                                                        \
	do {                                                             \
		long args[] = {                                          \
			a, b, c, d, e, f, s0, s1, s2, s3, s4, s5, s6, s7 \
		};                                                       \
		memcpy(seen, args, sizeof(args));                        \
		count(&entered);                                         \
	} while (0)

/*
 * Where argument N lies on the stack of the function, behind the return address.
 * By its own name the compiler would write to a copy of it, or nowhere at all.
 */
#define STACK_WORD(n) (((volatile long *)__builtin_frame_address(0))[2 + (n)])
#define OVERWRITE(n)                              \
	do {                                      \
		check_eq(STACK_WORD(n), 7 + (n)); \
		STACK_WORD(n) = -1;               \
		count(&overwritten);              \
	} while (0)
static unsigned long overwritten;

static long j_stack64(long a, long b, long c, long d, long e, long f, long s0,
		      long s1, long s2, long s3, long s4, long s5, long s6,
		      long s7)
{
	SEE_STACK;
	OVERWRITE(0);
	OVERWRITE(1);
	OVERWRITE(6);
	jprobe_return();
	return 0;
}

/* It leaves the ninth word alone: that is behind what is put back. */
static long j_stack72(long a, long b, long c, long d, long e, long f, long s0,
		      long s1, long s2, long s3, long s4, long s5, long s6,
		      long s7, long s8)
{
	SEE_STACK;
	seen[14] = s8;
	OVERWRITE(0);
	OVERWRITE(6);
	jprobe_return();
	return 0;
}

static void seen_are_numbers(int n)
{
	int i;

	for (i = 0; i < n; i++)
		check_eq(seen[i], i + 1);
}

TEST(row_030_arguments_in_registers_and_on_the_stack)
{
	struct jprobe jp = jprobe_of(c_stack64, j_stack64);
	long plain = c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);

	must(register_jprobe(&jp));
	check_eq(c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
		 plain);
	seen_are_numbers(14);
	unregister_jprobe(&jp);
}

TEST(row_028_what_the_handler_does_to_arguments_is_undone)
{
	struct jprobe jp = jprobe_of(c_stack64, j_stack64);
	long i, plain = c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
				  14);

	must(register_jprobe(&jp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
				   14),
			 plain);
	check_eq(entered, ROUNDS);
	check_eq(overwritten, 3 * ROUNDS);
	unregister_jprobe(&jp);
}

TEST(row_029_max_stack_size_bytes_are_copied)
{
	struct jprobe jp = jprobe_of(c_stack72, j_stack72);
	long plain =
		c_stack72(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

	check_eq(MAX_STACK_SIZE, 64);
	must(register_jprobe(&jp));
	check_eq(c_stack72(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
		 plain);
	seen_are_numbers(14);
	check_eq(entered, 1);
	unregister_jprobe(&jp);
}

/* All that is promised, in place: whatever the compiler makes of parameters. */
static long j_overwrites(long a, long b, long c, long d, long e, long f)
{
	volatile long *args = __builtin_dwarf_cfa();
	int i;

	for (i = 0; i < MAX_STACK_SIZE / 8; i++)
		args[i] = -1;
	count(&entered);
	jprobe_return();
	return 0;
}

TEST(row_029_all_of_max_stack_size_is_put_back)
{
	struct jprobe jp = jprobe_of(c_stack64, j_overwrites);
	long plain = c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);

	must(register_jprobe(&jp));
	check_eq(c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
		 plain);
	check_eq(entered, 1);
	unregister_jprobe(&jp);
}

/* The word behind is not theirs: who has changed it meant to. */
static long j_beyond(long a, long b, long c, long d, long e, long f)
{
	volatile long *args = __builtin_dwarf_cfa();

	args[MAX_STACK_SIZE / 8] += 1000;
	jprobe_return();
	return 0;
}

TEST(row_029_and_no_more)
{
	struct jprobe jp = jprobe_of(c_stack72, j_beyond);
	long plain =
		c_stack72(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	long more =
		c_stack72(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 1015);

	must(register_jprobe(&jp));
	check(more != plain);
	check_eq(c_stack72(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
		 more);
	unregister_jprobe(&jp);
}

/* --- a stack that ends in the middle of that --- */

#define PAGE 4096ul

static long on_stack(long (*function)(long, long), char *top, long a, long b)
{
	long result;
	register long x __asm__("r12");

	__asm__ volatile("mov %%rsp, %[x]\n\tmov %[top], %%rsp\n\t"
			 "call *%[fn]\n\tmov %[x], %%rsp"
			 : "=a"(result), [x] "=&r"(x), "+D"(a), "+S"(b)
			 : [top] "r"(top), [fn] "r"(function)
			 : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory",
			   "cc");
	return result;
}

static long j_plain(long a, long b)
{
	volatile long *args = __builtin_dwarf_cfa();

	args[0] = -1;
	args[1] = -1;
	count(&entered);
	jprobe_return();
	return 0;
}

TEST(row_029_where_the_stack_ends_no_more_is_touched)
{
	char *stack = mmap(NULL, 17 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long *top = (long *)(stack + 16 * PAGE) - 2;
	struct jprobe jp = jprobe_of(c_plain, j_plain);

	check(stack != MAP_FAILED);
	check(!mprotect(stack + 16 * PAGE, PAGE, PROT_NONE));
	must(register_jprobe(&jp));
	top[0] = 17;
	top[1] = 18;
	check_eq(on_stack((void *)c_plain, (char *)top, 1, 1), c_plain(1, 1));
	check_eq(entered, 2);
	check_eq(top[0], 17);
	check_eq(top[1], 18);
	unregister_jprobe(&jp);
}

/* --- beside kprobes --- */

static char turns[16];
static int nr_turns;
static struct kprobe beside[2];

static int turn_pre(struct kprobe *p, struct pt_regs *regs)
{
	turns[nr_turns++] = 'a' + (p - beside);
	return 0;
}

static void turn_post(struct kprobe *p, struct pt_regs *regs,
		      unsigned long flags)
{
	turns[nr_turns++] = 'A' + (p - beside);
}

static long j_turn(long a, long b)
{
	turns[nr_turns++] = 'j';
	jprobe_return();
	return 0;
}

static void go(long (*function)(long, long))
{
	nr_turns = 0;
	memset(turns, 0, sizeof(turns));
	if ((void *)function == (void *)c_plain)
		check_eq(function(1, 1), 4);
	else
		function(1, 1);
}

static void take_turns(void *function)
{
	struct jprobe jp = jprobe_of(function, j_turn);
	int i;

	for (i = 0; i < 2; i++) {
		beside[i] = (struct kprobe){ .addr = function,
					     .pre_handler = turn_pre,
					     .post_handler = turn_post };
		if (i)
			must(register_jprobe(&jp));
		must(register_kprobe(&beside[i]));
	}
	go(function);
	check(!strcmp(turns, "bajBA"));
	must(disable_kprobe(&beside[1]));
	go(function);
	check(!strcmp(turns, "ajA"));
	unregister_kprobe(&beside[0]);
	unregister_kprobe(&beside[1]);
	unregister_jprobe(&jp);
}

/* Of an instruction that is run out of line, and of one that is done in registers. */
TEST(row_014_after_handlers_are_called_beside_a_jprobe)
{
	take_turns((void *)c_plain);
	take_turns((void *)v_ret_only);
}

/* --- other conventions --- */

static double j_doubles(double a, float b, double c, double d, double e,
			double f, double g, double h, double i)
{
	double args[] = { a, b, c, d, e, f, g, h, i };

	memcpy(seen_doubles, args, sizeof(args));
	clobber_xmm();
	jprobe_return();
	return 0;
}

static long double j_long_double(long double a, long double b)
{
	seen_doubles[0] = (double)a;
	seen_doubles[1] = (double)b;
	jprobe_return();
	return a + b;
}

static struct big j_big(struct big in, long add)
{
	seen[0] = in.v[0];
	seen[1] = in.v[7];
	seen[2] = add;
	in.v[0] = 0;
	__asm__ volatile("" : : "r"(&in) : "memory");
	jprobe_return();
	return in;
}

static struct pair j_pair(struct pair in)
{
	seen[0] = in.a;
	seen_doubles[0] = in.b;
	jprobe_return();
	return in;
}

static long j_varargs(int n, ...)
{
	va_list ap;
	int i;

	va_start(ap, n);
	for (i = 0; i < n && i < 16; i++)
		seen_doubles[i] = va_arg(ap, double);
	va_end(ap);
	jprobe_return();
	return 0;
}

TEST(row_031_floating_point_and_structures)
{
	struct jprobe jp[] = { jprobe_of(c_doubles, j_doubles),
			       jprobe_of(c_long_double, j_long_double),
			       jprobe_of(c_big, j_big),
			       jprobe_of(c_pair, j_pair),
			       jprobe_of(c_varargs, j_varargs) };
	struct big big = { { 21, 2, 3, 4, 5, 6, 7, 28, 9 } };
	unsigned int i;

	for (i = 0; i < COUNT(jp); i++)
		must(register_jprobe(&jp[i]));
	check(c_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9) == 285);
	for (i = 0; i < 9; i++)
		check(seen_doubles[i] == i + 1);
	check(c_long_double(1.5L, 3) == 0.5L);
	check(seen_doubles[0] == 1.5 && seen_doubles[1] == 3);
	big = c_big(big, 100);
	check(seen[0] == 21 && seen[1] == 28 && seen[2] == 100);
	check(big.v[0] == 121 && big.v[8] == 109);
	check(c_pair((struct pair){ 4, 0.5 }).a == 5);
	check(seen[0] == 4 && seen_doubles[0] == 0.5);
	check_eq(c_varargs(3, 1.0, 2.0, 4.0), 7);
	check(seen_doubles[2] == 4.0);
	for (i = 0; i < COUNT(jp); i++)
		unregister_jprobe(&jp[i]);
}

static long __attribute__((ms_abi))
j_ms(long a, long b, long c, long d, long e, long f)
{
	long args[] = { a, b, c, d, e, f };

	memcpy(seen, args, sizeof(args));
	count(&entered);
	/* The caller's 32 bytes for the registers, and the rest, are its own. */
	STACK_WORD(0) = STACK_WORD(3) = -1;
	check(STACK_WORD(4) == e && STACK_WORD(5) == f);
	STACK_WORD(4) = STACK_WORD(5) = -1;
	jprobe_return();
	return 0;
}

static double __attribute__((ms_abi))
j_ms_double(double a, long b, double c, long d, double e)
{
	double args[] = { a, b, c, d, e };

	memcpy(seen_doubles, args, sizeof(args));
	jprobe_return();
	return 0;
}

TEST(row_031_another_convention_in_handler_and_function)
{
	struct jprobe jp = jprobe_of((void *)c_ms, (void *)j_ms);
	struct jprobe jd = jprobe_of((void *)c_ms_double, (void *)j_ms_double);
	int i;

	must(register_jprobe(&jp));
	must(register_jprobe(&jd));
	check_eq(c_ms(1, 2, 3, 4, 5, 6), 91);
	seen_are_numbers(6);
	check(c_ms_double(1, 2, 3, 4, 5) == 55);
	for (i = 0; i < 5; i++)
		check(seen_doubles[i] == i + 1);
	unregister_jprobe(&jp);
	unregister_jprobe(&jd);
}

/* --- refusals --- */

TEST(row_120_only_at_a_functions_first_instruction)
{
	struct jprobe jp = jprobe_of(v_push_next, j_six);
	struct jprobe named = { .kp.symbol_name = "v_push",
				.kp.offset =
					(char *)v_push_next - (char *)v_push,
				.entry = (void *)j_six };

	check_eq(register_jprobe(&jp), -EINVAL);
	check(dp_last_diag()->text[0]);
	check_eq(register_jprobe(&named), -EINVAL);
	check_eq(list_length(), 0);
	check_eq(v_push(1, 0), 1);
}

TEST(row_123_a_jprobe_needs_an_entry)
{
	struct jprobe jp = jprobe_of(c_six, NULL);
	struct jprobe both = jprobe_of(c_six, j_six);

	check_eq(register_jprobe(&jp), -EINVAL);
	both.kp.symbol_name = "c_six";
	check_eq(register_jprobe(&both), -EINVAL);
	check_eq(register_jprobe(NULL), -EINVAL);
	check_eq(list_length(), 0);
}

TEST(row_143_no_two_jprobes_on_one_function)
{
	struct jprobe a = jprobe_of(c_six, j_six),
		      b = jprobe_of(c_six, deep_six);

	must(register_jprobe(&a));
	check_eq(register_jprobe(&b), -EEXIST);
	check(dp_last_diag()->text[0]);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 1);
	unregister_jprobe(&a);
	must(register_jprobe(&b));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 2);
	unregister_jprobe(&b);
}

/* --- beside other probes, batches, and switched off --- */

TEST(row_142_a_jprobe_beside_other_probes)
{
	struct jprobe jp = jprobe_of(c_six, j_six);
	struct kretprobe rp = retprobe_at(c_six);
	struct kprobe kp = probe_at(c_six);

	must(register_kprobe(&kp));
	must(register_jprobe(&jp));
	must(register_kretprobe(&rp));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(counts.pre, 1);
	check_eq(entered, 1);
	check_eq(counts.ret, 1);
	unregister_kprobe(&kp);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 2);
	check_eq(counts.ret, 2);
	unregister_jprobe(&jp);
	unregister_kretprobe(&rp);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
}

TEST(row_134_jprobes_in_arrays)
{
	struct jprobe a = jprobe_of(c_six, j_six),
		      b = jprobe_of(c_pair, j_pair);
	struct jprobe none = { .kp.symbol_name = "no_such_function",
			       .entry = (void *)j_six };
	struct jprobe *jps[] = { &a, &b, &none };

	check_eq(register_jprobes(jps, 3), -ENOENT);
	check_eq(list_length(), 0);
	must(register_jprobes(jps, 2));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 1);
	unregister_jprobes(jps, 2);
	check_eq(list_length(), 0);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 1);
}

TEST(row_139_jprobes_can_be_disabled)
{
	struct jprobe jp = jprobe_of(c_six, j_six);

	must(register_jprobe(&jp));
	must(disable_jprobe(&jp));
	check(listed(c_six, "[DISABLED]"));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 0);
	must(enable_jprobe(&jp));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 1);
	unregister_jprobe(&jp);
}

static void hammer(int index)
{
	long i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_six(index, i, 0, 0, 0, 0), index + 2 * i);
}

TEST(row_121_on_every_thread)
{
	struct jprobe jp = jprobe_of(c_six, j_six);

	must(register_jprobe(&jp));
	in_threads(hammer);
	check_eq(entered, (unsigned long)ROUNDS * conform_threads());
	check_eq(jp.kp.nmissed, 0);
	unregister_jprobe(&jp);
}

static long j_recurse(long n)
{
	count(&entered);
	jprobe_return();
	return 0;
}

TEST(row_121_at_every_level_of_a_recursion)
{
	struct jprobe jp = jprobe_of(c_recurse, j_recurse);

	must(register_jprobe(&jp));
	check_eq(c_recurse(30), 465);
	check_eq(entered, 31);
	unregister_jprobe(&jp);
}

static struct kprobe nested;

static long j_nesting(long a, long b, long c, long d, long e, long f)
{
	c_plain(1, 1);
	c_six(0, 0, 0, 0, 0, 0);
	count(&entered);
	jprobe_return();
	return 0;
}

TEST(row_153_probes_hit_in_a_jprobes_handler_are_missed)
{
	/* Not on the stack, whose top comes back as it was. */
	static struct jprobe jp;

	jp = jprobe_of(c_six, j_nesting);
	nested = probe_at(c_plain);
	must(register_kprobe(&nested));
	must(register_jprobe(&jp));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(entered, 2);
	check_eq(counts.pre, 0);
	check_eq(nested.nmissed, 2);
	check_eq(jp.kp.nmissed, 2);
	c_plain(1, 1);
	check_eq(counts.pre, 1);
	unregister_jprobe(&jp);
	unregister_kprobe(&nested);
}

TEST_STILL(row_064_a_jprobe_is_not_optimised)
{
	struct jprobe jp = jprobe_of(v_mov, j_six);

	must(register_jprobe(&jp));
	check(!listed(v_mov, "[OPTIMIZED]"));
	unregister_jprobe(&jp);
}
