/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* text: the running kernel's own code, and its modules', as a target. */
#ifndef DP_KERNEL_TEXT_H
#define DP_KERNEL_TEXT_H

#include "engine/text/target.h"

/**
 * dp_kernel_text() - the target that control arms probes of the kernel in
 *
 * @read copies from any address. Return: 0; -EFAULT: not all of it is there.
 * @write replaces bytes between the start of the kernel's image and the end of the modules'
 * area, as a second, writable mapping of the same pages. The first mapping stays read-only.
 * Return: 0; -EFAULT: not all of it is there, or it is elsewhere; -ENOMEM; -EBUSY:
 * the kernel's debugger has a breakpoint there. In each of these cases nothing is written.
 * @sync returns when every CPU has thrown away what it had fetched. Return: 0.
 *
 * Whoever writes keeps the module there whose text it is, and other writers out.
 * Context: task, may sleep, interrupts on, no CPU's hotplug lock held for writing.
 * Source: ours; sync_core() is what the SDM, volume 3, section 8.1.3 asks for.
 */
struct dp_target *dp_kernel_text(void);

/** dp_kernel_text_cede_to() - what others have breakpoints at is not written over; while nothing is probed
 *  @has_break: has the kernel's debugger one at @addr? NULL: it has none anywhere */
void dp_kernel_text_cede_to(bool (*has_break)(u64 addr));

/** struct dp_text_alias - bytes of text, mapped for writing at @at */
struct dp_text_alias {
	u8 *at;
	void *mapping;
};

/**
 * dp_kernel_text_map() - map text a second time, for a writer that cannot wait for that
 * @len: more than 0
 * Context: as @write. Return: as of @write; 0: dp_kernel_text_unmap() has to follow.
 */
int dp_kernel_text_map(struct dp_text_alias *alias, u64 addr, size_t len);
void dp_kernel_text_unmap(struct dp_text_alias *alias);

#endif
