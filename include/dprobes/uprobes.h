/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uprobes: probes on the instructions of other processes, or of one's own.
 *
 * A probe is an address in a process and a handler. Every thread of the process that
 * comes to the address is a hit, also one that is created later. Any number of probes
 * may be at one address, and any number of processes probed at once; nobody but the
 * process in question sees a change, not even where it shares the library that is
 * probed. Who may be probed is who may be ptraced.
 *
 * Handlers run in *task context*: in the process that has registered the probe, on a
 * thread that the library has for this. The probed thread is held meanwhile, and its
 * signals wait; its registers are in @regs, to be read and changed, and its memory is
 * reached by copy_from_user() and copy_to_user(). current is the probed thread. A
 * handler may block, as long as @deadline_ms says: then the thread goes on as if
 * there were no probe, and what the handler does to @regs later has no effect.
 * Handlers run at the same time for several threads; one that blocks holds only its
 * own. A hit costs two changes of threads, 20 to 50 microseconds.
 *
 * Or they run in *interrupt context* (@handler_in_interrupt): in the probed thread
 * itself, which costs no change of threads. For that the object that the handler is in,
 * a shared object or a program that is linked with -pie, is copied into the process, with
 * its variables as they are then, and nothing that it needs of other objects. So the
 * handler calls nothing but functions of its own object, and no kernel's names; the
 * library looks through its code, and refuses what leads elsewhere. Addresses that are
 * in variables other than by initialisation are those of this process. Its @u is the
 * copy's. It runs on a stack of DP_HANDLER_STACK bytes, with vector state saved around
 * it and signals blocked; it must not block, nor run for ever. One that faults is given
 * up, and not called again. dp_uprobe_there() finds the copy's variables. For 64 threads
 * at most one can run at the same time; hits of others are missed.
 *
 * Threads. As long as probes of another process are registered, the library has some
 * threads of its own for that process: one that shows the probed threads that we are
 * alive, and one more than there are handlers running. All signals are blocked in
 * them. This is its only exception to having none: a handler that may block needs a
 * thread that is not the probed program's.
 *
 * The end. If this process ends, however it does, held threads go on within 100 ms,
 * and the probes have no effect any more; exit() takes them away. If the probed
 * process ends or executes, its probes are unregistered by themselves, and
 * unregistering them later does nothing. Its fork children have none. Two descriptors
 * are open for each probed process; a program that closes what it has not opened must
 * leave them alone. A fork child of the process that has registered probes has none
 * of them.
 *
 * A kernel's modules have probes of all processes, with other names and a header of their own:
 * <dprobes/kernel/uprobes.h>, which this one leads to.
 *
 * Source: Documentation/uprobes.txt by Keniston and Dronamraju, and ours.
 */
#ifndef DPROBES_UPROBES_H
#define DPROBES_UPROBES_H

/* Modules of a kernel have other ones, and the same name. */
#ifdef __LINUX_KCONFIG_H
#include <dprobes/kernel/uprobes.h>
#else

#include <sys/types.h>
#include <dprobes/diag.h>
#include <dprobes/regs.h>
#include <dprobes/task.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct uprobe;

/**
 * typedef uprobe_handler_t - called before the probed instruction
 * @u: as it was given to register_uprobe()
 * @regs: of the probed thread; @regs->ip is the probe's address. What is in them
 *        when the handler returns is in force when the thread goes on: if ip has
 *        changed it goes on there, and the instruction is not executed.
 *
 * Context: task: may sleep, may call anything in this file; or interrupt, see above.
 */
typedef void (*uprobe_handler_t)(struct uprobe *u, struct pt_regs *regs);

#define DP_UPROBE_DEADLINE_MS 10000

/**
 * struct uprobe - one probe; the caller's, until it is unregistered
 * @pid: process
 * @vaddr: address of an instruction in it
 * @handler: called at each hit
 * @handler_in_interrupt: it is to run in the probed thread itself
 * @deadline_ms: for so long a hit waits for its handler; 0: DP_UPROBE_DEADLINE_MS
 *
 * Everything that is not used is 0. The library keeps a copy: what is changed while
 * it is registered has no effect.
 */
struct uprobe {
	pid_t pid;
	unsigned long vaddr;
	uprobe_handler_t handler;
	int handler_in_interrupt;
	unsigned int deadline_ms;
	void *dp_private[4];
};

