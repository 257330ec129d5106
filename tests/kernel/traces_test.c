// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * traces_test: stack traces that are taken in functions with return probes, and in handlers at their returns; also where
 * the kernel's own return probes are on the same function, or on one that it leads to by a jump.
 */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#define CALLS 300
#define FRAMES 32

/* Where dprobes.ko puts return addresses into lists, traces go through calls that are followed. */
static bool whole;

static bool is_in(unsigned long addr, const char *name)
{
	char symbol[KSYM_SYMBOL_LEN];
	size_t n = strlen(name);

	sprint_symbol(symbol, addr);
	return !strncmp(symbol, name, n) && symbol[n] == '+';
}

/* Are functions of these names in the trace, one directly behind the other? NULL ends them. */
static bool has(const char *const *names)
{
	unsigned long entries[FRAMES];
	unsigned int n = stack_trace_save(entries, FRAMES, 0), i, at;

	for (i = 0; i < n; i++) {
		for (at = 0; names[at] && i + at < n; at++)
			if (!is_in(entries[i + at], names[at]))
				break;
		if (!names[at])
			return true;
	}
	return false;
}

static struct {
	unsigned long inside, returned, wrong;
	unsigned int order;
} seen;

/* --- three calls, each of which is followed --- */

static const char *const from_inner[] = { "dptrace_inner", "dptrace_middle",
					  "dptrace_outer", "dptrace_caller",
					  NULL };

static noinline __noclone unsigned long dptrace_inner(unsigned long a)
{
	seen.inside += has(from_inner);
	barrier();
	return a + 1;
}

static noinline __noclone unsigned long dptrace_middle(unsigned long a)
{
	unsigned long b = dptrace_inner(a * 2);

	barrier();
	return b + 1;
}

static noinline __noclone unsigned long dptrace_outer(unsigned long a)
{
	unsigned long b = dptrace_middle(a * 2);

	barrier();
	return b + 1;
}

static noinline __noclone unsigned long dptrace_caller(unsigned long a)
{
	unsigned long b = dptrace_outer(a * 2);

	barrier();
	return b + 1;
}

/* At the return of the @n-th of these, those that are left are behind what has called the handler. With stubs, the trace
 * ends at the next one. */
static int left(struct dp_kretprobe_instance *ri, struct pt_regs *regs,
		unsigned int n)
{
	seen.returned++;
	seen.order = seen.order * 10 + n;
	seen.wrong += ((whole || n == 3) && !has(from_inner + n)) ||
		      !is_in(regs->ip, from_inner[n]) ||
		      !is_in(dp_get_kretprobe_retaddr(ri), from_inner[n]) ||
		      dp_get_kretprobe_retval(regs) != 8 + n;
	return 0;
}

static int left_inner(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return left(ri, regs, 1);
}

static int left_middle(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return left(ri, regs, 2);
}

static int left_outer(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return left(ri, regs, 3);
}

static void nested(enum dp_kmod_arming arming)
{
	struct dp_kretprobe inner = { .kp.addr = (u8 *)dptrace_inner,
				      .handler = left_inner },
			    middle = { .kp.addr = (u8 *)dptrace_middle,
				       .handler = left_middle },
			    outer = { .kp.addr = (u8 *)dptrace_outer,
				      .handler = left_outer };
	struct dp_kretprobe *all[] = { &inner, &middle, &outer };
	unsigned long bad = dptrace_caller(1) != 12 || !seen.inside;
	int err, i;

	memset(&seen, 0, sizeof(seen));
	/* Whose engine the probes have */
	err = dp_kmod_begin(arming);
	err = err ?: dp_register_kretprobes(all, ARRAY_SIZE(all));
	for (i = 0; i < CALLS; i++) {
		seen.order = 0;
		bad += dptrace_caller(1) != 12 || seen.order != 123;
	}
	err = err ?: dp_kmod_end();
	dp_unregister_kretprobes(all, ARRAY_SIZE(all));
	check(!err && !bad && seen.returned == 3 * CALLS && !seen.wrong,
	      "traces in handlers of three calls have the callers (%d, %lu, %lu, %lu)\n",
	      err, bad, seen.returned, seen.wrong);
	check(seen.inside == (whole ? CALLS : 0),
	      "traces inside the three go %s (%lu)\n",
	      whole ? "through them all" : "no further than to a stub",
	      seen.inside);
}

/* --- two functions that have one return address --- */

static const char *const from_last[] = { "dptrace_last", "dptrace_called",
					 NULL };
/* Of their entries */
static unsigned long slots[2];

static noinline __noclone unsigned long dptrace_last(unsigned long a)
{
	seen.inside += has(from_last);
	barrier();
	return a * 2;
}

