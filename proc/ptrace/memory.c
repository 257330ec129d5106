// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* memory: the target's memory through a descriptor that outlives an exec. */
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#define MUCH 16384
#define STACK_MAX (8u << 20)

/* A read of /proc/PID/mem copies page by page, and twice. process_vm_readv() is faster, but
 * after an exec reads the new program's memory: then the result does not count. */
static bool read_by_id(const struct dp_process *proc, const struct iovec *ours,
		       const struct iovec *theirs, size_t n, size_t total)
{
	return process_vm_readv(proc->pid, ours, n, theirs, n, 0) ==
		       (ssize_t)total &&
	       !dp_memory_gone(proc);
}

static bool read_much(const struct dp_process *proc, u64 addr, void *to,
		      size_t len)
{
	const struct iovec ours = { to, len }, theirs = { (void *)addr, len };

	return read_by_id(proc, &ours, &theirs, 1, len);
}

/* Of @len bytes @n have been copied; negative: errno says why none. */
static int copied(ssize_t n, size_t len)
{
	if (n == (ssize_t)len)
		return 0;
	return n < 0 && errno != EIO ? -errno : -EFAULT;
}

int dp_process_read(const struct dp_process *proc, u64 addr, void *to,
		    size_t len)
{
	if (len >= MUCH && read_much(proc, addr, to, len))
		return 0;
	return copied(pread(proc->mem, to, len, (off_t)addr), len);
}

int dp_process_write(const struct dp_process *proc, u64 addr, const void *from,
		     size_t len)
{
	return copied(pwrite(proc->mem, from, len, (off_t)addr), len);
}

/* A read at address 0 fails while the address space exists; once it is gone, the read returns
 * 0 bytes. */
bool dp_memory_gone(const struct dp_process *proc)
{
	u8 byte;

	return proc->mem >= 0 && pread(proc->mem, &byte, 1, 0) == 0;
}

bool dp_process_replaced(const struct dp_process *proc)
{
	return dp_memory_gone(proc) && !kill(proc->pid, 0);
}

int dp_memory_extract(const struct dp_process *proc, const struct dp_extract *v,
		      u32 n)
{
	struct iovec ours[DP_EXTRACTS_MAX], theirs[DP_EXTRACTS_MAX];
	size_t total = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		ours[i] = (struct iovec){ v[i].to, v[i].len };
		theirs[i] = (struct iovec){ (void *)v[i].addr, v[i].len };
		total += v[i].len;
	}
	return read_by_id(proc, ours, theirs, n, total) ? 0 : -EFAULT;
}

bool dp_stop_beside(const struct dp_process *proc, const struct dp_ucontext *uc,
		    u64 at)
{
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (dp_frame_is_past(uc, at,
				     dp_uregs_sp(&proc->threads[i].regs)))
			return true;
	return false;
}

/* A handler that gives its thread another vector state gives it a whole one. */
static bool is_whole(const struct dp_process *proc,
		     const struct dp_ucontext *uc)
{
	u32 magic;

	if (uc->flags & ~(u64)DP_UC_FLAGS || uc->link)
		return false;
	if (!(uc->flags & DP_UC_FP_XSTATE) || !uc->mc.fpstate)
		return true;
	return !dp_process_read(proc, uc->mc.fpstate + DP_FPSTATE_MAGIC_AT,
				&magic, sizeof(magic)) &&
	       magic == DP_FPSTATE_MAGIC;
}

bool dp_frame_read(const struct dp_process *proc, u64 at, u64 sp,
		   struct dp_sigframe *f)
{
	return !dp_process_read(proc, at, f, sizeof(*f)) &&
	       dp_uframe_is_user(&f->uc.mc) &&
	       dp_frame_counts(&f->uc, at, sp) &&
	       !dp_stop_beside(proc, &f->uc, at) && is_whole(proc, &f->uc);
}

int dp_stack_scan_read(const struct dp_process *proc,
		       const struct dp_maps *maps, u64 sp,
		       struct dp_stack_scan *words)
{
	const struct dp_map *m = dp_maps_find(maps, sp);
	u64 size;

	if (!m)
		return -ENOENT;
	words->at = sp & ~7ull;
	size = m->end - words->at;
	size = size < STACK_MAX ? size : STACK_MAX;
	words->n = size / sizeof(*words->v);
	words->v = malloc(size);
	if (!words->v)
		return -ENOMEM;
	if (!dp_process_read(proc, words->at, words->v, size))
		return 0;
	free(words->v);
	return -EFAULT;
}
