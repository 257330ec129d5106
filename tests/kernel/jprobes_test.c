// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jprobes_test: handlers with the arguments of the probed function, written for the kernel's jprobes of old. */
#define DP_KPROBES
#include <dprobes/kernel/instead.h>
#include "kmod/session.h"
#include "tests/kernel/test.h"
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#define CALLS 2000

static struct {
	unsigned long calls, wrong, within;
	bool caller;
} seen;

static noinline __noclone unsigned long
dptest_eight(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
	     unsigned long e, unsigned long f, unsigned long g, unsigned long h)
{
	barrier();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static noinline void deeper(unsigned long a)
{
	if (a)
		jprobe_return();
	seen.wrong++;
}

static bool has_caller(void)
{
	unsigned long entries[32];
	char symbol[KSYM_SYMBOL_LEN];
	unsigned int n = stack_trace_save(entries, ARRAY_SIZE(entries), 0), i;

	for (i = 0; i < n; i++) {
		sprint_symbol(symbol, entries[i]);
		if (strstarts(symbol, "dptest_loop+"))
			return true;
	}
	for (i = 0; i < n; i++)
		note("%pS\n", (void *)entries[i]);
	return false;
}

static unsigned long look(unsigned long a, unsigned long b, unsigned long c,
			  unsigned long d, unsigned long e, unsigned long f,
			  unsigned long g, unsigned long h)
{
	if (!seen.calls++)
		seen.caller = has_caller();
	seen.wrong += b != a + 1 || c != a + 2 || d != a + 3 || e != a + 4 ||
		      f != a + 5 || g != a + 6 || h != a + 7 || preemptible();
	/* Nothing of that is the function's. */
	a = b = c = d = e = f = g = h = 0;
	barrier_data(&g);
	barrier_data(&h);
	deeper(seen.calls);
	seen.wrong++;
	return a + b + c + d + e + f + g + h;
}

/* It ends as functions do. */
static unsigned long pass(unsigned long a, unsigned long b)
{
	seen.calls++;
	seen.wrong += b != a + 1;
	return 0;
}

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.within++;
	return 0;
}

static noinline __noclone unsigned long dptest_loop(void)
{
	unsigned long (*volatile call)(unsigned long, unsigned long,
				       unsigned long, unsigned long,
				       unsigned long, unsigned long,
				       unsigned long,
				       unsigned long) = dptest_eight;
	unsigned long wrong = 0, i;

	for (i = 0; i < CALLS; i++)
		wrong += call(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6,
			      i + 7) != 36 * i + 168;
	return wrong;
}

static void jprobes(enum dp_kmod_arming arming)
{
	struct jprobe jp = { .kp.addr = (u8 *)dptest_eight,
			     .entry = JPROBE_ENTRY(look) };
	struct kretprobe rp = { .kp.addr = (u8 *)dptest_eight,
				.handler = leave };
	unsigned long wrong;
	int err = dp_kmod_begin(arming);

	memset(&seen, 0, sizeof(seen));
	err = err ?: register_kretprobe(&rp);
	/* It comes first, when the return address is still the function's. */
	err = err ?: register_jprobe(&jp);
	wrong = dptest_loop();
	check(!err && !wrong && !seen.wrong && seen.calls == CALLS &&
		      seen.within == CALLS && !jp.kp.nmissed,
	      "a function's arguments are seen, and stay (%d, %lu %lu, %lu, %lu wrong, %s)\n",
	      err, wrong, seen.calls, seen.within, seen.wrong,
	      kprobe_optimized(&jp.kp) ? "jump" : "trap");
	check(seen.caller, "a stack trace has the caller\n");
	err = disable_jprobe(&jp);
	wrong = dptest_loop();
	check(!err && !wrong && seen.calls == CALLS, "it is disabled\n");
	unregister_jprobe(&jp);
	jp.entry = JPROBE_ENTRY(pass);
	jp.kp.flags = 0;
	err = register_jprobe(&jp);
	wrong = dptest_loop();
	unregister_kretprobe(&rp);
	unregister_jprobe(&jp);
	err |= dp_kmod_end();
	check(!err && !wrong && !seen.wrong && seen.calls == 2 * CALLS,
	      "a handler may return (%d, %lu)\n", err, seen.calls);
}

static int __init begin(void)
{
	struct jprobe none = { .kp.symbol_name = "gcd" },
		      inner = { .kp.symbol_name = "gcd",
				.kp.offset = 6,
				.entry = JPROBE_ENTRY(pass) };

	check(register_jprobe(&none) == -EINVAL &&
		      register_jprobe(&inner) == -EINVAL &&
		      register_jprobes(NULL, 1) == -EINVAL,
	      "what makes no sense is not registered\n");
	jprobes(DP_KMOD_JUMP);
	jprobes(DP_KMOD_TRAP);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests jprobes");
MODULE_LICENSE("Dual BSD/GPL");
