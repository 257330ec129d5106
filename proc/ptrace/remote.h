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
struct dp_mapped;
struct dp_maps;
struct dp_syscalls;
struct dp_process;
struct dp_remote;
struct dp_thread;

int dp_remote_begin(struct dp_process *proc, struct dp_remote **remote,
		    struct dp_diag *diag);
/** dp_remote_call() - Return: what the call returned; -ESRCH when it died */
long dp_remote_call(struct dp_remote *remote, long nr, u64 a, u64 b, u64 c,
		    u64 d, u64 e, u64 f);
/** dp_remote_failed() - is what it returned an error, also where it is an address? */
static inline bool dp_remote_failed(long ret)
{
	return ret < 0 && ret > -4096;
}
/** dp_rseq_word() - address of the word that says which restartable sequence (rseq(2))
 *  a thread is in; 0: it has none */
u64 dp_rseq_word(const struct dp_thread *t);

/** dp_remote_scratch() - address of DP_REMOTE_SCRATCH bytes in the target, for arguments */
#define DP_REMOTE_SCRATCH 192
u64 dp_remote_scratch(const struct dp_remote *remote);
/** dp_remote_thread() - id of the thread that makes the calls */
pid_t dp_remote_thread(const struct dp_remote *remote);
void dp_remote_end(struct dp_remote *remote);

/**
 * dp_remote_send() - instead of that: let it call a function, and go home from
 * there by itself
 * @entry: of the function; its argument is @arg, its stack ours, and not aligned
 *
 * Signals are blocked until it is home, but for those that a probe can raise.
 */
void dp_remote_send(struct dp_remote *remote, u64 entry, u64 arg);

/*
 * dispatch: threads under Syscall User Dispatch (prctl(PR_SET_SYSCALL_USER_DISPATCH)).
 *
 * Context of every function: tool process, one thread at a time per object.
 */

/** enum dp_dispatch - how a thread comes to make a remote call
 *  @DP_DISPATCH_FREE: as any other; @DP_DISPATCH_SELECTOR: its selector forbids calls
 *  now; @DP_DISPATCH_BARRED: it cannot */
enum dp_dispatch {
	DP_DISPATCH_FREE,
	DP_DISPATCH_SELECTOR,
	DP_DISPATCH_BARRED,
};

/** dp_dispatch_look() - does a thread dispatch its system calls? Before anything is
 *  done in a process that decides; it is stopped for a moment.
 *  Return: 0; -EOPNOTSUPP one does that can make no call for us; as dp_stop_all(). */
int dp_dispatch_look(struct dp_process *proc, struct dp_diag *diag);
/** dp_dispatch_of() - of @tid, which is stopped. @selector: its address; 0: none */
enum dp_dispatch dp_dispatch_of(struct dp_process *proc, pid_t tid,
				u64 *selector);
/** dp_dispatch_any() - does one of the stopped threads? */
bool dp_dispatch_any(const struct dp_process *proc);
/** dp_dispatch_select() - have a selector permit or forbid calls. Return: 0; -EIO. */
int dp_dispatch_select(const struct dp_process *proc, u64 selector, bool allow);
/** dp_dispatch_waits() - does a signal wait for @tid that says where it was raised? */
bool dp_dispatch_waits(const struct dp_process *proc, pid_t tid);
/** dp_dispatch_asks() - can the kernel be asked, of a stopped thread? Return: 0,
 *  -EOPNOTSUPP. */
int dp_dispatch_asks(pid_t tid);
/** dp_dispatch_refuse() - words for a remote call that came to the program's handler */
int dp_dispatch_refuse(const struct dp_process *proc, struct dp_diag *diag);

/*
 * gadget: pieces of the program's own code that remote calls use where they stand.
 *
 * Context of every function: tool process, one thread at a time per object.
 */

/** dp_gadgets_forget() - none is known */
void dp_gadgets_forget(struct dp_process *proc);
/** dp_gadgets_among() - those that stand where a libc makes its @calls */
void dp_gadgets_among(struct dp_process *proc, const struct dp_syscalls *calls);
/** dp_gadgets_complete() - what was not there stands in other code, or is to be written */
void dp_gadgets_complete(struct dp_process *proc, const struct dp_maps *maps);
/** dp_gadgets_borrow(), dp_gadgets_return() - around remote calls. Not returned is
 *  what others may be using. */
int dp_gadgets_borrow(const struct dp_process *proc);
void dp_gadgets_return(struct dp_process *proc);
/** dp_restorer_known() - do signal frames of the program return to @addr? */
bool dp_restorer_known(const struct dp_process *proc, u64 addr);

/** dp_restorer_length() - bytes up to the system call in code that ends a signal's
 *  handler; 0: @code, of which there are @size bytes, is no such code */
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

/** struct dp_syscalls - those of @text, by address */
struct dp_syscalls {
	struct dp_span text;
	struct dp_syscall *v;
	size_t n, room;
};

/** struct dp_text_file - a file that has the bytes of a text, from @offset on; @fd: -1: there
 *  is none */
struct dp_text_file {
	int fd;
	u64 offset;
};

/** dp_scan() - find those of @text; dp_scan_free() them. @file: of it
 *  Return: 0; -ENOMEM, or what reading it gives. */
int dp_scan(const struct dp_process *proc, const struct dp_span *text,
	    const struct dp_text_file *file, struct dp_syscalls *s);
/** dp_scan_map() - the same of a mapping */
int dp_scan_map(const struct dp_process *proc, const struct dp_map *map,
		struct dp_syscalls *s);
void dp_scan_free(struct dp_syscalls *s);
/** dp_syscall_next() - the first "syscall" of some bytes, or NULL */
const u8 *dp_syscall_next(const u8 *at, const u8 *end);

/* pages: those that a process has for itself, and the file of the others. Context: tool
 * process; may sleep and allocate. */

/** dp_pages_ours() - is anything of ours among these mappings? */
bool dp_pages_ours(const struct dp_maps *maps);
/** dp_pages_untouched() - is the mapping private, and has none of its pages been written to? */
bool dp_pages_untouched(pid_t pid, const struct dp_map *map);
/** dp_pages_clean() - does @text hold just what its file holds? */
bool dp_pages_clean(const struct dp_process *proc,
		    const struct dp_mapped *text);
/** dp_pages_file() - the file of a mapping none of whose pages has been written to; its
 *  descriptor is to be closed */
struct dp_text_file dp_pages_file(const struct dp_process *proc,
				  const struct dp_map *map);

#endif
