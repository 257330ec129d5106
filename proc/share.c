// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* share: memory of the target that we map, too, without a name anywhere. */
#include "proc/private.h"
#include "proc/step.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

static int map_ours(const struct dp_process *proc, long fd, u64 size,
		    void **ours)
{
	char path[64];
	int file, err;

	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", proc->pid, fd);
	file = open(path, O_RDWR | O_CLOEXEC);
	err = file < 0 || ftruncate(file, (off_t)size) ? -errno : 0;
	if (!err) {
		*ours = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     file, 0);
		err = *ours == MAP_FAILED ? -ENOMEM : 0;
	}
	if (file >= 0)
		close(file);
	return err;
}

long dp_share_make(struct dp_process *proc, struct dp_remote *rem, u64 size,
		   void **ours)
{
	static const char name[] = "dprobes";
	int err = dp_process_write(proc, dp_remote_scratch(rem), name,
				   sizeof(name));
	long fd;

	if (err)
		return err;
	fd = dp_remote_call(rem, SYS_memfd_create, dp_remote_scratch(rem),
			    MFD_CLOEXEC, 0, 0, 0, 0);
	if (failed(fd))
		return fd;
	dp_step("share: memfd");
	err = map_ours(proc, fd, size, ours);
	if (err)
		dp_remote_call(rem, SYS_close, (u64)fd, 0, 0, 0, 0, 0);
	return err ? err : fd;
}

long dp_share_map(struct dp_process *proc, struct dp_remote *rem, u64 over,
		  u64 size, void **ours)
{
	long fd, at;

	if (proc->nr_shares == DP_SHARES_MAX)
		return -ENOMEM;
	fd = dp_share_make(proc, rem, size, ours);
	if (failed(fd))
		return fd;
	at = dp_remote_call(rem, SYS_mmap, over, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | (over ? MAP_FIXED : 0), (u64)fd, 0);
	dp_step("share: mapped");
	dp_remote_call(rem, SYS_close, (u64)fd, 0, 0, 0, 0, 0);
	if (failed(at))
		munmap(*ours, size);
	else
		proc->shares[proc->nr_shares++] =
			(struct dp_share){ *ours, size };
	return at;
}

/** struct sharing - arguments of share() */
struct sharing {
	struct dp_process *proc;
	u64 size, *addr;
	void **ours;
	struct dp_diag *diag;
};

static int share(void *arg)
{
	const struct sharing *s = arg;
	struct dp_process *proc = s->proc;
	long at;
	int err;

	err = dp_hand_begin(proc, s->diag);
	if (err)
		return err;
	at = dp_share_map(proc, proc->hand, 0, s->size, s->ours);
	dp_hand_end(proc);
	if (failed(at))
		return dp_diag_set(s->diag, (int)at,
				   "cannot map memory into process %d: %s",
				   proc->pid, strerror((int)-at));
	*s->addr = (u64)at;
	return 0;
}

int dp_process_share(struct dp_process *proc, u64 size, u64 *addr, void **ours,
		     struct dp_diag *diag)
{
	struct sharing s = { proc, size, addr, ours, diag };

	return dp_errand(proc, share, &s);
}

void dp_shares_forget(struct dp_process *proc, size_t from, size_t n)
{
	size_t i;

	for (i = from; i < from + n; i++)
		munmap(proc->shares[i].at, proc->shares[i].size);
	proc->nr_shares -= n;
	memmove(&proc->shares[from], &proc->shares[from + n],
		(proc->nr_shares - from) * sizeof(*proc->shares));
}
