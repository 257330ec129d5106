// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch_test: watchpoints with handlers in C: what they count, where they hit, and what is refused.
 *
 *     insmod dpwatch.ko          all tests
 *     insmod dpwatch.ko leave=1  leaves a watchpoint with a handler of its own, and goes
 */
#include <dprobes/kprobes.h>
#include <dprobes/kernel/hw_breakpoint.h>
#include "engine/vm/ops.h"
#include "kmod/session.h"
#include "tests/kernel/test.h"
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define WRITES 1000
#define OTHER 1
#define TICKS 20

static union {
	volatile u64 u64;
	volatile u32 u32[2];
	volatile u16 u16[4];
	volatile u8 u8[8];
} data __aligned(8), beside __aligned(8), both_data __aligned(8);

static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;

/** struct seen - by a handler, which is its context */
static struct seen {
	unsigned long hits, elsewhere, wrong, interrupted;
	u64 sum;
	u8 cpu;
} seen;

static noinline void write_data(u64 value)
{
	data.u64 = value;
}

static void look(struct dp_perf_event *bp, struct dp_perf_sample_data *sample,
		 struct pt_regs *regs)
{
	struct seen *s = bp->overflow_handler_context;
	unsigned long from = (unsigned long)write_data;

	s->hits++;
	s->sum += data.u64;
	s->cpu = (u8)raw_smp_processor_id();
	s->elsewhere += regs->ip <= from || regs->ip > from + 64;
	s->wrong += sample->addr != bp->attr.bp_addr || !in_nmi();
}

static struct dp_perf_event **watch(const volatile void *addr, u32 len,
				    u32 type,
				    dp_perf_overflow_handler_t handler,
				    void *context)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)addr;
	attr.bp_len = len;
	attr.bp_type = type;
	return dp_register_wide_hw_breakpoint(&attr, handler, context);
}

/* Return: accesses so far; with none missed */
static unsigned long hits_of(struct dp_perf_event **bp)
{
	unsigned long missed = 1, hits = 0;

	if (!IS_ERR(bp))
		hits = dp_hw_breakpoint_hits(*bp, &missed);
	return missed ? ~0ul : hits;
}

static void counts(void)
{
	struct dp_perf_event **bp;
	u64 i, sum = 0;

	memset(&seen, 0, sizeof(seen));
	bp = watch(&data, 8, HW_BREAKPOINT_W, look, &seen);
	check(!IS_ERR(bp) && !bp[1] && bp[0]->overflow_handler == look,
	      "data is watched (%d)\n", PTR_ERR_OR_ZERO(bp));
	if (IS_ERR(bp))
		return;
	for (i = 1; i <= WRITES; i++) {
		write_data(i);
		sum += i;
	}
	check(hits_of(bp) == WRITES && seen.hits == WRITES && seen.sum == sum &&
		      !seen.wrong && !seen.elsewhere && !bp[0]->nmissed,
	      "each write hits, behind the store (%lu, %lu, %lu wrong, %lu elsewhere)\n",
	      hits_of(bp), seen.hits, seen.wrong, seen.elsewhere);
	sum = data.u64;
	beside.u64 = 1;
	check(sum == WRITES && hits_of(bp) == WRITES,
	      "what is read, or is beside, does not\n");
	dp_unregister_wide_hw_breakpoint(bp);
	write_data(1);
	check(seen.hits == WRITES && !dp_hw_breakpoint_hits(NULL, NULL),
	      "nor is anything watched any more\n");
	dp_unregister_wide_hw_breakpoint(bp);
	dp_unregister_wide_hw_breakpoint(NULL);
	dp_unregister_wide_hw_breakpoint(ERR_PTR(-ENOSPC));
}

