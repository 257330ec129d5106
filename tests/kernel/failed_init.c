// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* failed_init: requests of /dev/dprobes that fail, or are undone, leave nothing behind. */
#include "engine/vm/ops.h"
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
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

/* What the kernel writes, or is reserved: words at these offsets, up to the first that is not set */
#define AT(type, field) (1 + offsetof(struct dp_device_##type, field))

static const struct {
	unsigned long request;
	unsigned int at[12];
} kept[] = {
	{ DP_DEVICE_INFO, { AT(info, version), AT(info, reserved[2]) } },
	{ DP_DEVICE_ADD, { AT(add, probe), AT(add, offset), AT(add, opcode) } },
	{ DP_DEVICE_COMMIT, { AT(commit, bad), AT(commit, reserved) } },
	{ DP_DEVICE_TURN, { AT(turn, reserved[0]), AT(turn, reserved[1]) } },
	{ DP_DEVICE_COUNTS,
	  { AT(counts, within), AT(counts, arrivals), AT(counts, lost),
	    AT(counts, sites), AT(counts, jumps) } },
	{ DP_DEVICE_PROGRAM, { AT(program, program), AT(program, offset) } },
	{ DP_DEVICE_VARIABLE, { AT(variable, value) } },
	{ DP_DEVICE_CALLS,
	  { AT(calls, entered), AT(calls, unjudged), AT(calls, reserved) } },
	{ DP_DEVICE_WATCH,
	  { AT(watch, probe), AT(watch, reserved[0]),
	    AT(watch, reserved[1]) } },
	{ DP_DEVICE_FILE,
	  { AT(file, probe), AT(file, opcode), AT(file, reserved) } },
	{ DP_DEVICE_REMOVE,
	  { AT(remove, reserved[0]), AT(remove, reserved[2]) } },
	{ DP_DEVICE_ZERO, { AT(zero, reserved) } },
	{ DP_DEVICE_STACK,
	  { AT(stack, exact[0]), AT(stack, exact[1]), AT(stack, lost),
	    AT(stack, all), AT(stack, end) } },
	{ DP_DEVICE_TABLE,
	  { AT(table, table), AT(table, row), AT(table, distinct[0]),
	    AT(table, distinct[7]), AT(table, reserved[0]),
	    AT(table, reserved[1]) } },
	{ DP_DEVICE_ROWS,
	  { AT(rows, full), AT(rows, unreadable), AT(rows, more),
	    AT(rows, reserved) } },
};

/* A request that is sound, or fails otherwise than by what is asked here */
static void fill(unsigned long request, void *to)
{
	static const unsigned char code[] = { DP_OPCODE_EXIT };
	static const unsigned int start;

	memset(to, 0, 256);
	if (request == DP_DEVICE_ADD)
		*(struct dp_device_add *)to =
			(struct dp_device_add){ .name = (unsigned long)DP_UMASK,
						.name_size = sizeof(DP_UMASK) };
	else if (request == DP_DEVICE_PROGRAM)
		*(struct dp_device_program *)to = (struct dp_device_program){
			.code = (unsigned long)code,
			.code_size = 1,
			.starts = (unsigned long)&start,
			.nr_starts = 1,
			.stack = 32
		};
	else if (request == DP_DEVICE_WATCH)
		*(struct dp_device_watch *)to =
			(struct dp_device_watch){ .addr = dp_watch_address(),
						  .len = 4 };
	else if (request == DP_DEVICE_FILE)
		((struct dp_device_file *)to)->fd = 9999;
	else if (request == DP_DEVICE_TABLE)
		*(struct dp_device_table *)to =
			(struct dp_device_table){ .keys = 1, .most = 1 };
}

/* Return: words that are not kept; and whether the request is refused without them, too */
static unsigned int taken(int fd, unsigned int which)
{
	unsigned long request = kept[which].request;
	unsigned char bytes[256];
	unsigned int i, n = 0;

	for (i = 0; kept[which].at[i]; i++) {
		fill(request, bytes);
		bytes[kept[which].at[i] - 1] = 1;
		n += ask(fd, request, bytes) != -EINVAL;
	}
	fill(request, bytes);
	n += ask(fd, request, bytes) == -EINVAL;
	if (n)
		printf("# request %lu: %u\n", request & 0xff, n);
	return n;
}

static void reserved(void)
{
	struct dp_device_table table = { .keys = 1, .most = 1 };
	struct dp_device_begin begin = { .reserved = 1 };
	struct dp_device_bind bind = { .reserved = 1 };
	unsigned int probe = 0, program = 0, i, wrong = 0;
	int fd = dp_device_open(0), err;

	wrong += ask(fd, DP_DEVICE_BEGIN, &begin) != -EINVAL;
	err = dp_device_start(fd, DP_DEVICE_JUMP)			?:
		      add_any(fd, DP_GETSID, DP_DEVICE_RETURNS, &probe) ?:
		      add_program(fd, &program);
	wrong += ask(fd, DP_DEVICE_BIND, &bind) != -EINVAL;
	err = err					    ?:
		      dp_device_bind(fd, probe, program, 0) ?:
		      ask(fd, DP_DEVICE_TABLE, &table)	    ?:
		      dp_device_commit(fd, 0);
	for (i = 0; i < sizeof(kept) / sizeof(*kept) && !err; i++)
		wrong += taken(fd, i);
	dp_init_check(!err && !wrong,
		      "what is reserved, or the kernel's to write, is 0", OF);
	close(fd);
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
	reserved();
	dp_init_check(!dp_device_changed() && dp_init_unload("dpbytes"),
		      "nothing is left in the end", OF);
}
