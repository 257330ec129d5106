// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user_other_init: probes on files of an overlay, and in a program of 32 bits. */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user, others: "
#define SMALL "/victim32"
#define MARK "dp_step:"
#define STEPS 500
#define STATUS 4
#define ESI 0x0b
#define RDI 0x64
#define LAYERS "lowerdir=/layers/low,upperdir=/layers/up,workdir=/layers/work"

/* --- 32 bits --- */

/* Return: where the step is in the file, or 0 */
static unsigned long find_step(void)
{
	static char bytes[65536];
	int fd = open(SMALL, O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes));
	char *at = n > 0 ? memmem(bytes, (size_t)n, MARK, strlen(MARK)) : NULL;

	close(fd);
	return at ? (unsigned long)(at - bytes) + strlen(MARK) : 0;
}

static unsigned int put16(unsigned char *to, unsigned char op,
			  unsigned short operand)
{
	to[0] = op;
	memcpy(to + 1, &operand, sizeof(operand));
	return 3;
}

static unsigned int put64(unsigned char *to, unsigned char op,
			  unsigned long operand)
{
	to[0] = op;
	memcpy(to + 1, &operand, sizeof(operand));
	return 9;
}

/* Counts the right word, and changes a register, of which the task has the lower half. */
static unsigned int write_program(unsigned char *code)
{
	unsigned int n = put64(code, DP_OPCODE_PUSH, 0xffffffff00000005);

	n += put16(code + n, DP_OPCODE_POP_R, RDI);
	n += put16(code + n, DP_OPCODE_PUSH_R, ESI);
	code[n++] = DP_OPCODE_PUSH_MEM_U32;
	n += put64(code + n, DP_OPCODE_PUSH, 0x12345678);
	code[n++] = DP_OPCODE_SUB;
	n += put64(code + n, DP_OPCODE_JNZ, 3);
	n += put16(code + n, DP_OPCODE_INC_LV_I, 0);
	code[n++] = DP_OPCODE_EXIT;
	return n;
}

static void small(void)
{
	struct dp_device_program want = { .variables = 1,
					  .jumps = 9,
					  .allow = DP_DEVICE_REGISTERS,
					  .flags = DP_DEVICE_USER };
	char words[DP_DEVICE_WORDS];
	unsigned char code[64];
	unsigned int probe = 0;
	unsigned long step = find_step();
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP),
	    ended;

	err = err ?: dp_user_add_file(fd, SMALL, step, &probe);
	err = err   ?:
		      dp_device_program(fd, code, write_program(code), &want,
					words);
	err = err ?: dp_device_bind(fd, probe, want.program, 0);
	err = err ?: dp_device_commit(fd, 0);
	ended = dp_user_execute(SMALL, NULL, NULL);
	dp_init_check(step && !err && ended == STATUS &&
			      dp_user_hits(fd, probe) == STEPS &&
			      dp_device_variable(fd, 0, 0) == STEPS,
		      "a program of 32 bits", OF);
	if (err || ended != STATUS)
		printf("# %d, at %#lx, status %d\n", err, step, ended);
	close(fd);
}

/* --- an overlay --- */

static int mount_layers(void)
{
	mkdir("/layers", 0700);
	mkdir("/merged", 0700);
	return mount("tmpfs", "/layers", "tmpfs", 0, NULL) ||
	       mkdir("/layers/low", 0700) || mkdir("/layers/up", 0700) ||
	       mkdir("/layers/work", 0700) ||
	       dp_user_copy("/layers/low/prog") ||
	       mount("overlay", "/merged", "overlay", 0, LAYERS);
}

static void layers(void)
{
	unsigned long offset = dp_user_offset(dp_user_lea);
	unsigned int probe = 0;
	int fd, err;

	if (access("/overlay.ko", F_OK)) {
		dp_init_skip(OF "a file of an overlay",
			     "the kernel has no such module");
		return;
	}
	dp_init_check(dp_init_load("overlay", "") && !mount_layers(),
		      "an overlay is mounted", OF);
	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	err = err ?: dp_user_add_file(fd, "/merged/prog", offset, &probe);
	err = err ?: dp_device_commit(fd, 0);
	dp_init_check(!err &&
			      dp_user_execute("/merged/prog", "steps", "60") ==
				      STATUS &&
			      dp_user_hits(fd, probe) == 60,
		      "a file of an overlay", OF);
	dp_init_check(dp_user_execute("/layers/low/prog", "steps", "7") ==
				      STATUS &&
			      dp_user_hits(fd, probe) == 67,
		      "it is the one that is mapped", OF);
	dp_init_check(umount("/merged") && errno == EBUSY,
		      "its file system stays", OF);
	close(fd);
	dp_init_check(!umount("/merged") && !umount("/layers"),
		      "and goes when the session has ended", OF);
	dp_init_unload("overlay");
}

void dp_user_others(void)
{
	if (dp_user_execute(SMALL, NULL, NULL) == 127)
		dp_init_skip(OF "a program of 32 bits",
			     "the kernel executes none");
	else
		small();
	layers();
}
