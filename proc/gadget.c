// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gadget: pieces of the program's own code that we use where they stand.
 *
 * A remote call needs "syscall; ret" and code that ends a signal's handler. Every
 * libc has both, and so has Go. Where they are not, they are lent for the time of a
 * remote call to the end of a mapping that is padded with zeros; the vdso nearly
 * always is. What a tool that was killed has lent may have a thread on its way home
 * in it: that goes when all are seen to be elsewhere.
 */
#include "proc/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const u8 syscall_ret[] = { 0x0f, 0x05, 0xc3 };
/* mov $15, %rax; syscall, with either kind of mov */
static const u8 restorer_wide[] = {
	0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05
};
static const u8 restorer_short[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };

#define LOAN (sizeof(syscall_ret) + sizeof(restorer_wide))

size_t dp_restorer_length(const u8 *code, size_t size)
{
	if (size >= sizeof(restorer_wide) &&
	    !memcmp(code, restorer_wide, sizeof(restorer_wide)))
		return sizeof(restorer_wide) - 2;
	if (size >= sizeof(restorer_short) &&
	    !memcmp(code, restorer_short, sizeof(restorer_short)))
		return sizeof(restorer_short) - 2;
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

static u64 find(const struct dp_span *span, const u8 *text, const void *bytes,
		size_t n)
{
	const u8 *hit = memmem(text, span->size, bytes, n);

	return hit ? span->start + (u64)(hit - text) : 0;
}

/* All of them, of both kinds. */
static void find_restorers(struct dp_process *proc, const struct dp_span *span,
			   const u8 *text)
{
	const u8 *at = text, *end = text + span->size;
	size_t n;

	while ((at = memmem(at, (size_t)(end - at), "\x0f\0\0\0\x0f\x05", 6)) &&
	       proc->nr_restorers < DP_RESTORERS_MAX) {
		const u8 *from = at - text >= 3 ? at - 3 : at;

		n = dp_restorer_length(from, (size_t)(end - from));
		if (!n && at > text) {
			from = at - 1;
			n = dp_restorer_length(from, (size_t)(end - from));
		}
		if (n)
			proc->restorers[proc->nr_restorers++] =
				span->start + (u64)(from - text);
		at++;
	}
}

static void find_remote(struct dp_process *proc, const struct dp_span *span,
			const u8 *text)
{
	if (!proc->syscall_ret)
		proc->syscall_ret =
			find(span, text, syscall_ret, sizeof(syscall_ret));
	if (!proc->restorer)
		proc->restorer =
			find(span, text, restorer_wide, sizeof(restorer_wide));
}

static void search(struct dp_process *proc, const struct dp_span *span,
		   const u8 *text)
{
	find_remote(proc, span, text);
	find_restorers(proc, span, text);
	dp_hooks_find(proc, span, text);
}

/* Any other code: only for what a remote call needs. */
static void search_other(struct dp_process *proc, const struct dp_span *span,
			 const u8 *text)
{
	find_remote(proc, span, text);
}

static int search_in(struct dp_process *proc, const struct dp_span *span,
		     void (*how)(struct dp_process *proc,
				 const struct dp_span *span, const u8 *text))
{
	u8 *text = malloc(span->size);
	int err = text ? dp_process_read(proc, span->start, text, span->size) :
			 -ENOMEM;

	if (!err)
		how(proc, span, text);
	free(text);
	return err;
}

static void fill_loan(u8 *code)
{
	memcpy(code, syscall_ret, sizeof(syscall_ret));
	memcpy(code + sizeof(syscall_ret), restorer_wide,
	       sizeof(restorer_wide));
}

/* Zeros behind the end of the code, to the end of its last page; or what a tool that
 * was killed has not taken back. */
static bool has_room(const struct dp_process *proc, const struct dp_map *m)
{
	static const u8 nothing[2 * LOAN];
	u8 end[2 * LOAN], loan[LOAN];

	if (m->perms[2] != 'x' ||
	    dp_process_read(proc, m->end - sizeof(end), end, sizeof(end)))
		return false;
	fill_loan(loan);
	return !memcmp(end, nothing, LOAN) &&
	       (!memcmp(end + LOAN, nothing, LOAN) ||
		!memcmp(end + LOAN, loan, LOAN));
}

static void make_room(struct dp_process *proc, const struct dp_maps *maps)
{
	static const u8 nothing[LOAN];
	const struct dp_map *best = NULL;
	u8 code[LOAN];
	size_t i;

	for (i = 0; i < maps->n; i++)
		if (has_room(proc, &maps->v[i]) &&
		    (!best || !strcmp(maps->v[i].path, "[vdso]")))
			best = &maps->v[i];
	if (!best)
		return;
	proc->borrowed = true;
	proc->syscall_ret = best->end - LOAN;
	proc->restorer = proc->syscall_ret + sizeof(syscall_ret);
	proc->inherited = dp_process_read(proc, proc->syscall_ret, code,
					  sizeof(code)) ||
			  memcmp(code, nothing, sizeof(code));
}

static void find_elsewhere(struct dp_process *proc, const struct dp_maps *maps)
{
	size_t i;

	for (i = 0; i < maps->n && !(proc->syscall_ret && proc->restorer);
	     i++) {
		const struct dp_map *m = &maps->v[i];

		if (m->perms[2] == 'x' && m->path[0] == '/')
			search_in(proc,
				  &(struct dp_span){ m->start,
						     m->end - m->start },
				  search_other);
	}
	if (!proc->syscall_ret || !proc->restorer)
		make_room(proc, maps);
}

int dp_gadgets_borrow(const struct dp_process *proc)
{
	u8 code[LOAN];

	if (!proc->borrowed)
		return 0;
	fill_loan(code);
	return dp_process_write(proc, proc->syscall_ret, code, sizeof(code));
}

static bool is_outside(const struct dp_process *proc, pid_t tid)
{
	u64 sp, pc;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (proc->threads[i].tid == tid)
			return proc->threads[i].regs.rip - proc->syscall_ret >=
			       LOAN;
	return dp_stop_asleep(proc->pid, tid, &sp, &pc) &&
	       pc - proc->syscall_ret >= LOAN;
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
	static const u8 nothing[LOAN];

	if (!proc->borrowed || (proc->inherited && !all_outside(proc)))
		return;
	proc->inherited = false;
	dp_process_write(proc, proc->syscall_ret, nothing, sizeof(nothing));
}

int dp_gadgets_find(struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_maps maps;
	size_t i;
	int err = dp_kind_find(proc, &maps, diag);

	if (err)
		return err;
	proc->syscall_ret = proc->restorer = 0;
	proc->nr_restorers = proc->nr_hooks = 0;
	proc->borrowed = proc->inherited = false;
	proc->points = (struct dp_points){ 0 };
	for (i = 0; i < proc->nr_texts && !err; i++)
		err = search_in(proc, &proc->texts[i], search);
	if (!err && (!proc->syscall_ret || !proc->restorer))
		find_elsewhere(proc, &maps);
	dp_maps_free(&maps);
	if (err)
		return dp_diag_set(diag, err, "cannot read process %d: %s",
				   proc->pid, strerror(-err));
	if (!proc->syscall_ret || !proc->restorer)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d has neither code for a system call nor room for some; start it with the vdso (it was booted or traced without)",
			proc->pid);
	return 0;
}
