// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * user_files_init: probes on files that change, lose their code, have other names or none, or are mapped by programs
 * of the other width.
 */
#include "tests/kernel/device_init.h"
#include "tests/kernel/init.h"
#include "tests/kernel/user_init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OF "user, files: "
#define COPY "/changing"
#define LINK "/linked"
#define ODD "/odd name\nffffffff81000000  k  forged+0x0"
#define SMALL "/victim32"
#define STATUS 4
#define STEPS 500
/* Of a program of 32 bits that has added well, and whose steps no probe helps: 500, of which a status has 8 bits */
#define ADDED (STEPS & 255)
/* Of "lea 1(%rdi), %rax", where the 1 is */
#define DISPLACEMENT 3
#define BREAKPOINT 0xcc

static int set_displacement(char value)
{
	int fd = open(COPY, O_WRONLY);
	ssize_t n = pwrite(fd, &value, 1,
			   (off_t)dp_user_offset(dp_user_lea) + DISPLACEMENT);

	return close(fd) || n != 1;
}

static int turn(int fd, unsigned int probe, unsigned int on)
{
	struct dp_device_turn want = { .probe = probe, .on = on };

	return ioctl(fd, DP_DEVICE_TURN, &want) ? -errno :
						  dp_device_commit(fd, 0);
}

static const char *reason(int fd, unsigned int probe)
{
	static struct dp_device_count v;

	return dp_device_counts(fd, &v, probe, 1) == 1 ? v.reason : "";
}

/* Return: a session with a probe at @code in @path, which is armed; a negative errno */
static int start(const char *path, unsigned long offset)
{
	unsigned int probe;
	int fd = dp_device_open(0), err = dp_device_start(fd, DP_DEVICE_JUMP);

	err = err ?: dp_user_add_file(fd, path, offset, &probe);
	err = err ?: dp_device_commit(fd, 0);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* --- files that lose their code --- */

static void turned(void)
{
	int bad = dp_user_copy(COPY),
	    fd = start(COPY, dp_user_offset(dp_user_lea));
	int off = turn(fd, 0, 0), on;

	bad |= truncate(COPY, 0);
	on = turn(fd, 0, 1);
	dp_init_check(fd >= 0 && !bad && !off && on == -EINVAL,
		      "one that cannot be turned on is told", OF);
	bad = dp_user_copy(COPY);
	on = turn(fd, 0, 1);
	dp_init_check(!bad && !on &&
			      dp_user_execute(COPY, "steps", "6") == STATUS &&
			      dp_user_hits(fd, 0) == 6,
		      "and is turned on when it can be", OF);
	close(fd);
	unlink(COPY);
}

/* What one session cannot have any more is no other's loss. */
static void apart(void)
{
	int bad = dp_user_copy(COPY),
	    fd = start(COPY, dp_user_offset(dp_user_lea)),
	    other = start(DP_USER_FILE, dp_user_offset(dp_user_lea)), third;
	int off = dp_files_put("enabled", "0"), on;

	bad |= truncate(COPY, 0);
	on = dp_files_put("enabled", "1");
	dp_init_check(fd >= 0 && other >= 0 && !bad && !off && !on &&
			      dp_user_byte(dp_user_lea) == BREAKPOINT,
		      "a file without its code keeps none from being armed",
		      OF);
	dp_init_check(!!strstr(reason(fd, 0), "cannot be armed"),
		      "its own probe says so", OF);
	third = start(DP_USER_FILE, dp_user_offset((void *)dp_user_step));
	dp_init_check(third >= 0, "nor do other sessions fail", OF);
	if (third < 0)
		printf("# %d\n", third);
	close(third);
	close(other);
	close(fd);
	unlink(COPY);
}

/* --- files that are written --- */

static void written(void)
{
	int bad = dp_user_copy(COPY),
	    fd = start(COPY, dp_user_offset(dp_user_lea)),
	    first = dp_user_execute(COPY, "steps", "5"), second;

	bad |= set_displacement(2);
	second = dp_user_execute(COPY, "steps", "7");
	dp_init_check(fd >= 0 && !bad && first == STATUS && second == 1 &&
			      dp_user_hits(fd, 0) == 5,
		      "processes execute what is written there", OF);
	if (second != 1)
		printf("# status %d, %llu hits\n", second, dp_user_hits(fd, 0));
	bad |= set_displacement(1);
	dp_init_check(!bad && dp_user_execute(COPY, "steps", "8") == STATUS &&
			      dp_user_hits(fd, 0) == 13,
		      "and are probed when it is as it was", OF);
	close(fd);
	unlink(COPY);
}

/* The kernel has one copy of an instruction, for all sessions that have it. */
static void rewritten(void)
{
	int bad = dp_user_copy(COPY),
	    fd = start(COPY, dp_user_offset(dp_user_lea)),
	    first = dp_user_execute(COPY, "steps", "5"), other, second;

	bad |= set_displacement(2);
	other = start(COPY, dp_user_offset(dp_user_lea));
	second = dp_user_execute(COPY, "steps", "7");
	dp_init_check(fd >= 0 && other >= 0 && !bad && first == STATUS &&
			      second == 1 && dp_user_hits(fd, 0) == 5 &&
			      dp_user_hits(other, 0) == 7,
		      "what is written there can be probed", OF);
	if (second != 1)
		printf("# status %d, %llu hits\n", second,
		       dp_user_hits(other, 0));
	dp_init_check(!!strstr(reason(fd, 0), "the file has changed"),
		      "and what has been there says so", OF);
	close(other);
	close(fd);
	unlink(COPY);
}

/* Between what the kernel has said of it and the commit */
static void written_before(void)
{
	unsigned int probe = 0;
	int bad = dp_user_copy(COPY), fd = dp_device_open(0),
	    err = dp_device_start(fd, DP_DEVICE_JUMP), got;

	err = err   ?:
		      dp_user_add_file(fd, COPY, dp_user_offset(dp_user_lea),
				       &probe);
	bad |= set_displacement(2);
	got = dp_device_commit(fd, 0);
	dp_init_check(!err && !bad && got == -ESTALE,
		      "refused: what has been written since it was added", OF);
	if (got != -ESTALE)
		printf("# %d\n", got);
	close(fd);
	unlink(COPY);
}

/* --- programs of the other width --- */

/* Return: where what is behind the mark is in the file, or 0 */
static unsigned long find_mark(const char *mark)
{
	static char bytes[65536];
	int fd = open(SMALL, O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes));
	char *at = n > 0 ? memmem(bytes, (size_t)n, mark, strlen(mark)) : NULL;

	close(fd);
	return at ? (unsigned long)(at - bytes) + strlen(mark) : 0;
}

