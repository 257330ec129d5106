// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arguments: jprobes on functions with arguments in registers and on the stack; and what may not be probed. */
#include "conform.h"
#include "victims.h"

static long seen[15];

#define SEE_STACK                                                        \
	do {                                                             \
		long args[] = {                                          \
			a, b, c, d, e, f, s0, s1, s2, s3, s4, s5, s6, s7 \
		};                                                       \
		memcpy(seen, args, sizeof(args));                        \
		count(&counts.entry);                                    \
	} while (0)

static long j_stack64(long a, long b, long c, long d, long e, long f, long s0,
		      long s1, long s2, long s3, long s4, long s5, long s6,
		      long s7)
{
	SEE_STACK;
	jprobe_return();
	return 0;
}

static void expect_seen(void)
{
	int i;

	for (i = 0; i < 14; i++)
		check_eq(seen[i], i + 1);
}

TEST(row_004_026_027_030_arguments_in_registers_and_on_the_stack)
{
	struct jprobe jp = { .kp.addr = (void *)c_stack64,
			     .entry = (void *)j_stack64 };
	long plain = c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
	int i;

	memset(seen, 0, sizeof(seen));
	must(register_jprobe(&jp));
	for (i = 0; i < ROUNDS; i++)
		check_eq(c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
				   14),
			 plain);
	expect_seen();
	check_eq(counts.entry, ROUNDS);
	unregister_jprobe(&jp);
}

/* In place, whatever the compiler makes of parameters */
static long j_overwrites(long a, long b, long c, long d, long e, long f)
{
	volatile long *args = __builtin_dwarf_cfa();
	int i;

	for (i = 0; i < MAX_STACK_SIZE / 8 - 1; i++)
		args[i] = -1;
	count(&counts.entry);
	jprobe_return();
	return 0;
}

/* The kernel's copy begins at the stack pointer, so the last of the eight words is not in it. */
TEST(row_028_029_what_a_handler_does_to_arguments_is_undone)
{
	struct jprobe jp = { .kp.symbol_name = "c_stack64",
			     .entry = (void *)j_overwrites };
	long plain = c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);

	must(register_jprobe(&jp));
	check_eq(c_stack64(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
		 plain);
	check_eq(counts.entry, 1);
	unregister_jprobe(&jp);
}

static long __attribute__((ms_abi))
j_ms(long a, long b, long c, long d, long e, long f)
{
	const long args[] = { a, b, c, d, e, f };

	memcpy(seen, args, sizeof(args));
	count(&counts.entry);
	jprobe_return();
	return 0;
}

TEST(row_031_another_convention_in_handler_and_function)
{
	struct jprobe jp = { .kp.addr = (void *)c_ms, .entry = (void *)j_ms };
	int i;

	must(register_jprobe(&jp));
	check_eq(c_ms(1, 2, 3, 4, 5, 6), 91);
	for (i = 0; i < 6; i++)
		check_eq(seen[i], i + 1);
	check_eq(counts.entry, 1);
	unregister_jprobe(&jp);
}

static long j_six(long a, long b, long c, long d, long e, long f)
{
	count(&counts.entry);
	jprobe_return();
	count(&counts.fault);
	return 12345;
}

TEST(row_024_025_121_122_the_handler_ends_with_jprobe_return)
{
	struct jprobe jp = { .kp.symbol_name = "c_six",
			     .entry = (void *)j_six };

	must(register_jprobe(&jp));
	check(jp.kp.addr == (void *)c_six);
	check(list_line(c_six, 'j'));
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(counts.entry, 1);
	check_eq(counts.fault, 0);
	unregister_jprobe(&jp);
	check(!list_line(c_six, 0));
}

TEST(row_120_123_143_jprobes_that_are_refused)
{
	struct jprobe inner = { .kp.addr = v_push_next,
				.entry = (void *)j_six },
		      none = { .kp.addr = (void *)c_six },
		      a = { .kp.addr = (void *)c_six, .entry = (void *)j_six },
		      b = a;

	check_eq(register_jprobe(&inner), -EINVAL);
	check_eq(register_jprobe(&none), -EINVAL);
	must(register_jprobe(&a));
	check_eq(register_jprobe(&b), -EEXIST);
	check_eq(c_six(1, 2, 3, 4, 5, 6), 91);
	check_eq(counts.entry, 1);
	unregister_jprobe(&a);
	must(register_jprobe(&b));
	unregister_jprobe(&b);
}

#ifdef CONFIG_KPROBES
static __attribute__((noinline)) long not_probed(long n)
{
	__asm__ volatile("");
	return n * 3 + 1;
}
NOKPROBE_SYMBOL(not_probed);

/* The kernel keeps the list, of modules', too. */
TEST(row_002_084_085_nokprobe_symbol_puts_a_function_on_the_list)
{
	struct kprobe kp = probe_at((void *)not_probed),
		      inner = { .addr = (void *)not_probed, .offset = 3 };
	struct kprobe *batch[2];
	struct kprobe fine = probe_at(c_plain);

	check_eq(register_kprobe(&kp), -EINVAL);
	check_eq(register_kprobe(&inner), -EINVAL);
	batch[0] = &fine;
	batch[1] = &kp;
	check_eq(register_kprobes(batch, 2), -EINVAL);
	check_eq(not_probed(2), 7);
	check_eq(c_plain(2, 1), 7);
	check_eq(counts.pre, 0);
	check_eq(list_length(), 0);
}
#endif

TEST(row_083_146_147_the_module_and_what_leads_to_it_are_refused)
{
	static const char *const names[] = { "dp_register_kprobe",
					     "dp_kernel_detour", "notify_die",
					     "exc_int3", "asm_exc_page_fault" };
	unsigned int i;

	for (i = 0; i < COUNT(names); i++) {
		struct kprobe kp = { .symbol_name = names[i] };

		if (register_kprobe(&kp) != -EINVAL)
			conform_fail(__FILE__, __LINE__, "%s may be probed",
				     names[i]);
	}
	check_eq(list_length(), 0);
}
