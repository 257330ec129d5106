// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* api: names, types and numbers, as the kernel has them. */
#include "conform.h"
#include "victims.h"
#include <assert.h>
#include <stddef.h>
#include <sys/user.h>

#define SAME_TYPE(a, b) __builtin_types_compatible_p(typeof(a), typeof(b))
#define FIELD(type, field) (((type *)0)->field)

/* What a module sets and reads has the types that it expects. */
static_assert(SAME_TYPE(FIELD(struct kprobe, nmissed), unsigned long), "");
static_assert(SAME_TYPE(FIELD(struct kprobe, addr), kprobe_opcode_t *), "");
static_assert(SAME_TYPE(FIELD(struct kprobe, symbol_name), const char *), "");
static_assert(SAME_TYPE(FIELD(struct kprobe, offset), unsigned int), "");
static_assert(SAME_TYPE(FIELD(struct kprobe, flags), unsigned int), "");
static_assert(SAME_TYPE(FIELD(struct kretprobe, maxactive), int), "");
static_assert(SAME_TYPE(FIELD(struct kretprobe, nmissed), int), "");
static_assert(SAME_TYPE(FIELD(struct kretprobe, data_size), size_t), "");
static_assert(SAME_TYPE(FIELD(struct kretprobe, kp), struct kprobe), "");
static_assert(SAME_TYPE(FIELD(struct jprobe, kp), struct kprobe), "");
static_assert(SAME_TYPE(FIELD(struct jprobe, entry), void *), "");
static_assert(SAME_TYPE(FIELD(struct kretprobe_instance, rp),
			struct kretprobe *),
	      "");
static_assert(SAME_TYPE(FIELD(struct kretprobe_instance, ret_addr),
			kprobe_opcode_t *),
	      "");
static_assert(SAME_TYPE(FIELD(struct kretprobe_instance, task),
			struct task_struct *),
	      "");
static_assert(offsetof(struct kretprobe, kp) == 0, "");
static_assert(offsetof(struct jprobe, kp) == 0, "");
static_assert(KPROBE_FLAG_GONE == 1, "");
static_assert(KPROBE_FLAG_DISABLED == 2, "");
static_assert(KPROBE_FLAG_OPTIMIZED == 4, "");
static_assert(KPROBE_FLAG_FTRACE == 8, "");

/* As every module writes it. */
static int pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static void post_handler(struct kprobe *p, struct pt_regs *regs,
			 unsigned long flags)
{
}

static int fault_handler(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	return 0;
}

static struct kprobe kp = {
	.symbol_name = "c_plain",
	.pre_handler = pre_handler,
	.post_handler = post_handler,
	.fault_handler = fault_handler,
	.break_handler = pre_handler,
};

static long entry(long a, long b)
{
	jprobe_return();
	return 0;
}

static int ret_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

/* How often the probes have been hit by one call. */
static unsigned long hits_by_a_call(const struct kprobe *const probes[3])
{
	unsigned long before = 0, after = 0;
	int i;

	for (i = 0; i < 3; i++)
		before += dp_kprobe_hits(probes[i]);
	check_eq(c_plain(1, 1), 4);
	for (i = 0; i < 3; i++)
		after += dp_kprobe_hits(probes[i]);
	return after - before;
}

/* Each call of each kind, by its types and by what it does. */
TEST(row_101_each_kind_has_its_calls)
{
	int (*one[])(struct kprobe *) = { register_kprobe, disable_kprobe,
					  enable_kprobe };
	int (*ret[])(struct kretprobe *) = { register_kretprobe,
					     disable_kretprobe,
					     enable_kretprobe };
	int (*jumper[])(struct jprobe *) = { register_jprobe, disable_jprobe,
					     enable_jprobe };
	static const unsigned long wanted[] = { 3, 0, 3 };
	struct kprobe k = { .addr = (void *)c_plain,
			    .pre_handler = pre_handler };
	struct kretprobe r = { .kp.addr = (void *)c_plain,
			       .handler = ret_handler };
	struct jprobe j = { .kp.addr = (void *)c_plain,
			    .entry = (void *)entry };
	const struct kprobe *const probes[] = { &k, &r.kp, &j.kp };
	void (*off)(struct kprobe *) = unregister_kprobe;
	void (*off_ret)(struct kretprobe *) = unregister_kretprobe;
	void (*off_jumper)(struct jprobe *) = unregister_jprobe;
	int i;

	for (i = 0; i < 3; i++) {
		must(one[i](&k));
		must(ret[i](&r));
		must(jumper[i](&j));
		check_eq(hits_by_a_call(probes), wanted[i]);
	}
	off(&k);
	check_eq(list_length(), 2);
	off_ret(&r);
	check_eq(list_length(), 1);
	off_jumper(&j);
	check_eq(list_length(), 0);
}

