/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hooks by the names that they had in 2003: of modules, for modules.
 *
 * An exit is int fn(struct hook *, ...): behind the hook come, with HOOK_RET(), a pointer to the int that
 * the hooked function returns, and then the hook's arguments: integers and pointers, eight at most.
 * An exit may take fewer of them. Hooks are those of <dprobes/gkh.h>, which has the contracts.
 */
#ifndef DP_LINUX_HOOK_H
#define DP_LINUX_HOOK_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <dprobes/gkh.h>
#include <dprobes/hook_point.h>

#define HOOK_ARMED GKH_ARMED
#define HOOK_REGISTERED GKH_REGISTERED
#define HOOK_PRIORITY_FIRST GKH_FIRST
#define HOOK_PRIORITY_LAST GKH_LAST
#define HOOK_PRIORITY (HOOK_PRIORITY_FIRST | HOOK_PRIORITY_LAST)
#define HOOK_QUEUE_LIFO GKH_LIFO
#define HOOK_QUEUE HOOK_QUEUE_LIFO
#define HOOK_OPTION_DISABLE_IRQS GKH_DISABLE_IRQS
#define HOOK_OPTION_STOP_CPUS GKH_STOP_CPUS
#define HOOK_VALID_USER_FLAGS (HOOK_PRIORITY | HOOK_QUEUE)

#define HOOK_CONTINUE GKH_CONTINUE
#define HOOK_TERMINATE GKH_TERMINATE
#define HOOK_RETURN GKH_RETURN

/* Errors are those of gkh_register(): -EBUSY for each of these. */
#define EPRIORITY EBUSY
#define ERROR_HIGHER_PRIORITY_HOOK (-EBUSY)
#define ERROR_LOWER_PRIORITY_HOOK (-EBUSY)

/** struct hook - a hook; @hook_id: its name */
struct hook {
	union {
		struct gkh_hook gkh;
		const char *hook_id;
	};
};

typedef int (*hook_fn_t)(struct hook *, ...);

/**
 * struct hook_rec - an exit, zeroed before it is filled in
 * @hook_exit: the function
 * @hook_flags: priority, HOOK_QUEUE_LIFO, options; HOOK_ARMED
 * @hook_index: its place, 1 is the first
 */
struct hook_rec {
	union {
		struct gkh_rec gkh;
		struct {
			void *dp_next;
			const char *dp_name;
			void *dp_exit;
			unsigned int hook_flags;
			unsigned int hook_index;
			const char *hook_exit_name;
			bool proc_writable;
		};
	};
	void *hook_exit;
	struct hook *hook_head;
};

_Static_assert(offsetof(struct hook_rec, hook_flags) ==
			       offsetof(struct gkh_rec, flags) &&
		       offsetof(struct hook_rec, hook_index) ==
			       offsetof(struct gkh_rec, index) &&
		       offsetof(struct hook_rec, hook_exit_name) ==
			       offsetof(struct gkh_rec, exit_name) &&
		       offsetof(struct hook_rec, proc_writable) ==
			       offsetof(struct gkh_rec, proc_writable),
	       "both names of a field are one");

#define DP_HOOK_OF_MODULE(name, flags)                               \
	extern struct hook name;                                     \
	EXPORT_SYMBOL(name);                                         \
	struct hook name = { .gkh = { DP_HOOK_STRING(name),          \
				      GKH_HOOK_UNTYPED | (flags),    \
				      0,                             \
				      dp_hook_nobody,                \
				      0,                             \
				      0,                             \
				      0,                             \
				      0,                             \
				      { 0, 0 } } };                  \
	static struct gkh_hook *const DP_HOOK_CAT(dp_hook_at_, name) \
		__attribute__((used, section("gkh_hooks"))) = &(name).gkh
#define DECLARE_HOOK(name) DP_HOOK_OF_MODULE(name, 0)
#define DECLARE_EXCLUSIVE_HOOK(name) DP_HOOK_OF_MODULE(name, GKH_HOOK_EXCLUSIVE)
#define DECLARE_GENERIC_HOOK(name) DP_HOOK_OF_MODULE(name, 0)
#define USE_HOOK(name) extern struct hook name

#define DP_HOOK_VALUE(i, value) (long)(value),
#define DP_HOOK_PASS(name, with_ret, ...)                                 \
	extern struct hook name;                                          \
	long dp_hook_v[] = { DP_HOOK_MAP(DP_HOOK_VALUE, __VA_ARGS__) 0 }; \
	long dp_hook_ret = 0;                                             \
	int dp_hook_rc = dp_hook_pass(&(name), dp_hook_v,                 \
				      DP_HOOK_MORE(__VA_ARGS__),          \
				      with_ret ? &dp_hook_ret : NULL)
