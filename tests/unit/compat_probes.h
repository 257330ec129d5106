/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* compat_probes: the library's half that modules need to be linked. */
#ifndef DP_TEST_COMPAT_PROBES_H
#define DP_TEST_COMPAT_PROBES_H

#include <stdlib.h>
#include <linux/kprobes.h>
#include "lib/compat/hooks.h"

void dp_module_note(const void *a, const void *b, const void *const *c,
		    const void *const *d)
{
}

int register_kprobe(struct kprobe *p)
{
	return p->symbol_name && !strcmp(p->symbol_name, "refused") ? -ENOENT :
								      0;
}

void unregister_kprobe(struct kprobe *p)
{
}

int register_jprobe(struct jprobe *p)
{
	return register_kprobe(&p->kp);
}

void unregister_jprobe(struct jprobe *p)
{
}

void jprobe_return(void)
{
	abort();
}

int register_kretprobe(struct kretprobe *p)
{
	return register_kprobe(&p->kp);
}

void unregister_kretprobe(struct kretprobe *p)
{
}

#endif
