// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* probe_test: probes on functions of the kernel's and of this module, by breakpoints and by jumps. */
#include "engine/insn/insn.h"
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define CALLS 20000
#define VICTIMS 4

/* What is called is not known to the compiler. */
static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;
static unsigned long (*volatile call_sqrt)(unsigned long) = int_sqrt;

static unsigned long calls[2][2]; /* by CPU: gcd, int_sqrt */

static int work(void *cpu)
{
	unsigned long *n = calls[(long)cpu], wrong = 0;

	while (!kthread_should_stop()) {
		wrong += call_gcd(12, 18) != 6;
		n[0]++;
		wrong += call_sqrt(144) != 12;
		n[1]++;
		cond_resched_tasks_rcu_qs();
	}
	return wrong != 0;
}

static struct task_struct *start(long cpu)
{
	struct task_struct *task =
		kthread_create(work, (void *)cpu, "dptest/%ld", cpu);

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, cpu);
	wake_up_process(task);
	return task;
}

static const u8 *bytes_of(void *function, u8 *to)
{
	memcpy(to, function, 32);
	return to;
}

static const char *name_of(enum dp_kmod_arming arming)
{
	return arming == DP_KMOD_TRAP ? "trap" :
	       arming == DP_KMOD_JUMP ? "jump" :
					"interior";
}

/* Return: ns that a call takes; the least of some rounds, for other things happen, too. */
static u64 price(void)
{
	u64 least = ~0ull, begun, took;
	u32 round, i;

	for (round = 0; round < 5; round++) {
		begun = ktime_get_ns();
		for (i = 0; i < CALLS / 20; i++)
			call_gcd(1, 1);
		took = ktime_get_ns() - begun;
		least = min(least, took);
	}
	return least / (CALLS / 20);
}

/* One thread, a known number of calls */
static void counts(enum dp_kmod_arming arming)
{
	u32 probe[2], i;
	u8 was[2][32], now[32];
	u64 bad, before = price();
	const char *why = NULL;
	int err;

	bytes_of(gcd, was[0]);
	bytes_of(int_sqrt, was[1]);
	err = dp_kmod_begin(arming);
	check(!err, "%s: a session begins (%d)\n", name_of(arming), err);
	err = dp_kmod_add((u64)gcd, &probe[0], &why) ?:
		      dp_kmod_add((u64)int_sqrt, &probe[1], &why);
	check(!err, "%s: probes are added (%d %s)\n", name_of(arming), err,
	      why ?: "");
	err = dp_kmod_commit(&bad);
	check(!err, "%s: they are armed (%d at %llx)\n", name_of(arming), err,
	      bad);
	check(memcmp(was[0], bytes_of(gcd, now), 32) &&
		      memcmp(was[1], bytes_of(int_sqrt, now), 32),
	      "%s: the text is another\n", name_of(arming));
	note("%s: gcd by %s (%s), int_sqrt by %s (%s)\n", name_of(arming),
	     dp_kmod_mode(probe[0]), dp_kmod_reason(probe[0]),
	     dp_kmod_mode(probe[1]), dp_kmod_reason(probe[1]));
	check(arming == DP_KMOD_INTERIOR ||
		      (!strcmp(dp_kmod_mode(probe[0]), name_of(arming)) &&
		       !strcmp(dp_kmod_mode(probe[1]), name_of(arming))),
	      "%s: that is how they are armed\n", name_of(arming));
	for (err = 0, i = 0; i < CALLS; i++)
		err |= call_gcd(12, 18) != 6 || call_sqrt(144) != 12;
	check(!err, "%s: functions with probes do what they did\n",
	      name_of(arming));
	check(dp_kmod_hits(probe[0]) == CALLS &&
		      dp_kmod_hits(probe[1]) >= CALLS,
	      "%s: each call is counted (%llu %llu)\n", name_of(arming),
	      dp_kmod_hits(probe[0]), dp_kmod_hits(probe[1]));
	dp_kmod_turn(probe[0], false);
	err = dp_kmod_commit(&bad);
	call_gcd(12, 18);
	check(!err && !memcmp(was[0], bytes_of(gcd, now), 32) &&
		      dp_kmod_hits(probe[0]) == CALLS,
	      "%s: a probe is turned off\n", name_of(arming));
	dp_kmod_turn(probe[0], true);
	err = dp_kmod_commit(&bad);
	call_gcd(12, 18);
	check(!err && dp_kmod_hits(probe[0]) == CALLS + 1, "%s: and on again\n",
	      name_of(arming));
	note("%s: a call takes %llu ns, %llu without a probe\n",
	     name_of(arming), price(), before);
	err = dp_kmod_end();
	check(!err && !memcmp(was[0], bytes_of(gcd, now), 32) &&
		      !memcmp(was[1], bytes_of(int_sqrt, now), 32),
	      "%s: the text is what it was (%d)\n", name_of(arming), err);
}

