// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * text: the process's own code and address space.
 *
 * No mapping is ever writable and executable at once. No descriptor is kept: if the program
 * closes all descriptors, another file can get our number.
 */
#include "lib/text.h"
#include "lib/chart.h"
#include "engine/layout/handler.h"
#include "proc/facts.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define FEW_STACKS 1024 /* 256 MB */

static struct dp_text *text_of(struct dp_target *target)
{
	return (struct dp_text *)target;
}

static int outcome(ssize_t done, size_t len)
{
	if (done == (ssize_t)len)
		return 0;
	return done < 0 && errno != EIO ? -errno : -EFAULT;
}

static int text_read(struct dp_target *target, u64 addr, void *to, size_t len)
{
	return outcome(pread(text_of(target)->mem, to, len, (off_t)addr), len);
}

static int text_write(struct dp_target *target, u64 addr, const void *from,
		      size_t len)
{
	return outcome(pwrite(text_of(target)->mem, from, len, (off_t)addr),
		       len);
}

int dp_threads_sync(void)
{
	int cmd = MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;

	if (!syscall(SYS_membarrier, cmd, 0, 0))
		return 0;
	/* Register at the first call, and in a fork child. */
	if (errno == EPERM &&
	    !syscall(SYS_membarrier,
		     MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0,
		     0) &&
	    !syscall(SYS_membarrier, cmd, 0, 0))
		return 0;
	return -errno;
}

static int text_sync(struct dp_target *target)
{
	return dp_threads_sync();
}

static const struct dp_target_ops ops = { .read = text_read,
					  .write = text_write,
					  .sync = text_sync };

int dp_fd_raise(int fd)
{
	int other, error = errno;

	if (fd < 0)
		return -error;
	if (fd > STDERR_FILENO)
		return fd;
	other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	return other < 0 ? -error : other;
}

int dp_text_open(struct dp_text *text)
{
	text->target.ops = &ops;
	text->mem =
		dp_fd_raise(open("/proc/thread-self/mem", O_RDWR | O_CLOEXEC));
	return text->mem < 0 ? text->mem : 0;
}

void dp_text_close(struct dp_text *text)
{
	close(text->mem);
	text->mem = -1;
}

/* A mapping with a name, for /proc/PID/maps. Nothing can write to the file, because the
 * descriptor is closed. Writes through /proc/PID/mem stay private to this process. */
int dp_code_map(u64 addr, u64 size)
{
	void *to = (void *)addr, *got;
	int fd = dp_limits_file("dprobes", size), err = 0;

	if (fd < 0)
		return -ENOMEM;
	got = mmap(to, size, PROT_READ | PROT_EXEC,
		   MAP_PRIVATE |
			   (dp_chart_has(addr, size) ? MAP_FIXED :
						       MAP_FIXED_NOREPLACE),
		   fd, 0);
	if (got != to)
		err = got == MAP_FAILED && errno == EEXIST ? -EEXIST : -ENOMEM;
	close(fd);
	if (err)
		return err;
	munlock(to, size);
	madvise(to, size, MADV_DONTDUMP);
	return 0;
}

u32 dp_stacks_wanted(void)
{
	struct rlimit space;

	return getrlimit(RLIMIT_AS, &space) || space.rlim_cur != RLIM_INFINITY ?
		       FEW_STACKS :
		       DP_STACKS;
}

u64 dp_stacks_reserve(u32 n)
{
	void *mem = mmap(NULL, (u64)n * DP_STACK_SIZE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		return 0;
	munlock(mem, (u64)n * DP_STACK_SIZE);
	return (u64)mem;
}