/**
 * register_uprobe() - put a probe on an instruction of a process
 *
 * When it returns 0 the probe is armed. The first one of a process stops its threads
 * twice, for well under a millisecond each; the others stop one thread for a moment.
 * Context: may sleep. From a handler of a uprobe, too.
 * Return: 0; -EINVAL there is no handler, or the instruction cannot be probed;
 * -EILSEQ no instruction begins there; -EEXIST @u is registered; -EBUSY somebody
 * else's breakpoint is there, or another dprobes or a debugger has the process;
 * -EFAULT nothing is mapped there; -ESRCH there is no such process; -EPERM;
 * -EOPNOTSUPP this process cannot be probed (yet), or the handler cannot run in it;
 * -ENOMEM, -EAGAIN. Words are in
 * dp_last_diag().
 */
int register_uprobe(struct uprobe *u);

/**
 * unregister_uprobe() - take it away
 *
 * When it returns no handler of it runs any more, unless it was called from a
 * handler: from there it waits for nobody. With its last probe everything of ours
 * leaves the process. One that is not registered, any more or at all, is left alone.
 * Context: may sleep; also in a handler of a uprobe.
 */
void unregister_uprobe(struct uprobe *u);

/** register_uprobes() - several at once, of any processes; all or none.
 *  Return: 0, or as register_uprobe() for the first that fails. Source: ours. */
int register_uprobes(struct uprobe **us, int num);
void unregister_uprobes(struct uprobe **us, int num);

/**
 * struct dp_uprobe_account - what became of a probe's hits
 * @hits: all of them
 * @late: whose handler had not returned in time
 * @missed: whose handler was not called: for want of room or threads
 */
struct dp_uprobe_account {
	unsigned long hits, late, missed;
};

/** dp_uprobe_account() - Return: 0; -ENOENT it is not registered. Source: ours. */
int dp_uprobe_account(const struct uprobe *u,
		      struct dp_uprobe_account *account);

/**
 * dp_uprobe_there() - a variable as handlers in interrupt context see it
 * @variable: address of one of the object that the handler of @u is in
 *
 * Each process that is probed so has its own. What is there can be read and written, and
 * is valid until @u is unregistered. In our own process it is the variable itself.
 * Return: its address in this process; NULL: it is not there. Source: ours.
 */
void *dp_uprobe_there(const struct uprobe *u, const void *variable);

/* --- return probes --- */

struct uretprobe;

/**
 * struct uretprobe_instance - one call that is being followed
 * @rp: its probe
 * @ret_addr: where the call returns to
 * @jumped: it does not return but jumps to another function, which will return in its
 *          place: there is no return value yet
 * @data: the probe's own, zero at first, the same in both handlers
 */
struct uretprobe_instance {
	struct uretprobe *rp;
	unsigned long ret_addr;
	int jumped;
	unsigned long data[4];
	void *dp_private[4];
};

/**
 * typedef uretprobe_handler_t - called when a probed function returns, or, as
 * entry_handler, when it is entered
 * @regs: of a return ip is where it returns to, and ax what; changing ip or sp has no
 *        effect there
 *
 * Context: as uprobe_handler_t.
 * Return: of an entry_handler non-zero: this call is not followed; otherwise ignored.
 */
typedef int (*uretprobe_handler_t)(struct uretprobe_instance *ri,
				   struct pt_regs *regs);

#define DP_URETPROBE_MAXACTIVE 4096

/**
 * struct uretprobe - a probe on the return of a function of another process
 * @u: pid, vaddr, which is the function's first instruction, and deadline_ms. The rest
 *     is not used.
 * @handler, @entry_handler: one of them may be NULL
 * @maxactive: calls that can be followed at once; 0: DP_URETPROBE_MAXACTIVE
 * @nmissed: calls that could not
 *
 * The return address is left alone: there is a probe on the entry and on each
 * instruction by which the function is left. A call that is left otherwise, by longjmp
 * or an exception, is given up when another one is made in its place.
 */
struct uretprobe {
	struct uprobe u;
	uretprobe_handler_t handler;
	uretprobe_handler_t entry_handler;
	int maxactive;
	unsigned long nmissed;
	void *dp_private[2];
};

/** register_uretprobe() - Return: as register_uprobe(); -EINVAL also where no function
 *  begins; -EOPNOTSUPP where it is left is not known, or the process is this one, for
 *  which there is register_kretprobe(). */
int register_uretprobe(struct uretprobe *rp);
/** unregister_uretprobe() - as unregister_uprobe() */
void unregister_uretprobe(struct uretprobe *rp);

/** dp_last_diag() - why the calling thread's last call failed; valid until its
 *  next one */
const struct dp_diag *dp_last_diag(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
#endif
