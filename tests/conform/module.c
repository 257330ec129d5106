// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* module: a library that probes the program while it is loaded. */
#include <dprobes/kprobes.h>

extern unsigned long module_hits;

unsigned long module_hits;

static int module_pre(struct kprobe *p, struct pt_regs *regs)
{
	__atomic_fetch_add(&module_hits, 1, __ATOMIC_RELAXED);
	return 0;
}

static struct kprobe module_probe = {
	.symbol_name = "getppid",
	.pre_handler = module_pre,
};

static void __attribute__((constructor)) module_init(void)
{
	register_kprobe(&module_probe);
}

static void __attribute__((destructor)) module_exit(void)
{
	unregister_kprobe(&module_probe);
}
