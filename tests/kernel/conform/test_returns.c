// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* returns: instances of return probes, as the manuals have them. */
#include "conform.h"
#include "victims.h"
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched.h>

static struct kretprobe *of;
static unsigned long wrong;
static void *caller;

static int note(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	wrong += ri->rp != of || ri->task != current || ri->ret_addr != caller;
	return 1;
}

TEST(row_005_035_036_126_127_128_131_what_an_instance_tells)
{
	struct kretprobe rp = { .kp.addr = (void *)v_returns, .handler = note };

	of = &rp;
	wrong = 0;
	caller = v_caller_back;
	must(register_kretprobe(&rp));
	check_eq(v_caller(5, 0), 105);
	check_eq(counts.ret, 1);
	check_eq(wrong, 0);
	unregister_kretprobe(&rp);
	check_eq(v_caller(5, 0), 105);
	check_eq(counts.ret, 1);
}

static unsigned long returned;

static int change(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returned = regs_return_value(regs);
	regs->ax = 17;
	return 0;
}

TEST(row_130_151_the_value_is_seen_and_changed)
{
	struct kretprobe rp = { .kp.symbol_name = "c_plain",
				.handler = change };

	must(register_kretprobe(&rp));
	check_eq(c_plain(2, 1), 17);
	check_eq(returned, 7);
	unregister_kretprobe(&rp);
}

TEST(row_041_maxactive_has_a_default_that_is_written_back)
{
	int i, given[] = { 0, -1, -100 };

	for (i = 0; i < COUNT(given); i++) {
		struct kretprobe rp = retprobe_at(c_plain);

		rp.maxactive = given[i];
		must(register_kretprobe(&rp));
		check_eq(rp.maxactive, max(10u, 2 * num_possible_cpus()));
		unregister_kretprobe(&rp);
	}
}

TEST(row_037_043_044_045_052_instances_run_out)
{
	struct kretprobe rp = retprobe_at(c_recurse);

	rp.maxactive = 4;
	rp.nmissed = 99;
	rp.entry_handler = count_entry;
	must(register_kretprobe(&rp));
	check_eq(rp.nmissed, 0);
	check_eq(c_recurse(9), 45);
	check_eq(counts.ret, 4);
	check_eq(counts.entry, 4);
	check_eq(rp.nmissed, 6);
	check_eq(c_recurse(1), 1);
	check_eq(counts.ret, 6);
	check_eq(rp.nmissed, 6);
	unregister_kretprobe(&rp);
}

/* More than there can be stubs */
TEST(row_038_instances_are_made_when_registering)
{
	struct kretprobe rp = retprobe_at(c_plain);

	rp.maxactive = 1 << 20;
	check_eq(register_kretprobe(&rp), -ENOMEM);
	check_eq(list_length(), 0);
	check_eq(c_plain(1, 1), 4);
	rp.maxactive = 1;
	must(register_kretprobe(&rp));
	unregister_kretprobe(&rp);
}

static DEFINE_MUTEX(lock);

static void call_locked(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		mutex_lock(&lock);
		check_eq(c_plain(i, 1), 3 * i + 1);
		mutex_unlock(&lock);
	}
}

TEST(row_039_one_instance_is_enough_under_a_lock)
{
	struct kretprobe rp = retprobe_at(c_plain);

	rp.maxactive = 1;
	must(register_kretprobe(&rp));
	in_threads(call_locked);
	check_eq(counts.ret, (unsigned long)ROUNDS * conform_threads());
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

static void call_unpreempted(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		preempt_disable();
		check_eq(c_plain(i, 1), 3 * i + 1);
		preempt_enable();
	}
}

TEST(row_040_as_many_as_cpus_are_enough)
{
	struct kretprobe rp = retprobe_at(c_plain);

	rp.maxactive = num_possible_cpus();
	must(register_kretprobe(&rp));
	in_threads(call_unpreempted);
	check_eq(counts.ret, (unsigned long)ROUNDS * conform_threads());
	check_eq(rp.nmissed, 0);
	unregister_kretprobe(&rp);
}

/* Odd calls are not followed. */
static int refuse_odd(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->di;
	count(&counts.entry);
	return regs->di & 1;
}

static int compare(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long n = *(unsigned long *)ri->data;

	wrong += n & 1 || regs_return_value(regs) != n * 3 + 1;
	count(&counts.ret);
	return 0;
}

static void call_numbers(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 3 * i + 1);
}

TEST(row_046_047_048_050_051_129_entry_handlers_and_their_data)
{
	struct kretprobe rp = { .kp.addr = (void *)c_plain,
				.entry_handler = refuse_odd,
				.handler = compare,
				.data_size = sizeof(long) };
	unsigned long calls = (unsigned long)ROUNDS * conform_threads();

	wrong = 0;
	must(register_kretprobe(&rp));
	in_threads(call_numbers);
	check_eq(counts.entry, calls);
	check_eq(counts.ret, calls / 2);
	check_eq(rp.nmissed, 0);
	check_eq(wrong, 0);
	unregister_kretprobe(&rp);
}

TEST(row_163_what_returns_on_another_stack_is_refused)
{
	struct kretprobe rp = { .kp.symbol_name = "__switch_to",
				.handler = count_ret };

	check_eq(register_kretprobe(&rp), -EINVAL);
	check_eq(list_length(), 0);
}
