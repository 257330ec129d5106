// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * together: do two debug registers at one place both take its hits?
 *
 * Processors report all that match. An emulator may report the first alone. Exit status 0: both do, or it cannot be
 * found out; 1: one does.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile unsigned long word __attribute__((aligned(8)));

static int watch_word(unsigned int type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = type,
		.bp_addr = (unsigned long)&word,
		.bp_len = sizeof(word),
		.sample_period = 1,
		.exclude_kernel = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
}

static unsigned long hits(int fd)
{
	unsigned long n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

int main(void)
{
	int first = watch_word(HW_BREAKPOINT_W);
	int second = watch_word(HW_BREAKPOINT_RW);
	unsigned long a, b;

	if (first < 0 || second < 0)
		return 0;
	ioctl(first, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(second, PERF_EVENT_IOC_ENABLE, 0);
	word = 1;
	a = hits(first);
	b = hits(second);
	return a + b == 1;
}
