/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who the thread works for. */
#ifndef DP_LINUX_CRED_H
#define DP_LINUX_CRED_H

#include <linux/types.h>

typedef struct {
	uid_t val;
} kuid_t;

typedef struct {
	gid_t val;
} kgid_t;

#define KUIDT_INIT(value) ((kuid_t){ value })
#define KGIDT_INIT(value) ((kgid_t){ value })
#define GLOBAL_ROOT_UID KUIDT_INIT(0)
#define GLOBAL_ROOT_GID KGIDT_INIT(0)
#define __kuid_val(uid) ((uid).val)
#define __kgid_val(gid) ((gid).val)
#define uid_eq(a, b) ((a).val == (b).val)
#define gid_eq(a, b) ((a).val == (b).val)
#define init_user_ns (*(struct user_namespace *)0)
#define current_user_ns() ((struct user_namespace *)0)
struct user_namespace;
#define from_kuid(ns, uid) ((void)(ns), (uid).val)
#define from_kgid(ns, gid) ((void)(ns), (gid).val)
#define from_kuid_munged from_kuid
#define from_kgid_munged from_kgid

/** struct cred - users and groups of a thread */
struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t suid;
	kgid_t sgid;
	kuid_t euid;
	kgid_t egid;
	kuid_t fsuid;
	kgid_t fsgid;
};
#define current_cred() (get_current()->cred)
#define __task_cred(task) ((task)->cred)
#define task_uid(task) ((task)->cred->uid)
#define task_euid(task) ((task)->cred->euid)
#define current_uid_gid(u, g)           \
	do {                            \
		*(u) = current_uid();   \
		*(g) = current_gid();   \
	} while (0)

/* A system call each. Context: any. */
uid_t dp_compat_uid(void);
uid_t dp_compat_euid(void);
gid_t dp_compat_gid(void);
gid_t dp_compat_egid(void);
#define current_uid() KUIDT_INIT(dp_compat_uid())
#define current_euid() KUIDT_INIT(dp_compat_euid())
#define current_gid() KGIDT_INIT(dp_compat_gid())
#define current_egid() KGIDT_INIT(dp_compat_egid())

#endif
