/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The Generalised Kernel Hooks Interface, for processes: exits come and go at hooks.
 *
 *   hook:  unknown ─identify─► idle ─first arm─► active ─last disarm─► idle ─delete─► unknown
 *   exit:  new ─register─► registered ─arm─► armed ─disarm─► registered ─deregister─► new
 *
 * The hooks of a program and its libraries identify themselves as these are loaded, and are deleted
 * by force as they go. So are the exits of a library that goes.
 *
 * Every call takes a chain of records, and does all or nothing: a thread that runs through several
 * hooks meanwhile finds all of the old exits, or all of the new ones. dp_last_diag() has the words
 * for an error. A fork child has its parent's exits, as they were.
 *
 * Context of every function, unless it says otherwise: task, or an exit; never a probe's handler.
 * May sleep; thread-safe.
 * Source: Moore, Dynamic Probes and Generalised Kernel Hooks Interface for Linux (2000); ours.
 */
#ifndef DPROBES_GKH_H
#define DPROBES_GKH_H

#include <dprobes/hook_types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/**
 * gkh_register() - make exits known to their hooks; they are not called yet
 * Return: 0; -ENOENT no such hook; -EEXIST a record is registered already; -EBUSY the hook has an
 * exit where the record wants to be; -EINVAL flags that are none or not for this hook, no exit, or
 * more parameters than the hook has; -EAGAIN in an exit: another thread is in the library; -ENOMEM.
 */
int gkh_register(struct gkh_rec *list);

/**
 * gkh_arm() - have hooks call exits
 *
 * The first armed exit activates its hook: its nop becomes a jump. The process is prepared for
 * that, as for a probe, at the first time. An exit that is armed already stays so.
 * Return: 0; -EINVAL a record is not registered; -EBUSY a foreign breakpoint or jump is where the
 * nop is to be; -EAGAIN, -ENOMEM as above; as register_kprobe(): the process cannot be prepared.
 */
int gkh_arm(struct gkh_rec *list);

/**
 * gkh_disarm() - have hooks call exits no more
 *
 * Returns when no thread is in one of these exits any more. In an exit it never waits, because two
 * exits that disarm one another would for ever; then it returns GKH_DEFERRED, and a later call outside
 * of exits, with the same records, waits.
 * Return: 0; GKH_DEFERRED; -EINVAL a record is not registered.
 */
int gkh_disarm(struct gkh_rec *list);

/** gkh_deregister() - gkh_disarm(), and forget the exits. A record whose deregistration was
 *  deferred may be reused when a later call has returned 0. Return: as gkh_disarm(). */
int gkh_deregister(struct gkh_rec *list);

/**
 * gkh_identify() - announce a hook that no module has: it was made at run time
 *
 * GENERIC_HOOK() tests it.
 * Return: 0; -EEXIST a hook has that name; -EINVAL no name; -EAGAIN, -ENOMEM.
 */
int gkh_identify(struct gkh_hook *h);

/**
 * gkh_delete() - withdraw a hook; no exit can register for it any more
 * @force: even if it has exits. They are disarmed and orphaned: @hook is NULL, the flag GKH_DELETED
 *   is set, @on_delete is called
 * Return: 0; GKH_DEFERRED as gkh_disarm(); -EBUSY it has exits; -ENOENT it is not identified.
 */
int gkh_delete(struct gkh_hook *h, dp_hook_bool force);

/** enum gkh_event - what happens to hooks */
enum gkh_event { GKH_IDENTIFY, GKH_DELETE, GKH_ACTIVATE, GKH_DEACTIVATE };

/** gkh_event_fn - is told of it, afterwards, in the thread whose call it was. It may call this
 *  interface. With GKH_DELETE the hook is still there to be looked at. */
typedef void (*gkh_event_fn)(enum gkh_event event, struct gkh_hook *h);

/** gkh_notify() - be told of events. Return: 0; -EEXIST @fn is told already; -ENOSPC */
int gkh_notify(gkh_event_fn fn);
/** gkh_notify_end() - be told no more. Return: 0; -ENOENT */
int gkh_notify_end(gkh_event_fn fn);

/** gkh_find() - a hook by its name, or NULL. Where libraries have several of one name, the one that
 *  came first. */
struct gkh_hook *gkh_find(const char *name);

/** gkh_hits() - how often an active hook has been run through */
unsigned long gkh_hits(const struct gkh_hook *h);

/** gkh_list() - a line for each hook, and behind it one for each of its exits, in order: see
 *  hooks(7). Return: how many hooks, or a negative errno. */
int gkh_list(void (*line)(void *arg, const char *text), void *arg);

void dp_hook_module_note(struct dp_hook_module *m) __attribute__((weak));

#pragma GCC visibility pop

#ifndef DP_NO_MODULE_NOTE
extern struct gkh_hook *const __start_gkh_hooks[]
	__attribute__((weak, visibility("hidden")));
extern struct gkh_hook *const __stop_gkh_hooks[]
	__attribute__((weak, visibility("hidden")));
extern const struct gkh_point __start_gkh_points[]
	__attribute__((weak, visibility("hidden")));
extern const struct gkh_point __stop_gkh_points[]
	__attribute__((weak, visibility("hidden")));

extern struct dp_hook_module dp_hook_module;
__attribute__((weak, used,
	       visibility("hidden"))) struct dp_hook_module dp_hook_module = {
	DP_HOOK_MODULE_ABI,
	sizeof(struct dp_hook_module),
	__start_gkh_hooks,
	__stop_gkh_hooks,
	__start_gkh_points,
	__stop_gkh_points,
	0
};

/* Where it is, for a library that comes later, and for tools. */
__asm__(".pushsection .note.dprobes.hooks, \"aG\", @note, dp_hook_note, comdat\n"
	"	.balign 4\n"
	"	.long 8, 8, 1\n"
	"	.asciz \"dprobes\"\n"
	"	.long dp_hook_module - ., 0\n"
	"	.popsection\n");

/* Before other constructors, which may register exits. Without the library nobody listens. */
static void __attribute__((constructor(101), used)) dp_hook_constructor(void)
{
	if (dp_hook_module_note)
		dp_hook_module_note(&dp_hook_module);
}

static void __attribute__((destructor(101), used)) dp_hook_destructor(void)
{
	if (dp_hook_module.gone)
		dp_hook_module.gone(&dp_hook_module);
}
#endif

#ifdef __cplusplus
}
#endif
#endif
