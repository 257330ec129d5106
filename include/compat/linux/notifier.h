/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notifiers, which modules include for a type; of those of the kernel there are none. */
#ifndef DP_LINUX_NOTIFIER_H
#define DP_LINUX_NOTIFIER_H

#include <linux/compiler.h>

#define NOTIFY_DONE 0x0000
#define NOTIFY_OK 0x0001
#define NOTIFY_STOP_MASK 0x8000
#define NOTIFY_BAD (NOTIFY_STOP_MASK | 0x0002)
#define NOTIFY_STOP (NOTIFY_OK | NOTIFY_STOP_MASK)

struct notifier_block;
typedef int (*notifier_fn_t)(struct notifier_block *nb, unsigned long action,
			     void *data);
struct notifier_block {
	notifier_fn_t notifier_call;
	struct notifier_block *next;
	int priority;
};

#define DP_NO_NOTIFIER(name)                                               \
	int name(struct notifier_block *nb)                                \
		DP_ABSENT(name, "nothing here tells of what the kernel does")
DP_NO_NOTIFIER(register_die_notifier);
DP_NO_NOTIFIER(unregister_die_notifier);
DP_NO_NOTIFIER(register_module_notifier);
DP_NO_NOTIFIER(unregister_module_notifier);
DP_NO_NOTIFIER(register_reboot_notifier);
DP_NO_NOTIFIER(unregister_reboot_notifier);
DP_NO_NOTIFIER(register_cpu_notifier);
DP_NO_NOTIFIER(register_keyboard_notifier);
DP_NO_NOTIFIER(unregister_keyboard_notifier);

#endif