static struct task_struct *workers[2];

static void work_begin(void)
{
	long cpu;

	memset(calls, 0, sizeof(calls));
	for (cpu = 0; cpu < 2; cpu++)
		workers[cpu] = start(cpu);
}

/* Return: both have found that all functions do what they did. */
static bool work_end(void)
{
	bool good = true;
	long cpu;

	for (cpu = 0; cpu < 2; cpu++)
		good &= workers[cpu] && !kthread_stop(workers[cpu]);
	return good;
}

/* Two CPUs in the functions, whose probes stay, and then come and go */
static void under_fire(enum dp_kmod_arming arming)
{
	u32 probe[2], round;
	u8 was[32], now[32];
	int err;
	u64 bad;
	bool good;

	bytes_of(gcd, was);
	err = dp_kmod_begin(arming);
	err = err ?: dp_kmod_add((u64)gcd, &probe[0], NULL);
	err = err ?: dp_kmod_add((u64)int_sqrt, &probe[1], NULL);
	err = err ?: dp_kmod_commit(&bad);
	check(!err, "%s: probes for two CPUs (%d)\n", name_of(arming), err);
	if (err)
		return;
	work_begin();
	msleep(500);
	good = work_end();
	check(good && calls[0][0] > 100 && calls[1][0] > 100 &&
		      dp_kmod_hits(probe[0]) == calls[0][0] + calls[1][0] &&
		      dp_kmod_hits(probe[1]) >= calls[0][1] + calls[1][1] &&
		      !dp_kmod_missed(),
	      "%s: calls on two CPUs are counted (%llu of %lu and %lu)\n",
	      name_of(arming), dp_kmod_hits(probe[0]), calls[0][0],
	      calls[1][0]);
	work_begin();
	for (round = 0; round < 60 && !err; round++) {
		dp_kmod_turn(probe[round & 1], round >> 1 & 1);
		err = dp_kmod_commit(&bad);
		schedule_timeout_interruptible(1);
	}
	good = !dp_kmod_end();
	good &= work_end();
	check(!err && good && !memcmp(was, bytes_of(gcd, now), 32),
	      "%s: probes come and go under fire (%d, %u rounds)\n",
	      name_of(arming), err, round);
}

static const char *refusal_of(u64 addr, int *err)
{
	const char *why = NULL;
	u32 probe;

	*err = addr ? dp_kmod_add(addr, &probe, &why) : 0;
	return why ?: "";
}

static bool is_refused(const char *name, int want)
{
	int err;
	const char *why = refusal_of(dp_kmod_symbol(name), &err);

	if (err != want || !*why)
		note("%s: %d %s\n", name, err, why);
	return err == want && *why;
}

/* Instructions at which the kernel is found, and what it says of them */
static const char *const functions[] = {
	"__schedule",	     "try_to_wake_up", "copy_from_kernel_nofault",
	"vfs_read",	     "do_sys_openat2", "handle_mm_fault",
	"copy_process",	     "do_exit",	       "kmem_cache_alloc",
	"run_timer_softirq", "scheduler_tick", "native_safe_halt",
	"strnlen_user",	     "__alloc_pages",  "kmalloc_trace",
	"x86_pmu_read",	     "x86_pmu_del",
};
static const struct {
	bool has;
	const char *why;
} reasons[] = {
	{ DP_KERNEL_HAS_JUMP_LABELS, "jump label" },
	{ DP_KERNEL_HAS_STATIC_CALLS, "static call" },
	{ true, "a fault of it has a handler" },
	{ true, "ud2" },
};

