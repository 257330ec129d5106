/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test: what test modules say, for init.c to tell as TAP. */
#ifndef DP_KERNEL_TEST_H
#define DP_KERNEL_TEST_H

#include <linux/printk.h>

#define check(is, what, ...) \
	pr_info("dptest: %s 0 - " what, (is) ? "ok" : "not ok", ##__VA_ARGS__)

/* What this kernel has nothing for */
#define skip(what, why) pr_info("dptest: ok 0 - %s # SKIP %s\n", what, why)

#define NO_KPROBES "this kernel has no probes of its own"

/* What is worth knowing, and no test */
#define note(what, ...) pr_info("dptest: # " what, ##__VA_ARGS__)

#endif
