/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hooks: what a hook is in memory, and an exit of it.
 *
 * A hook is a place in a program's code at which others may be called. An exit is a routine that
 * is called there. <dprobes/hooks.h> has the macros that make hooks, <dprobes/gkh.h> the calls by
 * which exits come and go.
 */
#ifndef DPROBES_HOOK_TYPES_H
#define DPROBES_HOOK_TYPES_H

#ifdef __cplusplus
extern "C" {
typedef bool dp_hook_bool;
#else
__extension__ typedef _Bool dp_hook_bool;
#endif

/** The most parameters of a hook */
#define GKH_MAXARGS 8

/** Results of an exit: on to the next exit; no further exit; no further exit, and with HOOK_RET()
 *  and HOOK_RET_NORC() the hooked function returns. Any other result ends dispatching, too. */
#define GKH_CONTINUE 0
#define GKH_TERMINATE 1
#define GKH_RETURN (-1)

/** What gkh_disarm() and gkh_deregister() return inside an exit: see there */
#define GKH_DEFERRED 1

/**
 * enum gkh_prio - where among a hook's exits a record is put; all that others have asked for holds
 * @GKH_UNSPECIFIED: at the end, before one that is GKH_LAST
 * @GKH_FIRST: first; refused if the first one is GKH_FIRST already
 * @GKH_LAST: last; refused if the last one is GKH_LAST already
 * @GKH_ONLY: refused if there is any exit, and refuses all others
 */
enum gkh_prio {
	GKH_UNSPECIFIED = 0,
	GKH_FIRST = 0x4,
	GKH_LAST = 0x8,
	GKH_ONLY = 0xc
};

/** enum gkh_flags - further flags of a record; ARMED, REGISTERED and DELETED are the library's
 * @GKH_ARMED: hits call it. An exit may clear this flag of its own record, and so disarm itself
 * @GKH_LIFO: of an unspecified priority: behind a GKH_FIRST exit, before all others
 * @GKH_DISABLE_IRQS: the calling thread's signals are blocked while the exit runs, but for those
 *   that faults raise
 * @GKH_STOP_CPUS: the other threads of the process stand still while the exit runs. That takes
 *   some ms; and a lock that one of them holds stays taken
 * @GKH_DELETED: its hook has been deleted, by force
 */
enum gkh_flags {
	GKH_ARMED = 0x1,
	GKH_REGISTERED = 0x2,
	GKH_LIFO = 0x10,
	GKH_DISABLE_IRQS = 0x20,
	GKH_STOP_CPUS = 0x40,
	GKH_DELETED = 0x80
};

struct gkh_hook;
struct gkh_rec;

/**
 * struct gkh_args - what a hook passes to an exit
 * @count: parameters. Later versions of a hook append theirs at the end
 * @writable: writing to *@p[i] changes the program's variables; otherwise these are copies
 * @p: addresses of the parameters
 * @ret: what the hooked function returns if the exit says GKH_RETURN, 0 at first; NULL: the hook
 *   does not return a value
 * @rec: the record that is called
 */
struct gkh_args {
	unsigned int count;
	dp_hook_bool writable;
	void *p[GKH_MAXARGS];
	long *ret;
	struct gkh_rec *rec;
};

/**
 * struct gkh_rec - an exit, as its owner registers it
 * @next: chains records for the list calls; NULL: the last
 * @hook_name: of the hook, if @hook is NULL
 * @exit: Context: the thread that runs through the hook, where the hook is: in a signal handler, in
 *   malloc(3). Of this library it may call gkh_disarm(), gkh_deregister() and dp_last_diag().
 *   It may leave by an exception or longjmp(3), unless it has GKH_DISABLE_IRQS or GKH_STOP_CPUS.
 * @flags: enum gkh_prio, enum gkh_flags
 * @index: out: its place among the hook's exits, 1 is the first
 * @exit_name: for lists, or NULL
 * @proc_writable: "dprobes hooks --arm" and "--disarm" may change it
 * @on_delete: its hook has been deleted: it is orphaned; or NULL
 * @hook: the hook; out
 * @count: the least number of parameters that @exit reads
 * @data: the owner's
 * @priv: the library's
 *
 * It is the caller's, zeroed before it is filled in, and stays where it is until it is not
 * registered any more.
 */
struct gkh_rec {
	struct gkh_rec *next;
	const char *hook_name;
	int (*exit)(struct gkh_hook *h, struct gkh_args *a);
	unsigned int flags;
	unsigned int index;
	const char *exit_name;
	dp_hook_bool proc_writable;
	void (*on_delete)(struct gkh_rec *rec);
	struct gkh_hook *hook;
	unsigned int count;
	void *data;
	void *priv[2];
};

/** enum gkh_hook_flags - of a hook, set by the macro that declares it
 * @GKH_HOOK_HANDLER: it is in handlers of probes: no exit has GKH_STOP_CPUS */
enum gkh_hook_flags {
	GKH_HOOK_EXCLUSIVE = 0x1,
	GKH_HOOK_WRITABLE = 0x2,
	GKH_HOOK_UNTYPED = 0x4,
	GKH_HOOK_HANDLER = 0x8
};

/**
 * struct gkh_hook - a hook's head, made by DECLARE_HOOK() and its like
 * @name: its identity
 * @flags: enum gkh_hook_flags
 * @active: not 0: an exit is armed. GENERIC_HOOK() tests it
 * @dispatch: what an armed hook calls; nobody listens: returns GKH_CONTINUE
 * @types: the parameters as they were declared, or NULL
 * @count: of the parameters; 0 with GKH_HOOK_UNTYPED
 * @number, @list, @priv: the library's
 * @fast: where the library keeps a thread's reader, from the thread's pointer; 0: nowhere
 */
struct gkh_hook {
	const char *name;
	unsigned int flags;
	unsigned int active;
	int (*dispatch)(struct gkh_hook *h, struct gkh_args *a);
	const char *types;
	unsigned int count;
	unsigned int number;
	void *list;
	void *priv[2];
	long fast;
};

/**
 * struct gkh_point - a place in the code where a hook is
 * @at: from here to the nop, @to: from here to the code behind an armed one, in bytes
 */
struct gkh_point {
	int at, to;
	struct gkh_hook *hook;
};

/* 2: what <dprobes/hook_run.h> shares with the library */
#define DP_HOOK_MODULE_ABI 2

/**
 * struct dp_hook_module - the hooks of an executable or library
 * @abi: DP_HOOK_MODULE_ABI
 * @gone: set by the library; called when the module goes
 */
struct dp_hook_module {
	unsigned int abi, size;
	struct gkh_hook *const *hooks, *const *hooks_end;
	const struct gkh_point *points, *points_end;
	void (*gone)(struct dp_hook_module *m);
};

#ifdef __cplusplus
}
#endif
#endif
