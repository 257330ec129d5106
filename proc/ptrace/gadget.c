// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gadget: pieces of the program's own code that remote calls use in place.
 *
 * A remote call needs "syscall; ret" and a signal restorer. Every libc has both, and so has
 * Go. Where they are missing, the tool writes them, for the time of a remote call, to
 * borrowed padding: zeros at the end of a mapping, nearly always the vdso. Two more pieces
 * go there: a return without sigreturn, where a filter may forbid rt_sigreturn, and code that
 * makes a selector forbid calls again, where calls are dispatched (dispatch.c).
 *
 * A killed tool leaves its code there, with perhaps a thread in it. The next tool clears the
 * padding once all threads are seen elsewhere.
 */
#include "arch/calls.h"
#include "arch/uregs.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/process.h"
#include <stdlib.h>
#include <string.h>

static const u8 syscall_ret[] = DP_CODE_SYSCALL_RET;
static const u8 restorer_wide[] = DP_CODE_RESTORER_WIDE;
static const u8 restorer_short[] = DP_CODE_RESTORER_SHORT;
static const u8 both[] = DP_CODE_SYSCALL_AND_RESTORER;
static const u8 plain_return[] = DP_CODE_PLAIN_RETURN;
static const u8 selector_return[] = DP_CODE_SELECTOR_RETURN;

#define BORROWED_MAX 64
_Static_assert(sizeof(both) == sizeof(syscall_ret) + sizeof(restorer_wide) &&
		       sizeof(both) <= BORROWED_MAX &&
		       sizeof(plain_return) <= BORROWED_MAX,
	       "room");

static const struct {
	const u8 *code;
	size_t n;
} restorers[] = { { restorer_wide, sizeof(restorer_wide) },
		  { restorer_short, sizeof(restorer_short) } };

size_t dp_restorer_length(const u8 *code, size_t size)
{
	size_t i;

	for (i = 0; i < 2; i++)
		if (size >= restorers[i].n &&
		    !memcmp(code, restorers[i].code, restorers[i].n))
			return restorers[i].n - DP_SYSCALL_SIZE;
	return 0;
}

bool dp_restorer_known(const struct dp_process *proc, u64 addr)
{
	size_t i;

	for (i = 0; i < proc->nr_restorers; i++)
		if (proc->restorers[i] == addr)
			return true;
	return false;
}

/* Find @n @bytes in which "syscall" is at @offset. Return: their address, or 0. */
static u64 find(const struct dp_syscalls *calls, const u8 *bytes, size_t n,
		size_t offset)
{
	size_t i;

	for (i = 0; i < calls->n; i++)
		if (!memcmp(calls->v[i].around + DP_AROUND - offset, bytes, n))
			return calls->v[i].addr - offset;
	return 0;
}

/* Return: how many bytes before the "syscall" a restorer begins, or 0. */
static size_t restorer_before(const struct dp_syscall *call)
{
	const u8 *code = call->around + DP_AROUND;
	size_t i, n;

	for (i = 0; i < 2; i++) {
		n = restorers[i].n - DP_SYSCALL_SIZE;
		if (!memcmp(code - n, restorers[i].code, restorers[i].n))
			return n;
	}
	return 0;
}

/* Find all restorers, wide and short ones. */
static void find_restorers(struct dp_process *proc,
			   const struct dp_syscalls *calls)
{
	size_t i, n;

	for (i = 0; i < calls->n && proc->nr_restorers < DP_RESTORERS_MAX;
	     i++) {
		n = restorer_before(&calls->v[i]);
		if (n)
			proc->restorers[proc->nr_restorers++] =
				calls->v[i].addr - n;
	}
}

static void find_remote(struct dp_process *proc,
			const struct dp_syscalls *calls)
{
	if (!proc->syscall_ret)
		proc->syscall_ret =
			find(calls, syscall_ret, sizeof(syscall_ret), 0);
	if (!proc->restorer)
		proc->restorer = find(calls, restorer_wide,
				      sizeof(restorer_wide),
				      sizeof(restorer_wide) - DP_SYSCALL_SIZE);
}

/* Search other code than libc's: for gadgets only, not for restorers of signal frames. */
static void search_other(struct dp_process *proc, const struct dp_map *m)
{
	struct dp_syscalls calls;

	if (dp_scan_map(proc, m, &calls))
		return;
	find_remote(proc, &calls);
	dp_scan_free(&calls);
}

/**
 * struct borrowed_padding - code that is written to borrowed padding
 * @code, @n: the code and its size
 * @before_end: how many bytes before the mapping's end the code begins
 */
struct borrowed_padding {
	const u8 *code;
	size_t n, before_end;
};

static const struct borrowed_padding calls = { both, sizeof(both),
					       sizeof(both) };
static const struct borrowed_padding plain = { plain_return,
					       sizeof(plain_return), 64 };
static const struct borrowed_padding selector = { selector_return,
						  sizeof(selector_return), 96 };

/* Are there zeros in that place and before it? @borrowed: the place itself holds the same
 * code, of a killed tool, instead */