static noinline __noclone unsigned long dptrace_first(unsigned long a)
{
	return dptrace_last(a + 1);
}

static noinline __noclone unsigned long dptrace_called(unsigned long a)
{
	unsigned long b = dptrace_first(a);

	barrier();
	return b + 1;
}

static void left_both(struct pt_regs *regs, unsigned int digit)
{
	seen.order = seen.order * 10 + digit;
	seen.wrong += regs_return_value(regs) != 6 ||
		      (whole && (!has(from_last + 1) ||
				 !is_in(regs->ip, "dptrace_called")));
}

static int enter_first(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	slots[0] = regs->sp;
	seen.wrong += whole &&
		      !is_in(dp_get_kretprobe_retaddr(ri), "dptrace_called");
	return 0;
}

static int enter_last(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	slots[1] = regs->sp;
	seen.wrong += whole &&
		      !is_in(dp_get_kretprobe_retaddr(ri), "dptrace_called");
	return 0;
}

static int left_first(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	left_both(regs, 1);
	return 0;
}

static int left_last(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	left_both(regs, 2);
	return 0;
}

static int their_first(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	left_both(regs, 3);
	return 0;
}

static int their_last(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	left_both(regs, 4);
	return 0;
}

/* Bits of who has probes: the handlers' digits */
enum {
	FIRST = 1 << 1,
	LAST = 1 << 2,
	THEIR_FIRST = 1 << 3,
	THEIR_LAST = 1 << 4
};

static struct dp_kretprobe first, last;
static struct kretprobe other_first, other_last;

static int put_all(unsigned int which)
{
	int err = 0;

	first = (struct dp_kretprobe){ .kp.addr = (u8 *)dptrace_first,
				       .entry_handler = enter_first,
				       .handler = left_first };
	last = (struct dp_kretprobe){ .kp.addr = (u8 *)dptrace_last,
				      .entry_handler = enter_last,
				      .handler = left_last };
	other_first =
		(struct kretprobe){ .kp.addr = (kprobe_opcode_t *)dptrace_first,
				    .handler = their_first };
	other_last =
		(struct kretprobe){ .kp.addr = (kprobe_opcode_t *)dptrace_last,
				    .handler = their_last };
	if (which & THEIR_FIRST)
		err = register_kretprobe(&other_first);
	if (which & THEIR_LAST)
		err = err ?: register_kretprobe(&other_last);
	if (which & FIRST)
		err = err ?: dp_register_kretprobe(&first);
	if (which & LAST)
		err = err ?: dp_register_kretprobe(&last);
	return err;
}

static void take_all(unsigned int which)
{
	if (which & FIRST)
		dp_unregister_kretprobe(&first);
	if (which & LAST)
		dp_unregister_kretprobe(&last);
	if (which & THEIR_FIRST)
		unregister_kretprobe(&other_first);
	if (which & THEIR_LAST)
		unregister_kretprobe(&other_last);
}

/* @order: digits of the handlers, as they are to be called: whose entry came last is first */
static void shared(unsigned int which, unsigned int order)
{
	unsigned long bad;
	int err, i;

	memset(&seen, 0, sizeof(seen));
	bad = dptrace_called(2) != 7 || seen.inside != 1;
	seen.inside = 0;
	err = put_all(which);
	for (i = 0; i < CALLS; i++) {
		seen.order = 0;
		bad += dptrace_called(2) != 7 || seen.order != order;
	}
	take_all(which);
	bad += dptrace_called(2) != 7 || seen.order != order;
	check(!err && !bad && !seen.wrong &&
		      ((which & (FIRST | LAST)) != (FIRST | LAST) ||
		       slots[0] == slots[1]),
	      "one return address of two functions: %u (%d, %lu, %u, %lu wrong)\n",
	      order, err, bad, seen.order, seen.wrong);
	check(!whole || seen.inside == CALLS + 1,
	      "traces inside have the caller: %u (%lu)\n", order, seen.inside);
}

static int __init begin(void)
{
	const bool *lists = (void *)dp_kmod_symbol("dprobes:dp_calls_list");

	if (!lists)
		return -ENOENT;
	whole = *lists;
	note("return addresses are in %s\n", whole ? "lists" : "stubs");
	nested(DP_KMOD_JUMP);
	nested(DP_KMOD_TRAP);
	shared(FIRST | LAST, 21);
	if (DP_KERNEL_HAS_KPROBES) {
		shared(FIRST | THEIR_LAST, 41);
		shared(THEIR_FIRST | LAST, 23);
		/* The kernel's are called from before the first instruction. */
		shared(FIRST | LAST | THEIR_FIRST | THEIR_LAST, 2413);
	} else {
		skip("one return address of two functions: beside the kernel's",
		     NO_KPROBES);
	}
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests stack traces that go through return probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
