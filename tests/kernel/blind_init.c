// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* blind_init: what /dev/dprobes refuses to who may see no addresses, and what it does not tell. */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int ask(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int add(int fd, const char *name, unsigned int flags)
{
	struct dp_device_add add = { .flags = flags };
	char words[DP_DEVICE_WORDS];

	return dp_device_add(fd, name, words, &add);
}

static int watch(int fd)
{
	/* Of the fixed part of the kernel's memory: no reader of it is asked first. */
	struct dp_device_watch want = { .addr = 0xffffffff81000000, .len = 8 };

	return ask(fd, DP_DEVICE_WATCH, &want);
}

static int add_program(int fd, unsigned int flags)
{
	static const unsigned char code[] = { DP_OPCODE_EXIT };
	struct dp_device_program want = { .flags = flags };

	return dp_device_program(fd, code, sizeof(code), &want, NULL);
}

static int add_table(int fd)
{
	struct dp_device_table want = { .keys = 1, .most = 1 };

	return ask(fd, DP_DEVICE_TABLE, &want);
}

static int read_rows(int fd)
{
	struct dp_device_rows want = { .nr = 0 };

	return ask(fd, DP_DEVICE_ROWS, &want);
}

static int read_stack(int fd)
{
	struct dp_device_stack want = { .number = 1 };

	return ask(fd, DP_DEVICE_STACK, &want);
}

/* Return: 0; 1: it has failed for another reason, or not at all; 2: it tells an address, @shows or not */
static int bad_of(int shows)
{
	struct dp_device_begin begin = { .arming = DP_DEVICE_TRAP,
					 .most = 9000 };
	struct dp_device_commit commit = { .flags = 0 };
	int fd = dp_device_open(0), err = ask(fd, DP_DEVICE_BEGIN, &begin);

	err = err ?: add(fd, DP_GETSID, DP_DEVICE_RETURNS);
	err = err ?: ask(fd, DP_DEVICE_COMMIT, &commit);
	close(fd);
	return err != -ENOMEM ? 1 : !commit.bad == !shows ? 0 : 2;
}

int dp_device_blind(void)
{
	static int (*const refused[])(int fd) = { watch, add_table, read_rows,
						  read_stack };
	const unsigned int logs = DP_DEVICE_RETURNS | DP_DEVICE_RECORDS;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_TRAP);
	unsigned int i;

	err = err ?: add(fd, DP_GETSID, DP_DEVICE_RETURNS);
	if (err || add(fd, DP_UMASK, logs) != -EPERM)
		return 21;
	if (add_program(fd, 0) != -EPERM || add_program(fd, DP_DEVICE_USER))
		return 22;
	for (i = 0; i < 2; i++)
		if (refused[i](fd) != -EPERM)
			return 23 + (int)i;
	err = dp_device_commit(fd, 0);
	for (; i < 4 && !err; i++)
		if (refused[i](fd) != -EPERM)
			return 23 + (int)i;
	close(fd);
	return err ? 27 : bad_of(0) ? 28 : 0;
}

void dp_device_sees(void)
{
	dp_init_check(!bad_of(1), "a commit that fails says where", "device: ");
}
