// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* failed_init: requests of /dev/dprobes that fail, or are undone, leave nothing behind. */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OF "failed: "
/* Debug registers that there are, and more calls than can be followed */
enum { REGISTERS = 4, TOO_MANY = 9000 };

static int ask(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int add_any(int fd, const char *name, unsigned int flags,
		   unsigned int *probe)
{
	struct dp_device_add add = { .flags = flags };
	char words[DP_DEVICE_WORDS];
	int err = dp_device_add(fd, name, words, &add);

	*probe = add.probe;
	return err;
}

static int add(int fd, const char *name, unsigned int *probe)
{
	return add_any(fd, name, 0, probe);
}

static int take_away(int fd, unsigned int probe)
{
	struct dp_device_remove remove = { .probe = probe };

	return ask(fd, DP_DEVICE_REMOVE, &remove);
}

static int watch(int fd, unsigned int *probe)
{
	struct dp_device_watch want = { .addr = dp_watch_address(), .len = 4 };
	int err = ask(fd, DP_DEVICE_WATCH, &want);

	*probe = want.probe;
	return err;
}

static int add_program(int fd, unsigned int *program)
{
	static const unsigned char code[] = { DP_OPCODE_INC_LV_I, 0, 0,
					      DP_OPCODE_EXIT };
	struct dp_device_program want = { .variables = 1 };
	int err = dp_device_program(fd, code, sizeof(code), &want, NULL);

	*program = want.program;
	return err;
}

/* What came and was to go again goes, whether that is undone or fails. */
static void removed(void)
{
	struct dp_device_begin begin = { .arming = DP_DEVICE_JUMP,
					 .most = TOO_MANY };
	unsigned int probe = 0, i;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	for (i = 0; i < REGISTERS; i++)
		err = err ?: watch(fd, &probe) ?: take_away(fd, probe);
	err = err ?: dp_device_commit(fd, DP_DEVICE_UNDO);
	for (i = 0; i < REGISTERS; i++)
		err = err ?: watch(fd, &probe);
	dp_init_check(!err, "a probe on data keeps no register", OF);
	close(fd);
	fd = dp_device_open(0);
	err = ask(fd, DP_DEVICE_BEGIN, &begin)	 ?:
		      add(fd, DP_GETSID, &probe) ?:
		      take_away(fd, probe)	 ?:
		      add_any(fd, DP_UMASK, DP_DEVICE_RETURNS, &probe);
	dp_init_check(!err && dp_device_commit(fd, 0) == -ENOMEM,
		      "so many calls cannot be followed", OF);
	err = add(fd, DP_GETPGID, &probe) ?: dp_device_commit(fd, 0);
	dp_init_check(!err && probe == 2 && dp_device_changed() == 1 &&
			      (!dp_init_debugfs() ||
			       (strstr(dp_files_list(), DP_GETPGID "+0x") &&
				!strstr(dp_files_list(), DP_GETSID "+0x"))),
		      "a later commit arms nothing that has gone", OF);
	close(fd);
}

/* A program that came before stays, whatever was bound to it since. */
static void programs(void)
{
	unsigned int first = 9, probe = 0, next = 9;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	err = err					   ?:
		      add_program(fd, &first)		   ?:
		      dp_device_commit(fd, DP_DEVICE_UNDO) ?:
		      add_program(fd, &next);
	dp_init_check(!err && !first && !next,
		      "a program is undone, also where no probe is", OF);
	err = err					 ?:
		      add(fd, DP_GETSID, &probe)	 ?:
		      dp_device_commit(fd, 0)		 ?:
		      add(fd, DP_UMASK, &probe)		 ?:
		      dp_device_bind(fd, probe, next, 0) ?:
		      dp_device_commit(fd, DP_DEVICE_UNDO);
	err = err					 ?:
		      add(fd, DP_UMASK, &probe)		 ?:
		      dp_device_bind(fd, probe, next, 0) ?:
		      dp_device_commit(fd, 0);
	syscall(SYS_umask, 022);
	dp_init_check(!err && dp_device_variable(fd, next, 0) == 1,
		      "one that was there before stays", OF);
	err = take_away(fd, probe) ?: dp_device_commit(fd, 0);
	dp_init_check(!err && dp_device_variable(fd, next, 0) == -1,
		      "and goes with its last probe", OF);
	close(fd);
}

/* A session that cannot have its programs interpreted so has not begun. */
static void begun(void)
{
	unsigned int program, probe = 0;
	int a = dp_device_open(0), b = dp_device_open(0), err;

	err = dp_device_start(a, DP_DEVICE_JUMP) ?: add_program(a, &program);
	dp_init_check(
		!err && dp_device_start_by(b, DP_DEVICE_JUMP, 3) == -EBUSY &&
			add(b, DP_GETSID, &probe) == -EINVAL,
		"what is refused has not begun", OF);
	dp_init_check(!dp_device_start(b, DP_DEVICE_JUMP) &&
			      !add(b, DP_GETSID, &probe) &&
			      !dp_device_commit(b, 0) &&
			      dp_device_changed() == 1,
		      "and may begin otherwise", OF);
	close(b);
	close(a);
}

/* Nothing has been done for who cannot be answered: neither with words, nor with the struct. @words: of the struct */
static int fails(int fd, unsigned long request, void *arg, __u64 *words)
{
	static char said[DP_DEVICE_WORDS];
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err, sealed = 0;

	if (page == MAP_FAILED)
		return 0;
	*words = 8;
	err = ask(fd, request, arg);
	*words = (unsigned long)said;
	memcpy(page, arg, _IOC_SIZE(request));
	if (!mprotect(page, 4096, PROT_READ))
		sealed = ask(fd, request, page);
	munmap(page, 4096);
	if (err != -EFAULT || sealed != -EFAULT)
		printf("# %d %d\n", err, sealed);
	return err == -EFAULT && sealed == -EFAULT && !ask(fd, request, arg);
}

static void unanswered(void)
{
	static const unsigned char code[] = { DP_OPCODE_EXIT };
	static const unsigned int start;
	struct dp_device_add named = { .name = (unsigned long)DP_GETSID,
				       .name_size = sizeof(DP_GETSID),
				       .words_size = DP_DEVICE_WORDS };
	struct dp_device_watch data = { .addr = dp_watch_address(),
					.len = 4,
					.words_size = 1 };
	struct dp_device_program program = { .code = (unsigned long)code,
					     .code_size = 1,
					     .starts = (unsigned long)&start,
					     .nr_starts = 1,
					     .stack = 32,
					     .words_size = 1 };
	struct dp_device_table table = { .keys = 1,
					 .most = 10,
					 .words_size = 1 };
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	dp_init_check(!err && fails(fd, DP_DEVICE_ADD, &named, &named.words) &&
			      !named.probe,
		      "unanswered: a probe", OF);
	dp_init_check(fails(fd, DP_DEVICE_WATCH, &data, &data.words) &&
			      data.probe == 1,
		      "unanswered: on data", OF);
	dp_init_check(fails(fd, DP_DEVICE_PROGRAM, &program, &program.words) &&
			      !program.program,
		      "unanswered: a program", OF);
	dp_init_check(fails(fd, DP_DEVICE_TABLE, &table, &table.words) &&
			      !table.table,
		      "unanswered: a table", OF);
	close(fd);
}

static void unanswered_file(void)
{
	struct dp_device_file want = { .offset = dp_user_offset(
					       (void *)dp_user_step),
				       .words_size = DP_DEVICE_WORDS };
	int file = open(DP_USER_FILE, O_RDONLY), fd, err;

	if (!dp_user_can()) {
		dp_init_skip(OF "unanswered: on a file",
			     "the kernel has no uprobes");
		return;
	}
	fd = dp_device_open(0);
	err = dp_device_start(fd, DP_DEVICE_JUMP);
	want.fd = (unsigned int)file;
	dp_init_check(!err && fails(fd, DP_DEVICE_FILE, &want, &want.words) &&
			      !want.probe,
		      "unanswered: on a file", OF);
	close(fd);
	close(file);
}

void dp_failed_try(void)
{
	dp_init_check(dp_init_load("dpbytes", "functions=" DP_GETSID
					      "," DP_UMASK "," DP_GETPGID),
		      "bytes are remembered", OF);
	removed();
	programs();
	begun();
	unanswered();
	unanswered_file();
	dp_init_check(!dp_device_changed() && dp_init_unload("dpbytes"),
		      "nothing is left in the end", OF);
}