static void sizes(void)
{
	struct dp_perf_event **one, **two, **four, **both;
	u64 sum;

	memset(&seen, 0, sizeof(seen));
	one = watch(&data.u8[7], 1, HW_BREAKPOINT_W, look, &seen);
	two = watch(&data.u16[2], 2, HW_BREAKPOINT_W, look, &seen);
	four = watch(&data.u32[0], 4, HW_BREAKPOINT_RW, look, &seen);
	both = watch(&both_data, 8, HW_BREAKPOINT_W, look, &seen);
	data.u8[6] = 1; /* none */
	data.u8[7] = 1; /* one */
	data.u16[2] = 1; /* two */
	data.u16[3] = 1; /* one */
	data.u8[2] = 1; /* four */
	data.u32[0] = 1; /* four */
	sum = data.u32[0] + data.u32[1]; /* four */
	both_data.u8[4] = 1;
	check(hits_of(one) == 2 && hits_of(two) == 1 && hits_of(four) == 3 &&
		      hits_of(both) == 1 && seen.hits == 7 && sum,
	      "1, 2, 4 and 8 bytes are told apart (%lu %lu %lu %lu)\n",
	      hits_of(one), hits_of(two), hits_of(four), hits_of(both));
	check(PTR_ERR(watch(&beside, 8, HW_BREAKPOINT_W, look, &seen)) ==
		      -ENOSPC,
	      "there are four\n");
	dp_unregister_wide_hw_breakpoint(two);
	two = watch(&beside, 8, HW_BREAKPOINT_W, look, &seen);
	beside.u64 = 2;
	check(hits_of(two) == 1, "of which one can be others'\n");
	dp_unregister_wide_hw_breakpoint(one);
	dp_unregister_wide_hw_breakpoint(two);
	dp_unregister_wide_hw_breakpoint(four);
	dp_unregister_wide_hw_breakpoint(both);
}

/* Those that do not differ from the kernel's own hold others. */
static void shares(void)
{
	struct perf_event *__percpu *theirs;
	struct perf_event_attr attr;
	struct dp_perf_event **bp[4];
	unsigned int i;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&beside;
	attr.bp_len = 8;
	attr.bp_type = HW_BREAKPOINT_W;
	theirs = register_wide_hw_breakpoint(&attr, (void *)look, &seen);
	for (i = 0; i < 4; i++)
		bp[i] = watch(&data, 8, HW_BREAKPOINT_W, look, &seen);
	check(!IS_ERR((void __force *)theirs) && !IS_ERR(bp[2]) &&
		      PTR_ERR(bp[3]) == -ENOSPC,
	      "what others have taken is not there\n");
	for (i = 0; i < 4; i++)
		dp_unregister_wide_hw_breakpoint(bp[i]);
	if (!IS_ERR((void __force *)theirs))
		unregister_wide_hw_breakpoint(theirs);
}

static void refuses(void)
{
	u64 of_cpu = dp_kmod_symbol("dprobes:dp_kernel_cpu"),
	    arena = dp_kmod_symbol("dprobes:dp_arena");
	void *gone = vmalloc(PAGE_SIZE);
	struct perf_event_attr attr;

	vfree(gone);
	check(PTR_ERR(watch(&data.u8[1], 2, HW_BREAKPOINT_W, look, 0)) ==
			      -EINVAL &&
		      PTR_ERR(watch(&data, 3, HW_BREAKPOINT_W, look, 0)) ==
			      -EINVAL &&
		      PTR_ERR(watch(&data, 0, HW_BREAKPOINT_W, look, 0)) ==
			      -EINVAL &&
		      PTR_ERR(watch(&data, 16, HW_BREAKPOINT_W, look, 0)) ==
			      -EINVAL,
	      "refused: what no register watches\n");
	check(PTR_ERR(watch((void *)0x1000, 8, HW_BREAKPOINT_W, look, 0)) ==
			      -EINVAL &&
		      PTR_ERR(watch(gone, 8, HW_BREAKPOINT_W, look, 0)) ==
			      -EFAULT &&
		      PTR_ERR(watch((void *)(1ul << 63), 8, HW_BREAKPOINT_W,
				    look, 0)) == -EFAULT,
	      "refused: addresses of processes, and of nothing\n");
	check(PTR_ERR(watch(write_data, 8, HW_BREAKPOINT_X, look, 0)) ==
			      -EOPNOTSUPP &&
		      PTR_ERR(watch(&data, 8, HW_BREAKPOINT_R, look, 0)) ==
			      -EINVAL &&
		      PTR_ERR(watch(&data, 8, HW_BREAKPOINT_W, NULL, 0)) ==
			      -EINVAL &&
		      PTR_ERR(dp_register_wide_hw_breakpoint(NULL, look, 0)) ==
			      -EINVAL,
	      "refused: other kinds\n");
	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&data;
	attr.bp_len = 8;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.disabled = 1;
	check(PTR_ERR(dp_register_wide_hw_breakpoint(&attr, look, 0)) ==
		      -EINVAL,
	      "refused: one that begins disabled\n");
	check(arena && of_cpu &&
		      PTR_ERR(watch((void *)arena, 8, HW_BREAKPOINT_W, look,
				    0)) == -EPERM &&
		      PTR_ERR(watch(per_cpu_ptr((void __percpu *)of_cpu, OTHER),
				    1, HW_BREAKPOINT_RW, look, 0)) == -EPERM,
	      "refused: dprobes.ko's own memory\n");
}

