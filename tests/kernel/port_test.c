// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* port_test: the kernel's port, on code of its own and on a function of the kernel's. */
#include "port.h"
#include "port/kernel/text.h"
#include "tests/kernel/test.h"
#include <linux/cpu.h>
#include <linux/gcd.h>
#include <linux/kthread.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smp.h>

/* Its number is in the bytes after the first. The area lies across two pages. */
asm(".text\n"
    ".balign 16\n"
    ".type dptest_answer, @function\n"
    "dptest_answer: movl $1, %eax\n" ASM_RET
    ".size dptest_answer, . - dptest_answer\n"
    ".balign 4096\n"
    "dptest_area: .fill 8192, 1, 0xcc\n");
extern u8 dptest_area[];
int dptest_answer(void);

static int get(const void *addr, void *to, size_t len)
{
	return dp_kernel_text()->ops->read(dp_kernel_text(), (u64)addr, to,
					   len);
}

static int put(const void *addr, const void *from, size_t len)
{
	int err = dp_kernel_text()->ops->write(dp_kernel_text(), (u64)addr,
					       from, len);

	return err ?: dp_kernel_text()->ops->sync(dp_kernel_text());
}

/* Memory that has been used before is the likeliest not to be. */
static bool is_zeroed(size_t size)
{
	bool zeroed = true;
	unsigned int i;

	for (i = 0; i < 100 && zeroed; i++) {
		u8 *mem = dp_port_alloc(size);

		zeroed = mem && !memchr_inv(mem, 0, size);
		if (mem)
			memset(mem, 0x5a, size);
		dp_port_free(mem);
	}
	return zeroed;
}

static void memory(void)
{
	u8 *mem = dp_port_alloc(100000), *grown;

	check(is_zeroed(1000) && is_zeroed(100000), "memory is zeroed");
	check(mem, "there is memory");
	if (!mem)
		return;
	memset(mem, 0x5a, 100000);
	check(!dp_port_resize(mem, SIZE_MAX) && !memchr_inv(mem, 0x5a, 100000),
	      "memory that cannot grow stays");
	grown = dp_port_resize(mem, 9000000);
	check(grown && !memchr_inv(grown, 0x5a, 100000),
	      "memory that grows has its bytes");
	mem = grown ? dp_port_resize(grown, 10) : NULL;
	check(mem && !memchr_inv(mem, 0x5a, 10), "memory shrinks");
	dp_port_free(mem);
	dp_port_free(NULL);
}

static void take_time(void *time)
{
	*(u64 *)time = dp_port_clock();
}

static void clocks(void)
{
	unsigned int cpu, late = 0, i;
	u64 before, there, after;

	for_each_online_cpu(cpu) for (i = 0; i < 100; i++)
	{
		before = dp_port_clock();
		if (smp_call_function_single(cpu, take_time, &there, 1))
			there = 0;
		after = dp_port_clock();
		late += there < before || after < there;
	}
	check(num_online_cpus() > 1 && !late, "all CPUs have one clock");
}

static void reads(void)
{
	u8 bytes[16];

	check(!get(gcd, bytes, 16) && !memcmp(bytes, gcd, 16),
	      "text is read as it is");
	check(get(NULL, bytes, 16) == -EFAULT, "nothing is not read");
}

/* A caller on another CPU, which counts by what it is answered. */
static u64 answers[3];

static int call(void *unused)
{
	while (!kthread_should_stop()) {
		int answer = dptest_answer();

		answers[answer == 1 || answer == 2 ? answer : 0]++;
		cond_resched();
	}
	return 0;
}

static u32 rewrite(unsigned int rounds)
{
	u8 *byte = (u8 *)dptest_answer + 1;
	u32 wrong = 0, i;

	for (i = 0; i < rounds; i++) {
		u8 want = 1 + !(i & 1);

		wrong += put(byte, &want, 1) || dptest_answer() != want;
		schedule_timeout_interruptible(1);
	}
	return wrong;
}

static void own(void)
{
	struct task_struct *task;
	u8 was[5];
	u32 wrong;

	get(dptest_answer, was, 5);
	task = kthread_create(call, NULL, "dptest");
	if (IS_ERR(task)) {
		check(false, "a thread");
		return;
	}
	kthread_bind(task, raw_smp_processor_id() ? 0 : 1);
	wake_up_process(task);
	wrong = rewrite(200);
	kthread_stop(task);
	check(!wrong, "code that is written is executed");
	check(answers[1] && answers[2] && !answers[0],
	      "another CPU executes one or the other");
	check(!memcmp(dptest_answer, was, 5), "its bytes are restored");
}

static void across(void)
{
	u8 bytes[64], was[64], *at = dptest_area + PAGE_SIZE - 31;

	memset(bytes, 0x90, 64);
	get(at, was, 64);
	check(!put(at, bytes, 64) && !memcmp(at, bytes, 64) && at[-1] == 0xcc &&
		      at[64] == 0xcc,
	      "a write goes over the end of a page, and no further");
	check(!put(at, was, 64) && !memchr_inv(dptest_area, 0xcc, 8192),
	      "and is taken back");
}

/* endbr64; mov $77, %eax; ret */
static const u8 other[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 77, 0, 0, 0, 0xc3 };

static void kernels(void)
{
	/* Or the compiler knows that it always is the same. */
	unsigned long (*volatile function)(unsigned long, unsigned long) = gcd;
	unsigned long before = function(12, 8), during;
	u8 was[sizeof(other)];
	int err;

	err = get(gcd, was, sizeof(was)) ?: put(gcd, other, sizeof(other));
	during = function(12, 8);
	check(!err && before == 4 && during == 77,
	      "a function of the kernel's is another");
	err = put(gcd, was, sizeof(was));
	check(!err && function(12, 8) == 4 && !memcmp(gcd, was, sizeof(was)),
	      "and is itself again");
}

static void refusals(void)
{
	u8 byte = 1, *heap = kzalloc(16, GFP_KERNEL);

	check(heap && put(heap, &byte, 1) == -EFAULT && !*heap,
	      "memory that is no text is not written");
	kfree(heap);
	check(put(NULL, &byte, 1) == -EFAULT, "nor is a user's address");
	check(put((void *)(MODULES_END - 1), other, 2) == -EFAULT,
	      "nor is what lies beyond the modules");
	check(put(gcd, other, ~0ull) == -EFAULT,
	      "nor is a length that is more than there is");
	check(!put(gcd, other, 0), "nothing to write is no error");
}

static int __init begin(void)
{
	memory();
	clocks();
	reads();
	own();
	across();
	kernels();
	refusals();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests what dprobes asks of a kernel");
MODULE_LICENSE("Dual BSD/GPL");
