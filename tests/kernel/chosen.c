// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* chosen: functions that the guest's work comes to. */
#include "tests/kernel/chosen.h"
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define TURNS 12
#define MOST 4000
/* Milliseconds for which the work comes to those of a turn */
#define WHILE 2500

/* Of one turn */
static unsigned long *found;
static unsigned int nr, seen, first;
static bool only_traced;

/* Ftrace calls from there, or would: behind endbr64, in whatever form. */
static bool is_traced(unsigned long addr)
{
	static const u8 nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	u8 code[4 + sizeof(nop)];

	return !copy_from_kernel_nofault(code, (void *)addr, sizeof(code)) &&
	       (!memcmp(code, nop, sizeof(nop)) ||
		(code[1] == 0x0f && !memcmp(code + 4, nop, sizeof(nop))));
}

static int add(DP_COMPAT_SYMBOL)
{
	u32 probe;

	if (nr == MOST || seen++ % TURNS != first ||
	    (only_traced && !is_traced(addr)) ||
	    dp_kmod_add(addr, &probe, NULL))
		return 0;
	found[nr++] = addr;
	cond_resched();
	return 0;
}

static bool is_new(const unsigned long *list, unsigned int n,
		   unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < n && list[i] != addr; i++)
		continue;
	return i == n;
}

unsigned int dp_chosen_find(unsigned long *list, unsigned int most, bool traced)
{
	int (*each_symbol)(int (*fn)(DP_COMPAT_SYMBOL), void *data) =
		(void *)dp_kmod_symbol("kallsyms_on_each_symbol");
	unsigned int n = 0, i, all = 0;
	u64 bad;

	found = vzalloc(MOST * sizeof(*found));
	only_traced = traced;
	for (first = 0; found && each_symbol && first < TURNS && n < most;
	     first++) {
		nr = seen = 0;
		if (dp_kmod_begin(DP_KMOD_JUMP))
			break;
		each_symbol(add, NULL);
		if (!dp_kmod_commit(&bad))
			msleep(WHILE);
		for (i = 0; i < nr && n < most; i++)
			if (dp_kmod_hits(i) && is_new(list, n, found[i]))
				list[n++] = found[i];
		all += nr;
		if (dp_kmod_end())
			break;
	}
	vfree(found);
	note("%u functions chosen of %u that were probed\n", n, all);
	return n;
}