/* Return: of which reasons there have been instructions; a bit each */
static unsigned int walk(const char *name)
{
	u64 start = dp_kmod_symbol(name), at;
	struct insn_facts facts;
	unsigned int met = 0, i;
	u8 code[DP_INSN_MAX];
	const char *why;
	int err;

	for (at = start; start && at < start + 0x400; at += facts.len) {
		memcpy(code, (void *)at, sizeof(code));
		if (dp_insn_facts(code, sizeof(code), &facts))
			break;
		why = refusal_of(at, &err);
		for (i = 0; i < ARRAY_SIZE(reasons); i++)
			met |= strstr(why, reasons[i].why) ? 1u << i : 0;
	}
	return met;
}

static void refusals(void)
{
	unsigned int met = 0, i;
	int err = dp_kmod_begin(DP_KMOD_JUMP);

	check(!err && dp_kmod_begin(DP_KMOD_TRAP) == -EBUSY,
	      "there is one session at a time\n");
	check(is_refused("exc_int3", -EINVAL) &&
		      is_refused("asm_exc_page_fault", -EINVAL),
	      "no probe is where the kernel comes in\n");
	check(is_refused("notify_die", -EINVAL) &&
		      is_refused("__rcu_read_lock", -EINVAL),
	      "nor on the way of a breakpoint\n");
	check(is_refused("dp_kernel_detour", -EINVAL),
	      "nor in the module itself\n");
	refusal_of((u64)THIS_MODULE->init, &err);
	check(!err, "but in code that goes, which is there yet (%d)\n", err);
	check(is_refused("jiffies", -ENOENT) &&
		      is_refused("sys_call_table", -ENOENT),
	      "nor on what is no code\n");
	refusal_of((u64)gcd + 1, &err);
	check(err == -EILSEQ, "nor in the middle of an instruction (%d)\n",
	      err);
	refusal_of(0xffff888000000000, &err);
	check(err == -ENOENT, "nor elsewhere (%d)\n", err);
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		met |= walk(functions[i]);
	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].has)
			check(met >> i & 1,
			      "nor where this is the reason: %s\n",
			      reasons[i].why);
		else
			skip("nor where the kernel rewrites its text",
			     reasons[i].why);
	check(!dp_kmod_end(), "none of them has been armed\n");
}

static unsigned long hit_copies(void)
{
	unsigned long i, to, from = 5;

	for (i = to = 0; i < CALLS / 10; i++)
		to += copy_from_kernel_nofault(&to, &from, sizeof(to)) ? 1 : 0;
	return to;
}

/* Others call it, too. */
static void within(void)
{
	void *copy = (void *)dp_kmod_symbol("copy_from_kernel_nofault");
	void *lookup = (void *)dp_kmod_symbol("get_kprobe");
	u32 probe[2];
	u64 bad;
	int err = dp_kmod_begin(DP_KMOD_TRAP);

	err = err ?: dp_kmod_add((u64)copy, &probe[0], NULL);
	err = err ?: dp_kmod_commit(&bad);
	hit_copies();
	check(!err && dp_kmod_hits(probe[0]) >= CALLS / 10,
	      "what the hit half calls has hits of its own (%d, %llu)\n", err,
	      dp_kmod_hits(probe[0]));
	if (DP_KERNEL_HAS_KPROBES)
		check(is_refused("get_kprobe", -EINVAL) && lookup,
		      "but for what comes before it\n");
	else
		skip("but for what comes before it", NO_KPROBES);
	check(!dp_kmod_end(), "and that goes\n");
}

/* A loop of its leads to the fifth byte. */
static void loops(void)
{
	int (*volatile compare)(const char *, const char *) = strcmp;
	u32 probe, wrong = 0, i;
	int err = dp_kmod_begin(DP_KMOD_JUMP);
	u64 bad;

	err = err ?: dp_kmod_add((u64)strcmp, &probe, NULL);
	err = err ?: dp_kmod_commit(&bad);
	for (i = 0; i < CALLS / 10; i++)
		wrong += compare("what is long", "what is long") ||
			 compare("what is long", "what is lost") >= 0;
	check(!err && !wrong && dp_kmod_hits(probe) >= CALLS / 5 &&
		      !strcmp(dp_kmod_mode(probe), "trap"),
	      "a jump leaves what is branched to alone (%d, %s: %s)\n", err,
	      dp_kmod_mode(probe), dp_kmod_reason(probe));
	check(!dp_kmod_end(), "and it goes\n");
}

