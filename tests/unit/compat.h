/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* compat: what tests of the functions for modules have in common. */
#ifndef DP_TEST_COMPAT_H
#define DP_TEST_COMPAT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/seccomp.h>
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/llist.h>
#include <linux/bsearch.h>
#include <linux/sort.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "lib/compat/hooks.h"
#include "lib/compat/module.h"
#include <dprobes-module.h>
#include "lib/compat/pool.h"
#include "compat_formats.h"
#include "compat_probes.h"

/* Numbers that are the same in each run */
static u64 seed __maybe_unused = 88172645463325252ull;

static inline u64 any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int __used noinline known_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

/* Into @seen come the lines of printk. */
static char seen[4096];
static int levels[64], nseen;

static void sink(int level, const char *text, size_t len, void *arg)
{
	assert_ptr_equal(arg, &nseen);
	assert_int_equal(strlen(text), len);
	levels[nseen++ % 64] = level;
	strlcat(seen, text, sizeof(seen));
	strlcat(seen, "|", sizeof(seen));
}

static inline void look(void)
{
	seen[0] = '\0';
	nseen = 0;
	assert_int_equal(dp_printk_set(sink, &nseen), 0);
}

static unsigned long lookup(const char *name)
{
	return strcmp(name, "known_function") ? 0 :
						(unsigned long)known_function;
}

#endif
