// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rewritten_test: instructions that somebody else writes, or branches to.
 *
 * With cpu= a CPU comes meanwhile, which is the second one: the kernel then writes all locks.
 */
#include <dprobes/kprobes.h>
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/static_call.h>
#include <linux/string.h>

#define CALLS 100
/* ms in which the kernel makes its probes jumps */
#define SOON 300

void dptest_locked(u32 *n);
unsigned int dptest_indirect(unsigned int by);
unsigned int dptest_landed(void);
unsigned int dptest_near(unsigned int a);

static unsigned int cpu;
module_param(cpu, uint, 0);

static unsigned long hits;

static int count(struct dp_kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Return: where these bytes are in a function */
static u8 *find(void *function, const u8 *bytes, size_t n)
{
	u8 *at = function;

	while (memcmp(at, bytes, n))
		at++;
	return at;
}

#define FIND(function, ...) \
	find(function, (u8[]){ __VA_ARGS__ }, sizeof((u8[]){ __VA_ARGS__ }))

/* A kernel that has one CPU has no locks. */
static void locks(void)
{
	/* incl (%rdi), with a prefix */
	u8 *lock = FIND(dptest_locked, 0xff, 0x07) - 1, was = *lock;
	struct dp_kprobe p = { .addr = lock, .pre_handler = count },
			 q = { .addr = lock - 2, .pre_handler = count };
	int err[2], come = 0;
	bool jump;
	u32 n = 0;

	err[0] = dp_register_kprobe(&p);
	err[1] = dp_register_kprobe(&q);
	jump = dp_kprobe_optimized(&q);
	if (cpu)
		come = add_cpu(cpu);
	dptest_locked(&n);
	if (!err[0])
		dp_unregister_kprobe(&p);
	if (!err[1])
		dp_unregister_kprobe(&q);
	check(!come && !err[1] && n == 1 && *lock == 0xf0,
	      "each lock is there (%d %d %d, %u, %x, %x)\n", err[0], err[1],
	      come, n, was, *lock);
	check(was == 0xf0 ? !err[0] : err[0] == -EINVAL && !jump,
	      "one that is not there yet is not probed (%d, %d)\n", err[0],
	      jump);
	check(!cpu || was != 0xf0, "which this kernel has\n");
}

static void branches(void)
{
	/* The one behind jz */
	struct dp_kprobe p = { .addr = FIND(dptest_indirect, 0xff, 0xc0, 0xff,
					    0xc0, 0xff, 0xc0),
			       .pre_handler = count },
			 q = { .addr = FIND(dptest_landed, 0x31, 0xc0),
			       .pre_handler = count },
			 r = { .addr = FIND(dptest_landed, 0xf3, 0x0f, 0x1e,
					    0xfa, 0xff),
			       .pre_handler = count };
	int err = dp_register_kprobe(&p);
	bool jump = dp_kprobe_optimized(&p);

	hits = 0;
	check(!err && !jump && dptest_indirect(0) == 3 &&
		      dptest_indirect(1) == 2 && hits == 1,
	      "where an indirect jump may come is none (%d, %d, %lu)\n", err,
	      jump, hits);
	dp_unregister_kprobe(&p);
	err = dp_register_kprobe(&q);
	jump = dp_kprobe_optimized(&q);
	check(!err && !jump && dptest_landed() == 1,
	      "nor over an endbr64 (%d, %d)\n", err, jump);
	dp_unregister_kprobe(&q);
	err = dp_register_kprobe(&r);
	check(err == -EINVAL, "which is not probed (%d)\n", err);
	if (!err)
		dp_unregister_kprobe(&r);
}

#ifdef CONFIG_HAVE_STATIC_CALL
static unsigned long dptest_one(unsigned long a)
{
	return a + 1;
}

DEFINE_STATIC_CALL(dptest_call, dptest_one);

static void static_calls(void)
{
	struct dp_kprobe p = { .addr = (void *)STATIC_CALL_TRAMP_ADDR(
				       dptest_call),
			       .pre_handler = count };
	int err = dp_register_kprobe(&p);

	check(err == -EINVAL && static_call(dptest_call)(3) == 4,
	      "nor is what static calls go by (%d)\n", err);
	if (!err)
		dp_unregister_kprobe(&p);
}
#else
static void static_calls(void)
{
	skip("nor is what static calls go by", "this kernel has none");
}
#endif

#ifdef CONFIG_KPROBES
static void count_after(struct dp_kprobe *p, struct pt_regs *regs,
			unsigned long flags)
{
}

static unsigned long theirs;

static int count_theirs(struct kprobe *p, struct pt_regs *regs)
{
	theirs++;
	return 0;
}

static unsigned int call_near(void)
{
	unsigned int i, wrong = 0;

	hits = theirs = 0;
	for (i = 0; i < CALLS; i++)
		wrong += dptest_near(i) != i + 7;
	return wrong;
}

/* The second instruction, a byte behind theirs. The kernel's jumps stay there for a while. */
static u8 *second;

/* The kernel takes its jump out a while later. */
static void take_away(struct kprobe *other)
{
	unregister_kprobe(other);
	msleep(SOON);
}

/* A jump of theirs would have all bytes of ours. */
static void near(bool disabled, bool traps)
{
	struct kprobe other = { .addr = (kprobe_opcode_t *)second - 1,
				.flags = disabled ? KPROBE_FLAG_DISABLED : 0,
				.pre_handler = count_theirs };
	struct dp_kprobe p = { .addr = second,
			       .pre_handler = count,
			       .post_handler = traps ? count_after : NULL };
	int err[2] = { register_kprobe(&other), dp_register_kprobe(&p) };
	unsigned int wrong;

	if (disabled)
		err[0] = err[0] ?: enable_kprobe(&other);
	msleep(SOON);
	wrong = call_near();
	check(!err[0] && !wrong && theirs == CALLS &&
		      (err[1] ? err[1] != -ENOMEM && !hits : hits == CALLS),
	      "behind a probe of the kernel's own is none, or one that is hit (%d %d, %u, %lu, %lu)\n",
	      err[0], err[1], wrong, theirs, hits);
	if (!err[1])
		dp_unregister_kprobe(&p);
	take_away(&other);
}

static unsigned long others;

static int count_other(struct dp_kprobe *p, struct pt_regs *regs)
{
	others++;
	return 0;
}

/* The kernel's comes while ours is disabled, and is itself. @at: bytes in front of ours */
static void later(unsigned int at)
{
	struct kprobe other = { .addr = (kprobe_opcode_t *)second - at,
				.flags = KPROBE_FLAG_DISABLED,
				.pre_handler = count_theirs };
	struct dp_kprobe p = { .addr = second,
			       .flags = KPROBE_FLAG_DISABLED,
			       .pre_handler = count,
			       .post_handler = count_after },
			 q = { .addr = second, .pre_handler = count_other };
	int err[4] = { dp_register_kprobe(&p), register_kprobe(&other) };
	unsigned int wrong;

	err[2] = dp_enable_kprobe(&p);
	err[3] = enable_kprobe(&other);
	msleep(SOON);
	wrong = call_near();
	check(!err[0] && !err[1] && !err[3] && !wrong && theirs == CALLS &&
		      (err[2] ? err[2] == -EBUSY && !hits : hits == CALLS),
	      "so it is if that comes before ours is enabled (%d %d %d %d, %u, %lu, %lu)\n",
	      err[0], err[1], err[2], err[3], wrong, theirs, hits);
	take_away(&other);
	others = 0;
	err[0] = dp_register_kprobe(&q);
	wrong = call_near();
	check(!err[0] && !wrong && others == CALLS && !hits,
	      "what could not be enabled is disabled (%d, %lu, %lu)\n", err[0],
	      others, hits);
	err[0] = dp_enable_kprobe(&p);
	wrong = call_near();
	check(!err[0] && !wrong && hits == CALLS, "until it can (%d, %lu)\n",
	      err[0], hits);
	dp_unregister_kprobe(&q);
	dp_unregister_kprobe(&p);
}

static void kernels(void)
{
	second = FIND(dptest_near, 0x8d, 0x47, 0x01);
	near(false, true);
	near(false, false);
	near(true, true);
	near(true, false);
	later(1);
	later(0);
}
#else
static void kernels(void)
{
	skip("behind a probe of the kernel's own is none", NO_KPROBES);
}
#endif

static int __init begin(void)
{
	locks();
	branches();
	static_calls();
	kernels();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes on what is rewritten");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