static bool has_room(const struct dp_process *proc, const struct dp_map *m,
		     const struct borrowed_padding *l, bool *borrowed)
{
	static const u8 nothing[BORROWED_MAX];
	u8 there[2 * BORROWED_MAX];

	if (m->perms[2] != 'x' ||
	    dp_process_read(proc, m->end - l->before_end - l->n, there,
			    2 * l->n) ||
	    memcmp(there, nothing, l->n))
		return false;
	*borrowed = memcmp(there + l->n, nothing, l->n) != 0;
	return !*borrowed || !memcmp(there + l->n, l->code, l->n);
}

/* Return: address of the padding, in the vdso if that has room; 0: there is none. */
static u64 find_room(struct dp_process *proc, const struct dp_maps *maps,
		     const struct borrowed_padding *l)
{
	bool borrowed, inherited = false;
	u64 at = 0;
	size_t i;

	for (i = 0; i < maps->n; i++) {
		const struct dp_map *m = &maps->v[i];

		if ((at && strcmp(m->path, "[vdso]")) ||
		    !has_room(proc, m, l, &borrowed))
			continue;
		at = m->end - l->before_end;
		inherited = borrowed;
	}
	proc->inherited |= inherited;
	return at;
}

static void make_room(struct dp_process *proc, const struct dp_maps *maps)
{
	u64 at = find_room(proc, maps, &calls);

	if (!at)
		return;
	proc->borrowed = true;
	proc->syscall_ret = at;
	proc->restorer = at + sizeof(syscall_ret);
}

static void find_elsewhere(struct dp_process *proc, const struct dp_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->n && !(proc->syscall_ret && proc->restorer);
	     i++) {
		const struct dp_map *m = &maps->v[i];

		/* An area of a killed tool may be unmapped at any time. */
		if (m->perms[2] == 'x' && m->path[0] == '/' &&
		    !dp_path_is_ours(m->path))
			search_other(proc, m);
	}
	if (!proc->syscall_ret || !proc->restorer)
		make_room(proc, maps);
}

int dp_gadgets_borrow(const struct dp_process *proc)
{
	if (proc->no_return && proc->plain_return &&
	    dp_process_write(proc, proc->plain_return, plain_return,
			     sizeof(plain_return)))
		return -EIO;
	if (proc->selector_return && proc->dispatches &&
	    dp_process_write(proc, proc->selector_return, selector_return,
			     sizeof(selector_return)))
		return -EIO;
	if (!proc->borrowed)
		return 0;
	return dp_process_write(proc, proc->syscall_ret, both, sizeof(both));
}

/* A thread just behind the "syscall" of a remote call counts too: it returns to that code. */
static bool is_elsewhere(const struct dp_process *proc, u64 pc)
{
	return pc - proc->syscall_ret >= sizeof(both) &&
	       (!proc->selector_return ||
		pc - proc->selector_return >= sizeof(selector_return)) &&
	       (!proc->plain_return ||
		pc - proc->plain_return >= sizeof(plain_return));
}

static bool is_outside(const struct dp_process *proc, pid_t tid)
{
	const struct dp_thread *t = dp_stop_held(proc, tid);
	u64 sp, pc;

	if (t)
		return is_elsewhere(proc, dp_uregs_pc(&t->regs));
	return dp_thread_state_asleep(proc->pid, tid, &sp, &pc) &&
	       is_elsewhere(proc, pc);
}

static bool all_outside(const struct dp_process *proc)
{
	bool outside = true;
	pid_t *tids;
	size_t n, i;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return false;
	for (i = 0; i < n && outside; i++)
		outside = is_outside(proc, tids[i]);
	free(tids);
	return outside;
}

void dp_gadgets_return(struct dp_process *proc)
{
	static const u8 nothing[sizeof(both) + sizeof(plain_return)];

	if (proc->inherited && !all_outside(proc))
		return;
	if (proc->plain_return && (proc->no_return || proc->inherited))
		dp_process_write(proc, proc->plain_return, nothing,
				 sizeof(plain_return));
	if (proc->selector_return && (proc->dispatches || proc->inherited))
		dp_process_write(proc, proc->selector_return, nothing,
				 sizeof(selector_return));
	if (proc->borrowed)
		dp_process_write(proc, proc->syscall_ret, nothing,
				 sizeof(both));
	proc->inherited = false;
}

void dp_gadgets_forget(struct dp_process *proc)
{
	proc->syscall_ret = proc->restorer = proc->plain_return = 0;
	proc->selector_return = 0;
	proc->nr_restorers = 0;
	proc->borrowed = proc->inherited = false;
}

void dp_gadgets_among(struct dp_process *proc, const struct dp_syscalls *calls)
{
	find_remote(proc, calls);
	find_restorers(proc, calls);
}

void dp_gadgets_complete(struct dp_process *proc, const struct dp_maps *maps)
{
	if (!proc->syscall_ret || !proc->restorer)
		find_elsewhere(proc, maps);
	if (proc->filtered)
		proc->plain_return = find_room(proc, maps, &plain);
	if (proc->catches_sigsys)
		proc->selector_return = find_room(proc, maps, &selector);
}