#define DP_HOOK_OLD(name, ...)                                         \
	DP_HOOK_PLACE(DP_HOOK_ASM(DP_HOOK_STRING(name),                \
				  "\"" DP_HOOK_STRING(name) "\"", ""), \
		      , __VA_ARGS__)

#define HOOK(...)                                                            \
	DP_HOOK_OLD(DP_HOOK_NAME(__VA_ARGS__),                               \
		    DP_HOOK_PASS(DP_HOOK_NAME(__VA_ARGS__), 0, __VA_ARGS__); \
		    (void)dp_hook_rc)
#define HOOK_RET(...)                                                        \
	DP_HOOK_OLD(DP_HOOK_NAME(__VA_ARGS__),                               \
		    DP_HOOK_PASS(DP_HOOK_NAME(__VA_ARGS__), 1, __VA_ARGS__); \
		    if (dp_hook_rc == HOOK_RETURN) return (int)dp_hook_ret)
#define HOOK_RET_NORC(...)                                                   \
	DP_HOOK_OLD(DP_HOOK_NAME(__VA_ARGS__),                               \
		    DP_HOOK_PASS(DP_HOOK_NAME(__VA_ARGS__), 0, __VA_ARGS__); \
		    if (dp_hook_rc == HOOK_RETURN) return )
#define EXCLUSIVE_HOOK(...) HOOK(__VA_ARGS__)
#define EXCLUSIVE_HOOK_RET(...) HOOK_RET(__VA_ARGS__)
#define EXCLUSIVE_HOOK_RET_NORC(...) HOOK_RET_NORC(__VA_ARGS__)
#define GENERIC_HOOK(...)                                               \
	do {                                                            \
		extern struct hook DP_HOOK_NAME(__VA_ARGS__);           \
		if (unlikely(READ_ONCE(                                 \
			    (DP_HOOK_NAME(__VA_ARGS__)).gkh.active))) { \
			DP_HOOK_PASS(DP_HOOK_NAME(__VA_ARGS__), 0,      \
				     __VA_ARGS__);                      \
			(void)dp_hook_rc;                               \
		}                                                       \
	} while (0)

static __attribute__((unused, cold)) int
dp_hook_pass(struct hook *hook, long *v, unsigned int n, long *ret)
{
	struct gkh_args a;
	unsigned int i;

	a.count = n;
	a.writable = false;
	a.ret = ret;
	for (i = 0; i < n; i++)
		a.p[i] = &v[i];
	return hook->gkh.dispatch(&hook->gkh, &a);
}

static __attribute__((unused)) int dp_hook_rec_call(struct gkh_hook *h,
						    struct gkh_args *a)
{
	struct hook_rec *rec = container_of(a->rec, struct hook_rec, gkh);
	hook_fn_t fn = (hook_fn_t)rec->hook_exit;
	long v[GKH_MAXARGS] = { 0 };
	unsigned int i;
	int rc = 0, result;

	for (i = 0; i < a->count; i++)
		v[i] = *(long *)a->p[i];
	if (!a->ret)
		return fn(rec->hook_head, v[0], v[1], v[2], v[3], v[4], v[5],
			  v[6], v[7]);
	result = fn(rec->hook_head, &rc, v[0], v[1], v[2], v[3], v[4], v[5],
		    v[6], v[7]);
	*a->ret = rc;
	return result;
}

/** hook_exit_register() - gkh_register() of one record. Return: as that */
static inline int hook_exit_register(struct hook *hook, struct hook_rec *rec)
{
	rec->gkh.next = NULL;
	rec->gkh.hook = &hook->gkh;
	rec->gkh.exit = dp_hook_rec_call;
	rec->hook_head = hook;
	return gkh_register(&rec->gkh);
}

/** hook_exit_arm(), hook_exit_disarm(), hook_exit_deregister() - the same */
static inline void hook_exit_arm(struct hook_rec *rec)
{
	int err = gkh_arm(&rec->gkh);

	if (err)
		pr_err("hook %s is not armed: %d\n", rec->hook_head->hook_id,
		       err);
}

static inline void hook_exit_disarm(struct hook_rec *rec)
{
	gkh_disarm(&rec->gkh);
}

static inline void hook_exit_deregister(struct hook_rec *rec)
{
	gkh_deregister(&rec->gkh);
}

/** hook_initialise(), hook_terminate() - as of 2002: gkh_identify(), gkh_delete(). A hook of
 *  DECLARE_HOOK() is identified when its module is loaded: -EEXIST. */
static inline int hook_initialise(struct hook *hook)
{
	return gkh_identify(&hook->gkh);
}

static inline int hook_terminate(struct hook *hook, int force)
{
	return gkh_delete(&hook->gkh, force);
}

#endif
