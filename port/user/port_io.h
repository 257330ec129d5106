/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_io: the machine's ports; a part of port_hit.h. */
#ifndef DP_PORT_IO_H
#define DP_PORT_IO_H

#define DP_AT_FDCWD (-100)
#define DP_O_RDWR_CLOEXEC 02000002

#ifdef DP_AGENT
/* A filter that has come since the probes have is not known. */
static inline bool dp_port_may_open(void)
{
	return !dp_arena.control.own_process && !dp_arena.hit.filter_ask &&
	       dp_port_may(__NR_openat) && dp_port_may(__NR_close) &&
	       dp_port_may(__NR_pread64) && dp_port_may(__NR_pwrite64);
}
#else
static inline bool dp_port_may_open(void)
{
	return true;
}
#endif

/* By a file of the kernel's: an instruction that may not do it would fault, on a stack that may
 * have no room for that. */
static inline bool dp_port_io(long nr, u16 port, u64 bytes, u32 size)
{
	static const char path[] = "/dev/port";
	long fd, n;

	if (!dp_port_may_open())
		return false;
	fd = dp_syscall(__NR_openat, DP_AT_FDCWD, path, DP_O_RDWR_CLOEXEC);
	if (fd < 0)
		return false;
	n = dp_syscall(nr, fd, bytes, size, port);
	dp_syscall(__NR_close, fd);
	return n == (long)size;
}

static inline bool dp_port_io_read(u16 port, void *to, u32 size)
{
	return dp_port_io(__NR_pread64, port, (u64)to, size);
}

static inline bool dp_port_io_write(u16 port, const void *from, u32 size)
{
	return dp_port_io(__NR_pwrite64, port, (u64)from, size);
}

#define DP_MEMBARRIER_EXPEDITED 8 /* MEMBARRIER_CMD_PRIVATE_EXPEDITED */
#define DP_MEMBARRIER_REGISTER 16

/* Registered at the first call, and in a fork child. */
static inline bool dp_port_barrier(void)
{
	return !dp_syscall(__NR_membarrier, DP_MEMBARRIER_EXPEDITED) ||
	       (!dp_syscall(__NR_membarrier, DP_MEMBARRIER_REGISTER) &&
		!dp_syscall(__NR_membarrier, DP_MEMBARRIER_EXPEDITED));
}

#endif