TEST(row_101_and_for_many_at_once)
{
	int (*many)(struct kprobe **, int) = register_kprobes;
	int (*many_ret)(struct kretprobe **, int) = register_kretprobes;
	int (*many_jumpers)(struct jprobe **, int) = register_jprobes;
	void (*many_off)(struct kprobe **, int) = unregister_kprobes;
	void (*many_off_ret)(struct kretprobe **, int) = unregister_kretprobes;
	void (*many_off_jumpers)(struct jprobe **, int) = unregister_jprobes;
	struct kprobe k[2] = { { .addr = (void *)c_plain },
			       { .addr = (void *)c_other } };
	struct kretprobe r[2] = {
		{ .kp.addr = (void *)c_plain, .handler = ret_handler },
		{ .kp.addr = (void *)c_other, .handler = ret_handler }
	};
	struct jprobe j = { .kp.addr = (void *)c_plain,
			    .entry = (void *)entry };
	struct kprobe *ks[] = { &k[0], &k[1] };
	struct kretprobe *rs[] = { &r[0], &r[1] };
	struct jprobe *js[] = { &j };

	must(many(ks, 2));
	check_eq(list_length(), 2);
	must(many_ret(rs, 2));
	check_eq(list_length(), 4);
	must(many_jumpers(js, 1));
	check_eq(list_length(), 5);
	check_eq(c_plain(1, 1) + c_other(1, 1), 10);
	check_eq(dp_kprobe_hits(&k[0]) + dp_kprobe_hits(&k[1]), 2);
	check_eq(dp_kprobe_hits(&r[0].kp) + dp_kprobe_hits(&r[1].kp), 2);
	check_eq(dp_kprobe_hits(&j.kp), 1);
	many_off(ks, 2);
	check_eq(list_length(), 3);
	many_off_ret(rs, 2);
	check_eq(list_length(), 1);
	many_off_jumpers(js, 1);
	check_eq(list_length(), 0);
}

TEST(row_103_a_probe_as_modules_write_it)
{
	must(register_kprobe(&kp));
	check(kp.addr == (void *)c_plain);
	check_eq(c_plain(1, 1), 4);
	check_eq(dp_kprobe_hits(&kp), 1);
	unregister_kprobe(&kp);
}

TEST(row_104_pt_regs_has_the_kernels_fields)
{
	struct pt_regs regs = { .di = 1,
				.si = 2,
				.dx = 3,
				.cx = 4,
				.r8 = 5,
				.r9 = 6,
				.ax = 7,
				.sp = 8,
				.bp = 9,
				.ip = 10,
				.flags = 11,
				.bx = 12,
				.r10 = 13,
				.r11 = 14,
				.r12 = 15,
				.r13 = 16,
				.r14 = 17,
				.r15 = 18,
				.orig_ax = 19,
				.cs = 20,
				.ss = 21 };

	check_eq(sizeof(regs), 21 * sizeof(long));
	/* The layout that debuggers know, short of the segments' bases. */
	check_eq(offsetof(struct pt_regs, ip),
		 offsetof(struct user_regs_struct, rip));
	check_eq(offsetof(struct pt_regs, sp),
		 offsetof(struct user_regs_struct, rsp));
	check_eq(regs_return_value(&regs), 7);
	check_eq(instruction_pointer(&regs), 10);
	instruction_pointer_set(&regs, 100);
	check_eq(regs.ip, 100);
	check_eq(frame_pointer(&regs), 9);
	check_eq(regs_get_kernel_argument(&regs, 3), 4);
	check_eq(regs_get_kernel_argument(&regs, 6), 0);
}

TEST(row_119_break_handler_may_be_set)
{
	must(register_kprobe(&kp));
	check_eq(c_plain(2, 1), 7);
	check_eq(dp_kprobe_hits(&kp), 1);
	unregister_kprobe(&kp);
}