static void on_other(void *value)
{
	write_data((u64)value);
}

static enum hrtimer_restart in_hardirq_write(struct hrtimer *timer)
{
	seen.interrupted += !!in_hardirq();
	write_data(5);
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_MSEC));
	return seen.interrupted < TICKS ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static void tick(void)
{
	struct hrtimer timer;
	unsigned int i;

	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = in_hardirq_write;
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC),
		      HRTIMER_MODE_REL_HARD);
	for (i = 0; i < 200 && READ_ONCE(seen.interrupted) < TICKS; i++)
		msleep(10);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

static void in_softirq_write(struct tasklet_struct *unused)
{
	write_data(7);
}

static DECLARE_TASKLET(tasklet, in_softirq_write);

static unsigned long nmis;
static bool sends;

static int in_nmi_write(unsigned int what, struct pt_regs *regs)
{
	if (!READ_ONCE(sends) || raw_smp_processor_id() != OTHER)
		return NMI_DONE;
	write_data(9);
	WRITE_ONCE(nmis, nmis + 1);
	return NMI_HANDLED;
}

static void send_nmi(void)
{
	unsigned long until = jiffies + HZ;

	WRITE_ONCE(sends, true);
	apic->send_IPI(OTHER, NMI_VECTOR);
	while (!READ_ONCE(nmis) && time_before(jiffies, until))
		usleep_range(20, 100);
	WRITE_ONCE(sends, false);
}

static void contexts(void)
{
	struct dp_perf_event **bp =
		watch(&data, 8, HW_BREAKPOINT_W, look, &seen);
	unsigned int i;

	memset(&seen, 0, sizeof(seen));
	for (i = 0; i < 100; i++)
		smp_call_function_single(OTHER, on_other, (void *)5, 1);
	check(hits_of(bp) == 100 && seen.hits == 100 && seen.cpu == OTHER &&
		      !seen.wrong,
	      "another CPU hits (%lu)\n", hits_of(bp));
	tick();
	check(hits_of(bp) == 100 + TICKS && seen.hits == 100 + TICKS &&
		      seen.interrupted == TICKS && !seen.wrong,
	      "interrupts hit (%lu)\n", hits_of(bp));
	tasklet_schedule(&tasklet);
	tasklet_kill(&tasklet);
	check(hits_of(bp) == 101 + TICKS && seen.hits == 101 + TICKS,
	      "softirqs hit (%lu)\n", hits_of(bp));
	nmis = 0;
	if (!register_nmi_handler(NMI_LOCAL, in_nmi_write, 0, "dptest")) {
		send_nmi();
		unregister_nmi_handler(NMI_LOCAL, "dptest");
	}
	check(nmis == 1 && hits_of(bp) == 101 + TICKS,
	      "in NMIs the registers are off (%lu, %lu)\n", nmis, hits_of(bp));
	dp_unregister_wide_hw_breakpoint(bp);
}

static int write_before(struct dp_kprobe *p, struct pt_regs *regs)
{
	write_data(3);
	return 0;
}

static void write_again(struct dp_perf_event *bp,
			struct dp_perf_sample_data *sample,
			struct pt_regs *regs)
{
	struct seen *s = bp->overflow_handler_context;

	s->hits++;
	data.u64++;
	s->sum += call_gcd(12, 18);
}

/* A handler of a probe writes; a watchpoint's handler writes, and calls what is probed. */
static void within(void)
{
	struct dp_kprobe p = { .symbol_name = "gcd",
			       .pre_handler = write_before };
	struct dp_perf_event **bp;
	unsigned long missed = 0, hits;
	unsigned int i;
	int err;

	memset(&seen, 0, sizeof(seen));
	bp = watch(&data, 8, HW_BREAKPOINT_W, write_again, &seen);
	write_data(1);
	check(hits_of(bp) == 1 && seen.hits == 1 && data.u64 == 2 &&
		      seen.sum == 6,
	      "what a handler accesses does not hit\n");
	err = dp_register_kprobe(&p);
	for (i = 0; i < 100; i++)
		seen.sum += call_gcd(12, 18);
	hits = IS_ERR(bp) ? 0 : dp_hw_breakpoint_hits(*bp, &missed);
	check(!err && hits == 101 && missed == 100 && seen.hits == 1 &&
		      bp[0]->nmissed == 100 && !p.nmissed,
	      "in a probe's handler it calls none, and is counted (%lu, %lu, %lu)\n",
	      hits, missed, seen.hits);
	write_data(1);
	check(seen.hits == 2 && p.nmissed == 1,
	      "in a watchpoint's handler no other one is called (%lu, %lu)\n",
	      seen.hits, p.nmissed);
	dp_unregister_kprobe(&p);
	dp_unregister_wide_hw_breakpoint(bp);
}

