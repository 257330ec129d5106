// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cycles_test: probes of this module come and go, so many times, while the guest works on both CPUs. */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "tests/kernel/test.h"
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#define BYTES 64

static unsigned int cycles = 1000;
module_param(cycles, uint, 0);

static const char *const names[] = {
	"vfs_read",	  "vfs_write",	      "do_sys_openat2",
	"ksys_read",	  "handle_mm_fault",  "schedule",
	"try_to_wake_up", "kmem_cache_alloc", "update_process_times",
	"filp_close",	  "copy_process",     "do_exit",
};
static u8 was[ARRAY_SIZE(names)][BYTES];

/* What a handler counts while no probe of this module is registered is late. */
static atomic_long_t hits, late;
static bool there;

static int before(struct dp_kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(READ_ONCE(there) ? &hits : &late);
	return 0;
}

static void after(struct dp_kprobe *p, struct pt_regs *regs,
		  unsigned long flags)
{
	atomic_long_inc(READ_ONCE(there) ? &hits : &late);
}

static int leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_long_inc(READ_ONCE(there) ? &hits : &late);
	return 0;
}

/* By a jump or a trap; then it is disabled, and enabled. Return: how many times it has been armed */
static int turn_probe(unsigned int i, bool traps)
{
	struct dp_kprobe *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err;

	p->symbol_name = names[i];
	p->pre_handler = before;
	p->post_handler = traps ? after : NULL;
	WRITE_ONCE(there, true);
	err = dp_register_kprobe(p);
	err = err ?: dp_disable_kprobe(p);
	WRITE_ONCE(there, false);
	WRITE_ONCE(there, true);
	err = err ?: dp_enable_kprobe(p);
	dp_unregister_kprobe(p);
	WRITE_ONCE(there, false);
	memset(p, 0x5a, sizeof(*p));
	kfree(p);
	return err ?: 2;
}

static int turn_return(unsigned int i)
{
	struct dp_kretprobe *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int err;

	r->kp.symbol_name = names[i];
	r->handler = leave;
	WRITE_ONCE(there, true);
	err = dp_register_kretprobe(r);
	if (!err)
		dp_unregister_kretprobe(r);
	WRITE_ONCE(there, false);
	memset(r, 0x5a, sizeof(*r));
	kfree(r);
	return err ?: 1;
}

static unsigned int changed(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		n += memcmp(was[i], (void *)dp_kmod_symbol(names[i]), BYTES) !=
		     0;
	return n;
}

static int __init begin(void)
{
	unsigned int i, done = 0, bad = 0;
	u64 begun = ktime_get_ns();
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		void *at = (void *)dp_kmod_symbol(names[i]);

		if (!at)
			return -ENOENT;
		memcpy(was[i], at, BYTES);
	}
	for (i = 0; done < cycles && err >= 0; i++) {
		unsigned int which = i % ARRAY_SIZE(names);

		err = i % 3 == 2 ? turn_return(which) :
				   turn_probe(which, i % 3 == 1);
		done += err > 0 ? err : 0;
		bad += i % 16 == 0 && changed();
		cond_resched();
	}
	note("%u times probes with handlers have been armed and disarmed, in %llu ms; %ld hits\n",
	     done, (ktime_get_ns() - begun) / 1000000, atomic_long_read(&hits));
	check(err >= 0 && done >= cycles && atomic_long_read(&hits) > done / 4,
	      "probes with handlers come and go (%d, %u times)\n", err, done);
	check(!atomic_long_read(&late), "none is called later (but %ld)\n",
	      atomic_long_read(&late));
	check(!bad && !changed(), "the text is what it was (but %u)\n", bad);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes that come and go");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
