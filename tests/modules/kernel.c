// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that includes the least that the kernel's own modules do, and expects of it
 * what they find there. */
#ifndef __KERNEL__
#error "built as a program"
#endif
#ifndef MODULE
#error "built into a kernel"
#endif
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>

#if !IS_ENABLED(CONFIG_KPROBES) || !defined(CONFIG_OPTPROBES)
#error "without probes"
#endif

static DECLARE_COMPLETION(done);
static DECLARE_WAIT_QUEUE_HEAD(queue);
static struct notifier_block nb __maybe_unused;
static int wrong;

#define EXPECT(what)                                   \
	do {                                           \
		if (!(what)) {                         \
			wrong++;                       \
			pr_err("not so: %s\n", #what); \
		}                                      \
	} while (0)

static void bits(void)
{
	unsigned long x = 0;
	int n = 0, bit;

	set_bit(3, &x);
	set_bit(5, &x);
	change_bit(5, &x);
	EXPECT(x == 8 && test_and_clear_bit(3, &x) && !x);
	EXPECT(!test_and_change_bit(7, &x) && test_bit(7, &x));
	x = 0x8005;
	for_each_set_bit(bit, &x, 16) n += bit;
	EXPECT(n == 17 && ffz(x) == 1 && ffs(6) == 2);
}

static void memory(void)
{
	int value = 0, copy = 7;
	char text[8];

	EXPECT(PAGE_SIZE == 4096 && THREAD_SIZE % PAGE_SIZE == 0);
	EXPECT(access_ok(&copy, sizeof(copy)));
	EXPECT(!get_user(value, &copy) && value == 7);
	EXPECT(get_user(value, (int *)8) == -EFAULT);
	EXPECT(!put_user(9, &copy) && copy == 9);
	EXPECT(strncpy_from_user(text, "four", sizeof(text)) == 4);
}

static void time_goes(void)
{
	u64 before = ktime_get_ns(), cycles = get_cycles();

	udelay(50);
	msleep(1);
	EXPECT(schedule_timeout(1) == 0);
	EXPECT(ktime_get_ns() - before >= 2050000);
	EXPECT(rdtsc_ordered() > cycles);
	EXPECT(MAX_SCHEDULE_TIMEOUT == LONG_MAX);
}

static void waiting(void)
{
	complete(&done);
	complete(&done);
	EXPECT(!wait_for_completion_interruptible(&done));
	EXPECT(completion_done(&done) && try_wait_for_completion(&done));
	EXPECT(!wait_for_completion_timeout(&done, msecs_to_jiffies(2)));
	EXPECT(!wait_event_interruptible(queue, !waitqueue_active(&queue)));
	EXPECT(!wait_event_timeout(queue, wrong < 0, 1));
	complete_all(&done);
	wait_for_completion(&done);
	EXPECT(wait_for_completion_timeout(&done, 5) > 0);
	reinit_completion(&done);
	EXPECT(!completion_done(&done));
	synchronize_rcu();
}

static int __init begin(void)
{
	unsigned long stack[4];
	u32 random[2] = { 0, 0 };

	bits();
	memory();
	time_goes();
	waiting();
	get_random_bytes(random, sizeof(random));
	EXPECT(random[0] || random[1]);
	EXPECT(stack_trace_save(stack, ARRAY_SIZE(stack), 0) > 0);
	EXPECT(kernel_text_address((unsigned long)begin));
	EXPECT(!kernel_text_address((unsigned long)stack));
	EXPECT(current_uid().val == current->cred->uid.val);
	EXPECT(current->start_time &&
	       current->start_time <= ktime_get_boottime_ns());
	pr_info("%d wrong\n", wrong);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