/* "inc" and "nop" of 32 bits are one "xchg" of 64: this process, which asks, has 64. */
static void narrow(void)
{
	unsigned long inc = find_mark("dp_inc:");
	int first = start(SMALL, inc), second = start(SMALL, inc),
	    ended = dp_user_execute(SMALL, NULL, NULL);

	dp_init_check(inc && first >= 0 && second >= 0 && ended == ADDED &&
			      dp_user_hits(first, 0) == STEPS &&
			      dp_user_hits(second, 0) == STEPS,
		      "code of 32 bits is not taken for that of 64", OF);
	if (ended != ADDED)
		printf("# status %d\n", ended);
	close(second);
	close(first);
}

static bool has_mapped(pid_t pid, const char *path)
{
	char name[32], line[256];
	bool has = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "r");
	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, path) && strstr(line, "r-xp");
	if (f)
		fclose(f);
	return has;
}

static pid_t map_narrow(const char *path)
{
	pid_t child = fork();
	int left = 2000;

	if (!child) {
		execl(SMALL, SMALL, path, NULL);
		_exit(127);
	}
	while (left-- && !has_mapped(child, path))
		usleep(5000);
	return left > 0 ? child : -1;
}

/* A process of 32 bits that maps code of 64 has it for nothing good. */
static void wide(void)
{
	int bad = dp_user_copy(COPY), fd, ended;
	pid_t child = map_narrow(COPY);

	fd = start(COPY, dp_user_offset((void *)dp_user_near));
	ended = dp_user_execute(COPY, "steps", "9");
	dp_init_check(!bad && child > 0 && fd >= 0 && ended == STATUS &&
			      dp_user_hits(fd, 0) == 9,
		      "nor that of 64 bits for that of 32", OF);
	if (ended != STATUS)
		printf("# status %d, child %d, %d\n", ended, child, fd);
	if (child > 0)
		kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
	unlink(COPY);
}

/* --- names --- */

static void linked(void)
{
	int bad = dp_user_copy(COPY) || link(COPY, LINK),
	    fd = start(LINK, dp_user_offset(dp_user_lea));

	dp_init_check(!bad && fd >= 0 &&
			      dp_user_execute(COPY, "steps", "20") == STATUS &&
			      dp_user_execute(LINK, "steps", "3") == STATUS &&
			      dp_user_hits(fd, 0) == 23,
		      "a file is probed by all its names", OF);
	close(fd);
	unlink(LINK);
	unlink(COPY);
}

static void nameless(void)
{
	char path[32], *argv[] = { "copy", "steps", "11", NULL };
	int file = memfd_create("some name", 0), bad = dp_user_copy_to(file),
	    fd, status = -1;
	pid_t child;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	fd = start(path, dp_user_offset(dp_user_lea));
	child = fork();
	if (!child) {
		fexecve(file, argv, environ);
		_exit(127);
	}
	waitpid(child, &status, 0);
	dp_init_check(!bad && fd >= 0 && WIFEXITED(status) &&
			      WEXITSTATUS(status) == STATUS &&
			      dp_user_hits(fd, 0) == 11,
		      "a file in memory that has no name", OF);
	close(fd);
	close(file);
}

static void odd(void)
{
	int bad = dp_user_copy(ODD),
	    fd = start(ODD, dp_user_offset(dp_user_lea));
	const char *list = dp_files_list();

	dp_init_check(!bad && fd >= 0 && !strstr(list, "\nffffffff81000000") &&
			      strstr(list, "  u  odd\\040name\\012ffffffff"),
		      "a name makes no line of its own in the list", OF);
	close(fd);
	unlink(ODD);
}

void dp_user_files(void)
{
	bool has_narrow = dp_user_execute(SMALL, NULL, NULL) != 127;

	if (!dp_user_can()) {
		dp_init_skip(OF "all", "the kernel has no uprobes");
		return;
	}
	turned();
	written();
	rewritten();
	written_before();
	linked();
	nameless();
	if (dp_init_debugfs())
		apart();
	if (dp_init_debugfs())
		odd();
	if (has_narrow)
		narrow();
	else
		dp_init_skip(OF "widths", "the kernel executes no 32 bits");
	if (has_narrow)
		wide();
	dp_user_races();
}
