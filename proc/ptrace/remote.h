/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote: system calls that a stopped thread of the target makes for the tool.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_PTRACE_REMOTE_H
#define DP_PROC_PTRACE_REMOTE_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/layout/base.h"

struct dp_diag;
struct dp_map;
struct dp_maps;
struct dp_syscalls;
struct dp_process;
struct dp_thread;

/** dp_remote_begin() - have a stopped thread ready to make calls, until dp_remote_end() or
 *  dp_remote_send(). Return: 0 or a negative errno with words. */
int dp_remote_begin(struct dp_process *proc, struct dp_diag *diag);
/** dp_remote_call() - make system call @nr with up to six arguments, which follow
 *  Return: what the call returned; -ESRCH: the thread has died; -EPERM: the call came to the
 *  program's own SIGSYS handler */
#define dp_remote_call(proc, nr, ...) \
	dp_remote_make(proc, nr, (const u64[6]){ __VA_ARGS__ })
long dp_remote_make(struct dp_process *proc, long nr, const u64 args[6]);
/** dp_remote_failed() - is @ret, of dp_remote_call(), an error? Also for calls that return
 *  an address. */
static inline bool dp_remote_failed(long ret)
{
	return ret < 0 && ret > -4096;
}
struct __ptrace_rseq_configuration;
/** dp_rseq_of() - what a thread has registered by rseq(2). Return: false: nothing */
bool dp_rseq_of(const struct dp_thread *t,
		struct __ptrace_rseq_configuration *conf);

/** dp_remote_scratch() - address of DP_REMOTE_SCRATCH bytes in the target, for arguments */
#define DP_REMOTE_SCRATCH 192
u64 dp_remote_scratch(const struct dp_process *proc);
/** dp_remote_thread() - id of the thread that makes the calls */
pid_t dp_remote_thread(const struct dp_process *proc);
void dp_remote_end(struct dp_process *proc);

/**
 * dp_remote_send() - instead of dp_remote_end(): the thread calls a function when released,
 * and returns from there by itself
 * @entry: the function, called with @arg on the remote call's stack, which is not aligned
 *
 * All signals but the caught ones are blocked until the thread has returned.
 */
void dp_remote_send(struct dp_process *proc, u64 entry, u64 arg);

/* dispatch: threads under Syscall User Dispatch (prctl(PR_SET_SYSCALL_USER_DISPATCH)). */

/** enum dp_dispatch - can a thread make a remote call?
 *  @DP_DISPATCH_FREE: yes; @DP_DISPATCH_SELECTOR: once its selector permits calls;
 *  @DP_DISPATCH_BARRED: no */
enum dp_dispatch {
	DP_DISPATCH_FREE,
	DP_DISPATCH_SELECTOR,
	DP_DISPATCH_BARRED,
};

/** dp_dispatch_look() - find out whether a thread dispatches its system calls. Called before
 *  the tool changes anything in the process; stops the process for a moment.
 *  Return: 0; -EOPNOTSUPP a thread does and can make no remote call; as dp_stop_all(). */
int dp_dispatch_look(struct dp_process *proc, struct dp_diag *diag);
/** dp_dispatch_of() - can stopped thread @tid make a remote call? @selector: address of its
 *  selector; 0: none */
enum dp_dispatch dp_dispatch_of(struct dp_process *proc, pid_t tid,
				u64 *selector);
/** dp_dispatch_any() - does a stopped thread dispatch its system calls? */
bool dp_dispatch_any(const struct dp_process *proc);
/** dp_dispatch_select() - make a selector permit or forbid calls.
 *  Return: 0; as dp_process_write(). */
int dp_dispatch_select(const struct dp_process *proc, u64 selector, bool allow);
/** dp_dispatch_waits() - is SIGSYS or a fault signal pending for thread @tid? */
bool dp_dispatch_waits(const struct dp_process *proc, pid_t tid);
/** dp_dispatch_asks() - does the kernel tell whether stopped thread @tid dispatches?
 *  Return: 0, -EOPNOTSUPP, -ESRCH. */