static int ignore(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

/* Behind endbr64, if it is there, in whatever form, and the place where ftrace calls from */
static unsigned int behind_entry(const void *function)
{
	return 5 + (((const u8 *)function)[1] == 0x0f ? 4 : 0);
}

/* The kernel's own probes: beside ours, and where ours come later */
static void beside(void)
{
	struct kprobe before = { .symbol_name = "gcd",
				 .offset = behind_entry(gcd),
				 .pre_handler = ignore },
		      after = { .symbol_name = "int_sqrt",
				.offset = behind_entry(int_sqrt),
				.pre_handler = ignore };
	void (*settle)(void) =
		(void *)dp_kmod_symbol("wait_for_kprobe_optimizer");
	int err, kept, other;
	u8 was[32], now[32];
	u32 probe;
	u64 bad;

	bytes_of(int_sqrt, was);
	err = register_kprobe(&before);
	settle(); /* It is a jump, if it can be one. */
	kept = dp_kmod_begin(DP_KMOD_JUMP);
	check(!err && !kept && is_refused("gcd", -EINVAL),
	      "no probe is where a kprobe is (%d %d)\n", err, kept);
	unregister_kprobe(&before);
	settle();
	err = dp_kmod_add((u64)gcd, &probe, NULL);
	check(!err, "but is when that has gone (%d)\n", err);
	err = dp_kmod_add((u64)int_sqrt, &probe, NULL) ?: dp_kmod_commit(&bad);
	other = register_kprobe(&after);
	note("a kprobe on a jump of ours: %d\n", other);
	check(!err && call_sqrt(144) == 12 && call_gcd(12, 18) == 6,
	      "functions do what they did (%d)\n", err);
	if (!other)
		unregister_kprobe(&after);
	err = dp_kmod_end();
	check(!err && !memcmp(was, bytes_of(int_sqrt, now), 32),
	      "and have their bytes again (%d)\n", err);
}

/* Of this module, whose address the kernel does not export */
static noinline unsigned long dptest_own(unsigned long a)
{
	return a * 3 + 1;
}

static void modules(enum dp_kmod_arming arming)
{
	unsigned long (*volatile own)(unsigned long) = dptest_own;
	u32 probe, i, wrong = 0;
	int users = module_refcount(THIS_MODULE), err;
	u64 bad;

	err = dp_kmod_begin(arming);
	err = err ?: dp_kmod_add((u64)dptest_own, &probe, NULL);
	err = err ?: dp_kmod_commit(&bad);
	for (i = 0; i < CALLS / 10; i++)
		wrong += own(i) != i * 3ul + 1;
	check(!err && !wrong && dp_kmod_hits(probe) == CALLS / 10,
	      "%s: functions of modules have probes (%d, %llu)\n",
	      name_of(arming), err, dp_kmod_hits(probe));
	check(module_refcount(THIS_MODULE) == users, "%s: which may go\n",
	      name_of(arming));
	err = dp_kmod_end();
	check(!err && module_refcount(THIS_MODULE) == users,
	      "%s: and the session ends\n", name_of(arming));
}

static int __init begin(void)
{
	refusals();
	within();
	if (DP_KERNEL_HAS_KPROBES)
		beside();
	else
		skip("no probe is where a kprobe is", NO_KPROBES);
	loops();
	modules(DP_KMOD_TRAP);
	modules(DP_KMOD_JUMP);
	counts(DP_KMOD_TRAP);
	under_fire(DP_KMOD_TRAP);
	counts(DP_KMOD_JUMP);
	under_fire(DP_KMOD_JUMP);
	counts(DP_KMOD_INTERIOR);
	under_fire(DP_KMOD_INTERIOR);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes of dprobes.ko");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
