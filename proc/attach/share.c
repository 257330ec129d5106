// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * share: memory that the target and the tool both map, without a name anywhere.
 *
 * The tool makes the file, seals it, and passes it to the target over a pair of sockets.
 * So no process there has it before its seals are in place. The tool never writes to, or
 * measures, a file that the target has chosen.
 *
 *   tool     memfd, size, seals ─ mapped ─ send ─┐
 *   target   socketpair ─ (pidfd_getfd) ─────────┴─ recvmsg ─ mmap ─ close
 *
 * A tool killed between the two calls leaves a pair of sockets in the target, which
 * cannot be told from the program's own. What it leaves later is found by its name.
 */
#include "proc/attach/area.h"
#include "proc/facts.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "sym/list.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif
#define FILES_MAX 2

/** struct parcel - what recvmsg(2) needs, in the target's scratch memory */
struct parcel {
	s32 ends[2];
	struct msghdr msg;
	struct iovec iov;
	u64 byte;
	char control[CMSG_SPACE(FILES_MAX * sizeof(int))];
};

_Static_assert(sizeof(struct parcel) <= DP_REMOTE_SCRATCH,
	       "a parcel has no room in the scratch memory");

int dp_share_file(u64 size)
{
	int fd = dp_limits_file("dprobes", size), err;

	if (fd < 0 || !fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* The first thread may have ended, and then has no descriptors: ask the borrowed thread. */
static int take_end(const struct dp_process *proc, pid_t tid, int theirs)
{
	int thread = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD), fd;

	if (thread < 0)
		thread = (int)syscall(SYS_pidfd_open, proc->pid, 0);
	if (thread < 0)
		return -errno;
	fd = (int)syscall(SYS_pidfd_getfd, thread, theirs, 0);
	fd = fd < 0 ? -errno : fd;
	close(thread);
	return fd;
}

static int send_files(int end, const int *files, u32 n)
{
	char byte = 0, control[CMSG_SPACE(FILES_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), files, n * sizeof(int));
	return sendmsg(end, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 :
								      -errno;
}

static int receive(struct dp_process *proc, struct parcel *p, u32 n, s32 *there)
{
	u64 at = dp_remote_scratch(proc);
	const struct cmsghdr *c = (const void *)p->control;
	u32 got = 0;
	int err;
	long ret;

	p->msg.msg_iov = (void *)(at + offsetof(struct parcel, iov));
	p->msg.msg_iovlen = 1;
	p->msg.msg_control = (void *)(at + offsetof(struct parcel, control));
	p->msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	p->iov.iov_base = (void *)(at + offsetof(struct parcel, byte));
	p->iov.iov_len = 1;
	err = dp_process_write(proc, at, p, sizeof(*p));
	if (err)
		return err;
	ret = dp_remote_call(proc, SYS_recvmsg, p->ends[1],
			     at + offsetof(struct parcel, msg),
			     MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (dp_remote_failed(ret))
		return (int)ret;
	err = dp_process_read(proc, at, p, sizeof(*p));
	if (err)
		return err;
	memcpy(there, CMSG_DATA(c), n * sizeof(*there));
	while (got < n && c->cmsg_len >= CMSG_LEN((got + 1) * sizeof(*there)))
		got++;
	if (got == n)
		return 0;
	/* The target's table of descriptors had no room for all. */
	dp_share_close(proc, there, got);
	return -EMFILE;
}

int dp_share_pass(struct dp_process *proc, const int *files, u32 n, s32 *there)
{
	struct parcel p = { 0 };
	u64 at = dp_remote_scratch(proc);
	long ret = dp_remote_call(proc, SYS_socketpair, AF_UNIX,
				  SOCK_DGRAM | SOCK_CLOEXEC, 0, at);
	int end, err;

	if (dp_remote_failed(ret))
		return (int)ret;
	err = dp_process_read(proc, at, p.ends, sizeof(p.ends));
	if (err)
		return err;
	end = take_end(proc, dp_remote_thread(proc), p.ends[0]);
	proc->lacks_here = end < 0;
	err = end < 0 ? end : send_files(end, files, n);
	if (!err)
		err = receive(proc, &p, n, there);
	if (end >= 0)
		close(end);
	dp_share_close(proc, p.ends, 2);
	dp_kill_point("share: memfd");
	return err;
}

/* One call for adjacent descriptors, which they are unless others come in between. */
void dp_share_close(struct dp_process *proc, const s32 *there, u32 n)
{
	u32 i;

	if (n == 2 && there[1] == there[0] + 1 &&
	    !dp_remote_call(proc, SYS_close_range, there[0], there[1]))
		return;
	for (i = 0; i < n; i++)
		dp_remote_call(proc, SYS_close, there[i]);
}

bool dp_share_has(const struct dp_process *proc, s32 fd)
{
	char to[64] = "";

	return readlink(dp_path("/proc/%d/task/%d/fd/%d", proc->pid,
				dp_remote_thread(proc), fd)
				.s,
			to, sizeof(to) - 1) > 0 &&
	       dp_path_is_ours(to);
}

int dp_share_make(struct dp_process *proc, u64 size, void **ours, s32 *there)
{
	int fd = dp_share_file(size), err;

	proc->lacks_here = fd < 0;
	if (fd < 0)
		return fd;
	if (ours) {
		*ours = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     0);
		proc->lacks_here = *ours == MAP_FAILED;
	}
	err = proc->lacks_here ? -ENOMEM : dp_share_pass(proc, &fd, 1, there);
	if (err && ours && *ours != MAP_FAILED)
		munmap(*ours, size);
	close(fd);
	return err;
}

long dp_share_map(struct dp_process *proc, u64 over, u64 from, u64 size,
		  void **ours)
{
	struct dp_share share = { .size = from + size };
	s32 there;
	long at;
	int err;

	if (dp_kill_point_fails("share: room") ||
	    dp_list_reserve(&proc->shares, proc->nr_shares + 1,
			    &proc->cap_shares, sizeof(*proc->shares)))
		return -ENOMEM;
	err = dp_share_make(proc, share.size, &share.at, &there);
	if (err)
		return err;
	at = dp_remote_call(proc, SYS_mmap, over, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | (over ? MAP_FIXED : 0), there, from);
	dp_kill_point("share: mapped");
	dp_share_close(proc, &there, 1);
	if (dp_remote_failed(at)) {
		munmap(share.at, share.size);
		return at;
	}
	proc->shares[proc->nr_shares++] = share;
	*ours = (char *)share.at + from;
	return at;
}

const char *dp_share_why(const struct dp_process *proc, int err, u64 size,
			 char *text)
{
	const struct dp_maps *maps = &proc->maps;
	char own[DP_LIMITS_TEXT];

	if (proc->lacks_here && err == -EFBIG)
		snprintf(
			text, DP_LIMITS_TEXT,
			"dprobes itself may have no file of %llu KB, not even in memory (RLIMIT_FSIZE)",
			(unsigned long long)size >> 10);
	else if (proc->lacks_here)
		snprintf(text, DP_LIMITS_TEXT, "dprobes itself: %s",
			 dp_limits_why(getpid(), err, size, 0, own));
	else
		dp_limits_why(proc->pid, err, size, maps->n, text);
	return text;
}

/** struct sharing - arguments of share(). @over: see dp_share_over(); 0: anywhere */
struct sharing {
	u64 size, over, *addr;
	void **ours;
};

static int share(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	const struct sharing *s = arg;
	char why[DP_LIMITS_TEXT];
	long at;
	int err;

	err = dp_borrowed_begin(proc, diag);
	if (err)
		return err;
	at = dp_share_map(proc, s->over, 0, s->size, s->ours);
	if (s->over && !dp_remote_failed(at))
		dp_remote_call(proc, SYS_madvise, at, s->size, MADV_DONTFORK);
	dp_borrowed_end(proc);
	if (dp_remote_failed(at))
		return dp_diag_set(diag, (int)at,
				   "cannot map memory into process %d: %s",
				   proc->pid,
				   dp_share_why(proc, (int)at, s->size, why));
	*s->addr = (u64)at;
	return 0;
}

int dp_process_share(struct dp_process *proc, u64 size, u64 *addr, void **ours,
		     struct dp_diag *diag)
{
	struct sharing s = { size, 0, addr, ours };

	return dp_tracer_child(proc, share, &s, diag);
}

int dp_share_over(struct dp_process *proc, u64 over, u64 size, void **ours,
		  struct dp_diag *diag)
{
	struct sharing s = { size, over, &over, ours };

	return dp_tracer_child(proc, share, &s, diag);
}

void dp_shares_forget(struct dp_process *proc)
{
	size_t i;

	for (i = 0; i < proc->nr_shares; i++)
		munmap(proc->shares[i].at, proc->shares[i].size);
	free(proc->shares);
}