static void nothing(struct dp_perf_event *bp, struct dp_perf_sample_data *s,
		    struct pt_regs *regs)
{
}

/* Logs one value: its record has the number of the task, which a hit reads */
static int add_program(u32 *probe)
{
	static const u8 code[] = {
		DP_OPCODE_PUSH, 7, 0, 0, 0, 0, 0, 0, 0, DP_OPCODE_LOG_I, 1, 0,
		DP_OPCODE_EXIT
	};
	static const u32 start;
	const struct dp_program_spec spec = { .name = "kernel",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = &start,
					      .nr_starts = 1,
					      .jmpmax = 100,
					      .logmax = 64,
					      .stack = 32 };
	struct dp_binding binding = { .maxhits = ~0u };
	const char *why = NULL;
	u32 offset;
	int err = dp_kmod_add_program(&spec, &binding.program, &offset, &why);

	err = err ?: dp_kmod_add((u64)gcd, probe, &why);
	if (!err)
		dp_kmod_bind(*probe, &binding);
	return err;
}

static void count_record(void *records, const struct dp_record_copy *r)
{
	++*(unsigned long *)records;
}

/* What hits read of the task is watched, and a probe's hits are as many as ever. */
static void busy(enum dp_kmod_arming arming)
{
	unsigned long missed = 0, hits, sum = 0, records = 0;
	struct dp_perf_event **pid, **ticks;
	u32 probe = 0, i;
	u64 bad, probed;
	int err = dp_kmod_begin(arming);

	err = err ?: add_program(&probe);
	err = err ?: dp_kmod_commit(&bad);
	pid = watch(&current->pid, 4, HW_BREAKPOINT_RW, nothing, NULL);
	ticks = watch(&jiffies_64, 8, HW_BREAKPOINT_RW, nothing, NULL);
	for (i = 0; i < 100; i++)
		sum += call_gcd(12, 18);
	msleep(20);
	probed = dp_kmod_hits(probe);
	dp_kmod_records(count_record, &records);
	hits = IS_ERR(pid) ? 0 : dp_hw_breakpoint_hits(*pid, &missed);
	check(!err && !IS_ERR(ticks) && sum == 600 && probed == 100 &&
		      records == 100 && missed >= 100 && missed <= hits &&
		      dp_hw_breakpoint_hits(*ticks, NULL),
	      "what hits read can be watched (%d: %llu hits, %lu records, %ld of %ld missed)\n",
	      err, probed, records, missed, hits);
	dp_unregister_wide_hw_breakpoint(pid);
	dp_unregister_wide_hw_breakpoint(ticks);
	dp_kmod_end();
}

static void hotplug(void)
{
	struct dp_perf_event **bp;
	int down, up, err;

	memset(&seen, 0, sizeof(seen));
	bp = watch(&data, 8, HW_BREAKPOINT_W, look, &seen);
	smp_call_function_single(OTHER, on_other, (void *)1, 1);
	down = remove_cpu(OTHER);
	write_data(2);
	check(!down && hits_of(bp) == 2, "a CPU goes (%d, %lu)\n", down,
	      hits_of(bp));
	up = add_cpu(OTHER);
	err = smp_call_function_single(OTHER, on_other, (void *)3, 1);
	check(!up && !err && hits_of(bp) == 3 && seen.hits == 3 &&
		      seen.cpu == OTHER,
	      "and watches when it comes again (%d, %lu)\n", up, hits_of(bp));
	down = remove_cpu(OTHER);
	dp_unregister_wide_hw_breakpoint(bp);
	up = add_cpu(OTHER);
	err = smp_call_function_single(OTHER, on_other, (void *)4, 1);
	check(!down && !up && !err && seen.hits == 3,
	      "nor where it was away meanwhile\n");
}

static bool leave;
module_param(leave, bool, 0);

static int __init begin(void)
{
	if (leave)
		return PTR_ERR_OR_ZERO(
			watch(&jiffies_64, 8, HW_BREAKPOINT_W, look, &seen));
	counts();
	sizes();
	shares();
	refuses();
	contexts();
	within();
	busy(DP_KMOD_TRAP);
	busy(DP_KMOD_JUMP);
	hotplug();
	pr_info("dptest: done\n");
	return 0;
}

/* A watchpoint may be left: dprobes.ko takes it away. */
static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests watchpoints with handlers");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