int dp_dispatch_asks(pid_t tid);
/** dp_dispatch_sound() - where the kernel does not tell of dispatch, find it out by harmless calls
 *  at several moments: a selector may permit some. Called before anything is mapped.
 *  Return: 0; -EOPNOTSUPP a call was dispatched; as dp_remote_begin(). */
int dp_dispatch_sound(struct dp_process *proc, struct dp_diag *diag);
/** dp_dispatch_refuse() - the diagnosis for a remote call that came to the program's
 *  SIGSYS handler. Return: -EOPNOTSUPP. */
int dp_dispatch_refuse(const struct dp_process *proc, struct dp_diag *diag);

/* gadget: pieces of the program's own code that remote calls use in place. */

/** dp_gadgets_forget() - forget all gadgets */
void dp_gadgets_forget(struct dp_process *proc);
/** dp_gadgets_among() - find gadgets and restorers around a libc's @calls */
void dp_gadgets_among(struct dp_process *proc, const struct dp_syscalls *calls);
/** dp_gadgets_complete() - find missing gadgets in other code, or borrow padding for them */
void dp_gadgets_complete(struct dp_process *proc, const struct dp_maps *maps);
/** dp_gadgets_borrow(), dp_gadgets_return() - write and clear borrowed padding around remote
 *  calls. Padding in which a thread may still be is not cleared. */
int dp_gadgets_borrow(const struct dp_process *proc);
void dp_gadgets_return(struct dp_process *proc);
/** dp_restorer_known() - do signal frames of the program return to @addr? */
bool dp_restorer_known(const struct dp_process *proc, u64 addr);

/** dp_restorer_length() - bytes before the system call in a signal restorer;
 *  0: the @size bytes of @code are no restorer */
size_t dp_restorer_length(const u8 *code, size_t size);
#define DP_RESTORER_MAX 9

/* scan: where a text makes system calls. Context: tool process; may sleep and allocate. */

#define DP_AROUND 32

/**
 * struct dp_syscall - a "syscall" in a text, or bytes that look like one
 * @around: from DP_AROUND bytes before it on; zeros where the text has no more
 */
struct dp_syscall {
	u64 addr;
	u8 around[2 * DP_AROUND];
};

/** struct dp_syscalls - the system calls of @text, sorted by address */
struct dp_syscalls {
	struct dp_span text;
	struct dp_syscall *v;
	size_t n, room;
};

/** struct dp_text_file - a file that has the bytes of a text from @offset on;
 *  @fd: -1: no such file */
struct dp_text_file {
	int fd;
	u64 offset;
};

/** dp_scan() - find the system calls of @text, for dp_scan_free(). @file: the text's file
 *  Return: 0; -ENOMEM; as dp_process_read(). */
int dp_scan(const struct dp_process *proc, const struct dp_span *text,
	    const struct dp_text_file *file, struct dp_syscalls *s);
/** dp_scan_map() - dp_scan() of a mapping */
int dp_scan_map(const struct dp_process *proc, const struct dp_map *map,
		struct dp_syscalls *s);
void dp_scan_free(struct dp_syscalls *s);
/** dp_syscall_next() - the first "syscall" from @at to @end, or NULL */
const u8 *dp_syscall_next(const u8 *at, const u8 *end);

/* pages: private pages of mappings, and the files behind the others. Context: tool process;
 * may sleep and allocate. */

/** dp_pages_ours() - is an area of a tool among these mappings? */
bool dp_pages_ours(const struct dp_maps *maps);
/** dp_pages_untouched() - is the mapping a private one of a file, with no page written to? */
bool dp_pages_untouched(pid_t pid, const struct dp_map *map);
/** dp_pages_clean() - has @text the same bytes as its file? */
bool dp_pages_clean(const struct dp_process *proc,
		    const struct dp_mapped *text);
/** dp_pages_file() - the file of a mapping if no page of the mapping has been written to; the
 *  caller closes its descriptor */
struct dp_text_file dp_pages_file(const struct dp_process *proc,
				  const struct dp_map *map);

#endif
